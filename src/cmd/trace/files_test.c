// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/trace/files.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PID = 10, CHILD = 11 };

static char root[] = "files-XXXXXX";

static void link_fd(unsigned pid, const char *what, const char *to)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/%u/fdinfo", root, pid);
	assert_int_equal(mkdirs(path), 0);
	snprintf(path, sizeof(path), "%s/proc/%u/fd", root, pid);
	assert_int_equal(mkdirs(path), 0);
	snprintf(path, sizeof(path), "%s/proc/%u/%s", root, pid, what);
	unlink(path);
	assert_int_equal(symlink(to, path), 0);
}

static void write_info(unsigned pid, unsigned fd, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/%u/fdinfo/%u", root, pid, fd);
	assert_int_equal(file_write(path, text, strlen(text)), 0);
}

static int set_up(void **state)
{
	assert_non_null(mkdtemp(root));
	link_fd(PID, "cwd", "/home/x");
	link_fd(PID, "fd/0", "/dev/null");
	link_fd(PID, "fd/3", "/etc/passwd");
	link_fd(PID, "fd/4", "socket:[77]");
	write_info(PID, 3, "pos:\t0\nflags:\t02100000\n");
	return 0;
}

static int clean_up(void **state)
{
	return remove_tree(root);
}

struct call {
	const char *name;
	uint64_t args[SYSCALL_ARGS];
	const char *path;
	int64_t ret;
};

static void called(struct files *files, const struct call *call)
{
	const struct files_call of = {
		.pid = PID,
		.about = files_about(syscall_def(call->name)),
		.args = call->args,
		.ret = call->ret,
		.path = call->path,
	};

	assert_non_null(of.about);
	files_called(files, &of);
}

static void expect(struct files *files, uint32_t pid, int32_t fd, const char *name)
{
	const char *got = files_name(files, pid, fd);

	if (!name)
		assert_null(got);
	else
		assert_string_equal(got ? got : "(nothing)", name);
}

// What the calls say comes before what /proc has later.
static void test_calls(void **state)
{
	static const struct {
		struct call call;
		int32_t fd;
		const char *name;
	} rows[] = {
		{{"openat", {-100ull, 0, O_RDONLY}, "/bin/ls", 3}, 3, "/bin/ls"},
		{{"openat", {-100ull, 0, O_RDONLY}, "./a/b", 5}, 5, "/home/x/a/b"},
		{{"openat", {-100ull, 0, O_RDONLY}, "/missing", -2}, 5, "/home/x/a/b"},
		{{"openat", {5, 0, O_RDONLY}, "c", 6}, 6, "/home/x/a/b/c"},
		{{"open", {0, O_RDONLY}, "/one", 7}, 7, "/one"},
		{{"dup2", {7, 8}, NULL, 8}, 8, "/one"},
		{{"dup", {8}, NULL, 9}, 9, "/one"},
		{{"fcntl", {9, F_DUPFD, 20}, NULL, 20}, 20, "/one"},
		{{"close", {7}, NULL, 0}, 7, NULL},
		{{"close", {8}, NULL, -4}, 8, NULL}, // EINTR
		{{"chdir", {0}, "/tmp", 0}, 9, "/one"},
		{{"creat", {0}, "t", 7}, 7, "/tmp/t"},
		{{"chdir", {0}, "/", 0}, 7, "/tmp/t"},
		{{"creat", {0}, "t", 7}, 7, "/t"},
		{{"fchdir", {5}, NULL, 0}, 7, "/t"},
		{{"creat", {0}, "t", 7}, 7, "/home/x/a/b/t"},
		{{"epoll_create1", {0}, NULL, 10}, 10, "anon_inode:[eventpoll]"},
		{{"memfd_create", {0}, "m", 11}, 11, "/memfd:m (deleted)"},
		// /proc knows more of some
		{{"socket", {1, 1, 0}, NULL, 4}, 4, "socket:[77]"},
		// but not of files that have the number now
		{{"socket", {1, 1, 0}, NULL, 3}, 3, "socket"},
		{{"openat", {-100ull, 0, O_RDONLY}, NULL, 4}, 4, NULL},
		{{"openat", {-100ull, 0, O_TMPFILE | O_RDWR}, "/tmp", 12}, 12, NULL},
		{{"openat", {-100ull, 0, O_RDONLY}, NULL, 0}, 0, "/dev/null"},
		{{"close_range", {9, 11, 0}, NULL, 0}, 9, NULL},
		{{"close_range", {9, 11, 0}, NULL, 0}, 20, "/one"},
		// a call about which nothing is known but that it makes one
		{{"pidfd_open", {1, 0}, NULL, 20}, 20, NULL},
	};
	struct files *files = files_new(root, true);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		called(files, &rows[i].call);
		expect(files, PID, rows[i].fd, rows[i].name);
	}
	// of a number that is another file's by now only what was known before
	assert_string_equal(files_known_name(files, PID, 12) ? "?" : "free", "free");
	assert_null(files_known_name(files, PID, 4));
	assert_string_equal(files_known_name(files, PID, 6), "/home/x/a/b/c");
	assert_null(files_known_name(files, PID, 77));
	files_free(files);
}

static void test_processes(void **state)
{
	struct files *files = files_new(root, true);

	called(files, &(struct call){"openat", {-100ull, 0, O_CLOEXEC}, "/a", 30});
	called(files, &(struct call){"openat", {-100ull, 0, 0}, "/b", 31});
	called(files, &(struct call){"fcntl", {31, F_SETFD, FD_CLOEXEC}, NULL, 0});
	called(files, &(struct call){"dup3", {31, 32, 0}, NULL, 32});
	files_forked(files, PID, CHILD);
	called(files, &(struct call){"close", {32}, NULL, 0});
	expect(files, CHILD, 30, "/a");
	expect(files, CHILD, 32, "/b");
	files_execed(files, CHILD);
	expect(files, CHILD, 30, NULL);
	expect(files, CHILD, 31, NULL);
	expect(files, CHILD, 32, "/b");
	expect(files, PID, 31, "/b");
	files_ended(files, CHILD);
	expect(files, CHILD, 32, NULL);
	files_forget(files);
	expect(files, PID, 30, NULL);
	expect(files, PID, 0, "/dev/null");
	files_free(files);
}

static void test_looked_at(void **state)
{
	struct files *files = files_new(root, true);

	files_look(files, PID);
	link_fd(PID, "fd/0", "/dev/later");
	expect(files, PID, 0, "/dev/null");
	files_execed(files, PID);
	link_fd(PID, "fd/3", "/etc/later");
	expect(files, PID, 3, NULL); // was to be closed at exec; nothing opened this since
	link_fd(PID, "fd/3", "pipe:[7]");
	expect(files, PID, 3, "pipe:[7]"); // of a call that gives no number
	expect(files, PID, 0, "/dev/null");
	files_free(files);
	files = files_new(root, false);
	expect(files, PID, 0, "/dev/later");
	link_fd(PID, "fd/0", "/dev/null");
	link_fd(PID, "fd/3", "/etc/passwd");
	expect(files, PID, 0, "/dev/null"); // nothing is remembered
	expect(files, PID, -1, NULL);
	files_free(files);
}

static void test_bound(void **state)
{
	struct files *files = files_new(root, true);
	char path[4000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(path + 1, 8, "%u", i);
		path[strlen(path)] = 'x';
		called(files, &(struct call){"creat", {0}, path, 100 + i});
	}
	expect(files, PID, 100, NULL); // forgotten when there were too many
	assert_non_null(files_name(files, PID, 3099));
	files_free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_calls), TEST(test_processes),
					   TEST(test_looked_at), TEST(test_bound)};

	return cmocka_run_group_tests(tests, set_up, clean_up);
}
