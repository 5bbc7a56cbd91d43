// SPDX-License-Identifier: GPL-2.0-or-later
// Probes of programs (uprobes) in what watched tasks start. The kernel puts a probe's breakpoint into the processes of those tasks that its
// events were made for (kernel/trace/trace_uprobe.c, __uprobe_perf_filter), but between two tasks that inherited the same events it
// exchanges these at a switch instead of ending and beginning them (kernel/events/core.c, perf_event_context_sched_out). The first of the
// two that ends then takes the other's with it, and what that one runs by exec has no breakpoints. An event of everybody, which
// counts nothing, puts them into all processes that run the file; hits still count by who is watched.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "flow/target.h"

struct perf_event_attr;

// Zero-initialised: none.
struct everywhere {
	VEC(int) fds;
	VEC(int) starts;  // count the processes that watched tasks start
	struct map files; // of probes: id of the event -> path, heap
	bool knows_files;
	bool may_miss; // the probe of a library: its breakpoints would be in what everybody runs
};

// Takes in an event of the target as it was opened; one that is no inherited probe costs nothing. Failures are no errors: hits may be missed then.
void everywhere_add(struct everywhere *everywhere, const struct perf_event_attr *attr,
		    const struct target *target);
// Warns when hits may have been missed.
void everywhere_done(struct everywhere *everywhere);
