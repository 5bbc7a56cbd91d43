// SPDX-License-Identifier: GPL-2.0-or-later
// --hierarchy: each sort key is a level, rows of one level stand below the row that they are part of.
#include "hist/report.h"

struct place_in_level {
	const struct report *report;
	struct level_set *set;
	const struct level *level;
};

static int level_order(void *arg, const struct order_node *a, const struct order_node *b)
{
	const struct place_in_level *at = arg;
	const struct entry *l = at->set->entries.v[b->id], *r = at->set->entries.v[a->id];
	int64_t cmp = (int64_t)l->level - r->level;

	for (size_t i = 0; i < at->level->columns.n && !cmp; i++) {
		column_was_compared(at->level->columns.v[i], l);
		cmp = column_compare(at->level->columns.v[i], l, r);
	}
	return cmp < 0 ? -1 : cmp > 0;
}

// Nothing but fields of other events.
static bool level_skipped(const struct level *level, const struct hist *hist)
{
	for (size_t i = 0; i < level->columns.n; i++) {
		const struct column *column = level->columns.v[i];

		if (!column->elided && (!column->field || column->event == hist->event))
			return false;
	}
	return true;
}

static bool level_has(const struct level *level, enum width a, enum width b)
{
	for (size_t i = 0; i < level->columns.n; i++) {
		const struct key *key = level->columns.v[i]->key;

		if (key && (key->width == a || key->width == b))
			return true;
	}
	return false;
}

// A level that does not show what is filtered is hidden only when all below it is.
// What hides a row, and the columns that show it.
struct hiding {
	enum hidden bit;
	enum width a, b;
};

static void settle_filter(const struct level *level, struct entry *e, const struct hiding *by)
{
	if (level_has(level, by->a, by->b)) {
		for (struct entry *up = e->more->up; up && !(e->filtered & by->bit); up = up->more->up)
			up->filtered &= (uint8_t)~by->bit;
	} else if (!e->more->up) {
		e->filtered |= (uint8_t)by->bit;
	} else {
		e->filtered |= e->more->up->filtered & by->bit;
	}
}

static void settle_filters(struct report *report, const struct level *level, struct entry *e)
{
	const struct filter_options *filter = &report->o.filter;

	if (filter->comms || filter->pids || filter->tids)
		settle_filter(level, e, &(struct hiding){HIDDEN_TASK, WIDTH_THREAD, WIDTH_COMM});
	if (filter->dsos)
		settle_filter(level, e, &(struct hiding){HIDDEN_DSO, WIDTH_DSO, WIDTH_DSO});
	if (filter->symbols)
		settle_filter(level, e, &(struct hiding){HIDDEN_SYMBOL, WIDTH_SYMBOL, WIDTH_SYMBOL});
	if (e->hist->event->index == 0 && report->o.symbol_filter &&
	    (!e->place.sym || !strstr(e->place.sym->name, report->o.symbol_filter)))
		e->filtered |= HIDDEN_SYMBOL;
}

static struct entry *find_in_level(struct report *report, struct level_set *set,
				   const struct level *level, struct entry *wanted)
{
	struct place_in_level at = {report, set, level};
	uint32_t found;

	vec_push(&set->entries, wanted); // to be compared by its number
	found = order_find(&set->in, &(struct order_node){.id = (uint32_t)set->entries.n - 1},
			   &(struct order_by){level_order, &at});
	set->entries.n--;
	return found == UINT32_MAX ? NULL : set->entries.v[found];
}

static void add_to_level(struct report *report, struct level_set *set, const struct level *level,
			 struct entry *e)
{
	struct place_in_level at = {report, set, level};

	vec_push(&set->entries, e);
	order_insert(&set->in, &(struct order_node){.id = (uint32_t)set->entries.n - 1},
		     &(struct order_by){level_order, &at});
}

static struct entry *new_row(struct report *report, const struct entry *from, struct entry *up,
			     size_t level)
{
	struct entry *e = arena_memdup(&report->arena, from, sizeof(*e));
	struct entry_more *more = arena_memdup(&report->arena, from->more, sizeof(*more));

	e->more = more;
	e->level = (uint32_t)level;
	e->leaf = false;
	more->up = up;
	more->depth = up ? (uint8_t)(up->more->depth + 1) : 0;
	more->tree = NULL;
	more->members = NULL;
	more->below = arena_zalloc(&report->arena, sizeof(*more->below));
	return e;
}

static void add_numbers(struct entry *to, const struct entry *from)
{
	struct entry_more *more = entry_more(to);

	to->period += from->period;
	to->samples += from->samples;
	more->period_sys += from->more->period_sys;
	more->period_us += from->more->period_us;
	more->period_guest_sys += from->more->period_guest_sys;
	more->period_guest_us += from->more->period_guest_us;
}

static void insert_entry(struct hist *hist, struct entry *from)
{
	struct report *report = hist->report;
	struct level_set *set = &hist->top;
	struct entry *up = NULL;

	for (size_t i = 0; i < report->levels.n; i++) {
		const struct level *level = &report->levels.v[i];
		struct entry *e;

		if (level->level == 0 || level_skipped(level, hist))
			continue;
		from->level = (uint32_t)
			i; // rows of a group's other events may stand there that are of another level
		e = find_in_level(report, set, level, from);
		if (e) {
			add_numbers(e, from);
		} else {
			e = new_row(report, from, up, i);
			settle_filters(report, level, e);
			add_to_level(report, set, level, e);
		}
		set = e->more->below;
		up = e;
	}
	if (up) {
		up->leaf = true;
		if (!up->more->tree)
			entry_more(up)->tree = from->more->tree; // owned by the entry
	}
}

void hierarchy_build(struct hist *hist)
{
	for (size_t i = 0; i < hist->sorted_n; i++)
		insert_entry(hist, hist->entries.v[hist->sorted[i]]);
}

static void match_level(struct hist *leader, struct level_set *there, struct level_set *here,
			struct entry *up)
{
	struct report *report = leader->report;
	uint32_t n = leader->event->group_members;

	for (size_t i = 0; i < here->entries.n; i++) {
		struct entry *e = here->entries.v[i], *found;
		const struct level *level = &report->levels.v[e->level];

		found = find_in_level(report, there, level, e);
		if (!found) {
			found = new_row(report, e, up, e->level);
			found->hist = leader;
			found->dummy = true;
			found->leaf = e->leaf;
			entry_clear(found);
			add_to_level(report, there, level, found);
		}
		if (!found->more->members)
			entry_more(found)->members =
				arena_zalloc(&report->arena, n * sizeof(*found->more->members));
		if (e->hist->event->index - leader->event->index < n)
			found->more->members[e->hist->event->index - leader->event->index] = e;
		match_level(leader, found->more->below, e->more->below, found);
	}
}

void hierarchy_match(struct hist *leader, struct hist *other)
{
	match_level(leader, &leader->top, &other->top, NULL);
}

static int level_rows(void *arg, const struct order_node *a, const struct order_node *b)
{
	const struct place_in_level *at = arg;

	return entry_sort(at->report, at->set->entries.v[a->id], at->set->entries.v[b->id]) > 0 ? -1
												: 1;
}

static void sort_level(struct hist *hist, struct level_set *set)
{
	struct place_in_level at = {hist->report, set, NULL};
	uint32_t *ids = xcalloc(set->entries.n + 1, sizeof(*ids));
	struct entry **sorted = xcalloc(set->entries.n + 1, sizeof(*sorted));
	struct order rows = {0};

	order_list(&set->in, ids);
	for (size_t i = 0; i < set->entries.n; i++) {
		struct entry *e = set->entries.v[ids[i]];

		order_insert(&rows, &(struct order_node){.id = ids[i]},
			     &(struct order_by){level_rows, &at});
		if (!e->filtered && hist->report->measure)
			hist->report->measure(hist, e);
		if (e->more->below->entries.n)
			sort_level(hist, e->more->below);
	}
	order_list(&rows, ids);
	for (size_t i = 0; i < set->entries.n; i++)
		sorted[i] = set->entries.v[ids[i]];
	free(set->entries.v);
	set->entries.v = sorted;
	set->entries.capacity = set->entries.n + 1;
	order_done(&rows);
	order_done(&set->in);
	free(ids);
}

void hierarchy_sort(struct hist *hist)
{
	sort_level(hist, &hist->top);
	for (size_t i = 0; i < hist->top.entries.n; i++) {
		const struct entry *e = hist->top.entries.v[i];

		hist->total_period += e->period;
		if (!e->filtered)
			hist->total_shown_period += e->period;
	}
}

static void level_set_done(struct level_set *set)
{
	for (size_t i = 0; i < set->entries.n; i++)
		level_set_done(set->entries.v[i]->more->below);
	vec_done(&set->entries);
	order_done(&set->in);
}

void hierarchy_done(struct hist *hist)
{
	level_set_done(&hist->top);
}
