// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/files_limit.h"
#include "base/err.h"
#include "base/test.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// In a process of its own, as a hard limit can't be raised again. Returns what `run` returned.
static int in_child(rlim_t soft, rlim_t hard, int (*run)(void))
{
	const struct rlimit limit = {soft, hard};
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setrlimit(RLIMIT_NOFILE, &limit) < 0 ? 77 : run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static rlim_t soft_now(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

static int raises(void)
{
	if (!files_limit_raise() || soft_now() != 200)
		return 1;
	return files_limit_raise() || soft_now() != 200 ? 2 : 0; // no more
}

// Leaves `left` of those that may be open.
static void take(rlim_t left)
{
	int fd;

	do
		fd = fcntl(2, F_DUPFD_CLOEXEC, 0);
	while (fd >= 0 && (rlim_t)fd + 1 + left < soft_now());
}

static int is_enough(void)
{
	return files_limit_check() == 0 && soft_now() == 100 ? 0 : 1;
}

static int gets_more(void)
{
	take(2);
	return files_limit_check() == 0 && soft_now() == 200 ? 0 : 1;
}

static int has_no_more(void)
{
	take(2);
	if (files_limit_check() != -EMFILE)
		return 1;
	return strstr(err_sentence(), ", 100 may be open") && strstr(err_sentence(), "ulimit -n")
		       ? 0
		       : 2;
}

static void limits(void **state)
{
	assert_int_equal(in_child(100, 200, raises), 0);
	assert_int_equal(in_child(100, 200, is_enough), 0);
	assert_int_equal(in_child(100, 200, gets_more), 0);
	assert_int_equal(in_child(100, 100, has_no_more), 0);
}

static void sentences(void **state)
{
	assert_int_equal(files_limit_fail("event x"), -EMFILE);
	assert_non_null(strstr(err_sentence(), "too many open files for event x, "));
	files_limit_explain(); // which is said already
	assert_null(strstr(err_sentence(), "raise the limit: ulimit -n 65536;"));
	assert_ptr_equal(strstr(err_sentence(), "too many"), err_sentence());
	fail(EMFILE, "can't open f");
	files_limit_explain();
	assert_ptr_equal(strstr(err_sentence(), "can't open f; "), err_sentence());
	assert_non_null(strstr(err_sentence(), "files may be open: raise the limit: ulimit -n 65536"));
	err_clear();
	files_limit_explain();
	assert_ptr_equal(strstr(err_sentence(), "too many open files: "), err_sentence());
	err_clear();
}

RUN_TESTS(TEST(limits), TEST(sentences))
