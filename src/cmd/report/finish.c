// SPDX-License-Identifier: GPL-2.0-or-later
// Entries become rows: accumulated, put in order, members of a group brought together.
#include "cmd/report/report.h"

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

static int key_order(void *arg, uint32_t a, uint32_t b)
{
	const struct hist *hist = arg;
	int64_t cmp = entry_compare(hist->report, hist->entries.v[b], hist->entries.v[a]);

	return cmp < 0 ? -1 : cmp > 0;
}

static int row_order(void *arg, uint32_t a, uint32_t b)
{
	const struct hist *hist = arg;

	return entry_sort(hist->report, hist->entries.v[a], hist->entries.v[b]) > 0 ? -1 : 1;
}

static int by_first(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->first_at != y->first_at)
		return x->first_at < y->first_at ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int64_t cmp = entry_compare(arg, y, x);

	if (cmp)
		return cmp < 0 ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

// perf's tree of entries, and a second time when a key collapses.
static void order_by_key(struct hist *hist)
{
	struct report *report = hist->report;
	struct entry **list = xcalloc(hist->entries.n + 1, sizeof(*list));
	uint32_t *ids;

	for (size_t i = 0; i < hist->entries.n; i++)
		list[i] = hist->entries.v[i];
	if (report->no_order)
		qsort(list, hist->entries.n, sizeof(*list), by_first);
	else
		qsort_r(list, hist->entries.n, sizeof(*list), by_key, report);
	for (size_t i = 0; i < hist->entries.n; i++)
		order_insert(&hist->in, list[i]->id, key_order, hist);
	if (report->no_order && report->needs_collapse) {
		struct order collapsed = {0};

		ids = xcalloc(hist->entries.n + 1, sizeof(*ids));
		order_list(&hist->in, ids);
		for (size_t i = 0; i < hist->entries.n; i++)
			order_insert(&collapsed, ids[i], key_order, hist);
		free(ids);
		order_done(&hist->in);
		hist->in = collapsed;
	}
	free(list);
}

static void set_member(struct report *report, struct entry *leader, struct entry *member)
{
	uint32_t n = leader->hist->event->group_members, i = member->hist->event->index - leader->hist->event->index;

	if (!leader->members)
		leader->members = arena_zalloc(&report->arena, n * sizeof(*leader->members));
	if (i < n)
		leader->members[i] = member;
}

// Rows of the other events of a group stand in the leader's; those that it lacks are added there, empty.
static void match_members(struct hist *leader, struct hist *other)
{
	struct report *report = leader->report;
	uint32_t *ids = xcalloc(other->in.nodes.n + 1, sizeof(*ids));

	order_list(&other->in, ids);
	for (size_t i = 0; i < other->in.nodes.n; i++) {
		struct entry *e = other->entries.v[ids[i]], *there = hist_find(leader, e);

		if (!there) {
			struct entry empty = *e;

			empty.period = empty.period_sys = empty.period_us = empty.acc = 0;
			empty.period_guest_sys = empty.period_guest_us = 0;
			empty.samples = 0;
			empty.tree = NULL;
			empty.members = NULL;
			there = hist_entry(leader, &empty);
			there->dummy = true;
			order_insert(&leader->in, there->id, key_order, leader);
		}
		set_member(report, there, e);
	}
	free(ids);
}

static void add_totals(struct hist *hist, const struct entry *e)
{
	hist->total_period += e->period;
	if (!e->filtered) {
		hist->total_shown_period += e->period;
		hist_widths_of(hist, e);
	}
}

static bool symbol_filtered(const struct report *report, const struct entry *e)
{
	return report->o.symbol_filter &&
	       (!e->place.sym || !strstr(e->place.sym->name, report->o.symbol_filter));
}

static void make_rows(struct hist *hist)
{
	size_t n = hist->in.nodes.n;
	uint32_t *ids = xcalloc(n + 1, sizeof(*ids));
	struct order rows = {0};

	order_list(&hist->in, ids);
	vec_reserve(&rows.nodes, n);
	for (size_t i = 0; i < n; i++) {
		order_insert(&rows, ids[i], row_order, hist);
		add_totals(hist, hist->entries.v[ids[i]]);
	}
	order_list(&rows, ids);
	hist->rows = xcalloc(n + 1, sizeof(*hist->rows));
	hist->rows_n = n;
	for (size_t i = 0; i < n; i++)
		hist->rows[i] = hist->entries.v[ids[i]];
	free(ids);
	order_done(&rows);
}

// Without call chains the accumulated period is the entry's own.
static void own_is_all(struct hist *hist)
{
	for (size_t i = 0; i < hist->entries.n; i++)
		hist->entries.v[i]->acc = hist->entries.v[i]->period;
}

static struct hist *hist_at(struct report *report, size_t i)
{
	return report_hist(report, report->session->recording->events.v[i]);
}

// perf applies these when entries collapse, and only to the first event the one for symbols.
static void late_filters(struct hist *hist)
{
	struct report *report = hist->report;

	if (!report->needs_collapse)
		return;
	for (size_t i = 0; i < hist->entries.n; i++) {
		struct entry *e = hist->entries.v[i];

		if (hist->event->index == 0 && symbol_filtered(report, e))
			e->filtered |= HIDDEN_SYMBOL;
		if (report->o.socket > -1 && e->socket != report->o.socket)
			e->filtered |= HIDDEN_SOCKET;
	}
}

void report_finish(struct report *report)
{
	struct recording *recording = report->session->recording;

	trie_init(&report->trie, (const struct trie_node *)report->stacks.nodes.v,
		  (uint32_t)report->stacks.nodes.n);
	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = hist_at(report, i);

		if (report->children && !hist->pairs.n)
			own_is_all(hist);
		else
			hist_chains(hist);
		map_done(&hist->pair_ids);
		late_filters(hist);
		order_by_key(hist);
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
