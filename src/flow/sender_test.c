// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/sender.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/test.h"
#include "flow/wire.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { EVENTS = 10 };

static const char message[64 << 10] = "a batch, which no one reads as such";

static void greet(void *arg, struct out *out)
{
	out_text(out, "hello");
}

// A device whose reader has its end of it.
static int open_device(struct sender **ret)
{
	int reader = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios raw;
	const char *path;

	if (reader < 0 || grantpt(reader) < 0 || unlockpt(reader) < 0)
		skip();
	path = ptsname(reader);
	auto_close int terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);

	assert_int_equal(tcgetattr(terminal, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(terminal, TCSANOW, &raw), 0);
	assert_int_equal(sender_new(ret, path, greet, NULL), 0);
	return reader;
}

static void send_one(struct sender *sender, size_t n)
{
	const struct sender_batch batch = {message, n, EVENTS, 1, 2};

	assert_int_equal(sender_send(sender, &batch), 0);
}

// "...; it lacks 20 events, beside 10 that it got"
static void assert_counts(unsigned lacks, unsigned got)
{
	const char *at = strstr(err_sentence(), "it lacks ");
	unsigned said[2] = {0};

	assert_non_null(at);
	assert_int_equal(sscanf(at, "it lacks %u events, beside %u", &said[0], &said[1]), 2);
	assert_int_equal(said[0], lacks);
	assert_int_equal(said[1], got);
	err_clear();
}

static void take_all(int reader)
{
	char buf[4096];

	for (int quiet = 0; quiet < 5; usleep(2000))
		quiet = read(reader, buf, sizeof(buf)) > 0 ? 0 : quiet + 1;
}

// What waits when it fails was not sent, though it was handed over long ago.
static void test_queue_fails_at_the_end(void **state)
{
	struct sender *sender;
	int reader = open_device(&sender);

	send_one(sender, 16);
	take_all(reader);
	for (int i = 0; i < 3; i++)
		send_one(sender, sizeof(message));
	close(reader);
	assert_int_equal(sender_finish(sender, false), -EIO);
	assert_counts(3 * EVENTS, EVENTS);
	sender_free(sender);
}

// It fails while a batch is to be sent, with earlier ones in the queue.
static void test_queue_fails_before_a_batch(void **state)
{
	struct sender *sender;
	int reader = open_device(&sender);

	send_one(sender, 16); // looks whether somebody is there, then not for a while
	take_all(reader);
	send_one(sender, sizeof(message));
	close(reader);
	send_one(sender, 16);
	send_one(sender, 16);
	assert_int_equal(sender_finish(sender, false), -EIO);
	assert_counts(3 * EVENTS, EVENTS);
	sender_free(sender);
}

static void test_first_batch_fails(void **state)
{
	struct sender *sender;

	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(sender_new(&sender, "/dev/full", greet, NULL), 0);
	send_one(sender, 16);
	send_one(sender, 16);
	assert_int_equal(sender_finish(sender, false), -ENOSPC);
	assert_counts(2 * EVENTS, 0);
	sender_free(sender);
}

static size_t size_of(const char *path)
{
	auto_free char *text = NULL;
	size_t n = 0;

	file_read(path, 1 << 20, &text, &n);
	return n;
}

// What a file has stays until the first batch.
static void test_file_is_emptied_late(void **state)
{
	char folder[] = "/tmp/sonde-sender.XXXXXX";
	struct sender *sender, *second;

	assert_non_null(mkdtemp(folder));
	auto_free char *path = text_dup_fmt("%s/f", folder);
	assert_int_equal(file_write(path, message, 5000), 0);
	assert_int_equal(sender_new(&sender, path, greet, NULL), 0);
	assert_int_equal(sender_new(&second, path, greet, NULL), -EBUSY);
	err_clear();
	sender_free(second);
	sender_free(sender);
	assert_int_equal(size_of(path), 5000);
	assert_int_equal(sender_new(&sender, path, greet, NULL), 0);
	send_one(sender, 16);
	assert_int_equal(size_of(path), strlen("hello") + 16);
	assert_int_equal(sender_finish(sender, false), 0);
	sender_free(sender);
	remove_tree(folder);
}

RUN_TESTS(TEST(test_queue_fails_at_the_end), TEST(test_queue_fails_before_a_batch),
	  TEST(test_first_batch_fails), TEST(test_file_is_emptied_late))
