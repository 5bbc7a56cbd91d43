// SPDX-License-Identifier: GPL-2.0-or-later
// Entries become rows: accumulated, put in order (hist/sort.h), members of a group brought together.
#include "base/log.h"
#include "hist/sort.h"

uint64_t hist_total(const struct hist *hist)
{
	return !strcmp(hist->report->o.percentage, "relative") ? hist->total_shown_period
							       : hist->total_period;
}

float entry_percent(const struct entry *e)
{
	uint64_t total = hist_total(e->hist), period = e->hist->report->children ? e->acc : e->period;

	return total ? (float)((double)period * 100.0 / (double)total) : 0;
}

static void set_member(struct entry *leader, struct entry *member)
{
	uint32_t n = leader->hist->event->group_members,
		 i = member->hist->event->index - leader->hist->event->index;

	if (!leader->more->members)
		entry_more(leader)->members =
			arena_zalloc(&leader->hist->arena, n * sizeof(*leader->more->members));
	if (i < n)
		leader->more->members[i] = member;
}

// Rows of the other events of a group stand in the leader's; those that it lacks are added there, empty.
static void match_members(struct hist *leader, struct hist *other)
{
	for (size_t i = 0; i < other->sorted_n; i++) {
		struct entry *e = other->entries.v[other->sorted[i]], *there = hist_find(leader, e);

		if (!there) {
			struct entry empty = *e;

			empty.more = &entry_no_more;
			entry_clear(&empty);
			empty.max_depth = 0; // it has no stacks
			there = hist_entry(leader, &empty);
			there->dummy = true;
			hist_insert(leader, there->id);
		}
		set_member(there, e);
	}
}

static void add_totals(struct hist *hist, const struct entry *e)
{
	hist->total_period += e->period;
	if (!e->filtered) {
		hist->total_shown_period += e->period;
		if (hist->report->measure)
			hist->report->measure(hist, e);
	}
}

static bool symbol_filtered(const struct report *report, const struct entry *e)
{
	return report->o.symbol_filter &&
	       (!e->place.sym || !strstr(e->place.sym->name, report->o.symbol_filter));
}

// What perf compares: of neighbours in the order of their keys the older one, when the newer one comes; when rows are put into
// order, the second of two that weigh the same.
static void note_compared(struct hist *hist, const uint32_t *ids, bool as_rows)
{
	struct report *report = hist->report;

	for (size_t i = 0; i < hist->sorted_n; i++) {
		struct entry *e = hist->entries.v[ids[i]];
		struct entry *before = i ? hist->entries.v[ids[i - 1]] : NULL;

		for (size_t c = 0; c < report->sorts.n; c++) {
			struct column *column = report->sorts.v[c];

			if (e->samples > 1)
				column_was_compared(column, e);
			if (!before)
				continue;
			if (!as_rows)
				column_was_compared(column, before->id < e->id ? before : e);
			else if (before->period == e->period)
				column_was_compared(column, e);
			if (column_compare(column, before, e))
				before = NULL;
		}
	}
}

static void make_rows(struct hist *hist)
{
	uint32_t *ids;

	hist_list_again(hist);
	if (hist->report->has_dynamic)
		note_compared(hist, hist->sorted, false);
	for (size_t i = 0; i < hist->sorted_n; i++) {
		if (i + HIST_AHEAD < hist->sorted_n)
			hist_expect_entry(hist, hist->sorted[i + HIST_AHEAD]);
		add_totals(hist, hist->entries.v[hist->sorted[i]]);
	}
	if (hist->report->no_rows)
		return;
	ids = xmemdup(hist->sorted, hist->sorted_n * sizeof(*ids));
	hist_sort_rows(hist, ids, hist->sorted_n);
	if (hist->report->has_dynamic)
		note_compared(hist, ids, true);
	hist->rows = xcalloc(hist->sorted_n + 1, sizeof(*hist->rows));
	hist->rows_n = hist->sorted_n;
	for (size_t i = 0; i < hist->rows_n; i++)
		hist->rows[i] = hist->entries.v[ids[i]];
	free(ids);
}

// Without call chains the accumulated period is the entry's own.
static void own_is_all(struct hist *hist)
{
	for (size_t i = 0; i < hist->entries.n; i++)
		hist->entries.v[i]->acc = hist->entries.v[i]->period;
}

static struct hist *hist_at(struct report *report, size_t i)
{
	return report_hist(report, report->run->recording->events.v[i]);
}

// perf applies these when entries collapse, as all do in a hierarchy, and only to the first event the one for symbols.
static void late_filters(struct hist *hist)
{
	struct report *report = hist->report;

	if (!report->needs_collapse && !report->o.hierarchy)
		return;
	for (size_t i = 0; i < hist->entries.n; i++) {
		struct entry *e = hist->entries.v[i];

		if (hist->event->index == 0 && symbol_filtered(report, e))
			e->filtered |= HIDDEN_SYMBOL;
		if (report->o.socket > -1 && entry_socket(report, e) != report->o.socket)
			e->filtered |= HIDDEN_SOCKET;
	}
}

// What callers add up to, and the call graphs.
static void make_chains(struct report *report)
{
	const struct recording *recording = report->run->recording;

	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = hist_at(report, i);

		if (report->children && !hist->pairs.n)
			own_is_all(hist);
		else
			hist_chains(hist);
		debug("%s: %zu rows, %zu contexts, %zu distinct stacks of rows; %zu frames, %zu stack nodes in all",
		      hist->event->name, hist->entries.n, hist->contexts.n, hist->pairs.n,
		      report->stacks.frames.n, report->stacks.nodes.n);
		hist_forget_pairs(hist);
	}
}

static void put_in_order(struct report *report)
{
	const struct recording *recording = report->run->recording;

	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = hist_at(report, i);

		late_filters(hist);
		hist_sort_keys(hist);
		if (report->o.hierarchy)
			hierarchy_build(hist);
		if (report->grouped && hist->event->leader != hist->event) {
			struct hist *leader = report_hist(report, hist->event->leader);

			if (report->o.hierarchy)
				hierarchy_match(leader, hist);
			else
				match_members(leader, hist);
		}
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		if (report->o.hierarchy)
			hierarchy_sort(hist_at(report, i));
		else
			make_rows(hist_at(report, i));
	}
}

void report_finish(struct report *report)
{
	const struct recording *recording = report->run->recording;

	// No chain comes any more: what found them again makes room for what follows, and so do the stacks that call graphs are made of.
	stacks_end(&report->stacks);
	make_chains(report);
	for (size_t i = 0; i < recording->events.n; i++)
		vec_done(&hist_at(report, i)->pairs);
	vec_done(&report->stacks.nodes);
	put_in_order(report);
}

void report_make_rows(struct report *report)
{
	make_chains(report);
	put_in_order(report);
}
