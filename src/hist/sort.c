// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist/sort.h"
#include "base/radix.h"

// The leading comm and dso keys become one number, so that most comparisons are one of numbers.
struct sorting {
	struct hist *hist;
	uint32_t *comms, *dsos; // ranks by number; NULL: not among the leading keys
	uint32_t dsos_n;
	bool dso_is_first;
	size_t ranked; // columns that these are
	bool keys_decide, weight_is_first, rows_are_usual;
};

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

static bool is_grouped(const struct hist *hist)
{
	return hist->report->grouped && hist->event->leader->group_members > 1;
}

static bool is_number(const struct column *column, enum number number)
{
	return !column->key && !column->field && !column->elided && column->number == number;
}

// Do the columns behind the first, the weight, compare as usual_row_order does?
static bool rows_are_usual(const struct sorting *sorting)
{
	const struct report *report = sorting->hist->report;
	size_t i = 1, ranked = sorting->ranked;

	if (is_grouped(sorting->hist) || !sorting->keys_decide || report->sorts.n != ranked + 1)
		return false;
	if (report->children && (ranked < 2 || !is_number(report->sorts.v[i++], NUMBER_OVERHEAD)))
		return false;
	for (; i <= ranked; i++) {
		if (!report->sorts.v[i]->key || report->sorts.v[i]->elided)
			return false;
	}
	return true;
}

static void find_usual(struct sorting *sorting)
{
	const struct report *report = sorting->hist->report;
	const struct column *first = report->sorts.n ? report->sorts.v[0] : NULL;
	size_t from = sorting->ranked, others = 0;

	for (size_t i = from; i < report->sorts.n; i++)
		others += report->sorts.v[i]->key || report->sorts.v[i]->field;
	sorting->keys_decide = report->has_dso && others == 1 && from < report->sorts.n &&
			       report->sorts.v[from]->key == report_key("symbol");
	sorting->weight_is_first =
		first && is_number(first, report->children ? NUMBER_CHILDREN : NUMBER_OVERHEAD) &&
		(report->children || !report->o.group_index);
	sorting->rows_are_usual = sorting->weight_is_first && rows_are_usual(sorting);
}

static void sorting_init(struct sorting *ret, struct hist *hist)
{
	struct report *report = hist->report;
	struct sym *sym = report->run->sym;
	size_t i = 0;

	*ret = (struct sorting){.hist = hist, .dsos_n = (uint32_t)sym->dsos.n};
	for (; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];
		bool is_comm = column->key && column->key->width == WIDTH_COMM;
		bool is_dso = column->key && column->key->width == WIDTH_DSO;

		if (!column->key && !column->field)
			continue;
		if (is_comm && !ret->comms) {
			ret->comms = make_ranks(report, (uint32_t)sym->strings.strings.n, by_comm);
		} else if (is_dso && !ret->dsos) {
			ret->dsos = make_ranks(report, ret->dsos_n, by_dso);
			ret->dso_is_first = !ret->comms;
		} else {
			break;
		}
	}
	ret->ranked = i;
	find_usual(ret);
}

static uint64_t rank_of(const struct sorting *sorting, const struct entry *e)
{
	uint64_t comm = sorting->comms ? sorting->comms[e->comm] : 0, dso = 0;

	if (sorting->dsos)
		dso = sorting->dsos[e->place.dso ? e->place.dso->id : sorting->dsos_n];
	return sorting->dso_is_first ? dso << 32 | comm : comm << 32 | dso;
}

// ---- by key

enum key_part { KEY_RANK, KEY_START, KEY_KIND }; // of order_node.key
enum key_kind { KIND_PLAIN, KIND_SYMBOL, KIND_INLINED };

static struct order_node key_item(const struct sorting *sorting, uint32_t id)
{
	const struct entry *e = sorting->hist->entries.v[id];
	const struct symbol *sym = e->place.sym;

	return (struct order_node){.key = {[KEY_RANK] = rank_of(sorting, e),
					   [KEY_START] = sym ? sym->start : e->place.addr,
					   [KEY_KIND] = !sym	       ? KIND_PLAIN
							: sym->inlined ? KIND_INLINED
								       : KIND_SYMBOL},
				   .id = id};
}

// As the tree compares: `a` is what comes.
static int key_order(void *arg, const struct order_node *a, const struct order_node *b)
{
	const struct sorting *sorting = arg;
	int64_t cmp = 0;

	if (a->key[KEY_RANK] != b->key[KEY_RANK])
		return a->key[KEY_RANK] < b->key[KEY_RANK] ? -1 : 1;
	if (sorting->keys_decide && a->key[KEY_KIND] != KIND_INLINED &&
	    b->key[KEY_KIND] != KIND_INLINED) {
		if (a->key[KEY_KIND] != b->key[KEY_KIND])
			return b->key[KEY_KIND] == KIND_SYMBOL ? 1 : -1;
		cmp = (int64_t)(a->key[KEY_START] - b->key[KEY_START]);
		if (!cmp && a->key[KEY_KIND] == KIND_PLAIN)
			return 0;
	}
	if (!cmp)
		cmp = entry_compare_from(sorting->ranked, sorting->hist->entries.v[b->id],
					 sorting->hist->entries.v[a->id]);
	return cmp < 0 ? -1 : cmp > 0;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct order_node *x = a, *y = b;
	int cmp = key_order(arg, x, y);

	if (cmp)
		return cmp;
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

static void sort_by_key(struct sorting *sorting)
{
	struct hist *hist = sorting->hist;
	size_t n = hist->entries.n;
	struct order_node *list = xcalloc(n + 1, sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		list[i] = key_item(sorting, i);
	qsort_r(list, n, sizeof(*list), by_key, sorting);
	for (size_t i = 0; i < n; i++)
		hist->sorted[i] = list[i].id;
	free(list);
}

struct sort_list {
	struct order_node (*item)(const struct sorting *sorting, uint32_t id);
	int (*compare)(void *arg, const struct order_node *a, const struct order_node *b);
	uint32_t *ids;
	size_t n;
};

// Puts the ids in the order that perf's tree gives them when they come in the order that they have.
static void sort_by_tree(struct sorting *sorting, const struct sort_list *list, struct order *ret)
{
	const struct hist *hist = sorting->hist;
	const struct order_by by = {list->compare, sorting};

	vec_reserve(&ret->nodes, list->n);
	for (size_t i = 0; i < list->n; i++) {
		struct order_node node;

		if (i + HIST_AHEAD < list->n)
			hist_expect_entry(hist, list->ids[i + HIST_AHEAD]);
		node = list->item(sorting, list->ids[i]);
		order_insert(ret, &node, &by);
	}
	order_list(ret, list->ids);
}

void hist_sort_keys(struct hist *hist)
{
	struct report *report = hist->report;
	size_t n = hist->entries.n;
	bool grouped = is_grouped(hist);
	bool no_order = report->no_order ||
			(tells_symbols(report) && (!report->has_dso || addresses_wrap(hist)));
	unsigned trees = no_order ? 1 + report->needs_collapse : 0;

	hist->sorting = NEW(struct sorting);
	sorting_init(hist->sorting, hist);
	hist->sorted = xcalloc(n + 1, sizeof(*hist->sorted));
	hist->sorted_n = n;
	if (no_order)
		sort_by_first(hist);
	else
		sort_by_key(hist->sorting);
	for (trees = MAX(trees, (unsigned)grouped); trees; trees--) {
		const struct sort_list list = {key_item, key_order, hist->sorted, n};
		struct order order = {0};

		sort_by_tree(hist->sorting, &list, &order);
		if (trees == 1 && grouped)
			hist->in = order;
		else
			order_done(&order);
	}
}

void hist_insert(struct hist *hist, uint32_t id)
{
	struct order_node node = key_item(hist->sorting, id);

	order_insert(&hist->in, &node, &(struct order_by){key_order, hist->sorting});
}

void hist_list_again(struct hist *hist)
{
	if (hist->in.nodes.n <= hist->sorted_n)
		return;
	hist->sorted_n = hist->in.nodes.n;
	hist->sorted = xreallocarray(hist->sorted, hist->sorted_n, sizeof(*hist->sorted));
	order_list(&hist->in, hist->sorted);
}

// ---- as rows

enum row_part { ROW_WEIGHT, ROW_RANK, ROW_REST }; // of order_node.key
// ROW_REST: the task's number << 32 | the depth << 3 | one of these | whether it has a symbol.
enum row_own { OWN_NONE, OWN_ALL = 2, OWN_SOME = 4, OWN = 6, ROW_NAMED = 1 };

static struct order_node row_item(const struct sorting *sorting, uint32_t id)
{
	const struct hist *hist = sorting->hist;
	const struct entry *e = hist->entries.v[id];
	uint64_t weight = hist->report->children ? e->acc : e->period;
	uint64_t own = !e->period ? OWN_NONE : e->period == weight ? OWN_ALL : OWN_SOME;
	uint64_t task = e->task ? e->task->index : UINT32_MAX;

	return (struct order_node){.key = {[ROW_WEIGHT] = weight,
					   [ROW_RANK] = rank_of(sorting, e),
					   [ROW_REST] = task << 32 | (uint64_t)(e->max_depth << 3) |
							own | (e->place.sym ? ROW_NAMED : 0)},
				   .id = id};
}

// Of rows of one weight; 0: not told by these.
static int usual_row_order(const struct sorting *sorting, const struct order_node *l,
			   const struct order_node *r)
{
	const struct hist *hist = sorting->hist;
	const struct report *report = hist->report;
	uint32_t a = (uint32_t)l->key[ROW_REST], b = (uint32_t)r->key[ROW_REST];

	if (report->children && report->use_chains && a >> 3 != b >> 3 &&
	    l->key[ROW_REST] >> 32 == r->key[ROW_REST] >> 32)
		return (a < b) == report->chain.caller ? 1 : -1;
	if ((a & OWN) != (b & OWN) || (a & OWN) == OWN_SOME) {
		uint64_t own_l = hist->entries.v[l->id]->period;
		uint64_t own_r = hist->entries.v[r->id]->period;

		if (own_l != own_r)
			return own_l > own_r ? -1 : 1;
	}
	if (l->key[ROW_RANK] != r->key[ROW_RANK])
		return l->key[ROW_RANK] < r->key[ROW_RANK] ? -1 : 1;
	// Without symbols the later one is to the right.
	return (a | b) & ROW_NAMED ? 0 : 1;
}

static int row_order(void *arg, const struct order_node *a, const struct order_node *b)
{
	const struct sorting *sorting = arg;
	const struct hist *hist = sorting->hist;
	int order = 0;

	// Most rows differ in their weight.
	if (sorting->weight_is_first && a->key[ROW_WEIGHT] != b->key[ROW_WEIGHT])
		return a->key[ROW_WEIGHT] > b->key[ROW_WEIGHT] ? -1 : 1;
	if (sorting->rows_are_usual)
		order = usual_row_order(sorting, a, b);
	if (order)
		return order;
	return entry_sort(hist->report, hist->entries.v[a->id], hist->entries.v[b->id]) > 0 ? -1 : 1;
}

void hist_sort_rows(const struct hist *hist, uint32_t *ids, size_t n)
{
	struct sort_list list = {row_item, row_order, ids, n};
	struct order order = {0};

	sort_by_tree(hist->sorting, &list, &order);
	order_done(&order);
}

void hist_sorting_free(struct hist *hist)
{
	if (hist->sorting) {
		free(hist->sorting->comms);
		free(hist->sorting->dsos);
	}
	free(hist->sorting);
}
