// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler's events: their short texts ("bash:12 [120] S ==> swapper/0:0 [120]") and the letters of task states.
#pragma once
#include "base/out.h"
#include "data/recording.h"

enum { SCHED_STATES = 8 };

enum sched_kind { SCHED_OTHER, SCHED_SWITCH, SCHED_WAKEUP, SCHED_WAKEUP_NEW, SCHED_MIGRATE };

// The fields of one of them, looked up once.
struct sched_event {
	enum sched_kind kind;
	const struct tp_field *prev_comm, *prev_pid, *prev_prio, *prev_state, *next_comm, *next_pid,
		*next_prio;
	const struct tp_field *comm, *pid, *prio, *success,
		*target_cpu;	    // of wake-ups; of migrations: dest_cpu
	char letters[SCHED_STATES]; // by bit of prev_state, from the format of the kernel it comes from
};

// False: it is none of them, or has other fields.
bool sched_event_init(struct sched_event *ret, const struct event *event);
// 'R' for a task that wanted to run on, also where the kernel marks it as preempted (bit 8).
char sched_state(const struct sched_event *event, uint64_t prev_state);
// The short text of a switch or a wake-up.
void sched_event_print(struct out *out, const struct sched_event *event, const void *raw,
		       uint32_t size);
