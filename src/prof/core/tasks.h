// SPDX-License-Identifier: GPL-2.0-or-later
// Which tasks the scheduler's events are wanted of: -p, -t, a command with all that it starts, or names (--filter). The events
// themselves come from all CPUs, as a task is woken up and switched to by others.
#pragma once
#include "base/map.h"
#include "prof/core/profiler.h"

struct prof_tasks {
	bool all;	   // no choice
	bool by_set;	   // events are told apart here, by `set`; else the kernel's filters do it
	bool by_group;	   // --cgroups tells them apart
	bool follows;	   // what they start is wanted, too
	bool processes;	   // of a recording: ids are of processes with all their threads
	bool started;	   // the command's first task is in the set
	struct map set;	   // tid -> 1
	const char *comms; // of --filter, NULL: none
};

// In setup. Sets prof->everywhere. -errno with a sentence.
int prof_tasks_init(struct prof_tasks *tasks, struct prof *prof, const char *comms);
void prof_tasks_done(struct prof_tasks *tasks);
// A kernel filter over a field with a task's id and one with its name, such as "prev_pid", "prev_comm"; NULL: all.
const char *prof_tasks_filter(const struct prof_tasks *tasks, struct prof *prof, const char *pid,
			      const char *comm);
// To be called with every record: tasks that wanted ones start are wanted.
void prof_tasks_record(struct prof_tasks *tasks, struct prof *prof,
		       const struct perf_event_header *header);
bool prof_tasks_slow(struct prof_tasks *tasks, struct prof *prof, uint32_t tid);
static inline bool prof_tasks_wanted(struct prof_tasks *tasks, struct prof *prof, uint32_t tid)
{
	return !tasks->by_set || prof_tasks_slow(tasks, prof, tid);
}
