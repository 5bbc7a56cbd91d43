// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/diff/cycles.h"
#include "hist/keys.h"
#include <math.h>
#include <stdio.h>

static const struct function_blocks *blocks_of(const struct report *report, const struct entry *e)
{
	if (!report->blocks || !e || !e->place.sym || !e->place.dso)
		return NULL;
	return blocks_find(report->blocks, e->place.sym);
}

size_t block_changes_base_n(const struct diff_row *row)
{
	const struct function_blocks *blocks = blocks_of(row->hist->report, row->shown);

	return blocks ? blocks->blocks.n : 0;
}

static const struct block *find_block(const struct function_blocks *function,
				      const struct block *wanted)
{
	const uint64_t *at = function ? map_find(&function->by_end, wanted->end) : NULL;
	const struct block *block = at && *at ? &function->blocks.v[*at - 1] : NULL;

	return block && block->start == wanted->start ? block : NULL;
}

// Mean and standard error of the mean, as perf's (Welford).
static void compare_sparks(struct block_change *change)
{
	double mean = 0, squares = 0, error;
	uint32_t n = MIN(MIN(change->base->n, change->block->n), (uint32_t)BLOCK_SPARKS);

	for (uint32_t i = 0; i < n; i++) {
		int64_t difference = (int64_t)change->block->sparks[i] - change->base->sparks[i];
		uint64_t value = (uint64_t)(difference < 0 ? -difference : difference);
		double delta = (double)value - mean;

		change->sparks[change->sparks_n++] = value;
		mean += delta / change->sparks_n;
		squares += delta * ((double)value - mean);
	}
	if (n < 2 || mean == 0)
		return;
	error = sqrt(squares / (n - 1) / n);
	change->spread_percent = 100.0 * error / mean;
}

static void compare(struct block_change *change)
{
	const struct block *base = change->base, *block = change->block;

	if (!base || !base->n || !block->n)
		return;
	change->change = (int64_t)(block->cycles_all / block->n_all - base->cycles_all / base->n_all);
	compare_sparks(change);
}

static int by_change(const void *a, const void *b)
{
	const struct block_change *x = a, *y = b;
	int64_t m = llabs(x->change), n = llabs(y->change);

	if (m != n)
		return m > n ? -1 : 1;
	if (x->block->start != y->block->start)
		return x->block->start < y->block->start ? -1 : 1;
	return x->block->end < y->block->end ? -1 : x->block->end > y->block->end;
}

void block_changes_init(struct block_changes *ret, const struct diff *diff,
			const struct diff_row *row, size_t file)
{
	struct report *report = &diff->files[file].report;
	const struct entry *e = row->values[file].entry;
	const struct function_blocks *blocks = blocks_of(report, e),
				     *base = blocks_of(row->hist->report, row->shown);

	*ret = (struct block_changes){.place = e ? &e->place : NULL, .report = report};
	for (size_t i = 0; blocks && i < blocks->blocks.n; i++) {
		struct block_change *change = vec_add(&ret->v);

		change->block = &blocks->blocks.v[i];
		change->base = find_block(base, change->block);
		compare(change);
	}
	if (ret->v.n)
		qsort(ret->v.v, ret->v.n, sizeof(*ret->v.v), by_change);
}

void block_changes_done(struct block_changes *changes)
{
	vec_done(&changes->v);
}

void block_change_put_range(const struct block_changes *changes, const struct block_change *change,
			    struct out *out)
{
	report_put_block_range(changes->report, changes->place, change->block, out);
}

void block_change_put_sparks(const struct block_change *change, char ret[64])
{
	static const char *const bars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					   "\u2585", "\u2586", "\u2587", "\u2588"};
	uint64_t least = UINT64_MAX, most = 0, step;
	size_t n;

	*ret = '\0';
	for (uint32_t i = 0; i < change->sparks_n; i++) {
		least = MIN(least, change->sparks[i]);
		most = MAX(most, change->sparks[i]);
	}
	if (change->sparks_n < 2 || !most)
		return;
	// In 1/256, as perf rounds.
	step = MAX((most - least) * 256 / (ARRAY_SIZE(bars) - 1), 1u);
	n = (size_t)snprintf(ret, 64, "\u00B1%5.1f%% ", change->spread_percent);
	for (uint32_t i = 0; i < change->sparks_n; i++)
		n += (size_t)snprintf(ret + n, 64 - n, "%s",
				      bars[(change->sparks[i] - least) * 256 / step]);
	snprintf(ret + n, 64 - n, " ");
}
