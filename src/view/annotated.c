// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/annotated.h"
#include "base/search.h"
#include <stdio.h>

void annotated_init(struct annotated *annotated, uint32_t events_n)
{
	*annotated = (struct annotated){.events_n = events_n};
	annotated->totals =
		arena_zalloc(&annotated->arena, events_n * sizeof(struct annotated_count));
}

void annotated_done(struct annotated *annotated)
{
	vec_done(&annotated->lines);
	vec_done(&annotated->instructions);
	arena_done(&annotated->arena);
}

uint32_t annotated_before(const struct annotated *annotated, uint64_t addr)
{
	const uint32_t *instructions = annotated->instructions.v;
	size_t at = SEARCH(annotated->instructions.n, i,
			   annotated->lines.v[instructions[i]].addr <= addr);

	return at ? instructions[at - 1] : ANNOTATED_NOWHERE;
}

uint32_t annotated_at(const struct annotated *annotated, uint64_t addr)
{
	uint32_t at = annotated_before(annotated, addr);
	const struct annotated_line *line;

	if (at == ANNOTATED_NOWHERE)
		return at;
	line = &annotated->lines.v[at];
	return addr - line->addr < line->size ? at : ANNOTATED_NOWHERE;
}

void annotated_link(struct annotated *annotated)
{
	vec_clear(&annotated->instructions);
	for (uint32_t i = 0; i < annotated->lines.n; i++) {
		if (annotated->lines.v[i].kind == ANNOTATED_INSTRUCTION)
			vec_push(&annotated->instructions, i);
	}
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

double annotated_ipc(const struct annotated *annotated)
{
	const struct annotated_cycles *cycles = &annotated->cycles;

	return cycles->cycles ? (double)cycles->instructions / (double)cycles->cycles : 0;
}

double annotated_ipc_coverage(const struct annotated *annotated)
{
	size_t n = annotated->instructions.n;

	return annotated->cycles.any && n ? (double)annotated->cycles.covered * 100.0 / (double)n : 0;
}

void annotated_cycles_text(const struct annotated_line *line, bool with_range, char ret[96])
{
	int n;

	*ret = 0;
	if (!line->cycles)
		return;
	n = snprintf(ret, 96, "%llu", (unsigned long long)line->cycles);
	if (with_range)
		snprintf(ret + n, 96 - (size_t)n, "(%llu/%llu)",
			 (unsigned long long)line->cycles_least,
			 (unsigned long long)line->cycles_most);
}
