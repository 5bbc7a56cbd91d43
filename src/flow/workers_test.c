// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/workers.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/test.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The work: a line a record, some of them long, some with a message.
struct work {
	uint64_t records, fails_at, dies_at; // 0: never
	unsigned jobs;
	bool answers, met;
	// What came of it.
	int err;
	struct out out;
};

static bool has_number(struct str numbers, uint64_t i)
{
	bool has = false;

	for (size_t k = 0; k + sizeof(i) <= numbers.n; k += sizeof(i))
		has |= !memcmp(numbers.p + k, &i, sizeof(i));
	return has;
}

static bool can_open_more(void)
{
	int fds[8], n = 0;

	while (n < (int)ARRAY_SIZE(fds) && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fds[i]);
	return n == ARRAY_SIZE(fds);
}

static int do_record(struct work *work, struct workers *workers, uint64_t i)
{
	if (workers && workers->is_asked) {
		out_bytes(&workers->answers, &i, sizeof(i));
		return 0;
	}
	// The others leave nothing out.
	if (workers && workers->given.n)
		assert_true(has_number(workers->given, i));
	if (i == work->dies_at)
		raise(SIGKILL);
	out_printf(&work->out, "record %llu%s\n", (unsigned long long)i,
		   can_open_more() ? "" : ", no file can be opened");
	if (i % 1000 == 999)
		out_fill(&work->out, 'x', i % 3000 == 2999 ? 3 << 20 : 10000);
	// What each of them comes across.
	if (i > 100 && !work->met)
		warn("a file without names");
	work->met |= i > 100;
	if (i % 2500 == 8)
		warn("record %llu is odd", (unsigned long long)i);
	return i == work->fails_at ? fail(EINVAL, "record %llu is bad", (unsigned long long)i)
				   : out_broken(&work->out);
}

static void do_work(struct work *work, int fd)
{
	const struct workers_options options = {.jobs = work->jobs,
						.out = work->answers ? NULL : &work->out};
	struct workers *workers = work->jobs > 1 ? workers_new(&options) : NULL;
	int err = 0;

	out_init_fd(&work->out, fd);
	for (uint64_t i = 1; !err && i <= work->records; i++) {
		if (workers && workers_step(workers)) {
			if (workers_have_begun(workers))
				err = workers_next(workers);
			else if (workers_pay(workers, work->records - i))
				workers_begin(workers, work->records - i);
		}
		if (!err && (!workers || workers->mine))
			err = do_record(work, workers, i);
	}
	if (workers)
		err = workers_end(workers, err);
	work->err = err;
	workers_free(workers);
}

struct made {
	char *text, *said;
	size_t text_n, said_n;
	int err;
};

static struct made make(struct work work)
{
	struct made made;
	int text = memfd_create("text", 0), said = memfd_create("said", 0), stderr_fd = dup(2);

	dup2(said, 2);
	do_work(&work, text);
	if (!work.err || work.err == -EINVAL)
		out_flush(&work.out);
	out_done(&work.out);
	dup2(stderr_fd, 2);
	close(stderr_fd);
	lseek(text, 0, SEEK_SET);
	lseek(said, 0, SEEK_SET);
	assert_int_equal(file_read_fd(text, SIZE_MAX / 2, &made.text, &made.text_n), 0);
	assert_int_equal(file_read_fd(said, SIZE_MAX / 2, &made.said, &made.said_n), 0);
	made.err = work.err;
	close(text);
	close(said);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return made;
}

static void made_done(struct made *made)
{
	free(made->text);
	free(made->said);
}

static void is_as_of_one(struct work work)
{
	struct made one, more;

	work.jobs = 1;
	one = make(work);
	for (unsigned jobs = 2; jobs <= 9; jobs += jobs == 3 ? 6 : 1) {
		work.jobs = jobs;
		err_clear();
		more = make(work);
		assert_int_equal(more.text_n, one.text_n);
		assert_memory_equal(more.text, one.text, one.text_n);
		assert_string_equal(more.said, one.said);
		assert_int_equal(more.err, one.err);
		if (one.err < 0)
			assert_string_equal(err_sentence(), "record 7000 is bad");
		made_done(&more);
	}
	made_done(&one);
}

static void result_is_the_same(void **state)
{
	static const uint64_t records[] = {1, 63, 64, 65, 200, 1000, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		is_as_of_one((struct work){.records = records[i]});
}

static void failure_ends_all_in_order(void **state)
{
	is_as_of_one((struct work){.records = 20000, .fails_at = 7000});
}

static void answers_are_only_looked_up(void **state)
{
	is_as_of_one((struct work){.records = 20000, .answers = true});
	is_as_of_one((struct work){.records = 20000, .fails_at = 7000, .answers = true});
}

static void some_files_can_still_be_opened(void **state)
{
	struct rlimit before, few;

	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = 20;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	is_as_of_one((struct work){.records = 1000});
	setrlimit(RLIMIT_NOFILE, &before);
}

static void death_is_told(void **state)
{
	pid_t pid = fork();
	int status;

	// Also the first of them may be who dies: then all of them.
	if (!pid) {
		struct made made = make((struct work){.records = 20000, .dies_at = 9000, .jobs = 3});

		_exit(made.err == -ECHILD && strstr(err_sentence(), "ended by signal 9") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
}

static void closed_pipe_ends_all(void **state)
{
	struct work work = {.records = 2000000, .jobs = 3};
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	log_set_level(LOG_QUIET);
	do_work(&work, fds[1]);
	log_set_level(LOG_WARN);
	assert_true(work.err > 0);
	assert_int_equal(work.out.error, -EPIPE);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	out_done(&work.out);
	close(fds[1]);
}

RUN_TESTS(TEST(result_is_the_same), TEST(failure_ends_all_in_order), TEST(answers_are_only_looked_up),
	  TEST(some_files_can_still_be_opened), TEST(death_is_told), TEST(closed_pipe_ends_all))
