// SPDX-License-Identifier: GPL-2.0-or-later
// What the scheduler does, as its hits tell it: which state each task is in and since when, which task each CPU runs, who woke whom.
// A part of the hits is enough for a part of the answers: of tasks that are wanted those about them, of CPUs all their switches.
// What was lost or is hidden is unknown, and counted as such; nothing is guessed across it.
// prof rundelay is no view of this: it is prof multi-trace with the scheduler's events, so users may choose those, add others and give
// them attributes, and its rows are which event began a wait and which ended it, not states. Its waits are RD's of task-state all the same
// (test/truth/prof).
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "model/sched_event.h"

#define SCHED_NOBODY UINT32_MAX // who runs is not known
enum { SCHED_MOST_CPUS = 1 << 16 };

struct sched_task {
	uint64_t since_ns;
	uint64_t mark; // of the hit that began the state
	uint32_t tid;  // 0: an unused place
	uint32_t cpu;  // where it runs, has run or is to run; UINT32_MAX: not known
	uint32_t waker; // who woke it up to what it does since; SCHED_INTERRUPT; SCHED_NOBODY: nobody, or not known
	uint32_t user; // the user's, 0 at first
	uint8_t state; // enum sched_state
};

// Since the user cleared it.
struct sched_use {
	uint64_t busy_ns, idle_ns;
	uint64_t unknown_ns; // the kernel did not show all switches, or some were lost
	uint64_t switches_n;
};

struct sched_cpu {
	struct sched_use use;
	uint64_t since_ns;
	uint32_t tid; // who runs; SCHED_NOBODY
	bool seen;    // there was a switch
};

// Zero-initialised keeps CPUs alone.
struct sched {
	// To be set before the first hit.
	void *arg;
	// A known state of a task ends with a hit; it may be earlier than when it began. Hit NULL: it has ended, but what ended it was
	// not shown, as when a task leaves a CPU that it wasn't seen to come to. left NULL: tasks aren't kept.
	void (*left)(void *arg, struct sched_task *task, const struct sched_hit *hit);
	bool (*wanted)(void *arg, uint32_t tid); // whose states are kept; NULL: all but the idle ones'
	bool asks_again;			 // who was wanted may no longer be
	// A switch ends the time that hit.tid ran on hit.cpu; not called where it isn't known.
	void (*ran)(void *arg, const struct sched_hit *hit, uint64_t ns);
	size_t limit; // of tasks; 0: 1 << 20. Above it the half that changed the longest ago is forgotten and counted.

	VEC(struct sched_task) tasks;
	VEC(struct sched_cpu) cpus;
	struct map by_tid; // -> index of tasks
	VEC(uint32_t) unused;
	uint64_t forgotten_n; // tasks, by the limit
	uint64_t odd_cpus_n;  // hits of CPUs above SCHED_MOST_CPUS
};

void sched_done(struct sched *sched);
// In the order of time. About 20 ns.
void sched_take(struct sched *sched, const struct sched_hit *hit);
// NULL: nothing is known of it. Valid until the next hit.
struct sched_task *sched_task(const struct sched *sched, uint32_t tid);
// Something was lost on a CPU, UINT32_MAX: anywhere. Who runs there is not known from now on, nor the state of any task: their number.
size_t sched_lost(struct sched *sched, uint32_t cpu);
// What CPUs do counts up to now; the rest belongs to what comes.
void sched_cut(struct sched *sched, uint64_t now_ns);
