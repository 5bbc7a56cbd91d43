// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/syscalls.h"
#include "base/alloc.h"
#include "base/test.h"
#include <string.h>
#include <sys/syscall.h>

static void native_numbers_are_the_headers(void **state)
{
	static const struct {
		const char *name;
		uint64_t number;
	} cases[] = {
		{"read", SYS_read},
		{"openat", SYS_openat},
		{"execve", SYS_execve},
		{"exit_group", SYS_exit_group},
		{"futex", SYS_futex},
		{"perf_event_open", SYS_perf_event_open},
		{"clone3", SYS_clone3},
		{"process_mrelease", SYS_process_mrelease},
		{"futex_waitv", SYS_futex_waitv},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(syscall_name(cases[i].number), cases[i].name);
		assert_int_equal(syscall_number_of(SYSCALLS_NATIVE, cases[i].name), cases[i].number);
	}
	assert_null(syscall_name(UINT64_MAX));
	assert_null(syscall_name(syscall_limit()));
}

static void other_tables(void **state)
{
	assert_string_equal(syscall_name_of(SYSCALLS_I386, 5), "open");
	assert_string_equal(syscall_name_of(SYSCALLS_I386, 192), "mmap2");
	assert_string_equal(syscall_name_of(SYSCALLS_ARM64, 56), "openat");
	assert_string_equal(syscall_name_of(SYSCALLS_ARM64, 222), "mmap");
	assert_string_equal(syscall_name_of(SYSCALLS_X86_64, 257), "openat");
	assert_int_equal(syscall_number_of(SYSCALLS_ARM64, "open"), -1);
}

RUN_TESTS(TEST(native_numbers_are_the_headers), TEST(other_tables))
