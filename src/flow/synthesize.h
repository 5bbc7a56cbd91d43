// SPDX-License-Identifier: GPL-2.0-or-later
// Records for what was there before the recording began: tasks, their maps, the kernel and its modules, cgroups; from
// /proc and /sys, in the form the kernel would have given them.
#pragma once
#include "base/perf_event.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Gets one whole record; valid only during the call. 0, or negative to end.
typedef int synth_emit(void *arg, const struct perf_event_header *header);

struct synth {
	const char *root;	// of /proc and /sys, "" normally
	uint16_t trailer_bytes; // zeroed room for the sample ids (see sample_plan.trailer_size)
	bool mmap_data;		// maps that are not executable too
	bool namespaces;
	bool no_mmaps, no_tasks;
	uint64_t timeout_ns; // per process for reading its maps; 0: none
	synth_emit *emit;
	void *arg;
	bool exact_end; // of the kernel's text: costs some 100 ms
};

// The kernel's own text and its modules. Without the right to see addresses (kptr_restrict) only says nothing: 0, with
// *ret_hidden set.
int synth_kernel(const struct synth *synth, bool *ret_hidden);
// All threads of a process, and its maps. A process that is gone gives nothing.
int synth_process(const struct synth *synth, pid_t pid);
int synth_all_processes(const struct synth *synth);
// The map that has an address, if it is anonymous but holds a file's code (flow/moved_text): as one of the file.
int synth_moved_text(const struct synth *synth, pid_t pid, uint64_t addr);
// The process of a thread; the thread itself where that can't be read.
pid_t synth_process_of(pid_t tid);
// Ids and paths below the cgroup2 mount (or v1 perf_event).
int synth_cgroups(const struct synth *synth, const char *mount);
