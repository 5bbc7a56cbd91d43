// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the system calls of the machine that this was built for.
#pragma once
#include <stdint.h>

// "openat", or NULL. A string literal.
const char *syscall_name(uint64_t number);
// Above all known numbers.
uint32_t syscall_limit(void);
