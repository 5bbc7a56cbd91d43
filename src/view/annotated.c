// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/annotated.h"
#include "base/hash.h"
#include "base/map.h"

void annotated_init(struct annotated *annotated, uint32_t events_n)
{
	*annotated = (struct annotated){.events_n = events_n};
	annotated->totals =
		arena_zalloc(&annotated->arena, events_n * sizeof(struct annotated_count));
}

void annotated_done(struct annotated *annotated)
{
	vec_done(&annotated->lines);
	arena_done(&annotated->arena);
}

uint32_t annotated_at(const struct annotated *annotated, uint64_t addr)
{
	const struct annotated_line *lines = annotated->lines.v;
	size_t low = 0, high = annotated->lines.n;

	// Instructions stand in order of addresses; what is between them belongs to the one before.
	while (low < high) {
		size_t middle = (low + high) / 2, at = middle;

		while (at < high && lines[at].kind != ANNOTATED_INSTRUCTION)
			at++;
		if (at == high || lines[at].addr > addr)
			high = middle;
		else
			low = at + 1;
	}
	while (low > 0) {
		const struct annotated_line *line = &lines[--low];

		if (line->kind == ANNOTATED_INSTRUCTION)
			return addr - line->addr < line->size ? (uint32_t)low : ANNOTATED_NOWHERE;
	}
	return ANNOTATED_NOWHERE;
}

void annotated_link(struct annotated *annotated)
{
	vec_each(struct annotated_line, line, &annotated->lines) {
		uint32_t at;

		line->jump_to = ANNOTATED_NOWHERE;
		if (line->flow != ANNOTATED_JUMP || !line->has_target)
			continue;
		at = annotated_at(annotated, line->target);
		if (at == ANNOTATED_NOWHERE || annotated->lines.v[at].addr != line->target)
			continue;
		line->jump_to = at;
		annotated->lines.v[at].jumps_here++;
		annotated->max_jumps_here =
			MAX(annotated->max_jumps_here, annotated->lines.v[at].jumps_here);
	}
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct annotated_place *x = a, *y = b;
	uint32_t events_n = *(const uint32_t *)arg;

	for (uint32_t i = 0; i < events_n; i++) {
		if (x->counts[i].period != y->counts[i].period)
			return x->counts[i].period > y->counts[i].period ? -1 : 1;
	}
	if (x->file && y->file && strcmp(x->file, y->file))
		return strcmp(x->file, y->file);
	return x->line < y->line ? -1 : x->line > y->line;
}

void annotated_hottest(const struct annotated *annotated, struct annotated_places *ret)
{
	uint32_t events_n = annotated->events_n;
	struct map known = {0};

	*ret = (struct annotated_places){0};
	for (size_t i = 0; i < annotated->lines.n; i++) {
		const struct annotated_line *line = &annotated->lines.v[i];
		struct annotated_place *place;
		uint64_t *at;
		bool is_new, any = false;

		if (!line->counts || !line->file)
			continue;
		for (uint32_t k = 0; k < events_n; k++)
			any |= line->counts[k].samples != 0;
		if (!any)
			continue;
		// Equal files are equal texts, as one source gave them.
		at = map_at(&known, hash_mix((uintptr_t)line->file, line->line), &is_new);
		if (is_new) {
			*at = ret->v.n;
			place = vec_add(&ret->v);
			place->file = line->file;
			place->function = line->function;
			place->line = line->line;
			place->counts = arena_zalloc(&ret->arena, events_n * sizeof(*place->counts));
		}
		place = &ret->v.v[*at];
		for (uint32_t k = 0; k < events_n; k++) {
			place->counts[k].samples += line->counts[k].samples;
			place->counts[k].period += line->counts[k].period;
		}
	}
	map_done(&known);
	if (ret->v.n)
		qsort_r(ret->v.v, ret->v.n, sizeof(*ret->v.v), by_weight, &events_n);
}

void annotated_places_done(struct annotated_places *places)
{
	vec_done(&places->v);
	arena_done(&places->arena);
}
