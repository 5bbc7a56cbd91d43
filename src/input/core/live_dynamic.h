// SPDX-License-Identifier: GPL-2.0-or-later
// Probes as dynamic events of tracefs (uprobe_events, kprobe_events: Documentation/trace/uprobetracer.rst, kprobetrace.rst) in a group of
// this process: static ones with their arguments as fields arg1, arg2, ..., and all that are inherited. They go when the input is closed;
// what a killed process left goes when the next one makes some.
#pragma once
#include "abi/tracepoint.h"
#include "base/vec.h"
#include "input/core/live_probe.h"

struct tracefs;

// Zero-initialised: none.
struct live_dynamic {
	struct tracefs *tracefs;
	char group[32]; // "sonde_PID"
	VEC(struct live_dynamic_event {
		char *name; // in the group
		char *what; // as it was defined
		bool in_kernel;
		const struct tracepoint *tp;
	})
	events;
};

// Makes an event of the probe, or takes the one that it has, and gives its id and format. -errno with a sentence: not allowed, no uprobe_events; then nothing was made.
// About 10 ms, as the kernel waits for all processors.
int live_dynamic_add(struct live_dynamic *dynamic, const struct live_probe *probe,
		     struct tracepoints *formats, const struct tracepoint **ret);
// No descriptor of the events may be open any more.
void live_dynamic_done(struct live_dynamic *dynamic);

// "-4@%edi 8@$3" as fetched by the kernel: " arg1=%di:s32 arg2=\3:u64", each behind a space; what it can't fetch is left out, *ret_left
// counts it. `machine` is the file's (EM_*).
void live_dynamic_fetch(struct out *out, uint16_t machine, const char *arguments, unsigned *ret_left);
