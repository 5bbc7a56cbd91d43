// SPDX-License-Identifier: GPL-2.0-or-later
// What profilers share that pair events: which belong together when nobody says it, and how long it was between them.
#pragma once
#include "prof/core/profiler.h"

// Does the event belong to its CPU, or to the scheduler, rather than to the task in whose context it happens (irq, timer, sched, ...)?
bool prof_is_of_cpu(const struct prof_event *event);

// The idle tasks of all CPUs are thread 0: each has a number of its own, above those of threads.
#define PROF_IDLE_KEY 0x100000000ull
#define PROF_THREAD_KEY "_tid ? _tid : 0x100000000 + _cpu" // as an expression
static inline uint64_t prof_thread_key(const struct sample *sample)
{
	return sample->tid ? sample->tid : PROF_IDLE_KEY + sample->cpu;
}

// From the first event of a pair to its second. False: the second happened before the first, so they are none; that is counted, and told
// with the next result.
bool prof_delay(struct prof *prof, uint64_t first_ns, uint64_t second_ns, uint64_t *ret_ns);
// Beside a result: how many pairs ran backward since the last one. Nothing when none, or with -q.
void prof_put_backward(struct prof *prof, uint64_t now_ns);
