// SPDX-License-Identifier: GPL-2.0-or-later
// The generalized cache events: CACHE[-OP][-RESULT], PERF_TYPE_HW_CACHE of perf_event_open(2).
#include "base/alloc.h"
#include "event/core/event_kind.h"
#include <stdio.h>

enum { NAMES = 5 };
// The first name is the canonical one.
static const char *const caches[PERF_COUNT_HW_CACHE_MAX][NAMES] = {
	[PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
	[PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
	[PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
	[PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
	[PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
	[PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
	[PERF_COUNT_HW_CACHE_NODE] = {"node"},
};
static const char *const ops[PERF_COUNT_HW_CACHE_OP_MAX][NAMES] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
	[PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read",
					     "speculative-load"},
};
static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][NAMES] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops", "access"},
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};
#define BIT(op) (1u << PERF_COUNT_HW_CACHE_OP_##op)
static const uint8_t valid_ops[PERF_COUNT_HW_CACHE_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = BIT(READ) | BIT(WRITE) | BIT(PREFETCH),
	[PERF_COUNT_HW_CACHE_L1I] = BIT(READ) | BIT(PREFETCH),
	[PERF_COUNT_HW_CACHE_LL] = BIT(READ) | BIT(WRITE) | BIT(PREFETCH),
	[PERF_COUNT_HW_CACHE_DTLB] = BIT(READ) | BIT(WRITE) | BIT(PREFETCH),
	[PERF_COUNT_HW_CACHE_ITLB] = BIT(READ),
	[PERF_COUNT_HW_CACHE_BPU] = BIT(READ),
	[PERF_COUNT_HW_CACHE_NODE] = BIT(READ) | BIT(WRITE) | BIT(PREFETCH),
};

// The longest name that s begins with and that ends there or at '-'; cuts it off. -1: none.
static int cut_name(struct str *s, const char *const (*table)[NAMES], size_t rows)
{
	size_t longest = 0;
	int found = -1;

	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < NAMES && table[i][j]; j++) {
			size_t n = strlen(table[i][j]);

			if (n > longest && str_starts(*s, table[i][j]) &&
			    (s->n == n || s->p[n] == '-')) {
				longest = n;
				found = (int)i;
			}
		}
	}
	if (found >= 0) {
		size_t cut = MIN(s->n, longest + 1);

		s->p += cut;
		s->n -= cut;
	}
	return found;
}

static int take(struct event_parser *p, struct str head)
{
	struct str rest = head;
	int cache, op = -1, result = -1;

	if (rest.p[rest.n - 1] == '-')
		return 0;
	cache = cut_name(&rest, caches, ARRAY_SIZE(caches));
	if (cache < 0)
		return 0;
	while (rest.n) {
		int found = op < 0 ? cut_name(&rest, ops, ARRAY_SIZE(ops)) : -1;

		if (found >= 0) {
			op = found;
			continue;
		}
		if (result >= 0)
			return 0;
		result = cut_name(&rest, results, ARRAY_SIZE(results));
		if (result < 0)
			return 0;
	}
	if (op >= 0 && !(valid_ops[cache] & 1u << op))
		return event_fail(p, head, "%s has no %ss to count", caches[cache][0], ops[op][0]);
	event_add_core(p, PERF_TYPE_HW_CACHE,
		       (uint64_t)cache | (uint64_t)MAX(op, 0) << 8 | (uint64_t)MAX(result, 0) << 16);
	return 1;
}

static void add(struct event_lister *lister, unsigned cache, unsigned op, unsigned result)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HW_CACHE,
		.config = cache | op << 8 | result << 16,
	};
	char name[64];

	if (!lister->all && !event_opens(&attr))
		return;
	// "L1-dcache-loads", "L1-dcache-load-misses"
	if (result == PERF_COUNT_HW_CACHE_RESULT_ACCESS)
		snprintf(name, sizeof(name), "%s-%s", caches[cache][0], ops[op][1]);
	else
		snprintf(name, sizeof(name), "%s-%s-%s", caches[cache][0], ops[op][0],
			 results[result][0]);
	lister->add(lister->arg,
		    &(struct event_entry){.name = name, .label = "Hardware cache event"});
}

static int list(struct event_lister *lister)
{
	for (unsigned cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (unsigned op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (unsigned r = 0; r < PERF_COUNT_HW_CACHE_RESULT_MAX; r++)
				if (valid_ops[cache] & 1u << op)
					add(lister, cache, op, r);
	return 0;
}

const struct event_kind event_kind_cache = {
	.name = "cache",
	.short_name = "cache",
	.rank = 4,
	.list_rank = 4,
	.take = take,
	.list = list,
};
