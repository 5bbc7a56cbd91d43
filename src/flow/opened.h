// SPDX-License-Identifier: GPL-2.0-or-later
// Events opened for a target: one descriptor per event, CPU and thread, and a ring per CPU (or thread).
#pragma once
#include "event/core/spec.h"
#include "flow/everywhere.h"
#include "flow/target.h"
#include "sys/perf.h"
#include "sys/ring.h"

struct opened_event {
	struct event_spec *spec; // its attr is as the kernel took it
	const char *name;
	int cgroup_fd; // -1: none; closed at the end, several events may have the same
	uint32_t leader, group_n;
	VEC(int) fds;	   // [cpu * threads + thread], -1: not opened
	VEC(uint64_t) ids; // of those that are open
	bool system_wide;  // opened for everybody on the CPUs, whatever the target (dummy)
};

struct opened {
	const struct target *target;
	struct event_specs *specs; // where the specs stand; NULL: events are opened as they are or not at all
	VEC(struct opened_event) events;
	VEC(struct ring) rings;
	struct perf_missing missing;
	struct everywhere everywhere;
	bool kernel_excluded; // had to: kernel.perf_event_paranoid
};

// Adds an event before opening; returns its place.
struct opened_event *opened_add(struct opened *opened, struct event_spec *spec);
// Opens all. Where the kernel may not be watched events fall back to user space (":u"), cycles without a counter to
// cpu-clock; both are told with warn(). -errno with a sentence.
int opened_open(struct opened *opened, const struct target *target);
// A ring of `pages` (power of two; 0: as much as allowed up to 512 KiB) per CPU or thread, all events of
// it writing there.
int opened_map(struct opened *opened, size_t pages, bool overwrite);
// The events of target->cpus.v[cpu] anew, and its ring where there are rings: the CPU was offline, or has just been added behind the others.
// Events are switched off. -errno with a sentence.
int opened_cpu_again(struct opened *opened, size_t cpu, size_t pages);
int opened_ioctl(struct opened *opened, unsigned long request, unsigned long arg, bool leaders_only);
// The last event first: what ends something stands behind what begins it, so no beginning is seen whose end is not.
int opened_enable(struct opened *opened);
int opened_disable(struct opened *opened);
// PERF_EVENT_IOC_SET_FILTER for those that have one.
int opened_filter(struct opened *opened);
void opened_done(struct opened *opened);
