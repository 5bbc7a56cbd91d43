// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/dist.h"
#include "base/alloc.h"
#include <string.h>

enum { IN_BLOCK = 1 << DIST_BITS };

void dist_done(struct dist *dist)
{
	for (int i = 0; dist->blocks && i < DIST_BLOCKS; i++)
		free(dist->blocks[i]);
	free(dist->blocks);
	free(dist->exact);
	*dist = (struct dist){0};
}

void dist_clear(struct dist *dist)
{
	for (int i = 0; dist->blocks && i < DIST_BLOCKS; i++)
		free(dist->blocks[i]);
	free(dist->blocks);
	*dist = (struct dist){.exact = dist->exact};
}

static void count(struct dist *dist, uint64_t v, uint64_t n)
{
	unsigned block = v >> DIST_BITS ? 64 - DIST_BITS - (unsigned)__builtin_clzll(v) : 0;
	uint32_t *counts = dist->blocks[block];

	if (!counts)
		counts = dist->blocks[block] = xcalloc(IN_BLOCK, sizeof(*counts));
	counts[v >> (block ? block - 1 : 0) & (IN_BLOCK - 1)] += (uint32_t)n;
}

static void to_blocks(struct dist *dist)
{
	if (dist->blocks)
		return;
	dist->blocks = xcalloc(DIST_BLOCKS, sizeof(uint32_t *));
	for (uint64_t i = 0; i < dist->n; i++)
		count(dist, dist->exact[i], 1);
	free(dist->exact);
	dist->exact = NULL;
}

static void note(struct dist *dist, uint64_t v)
{
	if (!dist->n || v < dist->min)
		dist->min = v;
	if (!dist->n || v > dist->max)
		dist->max = v;
	dist->n++;
	dist->sum += v;
}

void dist_add_slow(struct dist *dist, uint64_t v)
{
	if (!dist->blocks && dist->n < DIST_EXACT) {
		if (!dist->exact)
			dist->exact = xcalloc(DIST_EXACT, sizeof(*dist->exact));
		dist->exact[dist->n] = v;
	} else {
		to_blocks(dist);
		count(dist, v, 1);
	}
	note(dist, v);
}

void dist_add_part(struct dist *dist, const struct dist_part *part)
{
	const uint64_t sum = dist->sum + part->sum;

	if (!part->n)
		return;
	if (!dist->blocks &&
	    dist->n + part->n <= DIST_EXACT) { // what is between the ends is taken as equal
		dist_add_slow(dist, part->min);
		for (uint64_t i = 2; i < part->n; i++)
			dist_add_slow(dist, (part->sum - part->min - part->max) / (part->n - 2));
		if (part->n > 1)
			dist_add_slow(dist, part->max);
	} else {
		to_blocks(dist);
		count(dist, part->min, part->n);
		dist->min = !dist->n || part->min < dist->min ? part->min : dist->min;
		dist->max = !dist->n || part->max > dist->max ? part->max : dist->max;
		dist->n += part->n;
	}
	dist->sum = sum;
}

void dist_merge(struct dist *to, const struct dist *from)
{
	const uint64_t sum = to->sum + from->sum;

	if (!from->n)
		return;
	if (!from->blocks) {
		for (uint64_t i = 0; i < from->n; i++)
			dist_add_slow(to, from->exact[i]);
		to->sum = sum; // what came as parts has a better one than its numbers
		return;
	}
	to_blocks(to);
	for (unsigned block = 0; block < DIST_BLOCKS; block++) {
		for (unsigned i = 0; from->blocks[block] && i < IN_BLOCK; i++) {
			if (!to->blocks[block])
				to->blocks[block] = xcalloc(IN_BLOCK, sizeof(uint32_t));
			to->blocks[block][i] += from->blocks[block][i];
		}
	}
	to->min = !to->n || from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->n += from->n;
	to->sum = sum;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t dist_quantile(const struct dist *dist, double fraction)
{
	uint64_t rank = (uint64_t)((double)dist->n * fraction), seen = 0;

	if (!dist->n)
		return 0;
	if (rank >= dist->n)
		return dist->max;
	if (!dist->blocks) {
		uint64_t sorted[DIST_EXACT];

		memcpy(sorted, dist->exact, dist->n * sizeof(*sorted));
		qsort(sorted, dist->n, sizeof(*sorted), by_size);
		return sorted[rank];
	}
	for (unsigned block = 0; block < DIST_BLOCKS; block++) {
		for (unsigned i = 0; dist->blocks[block] && i < IN_BLOCK; i++) {
			uint64_t v = block ? ((uint64_t)(IN_BLOCK + i) << (block - 1)) +
						     ((1ull << (block - 1)) >> 1)
					   : i;

			seen += dist->blocks[block][i];
			if (seen > rank)
				return v < dist->min ? dist->min : v > dist->max ? dist->max : v;
		}
	}
	return dist->max;
}
