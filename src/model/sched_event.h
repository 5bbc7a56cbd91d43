// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler's events: what one hit of them says.
#pragma once
#include "abi/sample.h"
#include "data/recording.h"

// A task's state. It sleeps by the lowest bit of prev_state; the letters of those bits differ from kernel to kernel.
enum { SCHED_BITS = 8 };
enum sched_state {
	SCHED_RUNS,
	SCHED_SLEEPS,
	SCHED_WAITS = SCHED_SLEEPS +
		      SCHED_BITS, // it could run, also where the kernel marks it as preempted
	SCHED_STATES,
	SCHED_UNKNOWN = SCHED_STATES,
};

enum sched_kind { SCHED_OTHER, SCHED_SWITCH, SCHED_WAKEUP, SCHED_WAKEUP_NEW, SCHED_MIGRATE };

// The fields of one of them, looked up once.
struct sched_event {
	enum sched_kind kind;
	const struct tp_field *comm, *pid, *prio; // of who leaves the CPU, is woken up, migrates
	const struct tp_field *prev_state, *next_comm, *next_pid, *next_prio;
	const struct tp_field *success, *orig_cpu, *target_cpu; // of migrations: dest_cpu
	const struct tp_field *flags; // common_flags; NULL: there are none
	char letters[SCHED_BITS];     // from the format of the kernel it comes from
};

#define SCHED_INTERRUPT (UINT32_MAX - 1)

struct sched_hit {
	uint64_t time_ns;
	uint64_t mark;		   // the user's: goes into the states that begin with it
	uint32_t cpu;		   // where it happened
	uint32_t tid;		   // who leaves the CPU, is woken up, migrates
	uint32_t next;		   // of switches: who comes
	uint32_t by;		   // in whose context it happened; SCHED_INTERRUPT: nobody's own
	uint32_t from_cpu, to_cpu; // of migrations; of wake-ups: to_cpu
	enum sched_kind kind;
	uint8_t state; // of switches: in which tid leaves
	bool is_dead;  // likewise: and never comes back
};

// False: it is none of them, or has other fields.
bool sched_event_init(struct sched_event *ret, const struct event *event);
// Of SCHED_OTHER nothing but the kind.
struct sched_hit sched_hit_of(const struct sched_event *event, const struct sample *sample);
// Is it about a task: who leaves or comes, is woken up, migrates?
static inline bool sched_hit_is_about(const struct sched_hit *hit, uint32_t tid)
{
	return hit->kind != SCHED_OTHER &&
	       (hit->tid == tid || (hit->kind == SCHED_SWITCH && hit->next == tid));
}
// The name of hit.tid, as the event has it.
struct str sched_comm(const struct sched_event *event, const struct sample *sample);
// 'R' for one that could run.
char sched_letter(const struct sched_event *event, uint8_t state);
