// SPDX-License-Identifier: GPL-2.0-or-later
// The distribution of numbers (delays, sizes): count, sum, extremes and quantiles. Exact up to DIST_EXACT numbers, then
// in buckets that are at most 1/128 wide of their value. Memory: what is in use, at most 30 KB.
#pragma once
#include <stdint.h>

enum { DIST_EXACT = 64, DIST_BITS = 7, DIST_BLOCKS = 64 - DIST_BITS + 1 };

// Zero-initialised is empty.
struct dist {
	uint64_t n, sum, min, max;
	uint64_t *exact;   // [DIST_EXACT], while there are no blocks
	uint32_t **blocks; // [DIST_BLOCKS] of 1 << DIST_BITS counts
};

void dist_done(struct dist *dist);
void dist_clear(struct dist *dist); // keeps its memory
void dist_add_slow(struct dist *dist, uint64_t v);
// n numbers from min to max that share a bucket (two neighbours of a 128th), and their sum.
struct dist_part {
	uint64_t n, sum, min, max;
};
void dist_add_part(struct dist *dist, const struct dist_part *part);
void dist_merge(struct dist *to, const struct dist *from);
// The number that `fraction` (0 to 1) of all are below; 0 when empty.
uint64_t dist_quantile(const struct dist *dist, double fraction);

// Some ns.
static inline void dist_add(struct dist *dist, uint64_t v)
{
	unsigned block = v >> DIST_BITS ? 64 - DIST_BITS - (unsigned)__builtin_clzll(v) : 0;
	uint32_t *counts = dist->blocks ? dist->blocks[block] : 0;

	if (!counts) {
		dist_add_slow(dist, v);
		return;
	}
	dist->n++;
	dist->sum += v;
	dist->min = v < dist->min ? v : dist->min;
	dist->max = v > dist->max ? v : dist->max;
	counts[v >> (block ? block - 1 : 0) & ((1 << DIST_BITS) - 1)]++;
}
