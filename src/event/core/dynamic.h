// SPDX-License-Identifier: GPL-2.0-or-later
// Probes as dynamic events of tracefs (uprobe_events, kprobe_events: Documentation/trace/uprobetracer.rst, kprobetrace.rst) in a group of
// this process: static ones with their arguments as fields arg1, arg2, ..., and all that are inherited or recorded. They go at the end;
// what a killed process left goes when the next one makes some.
#pragma once
#include "base/vec.h"
#include "event/core/probe.h"
#include "event/core/spec.h"

struct out;
struct tracefs;

struct event_made {
	char *name; // in the group
	char *what; // as it was defined
	bool in_kernel;
	uint64_t id; // for perf_event_open
};

// Zero-initialised: none. One for all that a process makes, as names are unique in it.
struct event_dynamic {
	struct tracefs *tracefs;
	char group[32]; // "sonde_PID"
	VEC(struct event_made) events;
};

// Makes an event of the probe, or takes the one that it has; *ret is valid until the next call. -errno with a sentence: not allowed, no
// uprobe_events; then nothing was made. About 10 ms, as the kernel waits for all processors. Signals that end the process must wait for
// event_dynamic_done (sys/signals).
int event_dynamic_add(struct event_dynamic *dynamic, const struct event_probe *probe,
		      const struct event_made **ret);
// Makes the events of those specs that are probes; before that they have no id.
int event_dynamic_make(struct event_dynamic *dynamic, struct event_specs *specs);
// One that stays, of any group. A second one of a name adds a place to the event (Linux 5.5), where its fields are the same. -errno with a
// sentence.
int event_probe_define(const struct tracefs *tracefs, const struct event_probe *probe,
		       const char *group, const char *name);
// No descriptor of the events may be open any more.
void event_dynamic_done(struct event_dynamic *dynamic);

// "-4@%edi 8@$3" as fetched by the kernel: " arg1=%di:s32 arg2=\3:u64", each behind a space; what it can't fetch is left out, *ret_left
// counts it. `machine` is the file's (EM_*).
void event_dynamic_fetch(struct out *out, uint16_t machine, const char *arguments,
			 unsigned *ret_left);
