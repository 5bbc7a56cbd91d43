// SPDX-License-Identifier: GPL-2.0-or-later
// What profilers share that pair events: which belong together when nobody says it, and how long it was between them.
#pragma once
#include "agg/pairs.h"
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
// Behind a result: how many events found no row (prof->no_place_n).
void prof_put_no_place(struct prof *prof, uint64_t now_ns);

// What waits for its second event for longer than some time, at a result. The newest are shown, as those that wait for ever are known by then.
enum { PROF_OPEN_SHOWN = 20 };
struct prof_open {
	VEC(struct pair_slot) v;
	uint64_t than_ns, now_ns; // now: by the events' clock
};
// now_ns: as interval and finish get it.
void prof_open_init(struct prof_open *open, const struct prof *prof, uint64_t than_ns,
		    uint64_t now_ns);
// Takes it when it waits for so long.
void prof_open_add(struct prof_open *open, const struct pair_slot *slot);
// The newest first; how many of them to show.
size_t prof_open_sort(struct prof_open *open);
// "`Open 123.456 us" behind what was shown of one.
void prof_open_put(struct prof *prof, const struct prof_open *open, const struct pair_slot *slot);
// How many were not shown; ends it.
void prof_open_done(struct prof_open *open, struct prof *prof);
