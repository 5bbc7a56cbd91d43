// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/pairs.h"
#include "base/alloc.h"
#include "base/hash.h"

enum { USUAL_LIMIT = 1 << 20, FIRST = 64 };

void pairs_done(struct pairs *pairs)
{
	free(pairs->slots);
	*pairs = (struct pairs){.limit = pairs->limit};
}

void pairs_clear(struct pairs *pairs)
{
	if (pairs->n)
		memset(pairs->slots, 0, (pairs->mask + 1) * sizeof(*pairs->slots));
	pairs->n = 0;
}

struct pair_slot *pairs_find(const struct pairs *pairs, uint64_t key)
{
	if (!pairs->n)
		return NULL;
	for (size_t i = hash_u64(key) & pairs->mask;; i = (i + 1) & pairs->mask) {
		struct pair_slot *slot = &pairs->slots[i];

		if (!slot->used)
			return NULL;
		if (slot->key == key)
			return slot;
	}
}

static void insert(struct pairs *pairs, const struct pair_slot *from)
{
	size_t i = hash_u64(from->key) & pairs->mask;

	while (pairs->slots[i].used)
		i = (i + 1) & pairs->mask;
	pairs->slots[i] = *from;
	pairs->n++;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// The time that half of those that wait are older than.
static uint64_t middle(const struct pairs *pairs)
{
	uint64_t *times = xcalloc(pairs->n, sizeof(*times)), ret;
	size_t n = 0;

	for (size_t i = 0; i <= pairs->mask; i++) {
		if (pairs->slots[i].used)
			times[n++] = pairs->slots[i].time_ns;
	}
	qsort(times, n, sizeof(*times), by_time);
	ret = times[n / 2];
	free(times);
	return ret;
}

static void rebuild(struct pairs *pairs, size_t slots_n, uint64_t oldest)
{
	struct pairs old = *pairs;

	pairs->slots = xcalloc(slots_n, sizeof(*pairs->slots));
	pairs->mask = slots_n - 1;
	pairs->n = 0;
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (!old.slots[i].used)
			continue;
		if (old.slots[i].time_ns < oldest)
			pairs->aged_out_n++;
		else
			insert(pairs, &old.slots[i]);
	}
	free(old.slots);
}

static struct pair_slot *put(struct pairs *pairs, uint64_t key, bool *ret_replaced)
{
	size_t i = hash_u64(key) & pairs->mask;

	for (; pairs->slots[i].used; i = (i + 1) & pairs->mask)
		if (pairs->slots[i].key == key) {
			*ret_replaced = true;
			return &pairs->slots[i];
		}
	pairs->slots[i].key = key;
	pairs->slots[i].used = 1;
	pairs->n++;
	*ret_replaced = false;
	return &pairs->slots[i];
}

struct pair_slot *pairs_put(struct pairs *pairs, uint64_t key, bool *ret_replaced)
{
	const size_t limit = pairs->limit ? pairs->limit : USUAL_LIMIT;

	if (pairs->n < limit && pairs->n * 2 <= pairs->mask && pairs->slots)
		return put(pairs, key, ret_replaced);
	if (pairs_find(pairs, key))
		return put(pairs, key, ret_replaced);
	if (pairs->n >= limit)
		rebuild(pairs, pairs->mask + 1, middle(pairs));
	else
		rebuild(pairs, pairs->slots ? (pairs->mask + 1) * 2 : FIRST, 0);
	return put(pairs, key, ret_replaced);
}

void pairs_remove(struct pairs *pairs, struct pair_slot *slot)
{
	size_t hole = (size_t)(slot - pairs->slots), i = hole;

	pairs->n--;
	// What stands behind moves up, so that it is still found.
	for (;;) {
		size_t home;

		i = (i + 1) & pairs->mask;
		if (!pairs->slots[i].used)
			break;
		home = hash_u64(pairs->slots[i].key) & pairs->mask;
		if (((i - home) & pairs->mask) < ((i - hole) & pairs->mask))
			continue;
		pairs->slots[hole] = pairs->slots[i];
		hole = i;
	}
	pairs->slots[hole].used = 0;
}

struct pair_slot *pairs_next(const struct pairs *pairs, size_t *i)
{
	while (pairs->slots && *i <= pairs->mask) {
		struct pair_slot *slot = &pairs->slots[(*i)++];

		if (slot->used)
			return slot;
	}
	return NULL;
}
