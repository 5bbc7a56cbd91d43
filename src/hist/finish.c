// SPDX-License-Identifier: GPL-2.0-or-later
// Entries become rows: accumulated, put in order, members of a group brought together.
#include "base/log.h"
#include "base/radix.h"
#include "hist/report.h"

enum { AHEAD = 16 }; // entries that are asked of memory before their turn

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
	return intern_get(&report->run->sym->strings, comm);
}

static int by_comm(const void *a, const void *b, void *arg)
{
	return strcmp(comm_text(arg, *(const uint32_t *)a), comm_text(arg, *(const uint32_t *)b));
}

static int by_dso(const void *a, const void *b, void *arg)
{
	const struct report *report = arg;
	const struct dso *x = report->run->sym->dsos.v[*(const uint32_t *)a];
	const struct dso *y = report->run->sym->dsos.v[*(const uint32_t *)b];

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
	struct sym *sym = report->run->sym;
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

static bool is_grouped(const struct hist *hist)
{
	return hist->report->grouped && hist->event->leader->group_members > 1;
}

static bool is_number(const struct column *column, enum number number)
{
	return !column->key && !column->field && !column->elided && column->number == number;
}

// Do the columns behind the first, the weight, compare as usual_row_order does?
static bool rows_are_usual(const struct hist *hist)
{
	const struct report *report = hist->report;
	size_t i = 1, ranked = hist->ranked_columns;

	if (is_grouped(hist) || !hist->compact_decides || report->sorts.n != ranked + 1)
		return false;
	if (report->children && (ranked < 2 || !is_number(report->sorts.v[i++], NUMBER_OVERHEAD)))
		return false;
	for (; i <= ranked; i++) {
		if (!report->sorts.v[i]->key || report->sorts.v[i]->elided)
			return false;
	}
	return true;
}

static void find_usual(struct hist *hist)
{
	const struct report *report = hist->report;
	const struct column *first = report->sorts.n ? report->sorts.v[0] : NULL;
	size_t from = hist->ranked_columns, others = 0;

	for (size_t i = from; i < report->sorts.n; i++)
		others += report->sorts.v[i]->key || report->sorts.v[i]->field;
	hist->compact_decides = report->has_dso && others == 1 && from < report->sorts.n &&
				report->sorts.v[from]->key == report_key("symbol");
	hist->weight_is_first =
		first && is_number(first, report->children ? NUMBER_CHILDREN : NUMBER_OVERHEAD) &&
		(report->children || !report->o.group_index);
	hist->rows_are_usual = hist->weight_is_first && rows_are_usual(hist);
}

static struct compact compact_of(const struct hist *hist, const struct entry *e)
{
	const struct report *report = hist->report;

	return (struct compact){.rank = e->rank,
				.weight = report->children ? e->acc : e->period,
				.own = e->period,
				.start = e->place.sym ? e->place.sym->start : e->place.addr,
				.end = e->place.sym ? e->place.sym->end : 0,
				.task = e->task,
				.max_depth = e->max_depth,
				.has_symbol = e->place.sym && !e->place.sym->inlined,
				.is_special = e->place.sym && e->place.sym->inlined};
}

// What is put in order: entries by id, and beside them what the usual comparisons need, so that what is compared lies together.
struct ordering {
	const struct hist *hist;
	const uint32_t *ids;
	struct compact *compact;
};

static int64_t key_compare(const struct hist *hist, const struct entry *l, const struct entry *r)
{
	const struct report *report = hist->report;
	size_t from = hist->ranked_columns;

	if (l->rank != r->rank)
		return l->rank < r->rank ? 1 : -1;
	return columns_compare(report, report->sorts.v + from, report->sorts.n - from, l, r);
}

static int compact_key_order(const struct compact *l, const struct compact *r)
{
	int64_t cmp;

	if (l->has_symbol != r->has_symbol)
		return l->has_symbol ? 1 : -1;
	cmp = (int64_t)(r->start - l->start);
	cmp = cmp ? cmp : (int64_t)(r->end - l->end);
	return cmp < 0 ? -1 : cmp > 0;
}

// By id.
static int key_order(void *arg, uint32_t a, uint32_t b)
{
	const struct hist *hist = arg;
	int64_t cmp = key_compare(hist, hist->entries.v[b], hist->entries.v[a]);

	return cmp < 0 ? -1 : cmp > 0;
}

// By place in the ordering.
static int key_order_at(void *arg, uint32_t a, uint32_t b)
{
	const struct ordering *ordering = arg;
	const struct compact *l = &ordering->compact[b], *r = &ordering->compact[a];

	if (ordering->hist->compact_decides) {
		if (l->rank != r->rank)
			return l->rank < r->rank ? 1 : -1;
		if (!l->is_special && !r->is_special)
			return compact_key_order(l, r);
	}
	return key_order((void *)ordering->hist, ordering->ids[a], ordering->ids[b]);
}

// Of rows of one weight; 0: not told by these.
static int usual_row_order(const struct hist *hist, const struct compact *l, const struct compact *r)
{
	const struct report *report = hist->report;

	if (report->children && report->use_chains && l->task == r->task &&
	    l->max_depth != r->max_depth)
		return (l->max_depth < r->max_depth) == report->chain.caller ? 1 : -1;
	if (l->own != r->own)
		return l->own > r->own ? -1 : 1;
	if (l->rank != r->rank)
		return l->rank < r->rank ? -1 : 1;
	// Without symbols the later one is to the right.
	return l->has_symbol || r->has_symbol || l->is_special || r->is_special ? 0 : 1;
}

static int row_order_at(void *arg, uint32_t a, uint32_t b)
{
	const struct ordering *ordering = arg;
	const struct hist *hist = ordering->hist;
	const struct compact *l = &ordering->compact[a], *r = &ordering->compact[b];
	int order = 0;

	// Most rows differ in their weight.
	if (hist->weight_is_first && l->weight != r->weight)
		return l->weight > r->weight ? -1 : 1;
	if (hist->rows_are_usual)
		order = usual_row_order(hist, l, r);
	if (order)
		return order;
	return entry_sort(hist->report, hist->entries.v[ordering->ids[a]],
			  hist->entries.v[ordering->ids[b]]) > 0
		       ? -1
		       : 1;
}

// Puts the ids in the order that perf's tree gives them when they come in the order that they have.
static void order_ids(const struct hist *hist, uint32_t *ids, size_t n, order_compare *compare)
{
	uint32_t *came = xcalloc(n + 1, sizeof(*came));
	struct ordering ordering = {hist, came, xcalloc(n + 1, sizeof(struct compact))};
	struct order order = {0};

	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			__builtin_prefetch(hist->entries.v[ids[i + AHEAD]]);
		came[i] = ids[i];
		ordering.compact[i] = compact_of(hist, hist->entries.v[ids[i]]);
	}
	vec_reserve(&order.nodes, n);
	for (uint32_t i = 0; i < n; i++)
		order_insert(&order, i, compare, &ordering);
	order_list(&order, ids);
	for (size_t i = 0; i < n; i++)
		ids[i] = came[ids[i]];
	order_done(&order);
	free(ordering.compact);
	free(came);
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

// Also where -F names the key, and perf's own flag (has_sym) is not set.
static bool tells_symbols(const struct report *report)
{
	for (size_t i = 0; i < report->sorts.n; i++) {
		if (report->sorts.v[i]->key && text_starts(report->sorts.v[i]->key->name, "symbol"))
			return true;
	}
	return false;
}

// In the order in which samples made them.
static void sort_by_first(struct hist *hist)
{
	size_t n = hist->entries.n;
	struct keyed *list = xcalloc(n + 1, sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		const struct entry *e = hist->entries.v[i];

		list[i] = (struct keyed){(uint64_t)e->first << 32 | e->first_at, i};
	}
	radix_sort(list, n);
	for (size_t i = 0; i < n; i++)
		hist->sorted[i] = list[i].value;
	free(list);
}

static void sort_by_key(struct hist *hist)
{
	size_t n = hist->entries.n;
	struct entry **list = xcalloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = hist->entries.v[i];
	qsort_r(list, n, sizeof(*list), by_key, hist);
	for (size_t i = 0; i < n; i++)
		hist->sorted[i] = list[i]->id;
	free(list);
}

// perf's tree of entries, and a second time when a key collapses. The tree matters where the keys give no total order, and
// where rows of a group's other events are to be found and added; else the order alone does.
static void order_by_key(struct hist *hist)
{
	struct report *report = hist->report;
	size_t n = hist->entries.n;
	bool no_order = report->no_order ||
			(tells_symbols(report) && (!report->has_dso || addresses_wrap(hist)));

	unsigned trees = no_order ? 1 + report->needs_collapse : 0;

	rank_entries(hist);
	find_usual(hist);
	hist->sorted = xcalloc(n + 1, sizeof(*hist->sorted));
	hist->sorted_n = n;
	if (no_order)
		sort_by_first(hist);
	else
		sort_by_key(hist);
	for (; trees > is_grouped(hist); trees--)
		order_ids(hist, hist->sorted, n, key_order_at);
	if (!is_grouped(hist))
		return;
	for (size_t i = 0; i < n; i++)
		order_insert(&hist->in, hist->sorted[i], key_order, hist);
	order_list(&hist->in, hist->sorted);
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
			empty.max_depth = 0; // it has no stacks
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
			if (columns_compare(report, &report->sorts.v[c], 1, before, e))
				before = NULL;
		}
	}
}

static void make_rows(struct hist *hist)
{
	uint32_t *ids;

	list_again(hist);
	if (hist->report->has_dynamic)
		note_compared(hist, hist->sorted, false);
	for (size_t i = 0; i < hist->sorted_n; i++) {
		if (i + AHEAD < hist->sorted_n)
			__builtin_prefetch(hist->entries.v[hist->sorted[i + AHEAD]]);
		add_totals(hist, hist->entries.v[hist->sorted[i]]);
	}
	if (hist->report->no_rows)
		return;
	ids = xmemdup(hist->sorted, hist->sorted_n * sizeof(*ids));
	order_ids(hist, ids, hist->sorted_n, row_order_at);
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
		if (report->o.socket > -1 && e->socket != report->o.socket)
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
