// SPDX-License-Identifier: GPL-2.0-or-later
// Names and numbers of system calls.
#pragma once
#include <stdint.h>

enum syscalls {
	SYSCALLS_X86_64,
	SYSCALLS_I386, // also the 32-bit calls of an x86-64 kernel
	SYSCALLS_ARM64,
#ifdef __aarch64__
	SYSCALLS_NATIVE = SYSCALLS_ARM64,
#else
	SYSCALLS_NATIVE = SYSCALLS_X86_64,
#endif
};

// "openat", or NULL. A string literal.
const char *syscall_name_of(enum syscalls of, uint64_t number);
// -1: there is none. Some us.
int64_t syscall_number_of(enum syscalls of, const char *name);
// Above all known numbers.
uint32_t syscall_limit_of(enum syscalls of);

// Of the machine that this was built for.
const char *syscall_name(uint64_t number);
uint32_t syscall_limit(void);
