// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/record/parts.h"
#include "base/alloc.h"
#include <string.h>

struct sample_parts sample_parts_find(const struct sample_plan *plan, const struct sample *sample)
{
	const uint8_t *p = (const uint8_t *)(sample->callchain + sample->callchain_n);
	struct sample_parts parts;
	uint64_t size;

	if (plan->sample_type & PERF_SAMPLE_RAW)
		p = (const uint8_t *)sample->raw - 4 + ((sample->raw_size + 4 + 7) & ~7ull);
	if (plan->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		p = (const uint8_t *)(sample->branches + sample->branch_n);
		if (sample->branch_counters)
			p = (const uint8_t *)(sample->branch_counters + sample->branch_n);
	}
	parts.regs = p;
	parts.stack = p + 8;
	if (sample->user_abi != PERF_SAMPLE_REGS_ABI_NONE)
		parts.stack += (size_t)__builtin_popcountll(plan->user_mask) * 8;
	memcpy(&size, parts.stack, 8);
	parts.behind = parts.stack + 8 + (size ? size + 8 : 0);
	return parts;
}

size_t sample_parts_trim(uint8_t *to, const struct perf_event_header *header,
			 const struct sample_parts *parts, uint64_t valid)
{
	const uint8_t *start = (const uint8_t *)header, *end = start + header->size;
	// Of a stack without bytes there would be no word that says how many are valid.
	uint64_t size = (MAX(valid, (uint64_t)8) + 7) & ~7ull;
	struct perf_event_header new = *header;
	const struct {
		const void *p;
		size_t n;
	} pieces[] = {
		{&new, sizeof(new)},
		{start + sizeof(new), (size_t)(parts->stack - start) - sizeof(new)},
		{&size, 8},
		{parts->stack + 8, size},
		{&valid, 8},
		{parts->behind, (size_t)(end - parts->behind)},
	};
	size_t total = 0, n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		total += pieces[i].n;
	new.size = (uint16_t)total;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		memcpy(to + n, pieces[i].p, pieces[i].n);
		n += pieces[i].n;
	}
	return n;
}
