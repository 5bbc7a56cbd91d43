// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/syscall_args.h"
#include "base/alloc.h"
#include "base/test.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static void definitions_are_found(void **state)
{
	static const char *const names[] = {"_llseek", "accept", "openat",
					    "read",    "writev", "file_setattr"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_non_null(syscall_def(names[i]));
		assert_string_equal(syscall_def(names[i])->name, names[i]);
	}
	assert_null(syscall_def("nosuch"));
	assert_null(syscall_def(""));
	assert_string_equal(syscall_def("openat")->args[1].name, "filename");
	assert_int_equal(syscall_def("openat")->args[1].kind, ARG_PATH);
	assert_int_equal(syscall_def("getpid")->args_n, 0);
	assert_int_equal(syscall_def("mmap")->ret, SYSCALL_RET_HEX);
}

static void values_have_names(void **state)
{
	static const struct {
		enum syscall_kind kind;
		uint64_t value;
		const char *text;
	} cases[] = {
		{ARG_OPEN, O_RDONLY, "RDONLY"},
		{ARG_OPEN, O_RDWR | O_CREAT | O_CLOEXEC, "RDWR|CLOEXEC|CREAT"},
		{ARG_OPEN, O_SYNC | O_WRONLY, "SYNC|WRONLY"},
		{ARG_OPEN, 0x10000000, "RDONLY|0x10000000"},
		{ARG_PROT, PROT_READ | PROT_EXEC, "READ|EXEC"},
		{ARG_MAP, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, "PRIVATE|FIXED|ANONYMOUS"},
		{ARG_MODE, S_IFREG | 0644, "IRUGO|IFREG|IWUSR"},
		{ARG_MODE, 04777, "IRWXUGO|ISUID"},
		{ARG_ACCESS, 4, "R"},
		{ARG_ACCESS, 7, "RWX"},
		{ARG_ACCESS, 9, "X|0x8"},
		{ARG_SIGNAL, 9, "KILL"},
		{ARG_SIGNAL, 64, "0x40"},
		{ARG_AF, AF_INET6, "INET6"},
		{ARG_AF, 99, "99"},
		{ARG_SOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, "STREAM|CLOEXEC|NONBLOCK"},
		{ARG_CLONE, CLONE_VM | CLONE_THREAD | 17, "VM|THREAD|0x11"},
		{ARG_FUTEX_OP, FUTEX_WAIT_PRIVATE, "WAIT|PRIVATE_FLAG"},
		{ARG_FUTEX_OP, FUTEX_WAKE, "WAKE"},
		{ARG_IOCTL, 0x5401, "TCGETS"},
		{ARG_IOCTL, 0x2400, "PERF_ENABLE"},
		{ARG_IOCTL, 0x80047eff, "(READ, 0x7e, 0xff, 0x4)"},
		{ARG_MOUNT, 0xc0ed0001, "RDONLY"},
		{ARG_DEV, 0x103, "1:3"},
		{ARG_WHENCE, 0, "SET"},
		{ARG_INT, 0xffffffff, "-1"},
		{ARG_UINT, 0xffffffffffffffff, "4294967295"},
		{ARG_LONG, 0xffffffffffffffff, "-1"},
		{ARG_SCHED, 0x40000001, "FIFO|RESET_ON_FORK"},
		{ARG_MSG, MSG_DONTWAIT | MSG_NOSIGNAL, "DONTWAIT|NOSIGNAL"},
		{ARG_AT, AT_EMPTY_PATH, "EMPTY_PATH"},
		{ARG_WAIT, 1 | 0x40000000, "NOHANG|ALL"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		syscall_put_value(&out, cases[i].kind, cases[i].value, false);
		out_char(&out, '\0');
		assert_string_equal(out.buf, cases[i].text);
		out_done(&out);
	}
}

static void names_with_prefix(void **state)
{
	static const struct {
		enum syscall_kind kind;
		uint64_t value;
		const char *text;
	} cases[] = {
		{ARG_OPEN, 0x80000, "O_RDONLY|O_CLOEXEC"},
		{ARG_ACCESS, 6, "R_OK|W_OK"},
		{ARG_ACCESS, 0, "F_OK"},
		{ARG_PROT, 0, "PROT_NONE"},
		{ARG_SIGNAL, 15, "SIGTERM"},
		{ARG_SOCK, 1 | 0x80000, "SOCK_STREAM|SOCK_CLOEXEC"},
		{ARG_SCHED, 0x40000001, "SCHED_FIFO|SCHED_RESET_ON_FORK"},
		{ARG_FUTEX_OP, 128, "FUTEX_WAIT|FUTEX_PRIVATE_FLAG"},
		{ARG_MADVISE, 4, "MADV_DONTNEED"},
		{ARG_WHENCE, 9, "9 /* SEEK_??? */"},
		{ARG_MAP, 0x40000022, "MAP_PRIVATE|MAP_ANONYMOUS|0x40000000"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		syscall_put_value(&out, cases[i].kind, cases[i].value, true);
		out_char(&out, '\0');
		assert_string_equal(out.buf, cases[i].text);
		out_done(&out);
	}
}

// No kind may read or loop out of bounds, whatever the value.
static void every_kind_takes_every_value(void **state)
{
	static const uint64_t values[] = {0,	      1,	  0x7fffffff, 0x80000000,
					  0xffffffff, 1ull << 63, UINT64_MAX};

	for (unsigned kind = 0; kind < ARG_KINDS; kind++) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct out out;

			out_init_memory(&out);
			syscall_put_value(&out, kind, values[i], i & 1);
			assert_true(out.n > 0);
			assert_true(out.n < 1000);
			out_done(&out);
		}
	}
}

static void arguments_depend_on_others(void **state)
{
	enum syscall_kind ret;
	bool none;

	assert_int_equal(syscall_fcntl_arg(F_SETFL, &none, &ret), ARG_OPEN);
	assert_false(none);
	syscall_fcntl_arg(F_GETFL, &none, &ret);
	assert_true(none);
	assert_int_equal(ret, ARG_OPEN);
	assert_int_equal(syscall_futex_args(FUTEX_WAIT_PRIVATE), 1 | 2 | 4 | 8);
	assert_int_equal(syscall_futex_args(FUTEX_WAKE), 1 | 2 | 4);
	assert_int_equal(syscall_futex_args(77), 63);
	assert_true(syscall_shows_zero(ARG_WHENCE));
	assert_false(syscall_shows_zero(ARG_PROT));
	assert_false(syscall_shows_zero(ARG_INT));
}

static void errors_have_names(void **state)
{
	assert_string_equal(syscall_errno_name(2), "ENOENT");
	assert_string_equal(syscall_errno_name(512), "ERESTARTSYS");
	assert_null(syscall_errno_name(0));
	assert_null(syscall_errno_name(4000));
	assert_string_equal(syscall_errno_text(4000), "Unknown error");
}

static void expect_address(const void *bytes, size_t size, const char *text)
{
	struct out out;

	out_init_memory(&out);
	syscall_put_sockaddr(&out, bytes, size, false);
	out_char(&out, '\0');
	assert_string_equal(out.buf, text);
	out_done(&out);
}

static void addresses_are_shown(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/a\n\"b"};

	in.sin_addr.s_addr = htonl(0x7f000001);
	expect_address(&in, sizeof(in), "{ .family: INET, port: 80, addr: 127.0.0.1 }");
	expect_address(&in, 8, "{ .family: INET }");
	expect_address(&un, sizeof(un), "{ .family: LOCAL, path: \"/a\\012\\042b\" }");
	expect_address(&un, 1, "{ }");
	memcpy(un.sun_path, "\0xyz", 4);
	expect_address(&un, 6, "{ .family: LOCAL, path: \"@xyz\" }");
}

RUN_TESTS(TEST(definitions_are_found), TEST(values_have_names), TEST(names_with_prefix),
	  TEST(every_kind_takes_every_value), TEST(arguments_depend_on_others),
	  TEST(errors_have_names), TEST(addresses_are_shown))
