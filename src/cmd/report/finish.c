// SPDX-License-Identifier: GPL-2.0-or-later
// Entries become rows: accumulated, put in order, members of a group brought together.
#include "base/log.h"
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

static const char *comm_text(const struct report *report, uint32_t comm)
{
	return intern_get(&report->session->sym->strings, comm);
}

static int by_comm(const void *a, const void *b, void *arg)
{
	return strcmp(comm_text(arg, *(const uint32_t *)a), comm_text(arg, *(const uint32_t *)b));
}

static int by_dso(const void *a, const void *b, void *arg)
{
	const struct report *report = arg;
	const struct dso *x = report->session->sym->dsos.v[*(const uint32_t *)a];
	const struct dso *y = report->session->sym->dsos.v[*(const uint32_t *)b];

	return report->verbose > 0 ? strcmp(x->long_name, y->long_name)
				   : strcmp(x->short_name, y->short_name);
}

// Places of 0..n-1 in the order, equal ones equal; [n] is behind all.
static uint32_t *make_ranks(struct report *report, uint32_t n,
			    int (*compare)(const void *, const void *, void *))
{
	uint32_t *sorted = xcalloc(n + 1, sizeof(*sorted)), *ranks = xcalloc(n + 1, sizeof(*ranks));

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort_r(sorted, n, sizeof(*sorted), compare, report);
	for (uint32_t i = 0; i < n; i++) {
		bool same = i && compare(&sorted[i - 1], &sorted[i], report) == 0;

		ranks[sorted[i]] = same ? ranks[sorted[i - 1]] : i;
	}
	ranks[n] = n;
	free(sorted);
	return ranks;
}

// The leading comm and dso keys become one number, so that most comparisons are one of numbers.
static void rank_entries(struct hist *hist)
{
	struct report *report = hist->report;
	struct sym *sym = report->session->sym;
	uint32_t dsos_n = (uint32_t)sym->dsos.n, *comms = NULL, *dsos = NULL;
	size_t i = 0;

	for (; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];
		bool is_comm = column->key && column->key->width == WIDTH_COMM;
		bool is_dso = column->key && column->key->width == WIDTH_DSO;

		if (!column->key && !column->field)
			continue;
		if (is_comm && !comms)
			comms = make_ranks(report, (uint32_t)sym->strings.strings.n, by_comm);
		else if (is_dso && !dsos)
			dsos = make_ranks(report, dsos_n, by_dso);
		else
			break;
		for (size_t j = 0; j < hist->entries.n; j++) {
			struct entry *e = hist->entries.v[j];

			e->rank = e->rank << 32 |
				  (is_comm ? comms[e->comm]
					   : dsos[e->place.dso ? e->place.dso->id : dsos_n]);
		}
	}
	hist->ranked_columns = i;
	free(comms);
	free(dsos);
}

// What the usual comparisons need, close together: rank and symbol, then the weights.
static void make_compact(struct hist *hist)
{
	const struct report *report = hist->report;
	size_t from = hist->ranked_columns, others = 0;

	for (size_t i = from; i < report->sorts.n; i++)
		others += report->sorts.v[i]->key || report->sorts.v[i]->field;
	hist->compact = xcalloc(hist->entries.n + 1, sizeof(*hist->compact));
	hist->compact_n = hist->entries.n;
	hist->compact_decides = report->has_dso && others == 1 && from < report->sorts.n &&
				report->sorts.v[from]->key == report_key("symbol");
	for (size_t i = 0; i < hist->entries.n; i++) {
		const struct entry *e = hist->entries.v[i];

		hist->compact[i] =
			(struct compact){.rank = e->rank,
					 .weight = report->children ? e->acc : e->period,
					 .start = e->place.sym ? e->place.sym->start : e->place.addr,
					 .end = e->place.sym ? e->place.sym->end : 0,
					 .has_symbol = e->place.sym && !e->place.sym->inlined,
					 .is_special = e->place.sym && e->place.sym->inlined};
	}
}

static int64_t key_compare(const struct hist *hist, const struct entry *l, const struct entry *r)
{
	const struct report *report = hist->report;
	size_t from = hist->ranked_columns;

	if (l->rank != r->rank)
		return l->rank < r->rank ? 1 : -1;
	return columns_compare(report, report->sorts.v + from, report->sorts.n - from, l, r);
}

static int key_order(void *arg, uint32_t a, uint32_t b)
{
	const struct hist *hist = arg;
	int64_t cmp;

	if (hist->compact_decides && a < hist->compact_n && b < hist->compact_n) {
		const struct compact *l = &hist->compact[b], *r = &hist->compact[a];

		if (l->rank != r->rank)
			return l->rank < r->rank ? 1 : -1;
		if (!l->is_special && !r->is_special) {
			if (l->has_symbol != r->has_symbol)
				return l->has_symbol ? 1 : -1;
			cmp = (int64_t)(r->start - l->start);
			cmp = cmp ? cmp : (int64_t)(r->end - l->end);
			return cmp < 0 ? -1 : cmp > 0;
		}
	}
	cmp = key_compare(hist, hist->entries.v[b], hist->entries.v[a]);
	return cmp < 0 ? -1 : cmp > 0;
}

static int row_order(void *arg, uint32_t a, uint32_t b)
{
	const struct hist *hist = arg;

	// Most rows differ in their weight.
	if (hist->weight_is_first && a < hist->compact_n && b < hist->compact_n &&
	    hist->compact[a].weight != hist->compact[b].weight)
		return hist->compact[a].weight > hist->compact[b].weight ? -1 : 1;
	return entry_sort(hist->report, hist->entries.v[a], hist->entries.v[b]) > 0 ? -1 : 1;
}

static bool is_grouped(const struct hist *hist)
{
	return hist->report->grouped && hist->event->leader->group_members > 1;
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
	int64_t cmp = key_compare(arg, y, x);

	if (cmp)
		return cmp < 0 ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

// Addresses compare by their difference as a signed number. Rubbish in call chains can be so far apart that
// this is no order.
static bool addresses_wrap(const struct hist *hist)
{
	int64_t least = INT64_MAX, most = INT64_MIN, span;

	for (size_t i = 0; i < hist->entries.n; i++) {
		const struct place *place = &hist->entries.v[i]->place;

		if (place->sym)
			continue;
		least = MIN(least, (int64_t)place->addr);
		most = MAX(most, (int64_t)place->addr);
	}
	return least < most && __builtin_sub_overflow(most, least, &span);
}

// perf's tree of entries, and a second time when a key collapses. The tree matters where the keys give no total order, and
// where rows of a group's other events are to be found and added; else the order alone does.
static void order_by_key(struct hist *hist)
{
	struct report *report = hist->report;
	size_t n = hist->entries.n;
	struct entry **list = xcalloc(n + 1, sizeof(*list));

	bool no_order = report->no_order || (report->has_sym && addresses_wrap(hist));

	rank_entries(hist);
	make_compact(hist);
	hist->sorted = xcalloc(n + 1, sizeof(*hist->sorted));
	hist->sorted_n = n;
	for (size_t i = 0; i < n; i++)
		list[i] = hist->entries.v[i];
	if (no_order)
		qsort(list, n, sizeof(*list), by_first);
	else
		qsort_r(list, n, sizeof(*list), by_key, hist);
	for (size_t i = 0; i < n; i++)
		hist->sorted[i] = list[i]->id;
	free(list);
	if (!no_order && !is_grouped(hist))
		return;
	for (size_t i = 0; i < n; i++)
		order_insert(&hist->in, hist->sorted[i], key_order, hist);
	order_list(&hist->in, hist->sorted);
	if (no_order && report->needs_collapse) {
		struct order collapsed = {0};

		for (size_t i = 0; i < n; i++)
			order_insert(&collapsed, hist->sorted[i], key_order, hist);
		order_done(&hist->in);
		hist->in = collapsed;
		order_list(&hist->in, hist->sorted);
	}
}

// All entries in key order, those that were added for a group's other events too.
static void list_again(struct hist *hist)
{
	if (hist->in.nodes.n <= hist->sorted_n)
		return;
	hist->sorted_n = hist->in.nodes.n;
	hist->sorted = xreallocarray(hist->sorted, hist->sorted_n, sizeof(*hist->sorted));
	order_list(&hist->in, hist->sorted);
}

static void set_member(struct entry *leader, struct entry *member)
{
	uint32_t n = leader->hist->event->group_members,
		 i = member->hist->event->index - leader->hist->event->index;

	if (!leader->members)
		leader->members = arena_zalloc(&leader->hist->arena, n * sizeof(*leader->members));
	if (i < n)
		leader->members[i] = member;
}

// Rows of the other events of a group stand in the leader's; those that it lacks are added there, empty.
static void match_members(struct hist *leader, struct hist *other)
{
	for (size_t i = 0; i < other->sorted_n; i++) {
		struct entry *e = other->entries.v[other->sorted[i]], *there = hist_find(leader, e);

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
		set_member(there, e);
	}
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
	const struct column *first;
	uint32_t *ids;
	struct order rows = {0};

	first = hist->report->sorts.n ? hist->report->sorts.v[0] : NULL;
	hist->weight_is_first =
		first && !first->key && !first->field && !first->elided &&
		first->number == (hist->report->children ? NUMBER_CHILDREN : NUMBER_OVERHEAD) &&
		(hist->report->children || !hist->report->o.group_index);
	list_again(hist);
	ids = xcalloc(hist->sorted_n + 1, sizeof(*ids));
	vec_reserve(&rows.nodes, hist->sorted_n);
	for (size_t i = 0; i < hist->sorted_n; i++) {
		order_insert(&rows, hist->sorted[i], row_order, hist);
		add_totals(hist, hist->entries.v[hist->sorted[i]]);
	}
	order_list(&rows, ids);
	hist->rows = xcalloc(hist->sorted_n + 1, sizeof(*hist->rows));
	hist->rows_n = hist->sorted_n;
	for (size_t i = 0; i < hist->rows_n; i++)
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
	// No chain comes any more: what found them again makes room for what follows.
	stacks_end(&report->stacks);
	report_make_rows(report);
}

void report_make_rows(struct report *report)
{
	struct recording *recording = report->session->recording;

	trie_done(&report->trie);
	trie_init(&report->trie, (const struct trie_node *)report->stacks.nodes.v,
		  (uint32_t)report->stacks.nodes.n);
	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = hist_at(report, i);

		if (report->children && !hist->pairs.n)
			own_is_all(hist);
		else
			hist_chains(hist);
		debug("%s: %zu rows, %zu contexts, %zu distinct stacks of rows; %zu frames, %zu stack nodes in all",
		      hist->event->name, hist->entries.n, hist->contexts.n, hist->pairs.n,
		      report->stacks.frames.n, report->stacks.nodes.n);
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
