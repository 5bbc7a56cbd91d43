// SPDX-License-Identifier: GPL-2.0-or-later
// What a report that goes on for days keeps of the past.
//
// top is a report of a run out of the rings. At a refresh the rows are finished for the screen, and a copy with seven eighths
// of their weight (hist/age.c) takes what follows. So a refresh costs some 4 us a row, samples cost what they cost in report,
// and memory holds what still weighs something.
#include "base/radix.h"
#include "hist/report.h"

enum { GONE = UINT32_MAX, MANY_ENTRIES = 1 << 16, MANY_SAMPLES = 1 << 30 };
// Entries below this part of the whole are shown as 0.00% and can't come to the top again by themselves.
static const uint64_t least_part = 20000;

struct aging {
	struct hist *to;
	uint64_t eighths, least;
	bool only_frequent; // there is no room for what came once
	uint32_t *ids;	    // by old id; GONE
};

static uint64_t aged(const struct aging *aging, uint64_t n)
{
	return (uint64_t)((__uint128_t)n * aging->eighths / 8);
}

static void age_entry(struct aging *aging, const struct entry *from)
{
	struct entry e = *from, *to;
	struct entry_more *more;

	aging->ids[from->id] = GONE;
	e.period = aged(aging, e.period);
	e.samples = (uint32_t)aged(aging, e.samples);
	if (!e.period || e.period < aging->least || (aging->only_frequent && !e.samples))
		return;
	e.met = 0;
	to = hist_entry(aging->to, &e);
	aging->ids[from->id] = to->id;
	if (!aging->to->report->has_modes)
		return;
	more = entry_more(to);
	more->period_sys = aged(aging, from->more->period_sys);
	more->period_us = aged(aging, from->more->period_us);
	more->period_guest_sys = aged(aging, from->more->period_guest_sys);
	more->period_guest_us = aged(aging, from->more->period_guest_us);
}

static void age_pair(struct aging *aging, const struct pair *from)
{
	struct pair pair = *from;
	struct hist *to = aging->to;
	struct pair *known;
	bool is_new;

	pair.entry = aging->ids[from->entry];
	pair.period = aged(aging, pair.period);
	if (pair.entry == GONE || !pair.period)
		return;
	pair.count = (uint32_t)aged(aging, pair.count);
	known = hist_pair(to, pair.entry, pair.stack, &is_new);
	if (is_new) {
		*known = pair;
	} else {
		known->period += pair.period;
		known->count += pair.count;
	}
}

// Samples are numbered anew, in their order, before the numbers end.
static void renumber(struct hist *hist)
{
	size_t entries_n = hist->entries.n, n = entries_n + hist->pairs.n;
	struct keyed *list = xcalloc(n + 1, sizeof(*list));
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = i < entries_n ? hist->entries.v[i]->first
					       : hist->pairs.v[i - entries_n].first;

		list[i] = (struct keyed){first, i};
	}
	radix_sort(list, n);
	hist->seen = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = list[i].value;

		hist->seen += !i || list[i].key != before;
		before = list[i].key;
		if (at < entries_n)
			hist->entries.v[at]->first = hist->seen;
		else
			hist->pairs.v[at - entries_n].first = hist->seen;
	}
	free(list);
}

struct hist *hist_aged(struct hist *hist, unsigned keep_eighths)
{
	struct aging aging = {.to = hist_new(hist->report, hist->event), .eighths = keep_eighths};
	struct hist *to = aging.to;
	uint64_t total = 0;

	hist_settle(hist);
	to->seen = hist->seen;
	if (!keep_eighths)
		return to;
	to->samples = (uint32_t)aged(&aging, hist->samples);
	to->shown_samples = (uint32_t)aged(&aging, hist->shown_samples);
	to->chain_period = aged(&aging, hist->chain_period);
	to->chain_shown_period = aged(&aging, hist->chain_shown_period);
	for (size_t i = 0; i < hist->entries.n; i++)
		total += hist->entries.v[i]->period;
	aging.least = keep_eighths < 8 ? total / least_part : 0;
	aging.only_frequent = hist->entries.n > MANY_ENTRIES;
	aging.ids = xcalloc(hist->entries.n + 1, sizeof(*aging.ids));
	for (size_t i = 0; i < hist->entries.n; i++)
		age_entry(&aging, hist->entries.v[i]);
	for (size_t i = 0; i < hist->pairs.n; i++)
		age_pair(&aging, &hist->pairs.v[i]);
	free(aging.ids);
	if (to->seen > MANY_SAMPLES)
		renumber(to);
	return to;
}

void report_forget_stacks(struct report *report)
{
	stacks_done(&report->stacks);
	report_init_stacks(report);
	intern_done(&report->texts);
	intern_init(&report->texts);
	// Flags of frames that are other ones now.
	free(report->frame_parent);
	free(report->frame_ignored);
	report->frame_parent = report->frame_ignored = NULL;
	report->frame_flags_n = 0;
}
