// SPDX-License-Identifier: GPL-2.0-or-later
// A profiler's tally (tally/tally.h): counts in the kernel where the run allows it.
#pragma once
#include "prof/core/profiler.h"
#include "tally/table.h"

// Why the kernel can't count: the run isn't live, not of all tasks, or something wants the single events. NULL: it can.
const char *prof_not_in_kernel(const struct prof *prof);
// The parts of an event that are the same for all profilers.
struct tally_event prof_tally_event(const struct prof_event *event);
// An event that is only counted in the kernel, by name; it is not one of the feed's. -errno with a sentence.
int prof_tally_event_by_name(struct prof *prof, const char *name, struct tally_event *ret);
// In setup; the run owns it, as prof->tally. plan: name, events' switches, machine and CPUs are filled in here. Where the kernel counts, no
// events will come. 1: it was wanted of the kernel alone, which can't; prof->tally stays NULL.
int prof_tally_open(struct prof *prof, struct tally_options *plan);
static inline bool prof_in_kernel(const struct prof *prof)
{
	return prof->tally && tally_in_kernel(prof->tally);
}
// now_ns of a result, by the clock of what waits in prof->tally.
uint64_t prof_tally_now(const struct prof *prof, uint64_t now_ns);
// The hook `typed`: a filter besides those of the events.
int prof_tally_typed(struct prof *prof, const char *line);
// A result: what was counted since the last one as a table. `title` makes the lines before it, of text.
int prof_put_tally(struct prof *prof, const struct tally_view *view, uint64_t now_ns,
		   void (*title)(struct prof *prof, uint64_t now_ns));
