// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the live input.
#pragma once
#include "data/writer.h"
#include "expr/expr.h"
#include "flow/feed.h"
#include "flow/rings.h"
#include "event/core/dynamic.h"
#include "sys/perf_clock.h"
#include "sys/workload.h"

struct watching {
	struct feed *feed;
	struct event_specs specs; // of all names looked for
	struct event_context context;
	struct run *run;
	struct event_dynamic dynamic;
	struct arena arena;

	// while it runs
	struct event_spec *opened_specs; // [opened.events.n]
	struct feed_event **wanted;	 // likewise; NULL: the dummy
	struct target target;
	struct cgroup_mount cgroup_mount;
	struct cgroup_names cgroups;
	struct target asked; // with events that are everywhere: of whom they are wanted
	struct opened opened;
	struct workload workload;
	struct rings rings;
	uint64_t *last_counts; // [counted event * counts_stride + descriptor]
	size_t counts_n, counts_stride;
	int signal_fd, exit_signal;
	int asked_signal;		  // SIGUSR1, SIGUSR2; 0: none
	uint64_t next_tick_ns, enable_ns; // 0: none, it is on
	bool has_clockid, warned_not_running, knows_kernel;
	struct perf_clock clock; // of events without CLOCK_MONOTONIC
	uint64_t next_clock_ns;
	size_t cpus_n; // that there may be

	// processors come and go
	bool *online, *returned; // [cpu]: is there; was opened anew
	uint64_t next_look_ns;

	struct live_pull *pull; // events of other systems; NULL: none
	uint64_t settled_ns[2]; // when the last rounds began

	struct writer *writer; // of --to
	int to_fd;
};

// live_open.c: attrs and descriptors of all wanted events. -errno with a sentence.
int watching_open(struct watching *live);
// Reads the counted events and gives what they advanced.
int watching_counts(struct watching *live);
// What the kernel counted as lost in all (Linux 6.0 and newer), 0 where it doesn't say.
uint64_t watching_lost(const struct watching *live);

// Tells the unit of the descriptors on `n` places of CPUs from `first` on.
int watching_tell_opened(struct watching *live, size_t first, size_t n);
// Again after descriptors were opened anew: ids, plans.
void watching_note_ids(struct watching *live);
size_t watching_pages(const struct watching *live);

// live_cpus.c: what is online now; before the loop.
void watching_cpus_init(struct watching *live);
// Are there processors that came back or are new? Opens their events; what lies in the rings must have been given. 1: rings are other ones
// now; 0: nothing has changed; -errno with a sentence.
int watching_cpus(struct watching *live);
// Would watching_cpus find something? Looks at most once a second.
bool watching_cpus_changed(struct watching *live);

// live_filter.c: where the filter of an event runs: *ret_kernel is what the kernel gets, NULL: nothing; else wanted->test runs here.
// -EINVAL with a sentence.
int watching_filter(struct watching *live, struct feed_event *wanted, const char **ret_kernel);
// live_to.c: the recording of --to.
int watching_to_open(struct watching *live);
int watching_to_fresh(void *arg, const struct ring *ring, const struct ring_pieces *pieces);
int watching_to_close(struct watching *live);
// What was there before: tasks, and maps where they are wanted.
int watching_learn(struct watching *live);
// The kernel and its modules alone, for names in prints; a recording has them if it needs them.
void watching_learn_kernel(struct watching *live);
