// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks, and times as text. Times are ns in uint64_t.
#pragma once
#include "base/str.h"
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull

uint64_t time_now_ns(clockid_t clock);
// "seconds.fraction" (fraction up to 9 digits) as perf's --time takes it; -EINVAL, -ERANGE.
int time_parse_sec(struct str s, uint64_t *ret_ns);
