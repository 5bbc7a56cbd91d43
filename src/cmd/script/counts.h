// SPDX-License-Identifier: GPL-2.0-or-later
// The raw counts of a recording that stat record made, as perf script prints them: a table at the end of each round.
#pragma once
#include "base/out.h"
#include "base/vec.h"
#include "data/recording.h"

struct counts_value {
	uint64_t value, enabled_ns, running_ns;
};

struct counts {
	VEC(int) cpus, threads;	     // of the first maps; -1: any
	struct counts_value *values; // by event, CPU, thread
	size_t events_n;
	bool has_heading;
};

// A record of the tools; prints at STAT_ROUND.
void counts_take(struct counts *counts, struct out *out, struct recording *recording,
		 const struct perf_event_header *header);
void counts_done(struct counts *counts);
