// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotate/ranges.h"
#include "base/hash.h"
#include "base/search.h"

struct ranges *ranges_new(void)
{
	return NEW(struct ranges);
}

void ranges_free(struct ranges *ranges)
{
	if (!ranges)
		return;
	for (size_t i = 0; i < ranges->files.n; i++) {
		struct file_ranges *file = ranges->files.v[i];

		if (!file)
			continue;
		map_done(&file->by_ends);
		vec_done(&file->ranges);
		vec_done(&file->pieces);
		free(file);
	}
	vec_done(&ranges->files);
	free(ranges);
}

void ranges_add(struct ranges *ranges, const struct dso *dso, struct range ran)
{
	struct file_ranges *file;
	struct range *range;
	uint64_t *at;

	// No code ends with the last address; only maps that were made up have it.
	if (ran.start > ran.end || ran.end == UINT64_MAX)
		return;
	while (ranges->files.n <= dso->id)
		vec_push(&ranges->files, NULL);
	if (!ranges->files.v[dso->id])
		ranges->files.v[dso->id] = NEW(struct file_ranges);
	file = ranges->files.v[dso->id];
	at = map_at(&file->by_ends, hash_mix(ran.start, ran.end), NULL);
	if (!*at) {
		vec_push(&file->ranges, (struct range){.start = ran.start, .end = ran.end});
		*at = file->ranges.n;
	}
	range = &file->ranges.v[*at - 1];
	range->n++;
	range->predicted += ran.predicted;
}

void ranges_add_sample(struct ranges *ranges, struct sym *sym, struct task *task,
		       const struct sample *sample)
{
	struct location from, to = {0};

	if (!sample->branches)
		return;
	// The newest stands first.
	for (uint64_t i = sample->branch_n; i-- > 0;) {
		const struct perf_branch_entry *branch = &sample->branches[i];

		from = sym_resolve_any(sym, task, branch->from);
		// The processor runs forward; where it doesn't, a branch is missing.
		if (to.dso && to.dso == from.dso && to.ip && to.addr <= from.addr)
			ranges_add(ranges, to.dso,
				   (struct range){.start = to.addr,
						  .end = from.addr,
						  .predicted = branch->predicted});
		to = sym_resolve_any(sym, task, branch->to);
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t piece_at(const struct file_ranges *file, uint64_t addr)
{
	return SEARCH(file->pieces.n, i, file->pieces.v[i].end < addr);
}

// From cut to cut, first all that lies between the first and the last; what is in no range has n 0.
static void cut(struct file_ranges *file)
{
	VEC(uint64_t) cuts = {0};

	vec_each(const struct range, range, &file->ranges) {
		vec_push(&cuts, range->start);
		vec_push(&cuts, range->end + 1);
	}
	if (cuts.n)
		qsort(cuts.v, cuts.n, sizeof(*cuts.v), by_number);
	for (size_t i = 0; i + 1 < cuts.n; i++) {
		if (cuts.v[i] < cuts.v[i + 1])
			vec_push(&file->pieces,
				 (struct piece){.start = cuts.v[i], .end = cuts.v[i + 1] - 1});
	}
	vec_done(&cuts);
}

static void count(struct file_ranges *file)
{
	auto_free int64_t *more = xcalloc(file->pieces.n + 1, sizeof(*more));
	int64_t n = 0;

	vec_each(const struct range, range, &file->ranges) {
		size_t first = piece_at(file, range->start), last = piece_at(file, range->end);

		more[first] += (int64_t)range->n;
		more[last + 1] -= (int64_t)range->n;
		file->pieces.v[first].entered += range->n;
		file->pieces.v[last].left += range->n;
		file->pieces.v[last].predicted += range->predicted;
	}
	for (size_t i = 0; i < file->pieces.n; i++) {
		n += more[i];
		file->pieces.v[i].n = (uint64_t)n;
	}
}

void ranges_finish(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->files.n; i++) {
		if (!ranges->files.v[i])
			continue;
		cut(ranges->files.v[i]);
		count(ranges->files.v[i]);
	}
}

struct range_note ranges_at(const struct ranges *ranges, const struct dso *dso, uint64_t addr)
{
	const struct file_ranges *file = dso->id < ranges->files.n ? ranges->files.v[dso->id] : NULL;
	struct range_note note = {0};
	const struct piece *piece;
	size_t at;

	if (!file)
		return note;
	at = piece_at(file, addr);
	if (at == file->pieces.n || file->pieces.v[at].start > addr || !file->pieces.v[at].n)
		return note;
	piece = &file->pieces.v[at];
	if (piece->left && piece->end == addr) {
		note.left = 100.0 * (double)piece->left / (double)piece->n;
		note.predicted = 100.0 * (double)piece->predicted / (double)piece->left;
	}
	if (piece->entered && piece->start == addr) {
		uint64_t entered = piece->entered;

		while (!piece->left)
			piece++;
		note.entered = 100.0 * (double)entered / (double)piece->n;
	}
	return note;
}
