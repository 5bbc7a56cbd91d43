// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/identity.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/test.h"

static void test_facts(void **state)
{
	static const struct file_facts cases[] = {
		{.name = "/usr/bin/a b", .id = {{0xfe, 10, 3}}, .print = {4096, 0xdeadbeef}},
		{.name = "/x", .id = {{1ull << 32 | 8, 1, 0}}, .build_id = {3, {1, 2, 0xff}}},
		{.name = "/x", .id = {{1, 2, 3}}, .is_lost = true},
		{.name = "/x", .id = {{1, 2, 3}}, .build_id = {1, {7}}, .path = "/srv/jail/x y"},
	};
	static const char *const bad[] = {"",
					  "stacks 1 2",
					  "file",
					  "file 1 2 3 4 5 -",
					  "file 1 2 3 4 5 - ",
					  "file 1 2 3 4 5 abc /x",
					  "file 1 2 3 4 5 zz /x",
					  "file 1 2 3 4 g - /x",
					  ("file 1 2 3 4 5 "
					   "000102030405060708090a0b0c0d0e0f1011121314 /x")};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct file_facts *want = &cases[i];
		auto_free char *text = file_facts_text(want);
		struct file_facts got;

		assert_true(file_facts_parse(str_of(text), &got));
		assert_string_equal(got.name, want->name);
		assert_memory_equal(&got.id, &want->id, sizeof(got.id));
		assert_memory_equal(&got.print, &want->print, sizeof(got.print));
		assert_memory_equal(&got.build_id, &want->build_id, sizeof(got.build_id));
		assert_int_equal(got.is_lost, want->is_lost);
		if (want->path)
			assert_string_equal(got.path, want->path);
		else
			assert_null(got.path);
		free((char *)got.name);
		free((char *)got.path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct file_facts got;

		assert_false(file_facts_parse(str_of(bad[i]), &got));
	}
	assert_null(file_facts_text(&(struct file_facts){.name = "/a\nfile 1 2 3 4 5 - /b"}));
}

static int make(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void test_likeness(void **state)
{
	char a[] = "/tmp/identity-a-XXXXXX", b[] = "/tmp/identity-b-XXXXXX";
	int one, two;
	struct stat st;
	struct file_id id;

	close(mkstemp(a));
	close(mkstemp(b));
	one = make(a, "one");
	two = make(b, "two");
	assert_int_equal(fstat(one, &st), 0);
	id = (struct file_id){{major(st.st_dev) | (uint64_t)minor(st.st_dev) << 32, st.st_ino, 0}};
	assert_int_equal(file_likeness(&id, one, true), LIKE_SAME);
	assert_int_not_equal(file_likeness(&id, two, true), LIKE_SAME);
	// Devices have other numbers after the next start.
	id.words[0] ^= 1;
	assert_int_not_equal(file_likeness(&id, one, true), LIKE_SAME);
	assert_int_equal(file_likeness(&id, one, false), LIKE_SAME);
	assert_int_equal(file_likeness(&(struct file_id){{0}}, one, true), LIKE_UNKNOWN);
	close(one);
	close(two);
	unlink(a);
	unlink(b);
}

static void test_print(void **state)
{
	char a[] = "/tmp/identity-a-XXXXXX";
	struct file_print print, again;
	int fd;

	close(mkstemp(a));
	fd = make(a, "one");
	assert_true(file_print_read(fd, &print));
	assert_int_equal(print.size, 3);
	assert_int_equal(pwrite(fd, "x", 1, 2), 1);
	assert_true(file_print_read(fd, &again));
	assert_int_equal(again.size, 3);
	assert_true(again.hash != print.hash);
	// Large, with a hole: both ends count.
	assert_int_equal(ftruncate(fd, 40 << 20), 0);
	assert_true(file_print_read(fd, &print));
	assert_int_equal(pwrite(fd, "x", 1, (40 << 20) - 1), 1);
	assert_true(file_print_read(fd, &again));
	assert_true(again.hash != print.hash);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_false(file_print_read(fd, &again));
	close(fd);
	unlink(a);
}

RUN_TESTS(TEST(test_facts), TEST(test_likeness), TEST(test_print))
