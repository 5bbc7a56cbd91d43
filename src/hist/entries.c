// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of a histogram: entries by their keys, contexts, and (entry, stack) pairs.
#include "base/hash.h"
#include "hist/sort.h"

bool report_keys_are_among(const struct report *report, const char *const *names, size_t n)
{
	for (size_t i = 0; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];
		bool is_one = !column->key && !column->field;

		for (size_t k = 0; k < n && column->key && !is_one; k++)
			is_one = !strcmp(column->key->name, names[k]);
		if (!is_one)
			return false;
	}
	return true;
}

bool report_keys_are_of_place(const struct report *report)
{
	static const char *const names[] = {"comm", "dso", "symbol"};

	return report_keys_are_among(report, names, ARRAY_SIZE(names));
}

bool report_keys_are_of_task(const struct report *report)
{
	static const char *const names[] = {"comm", "pid", "cpu", "socket"};

	return report_keys_are_among(report, names, ARRAY_SIZE(names));
}

struct hist *hist_new(struct report *report, struct event *event)
{
	struct hist *hist = NEW(struct hist);

	hist->report = report;
	hist->event = event;
	hist->has_chains = report->history || (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	if (report_keys_are_of_place(report))
		hist->recent = xcalloc(HIST_RECENT, sizeof(*hist->recent));
	return hist;
}

struct hist *report_hist(struct report *report, struct event *event)
{
	if (!event->user)
		event->user = hist_new(report, event);
	return event->user;
}

static void tree_free(struct call_tree *tree)
{
	if (tree) {
		call_tree_done(tree);
		free(tree);
	}
}

void hist_free(struct hist *hist)
{
	if (!hist)
		return;
	for (size_t i = 0; i < hist->entries.n; i++)
		tree_free(hist->entries.v[i]->more->tree);
	vec_done(&hist->entries);
	vec_done(&hist->contexts);
	vec_done(&hist->pairs);
	hist_forget_pairs(hist);
	free(hist->by_key.slots);
	free(hist->by_context.slots);
	order_done(&hist->in);
	hist_sorting_free(hist);
	free(hist->rows);
	free(hist->sorted);
	free(hist->recent);
	free(hist->recent_contexts);
	hierarchy_done(hist);
	arena_done(&hist->arena);
	free(hist);
}

static uint64_t column_hash(const struct report *report, const struct column *column,
			    const struct entry *e)
{
	if (column->field) {
		const struct column *of = column_of_entry(column, e);
		const uint8_t *p = NULL;
		int n = of && (of == column || report->grouped) ? column_field_part(of, e, &p) : 0;

		return n > 0 ? hash_bytes(p, (size_t)n) : 0;
	}
	return column->key ? column->key->hash(report, e) : 0;
}

static uint64_t hash_columns(const struct report *report, struct column *const *columns, size_t n,
			     const struct entry *e)
{
	uint64_t h = 0x9ae16a3b2f90404full;

	for (size_t i = 0; i < n; i++) {
		if (columns[i]->key || columns[i]->field)
			h = hash_mix(h, column_hash(report, columns[i], e) + i);
	}
	return h;
}

static int64_t compare_context(const struct report *report, const struct entry *l,
			       const struct entry *r)
{
	for (size_t i = 0; i < report->context_keys.n; i++) {
		const struct column *column = report->context_keys.v[i];
		int64_t cmp = column->field ? column_field_compare(column, l, r)
					    : column->key->compare(report, l, r);

		if (cmp)
			return cmp;
	}
	return 0;
}

static void table_put(struct entry_table *table, uint32_t hash, uint32_t id)
{
	size_t slot = hash & table->mask;

	while (table->slots[slot].id)
		slot = (slot + 1) & table->mask;
	table->slots[slot] = (struct entry_slot){id, hash};
}

static void table_grow(struct entry_table *table)
{
	const struct entry_table old = *table;
	size_t n = table->mask ? (table->mask + 1) * 2 : 256;

	table->slots = xcalloc(n, sizeof(*table->slots));
	table->mask = n - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].id)
			table_put(table, old.slots[i].hash, old.slots[i].id);
	}
	free(old.slots);
}

static void table_add(struct entry_table *table, uint32_t hash, size_t i)
{
	if (++table->n * 2 > table->mask)
		table_grow(table);
	table_put(table, hash, (uint32_t)i + 1);
}

// An entry that is looked for.
struct wanted_entry {
	const struct entry *template;
	uint32_t hash;
	int64_t (*compare)(const struct report *, const struct entry *, const struct entry *);
};

static struct entry *table_find(const struct entry_table *table, struct entry *const *entries,
				const struct wanted_entry *wanted)
{
	const struct report *report = wanted->template->hist->report;

	for (size_t slot = wanted->hash & table->mask; table->mask && table->slots[slot].id;
	     slot = (slot + 1) & table->mask) {
		struct entry *e;

		if (table->slots[slot].hash != wanted->hash)
			continue;
		e = entries[table->slots[slot].id - 1];
		if (wanted->compare(report, e, wanted->template) == 0)
			return e;
	}
	return NULL;
}

uint64_t entry_hash(const struct entry *e)
{
	const struct report *report = e->hist->report;

	return hash_columns(report, report->sorts.v, report->sorts.n, e);
}

// A context is known by a copy of the first entry in it.
uint32_t hist_context(struct hist *hist, const struct entry *template)
{
	struct report *report = hist->report;
	uint64_t hash =
		hash_columns(report, report->context_keys.v, report->context_keys.n, template);
	const struct wanted_entry wanted = {template, (uint32_t)(hash >> 32), compare_context};
	struct entry *context = table_find(&hist->by_context, hist->contexts.v, &wanted);

	if (!context) {
		context = arena_memdup(&hist->arena, template, sizeof(*template));
		context->context = (uint32_t)hist->contexts.n;
		vec_push(&hist->contexts, context);
		table_add(&hist->by_context, wanted.hash, context->context);
	}
	return context->context;
}

static struct entry *find_as(struct hist *hist, struct entry *template, uint32_t *ret_hash)
{
	struct wanted_entry wanted = {.template = template, .compare = entry_compare};

	template->hist = hist;
	*ret_hash = wanted.hash = (uint32_t)(entry_hash(template) >> 32);
	return table_find(&hist->by_key, hist->entries.v, &wanted);
}

struct entry *hist_find(struct hist *hist, const struct entry *template)
{
	struct entry wanted = *template;
	uint32_t hash;

	return find_as(hist, &wanted, &hash);
}

static struct extra *extra_new(struct hist *hist, const struct extra *from)
{
	struct extra *x = arena_memdup(&hist->arena, from, sizeof(*x));

	if (x->raw && hist->report->has_dynamic)
		x->raw = arena_memdup(&hist->arena, x->raw, x->raw_size);
	if (x->branch)
		x->branch = arena_memdup(&hist->arena, x->branch, sizeof(*x->branch));
	if (x->mem)
		x->mem = arena_memdup(&hist->arena, x->mem, sizeof(*x->mem));
	return x;
}

const struct entry_more entry_no_more;

struct entry_more *entry_more(struct entry *e)
{
	if (e->more == &entry_no_more)
		e->more = arena_zalloc(&e->hist->arena, sizeof(*e->more));
	return (struct entry_more *)e->more;
}

void entry_clear(struct entry *e)
{
	e->period = e->acc = 0;
	e->samples = 0;
	if (e->more != &entry_no_more)
		memset((struct entry_more *)e->more, 0, offsetof(struct entry_more, tree));
}

static struct entry *new_entry(struct hist *hist, const struct entry *template)
{
	struct report *report = hist->report;
	struct entry *e = arena_memdup(&hist->arena, template, sizeof(*e));

	e->x = report->needs_extra ? extra_new(hist, template->x) : &report->no_extra;
	e->id = (uint32_t)hist->entries.n;
	e->leaf = true;
	e->more = &entry_no_more;
	vec_push(&hist->entries, e);
	return e;
}

struct entry *hist_entry(struct hist *hist, struct entry *template)
{
	uint32_t hash;
	struct entry *e = find_as(hist, template, &hash);

	if (e)
		return e;
	e = new_entry(hist, template);
	e->context = hist->report->children ? hist_context(hist, e) : 0;
	hist->has_nowhere |= !e->place.dso;
	table_add(&hist->by_key, hash, e->id);
	return e;
}

struct entry *hist_caller(struct hist *hist, struct entry *template, bool is_alone)
{
	bool is_new = is_alone && !template->place.dso && !hist->has_nowhere;
	uint32_t hash;
	struct entry *e = is_new ? NULL : find_as(hist, template, &hash);

	if (e)
		return e;
	e = new_entry(hist, template);
	entry_clear(e);
	e->met = 0;
	e->is_alone = is_alone;
	if (!is_alone)
		table_add(&hist->by_key, hash, e->id);
	return e;
}

static size_t pair_slot(const struct hist *hist, uint32_t entry, uint32_t stack)
{
	return hash_u64((uint64_t)entry << 32 | stack) & hist->pair_mask;
}

static void grow_pair_slots(struct hist *hist)
{
	enum { FIRST_SLOTS = 1 << 10 };
	size_t n = FIRST_SLOTS;

	while (hist->pairs.n * 8 >= (n - 1) * 5)
		n *= 2;
	free(hist->pair_slots);
	hist->pair_slots = xcalloc(n, sizeof(*hist->pair_slots));
	hist->pair_mask = n - 1;
	for (uint32_t i = 0; i < hist->pairs.n; i++) {
		size_t slot = pair_slot(hist, hist->pairs.v[i].entry, hist->pairs.v[i].stack);

		while (hist->pair_slots[slot])
			slot = (slot + 1) & hist->pair_mask;
		hist->pair_slots[slot] = i + 1;
	}
}

struct pair *hist_pair(struct hist *hist, uint32_t entry, uint32_t stack, bool *ret_new)
{
	size_t slot;

	if (hist->pairs.n * 8 >= hist->pair_mask * 5)
		grow_pair_slots(hist);
	for (slot = pair_slot(hist, entry, stack); hist->pair_slots[slot];
	     slot = (slot + 1) & hist->pair_mask) {
		struct pair *pair = &hist->pairs.v[hist->pair_slots[slot] - 1];

		*ret_new = pair->entry != entry || pair->stack != stack;
		if (!*ret_new)
			return pair;
	}
	*ret_new = true;
	vec_push(&hist->pairs, (struct pair){.entry = entry, .stack = stack});
	hist->pair_slots[slot] = (uint32_t)hist->pairs.n;
	return &vec_last(&hist->pairs);
}

void hist_expect_pair(const struct hist *hist, uint32_t entry, uint32_t stack)
{
	if (hist->pair_slots)
		__builtin_prefetch(&hist->pair_slots[pair_slot(hist, entry, stack)], 1);
}

void hist_expect_known(const struct hist *hist, uint32_t entry, uint32_t stack)
{
	uint32_t known = hist->pair_slots ? hist->pair_slots[pair_slot(hist, entry, stack)] : 0;

	if (known)
		__builtin_prefetch(&hist->pairs.v[known - 1], 1);
}

void hist_forget_pairs(struct hist *hist)
{
	free(hist->pair_slots);
	hist->pair_slots = NULL;
	hist->pair_mask = 0;
}
