// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/record/parts.h"
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
