// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of perf events that ask for none (the scheduler's, local_clock()), which no system call reads: a record that the kernel
// writes of this thread says what it is.
#pragma once
#include "sys/ring.h"

struct perf_clock {
	struct ring ring;
	int fd; // -1: not open
};

// -errno, no sentence: it can't be read here. Then there is nothing to close.
int perf_clock_open(struct perf_clock *clock);
// What to add to a time of that clock for CLOCK_REALTIME's: from the narrowest of a few looks, which is exact to half of *ret_width_ns.
// -errno, no sentence. Some µs.
int perf_clock_wall(struct perf_clock *clock, int64_t *ret_offset_ns, uint64_t *ret_width_ns);
void perf_clock_close(struct perf_clock *clock);
