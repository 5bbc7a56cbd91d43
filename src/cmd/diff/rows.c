// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of several recordings that are the same become one. Other binaries have other addresses: symbols are the same when
// their names are.
#include "cmd/diff/diff.h"
#include "base/hash.h"
#include <ctype.h>
#include <math.h>

static bool is_symbol(const struct column *column)
{
	return column->key && !strcmp(column->key->name, "symbol");
}

// Of events that are not printed as name=value.
static const char *field_text(struct arena *arena, struct out *scratch, const struct column *column,
			      const struct entry *e)
{
	const struct tp_field *field = column->field;

	if (field->is_string)
		return arena_strdup(arena, tp_string(field, e->x->raw, e->x->raw_size));
	scratch->n = 0;
	tp_print_value(scratch, field, e->x->raw, e->x->raw_size);
	return arena_strdup(arena, (struct str){scratch->buf, scratch->n});
}

struct finder {
	const struct diff *diff;
	struct diff_rows *rows;
	struct map by_text; // hash -> index + 1 of the row; chained by `next`
	VEC(uint32_t) next;
	struct out scratch;
};

// What a key's value is, without its width.
static const char *key_text(struct finder *finder, const struct hist *hist,
			    const struct column *column, const struct entry *e)
{
	struct arena *arena = &finder->rows->arena;
	struct out *scratch = &finder->scratch;
	struct str text;

	if (is_symbol(column))
		return e->place.sym ? e->place.sym->name : "";
	if (column_skipped(column, hist) && column->field) // another event's
		return "";
	scratch->n = 0;
	if (column->key)
		column->key->print(hist->report, e, scratch, -1);
	else
		column_print(column, hist, e, scratch);
	text = str_trim((struct str){scratch->buf, scratch->n});
	return text.n || !column->field ? arena_strdup(arena, text)
					: field_text(arena, scratch, column, e);
}

static bool same_texts(const struct diff *diff, const char **a, const char **b)
{
	for (size_t i = 0; i < diff->keys.n; i++) {
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

// The row of an entry; a new one when `make`, else NULL where there is none.
static struct diff_row *find_row(struct finder *finder, struct hist *hist, const struct entry *e,
				 bool make)
{
	const struct diff *diff = finder->diff;
	struct diff_rows *rows = finder->rows;
	const char **texts = arena_alloc(&rows->arena, diff->keys.n * sizeof(*texts));
	uint64_t hash = 0, *at;
	struct diff_row *row;

	for (size_t i = 0; i < diff->keys.n; i++) {
		texts[i] = key_text(finder, hist, hist->report->fields.v[diff->keys.v[i]], e);
		hash = hash_mix(hash ^ hash_bytes(texts[i], strlen(texts[i])), i + 1);
	}
	at = map_at(&finder->by_text, hash, NULL);
	for (uint64_t i = *at; i; i = finder->next.v[i - 1]) {
		if (same_texts(diff, rows->v.v[i - 1].texts, texts))
			return &rows->v.v[i - 1];
	}
	if (!make)
		return NULL;
	vec_push(&finder->next, (uint32_t)*at);
	row = vec_add(&rows->v);
	*at = rows->v.n;
	row->texts = texts;
	row->shown = e;
	row->hist = hist;
	row->hidden = e->filtered;
	row->values = arena_zalloc(&rows->arena, diff->files_n * sizeof(*row->values));
	return row;
}

static void add_file(struct finder *finder, size_t file)
{
	const struct diff *diff = finder->diff;
	struct hist *hist = finder->rows->hists[file];

	for (size_t i = 0; hist && i < hist->sorted_n; i++) {
		const struct entry *e = hist->entries.v[hist->sorted[i]];
		struct diff_row *row = find_row(finder, hist, e, !file || !diff->o.baseline_only);

		if (!row)
			continue;
		row->values[file].there = true;
		if (!row->values[file].entry)
			row->values[file].entry = e;
		row->values[file].period += e->period;
	}
}

static void compute(const struct diff *diff, const struct diff_rows *rows, struct diff_row *row)
{
	struct diff_value *base = &row->values[0];

	row->dummy = !base->there;
	for (size_t i = 0; i < diff->files_n; i++) {
		struct diff_value *value = &row->values[i];

		value->percent = rows->totals[i]
					 ? 100.0 * (double)value->period / (double)rows->totals[i]
					 : 0;
		if (!i || !value->there)
			continue;
		row->matched = true;
		value->delta = value->percent - base->percent;
		value->ratio = (double)value->period / (double)(base->period ? base->period : 1);
		value->weighted = (int64_t)(value->period * (uint64_t)diff->new_weight -
					    base->period * (uint64_t)diff->base_weight);
	}
}

// ---- order: what has changed the most comes first

static int compare_numbers(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int compare_values(const struct diff *diff, const struct diff_value *a,
			  const struct diff_value *b)
{
	switch (diff->compute) {
	case DIFF_DELTA:
		return compare_numbers(a->delta, b->delta);
	case DIFF_DELTA_ABS:
		return compare_numbers(fabs(a->delta), fabs(b->delta));
	case DIFF_RATIO:
		return compare_numbers(a->ratio, b->ratio);
	case DIFF_CYCLES: // blocks have an order, rows don't
		return 0;
	default:
		return a->weighted > b->weighted ? -1 : a->weighted < b->weighted;
	}
}

static int compare_in_file(const struct diff *diff, const struct diff_row *a,
			   const struct diff_row *b, size_t file)
{
	const struct diff_value *x = &a->values[file], *y = &b->values[file];

	if (x->there != y->there)
		return x->there ? -1 : 1;
	return x->there ? compare_values(diff, x, y) : 0;
}

// Of the file that decides first: what has no baseline comes last where a change needs one.
static int compare_in_first(const struct diff *diff, const struct diff_row *a,
			    const struct diff_row *b, size_t file)
{
	bool needs_base = diff->compute == DIFF_RATIO || diff->compute == DIFF_WDIFF;

	if (needs_base && a->values[file].there && b->values[file].there) {
		if (a->dummy != b->dummy)
			return a->dummy ? 1 : -1;
		if (a->dummy)
			return 0;
	}
	return compare_in_file(diff, a, b, file);
}

static int compare_texts(const struct diff *diff, const struct diff_row *a, const struct diff_row *b)
{
	for (size_t i = 0; i < diff->keys.n; i++) {
		const char *x = a->texts[i], *y = b->texts[i];
		int cmp = strcmp(x, y);

		if (!cmp)
			continue;
		// What has no file or symbol comes last.
		if (!*x || !strcmp(x, "[unknown]") || !*y || !strcmp(y, "[unknown]"))
			return *x && strcmp(x, "[unknown]") ? -1 : 1;
		if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
			// As in perf the kernel's addresses come first: they are negative.
			bool is_address = text_starts(x, "0x") && text_starts(y, "0x");
			long long m = is_address ? (long long)strtoull(x, NULL, 16)
						 : strtoll(x, NULL, 10),
				  n = is_address ? (long long)strtoull(y, NULL, 16)
						 : strtoll(y, NULL, 10);

			if (m != n)
				return m < n ? -1 : 1;
		}
		return cmp;
	}
	return 0;
}

static int by_change(const void *left, const void *right, void *arg)
{
	const struct diff *diff = arg;
	const struct diff_row *a = left, *b = right;
	int cmp = 0;

	if (diff->o.order > 0 && diff->compute != DIFF_CYCLES)
		cmp = compare_in_first(diff, a, b, (size_t)diff->o.order);
	if (!cmp && a->values[0].period != b->values[0].period)
		cmp = a->values[0].period > b->values[0].period ? -1 : 1;
	for (size_t i = 1; i < diff->files_n && !cmp && diff->compute != DIFF_CYCLES; i++) {
		if (a->matched != b->matched)
			cmp = a->matched ? -1 : 1;
		else if (a->matched)
			cmp = compare_in_file(diff, a, b, i);
	}
	return cmp ? cmp : compare_texts(diff, a, b);
}

// The same event of another file: by name, as cycles:u and cycles:k are one number to the kernel. Else what counts the same,
// under whatever name; but numbers of tracepoints are those of one boot.
static struct hist *hist_like(const struct diff_file *file, const struct event *event)
{
	const struct recording *recording = file->report.run->recording;

	for (size_t i = 0; i < recording->events.n; i++) {
		if (!strcmp(recording->events.v[i]->name, event->name))
			return recording->events.v[i]->user;
	}
	for (size_t i = 0; i < recording->events.n && event->attr.type != PERF_TYPE_TRACEPOINT; i++) {
		struct event *other = recording->events.v[i];

		if (other->attr.type == event->attr.type && other->attr.config == event->attr.config)
			return other->user;
	}
	return NULL;
}

void diff_rows_init(struct diff_rows *ret, const struct diff *diff, const struct event *event)
{
	struct finder finder = {.diff = diff, .rows = ret};
	size_t kept = 0;

	*ret = (struct diff_rows){0};
	out_init_memory(&finder.scratch);
	ret->hists = arena_zalloc(&ret->arena, diff->files_n * sizeof(*ret->hists));
	ret->totals = arena_zalloc(&ret->arena, diff->files_n * sizeof(*ret->totals));
	for (size_t i = 0; i < diff->files_n; i++) {
		ret->hists[i] = i ? hist_like(&diff->files[i], event) : event->user;
		ret->totals[i] = ret->hists[i] ? hist_total(ret->hists[i]) : 0;
	}
	for (size_t i = 0; i < diff->files_n; i++)
		add_file(&finder, i);
	for (size_t i = 0; i < ret->v.n; i++) {
		struct diff_row *row = &ret->v.v[i];

		compute(diff, ret, row);
		if (diff->o.baseline_only && !row->matched)
			continue;
		if (!row->hidden || strcmp(diff->o.percentage, "relative") != 0)
			ret->shown_total += row->values[0].period;
		ret->v.v[kept++] = *row;
	}
	ret->v.n = kept;
	if (kept)
		qsort_r(ret->v.v, kept, sizeof(*ret->v.v), by_change, (void *)diff);
	map_done(&finder.by_text);
	vec_done(&finder.next);
	out_done(&finder.scratch);
}

void diff_rows_done(struct diff_rows *rows)
{
	vec_done(&rows->v);
	arena_done(&rows->arena);
}
