// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/map.h"
#include "base/alloc.h"
#include "base/hash.h"
#include <string.h>
#include <sys/mman.h>

enum { SLOTS_MIN = 16 };
static const size_t huge = 2 << 20;

// Zeroed. A large table is hit at random: with small pages nearly each look-up would miss the TLB too.
static struct map_slot *table_new(size_t slots)
{
	size_t size = slots * sizeof(struct map_slot);

	if (size < huge)
		return xcalloc(slots, sizeof(struct map_slot));
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		alloc_failed();
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static void table_free(struct map_slot *table, size_t slots)
{
	if (!table)
		return;
	if (slots * sizeof(*table) < huge)
		free(table);
	else
		munmap(table, slots * sizeof(*table));
}

void map_done(struct map *map)
{
	table_free(map->slots, map->mask + 1);
	*map = (struct map){0};
}

void map_clear(struct map *map)
{
	if (map->slots)
		memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
	map->has_zero = false;
	map->n = 0;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	if (!map->n)
		return NULL;
	if (!key)
		return map->has_zero ? (uint64_t *)&map->zero : NULL;
	if (!map->slots)
		return NULL;
	for (size_t i = hash_u64(key) & map->mask; map->slots[i].key; i = (i + 1) & map->mask) {
		if (map->slots[i].key == key)
			return &map->slots[i].value;
	}
	return NULL;
}

static void grow(struct map *map)
{
	struct map old = *map;
	size_t old_size = old.slots ? old.mask + 1 : 0;
	size_t size = old_size ? old_size * 2 : SLOTS_MIN;

	map->slots = table_new(size);
	map->mask = size - 1;
	for (size_t i = 0; i < old_size; i++) {
		if (!old.slots[i].key)
			continue;
		size_t k = hash_u64(old.slots[i].key) & map->mask;
		while (map->slots[k].key)
			k = (k + 1) & map->mask;
		map->slots[k] = old.slots[i];
	}
	table_free(old.slots, old_size);
}

static uint64_t *zero_at(struct map *map, bool *ret_new)
{
	if (ret_new)
		*ret_new = !map->has_zero;
	if (!map->has_zero) {
		map->has_zero = true;
		map->zero = 0;
		map->n++;
	}
	return &map->zero;
}

uint64_t *map_at(struct map *map, uint64_t key, bool *ret_new)
{
	size_t i;

	if (!key)
		return zero_at(map, ret_new);
	if (!map->slots || (map->n + 1) * 8 > (map->mask + 1) * 5)
		grow(map);
	for (i = hash_u64(key) & map->mask; map->slots[i].key; i = (i + 1) & map->mask) {
		if (map->slots[i].key == key) {
			if (ret_new)
				*ret_new = false;
			return &map->slots[i].value;
		}
	}
	map->slots[i] = (struct map_slot){key, 0};
	map->n++;
	if (ret_new)
		*ret_new = true;
	return &map->slots[i].value;
}

void map_expect(const struct map *map, uint64_t key)
{
	if (map->slots)
		__builtin_prefetch(&map->slots[hash_u64(key) & map->mask], 1);
}

bool map_remove(struct map *map, uint64_t key)
{
	uint64_t *value = map_find(map, key);
	size_t hole, i;

	if (!value)
		return false;
	map->n--;
	if (!key) {
		map->has_zero = false;
		return true;
	}
	hole = (size_t)((struct map_slot *)(void *)((char *)value - offsetof(struct map_slot, value)) -
			map->slots);
	// Backward-shift deletion: no tombstones.
	for (i = (hole + 1) & map->mask; map->slots[i].key; i = (i + 1) & map->mask) {
		size_t home = hash_u64(map->slots[i].key) & map->mask;

		if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].key = 0;
	return true;
}

bool map_next(const struct map *map, size_t *i, struct map_slot *ret_slot)
{
	// Index 0 is key 0, the others are the slots, one further.
	if (*i == 0) {
		++*i;
		if (map->has_zero) {
			*ret_slot = (struct map_slot){0, map->zero};
			return true;
		}
	}
	for (; map->slots && *i <= map->mask + 1; ++*i) {
		if (map->slots[*i - 1].key) {
			*ret_slot = map->slots[(*i)++ - 1];
			return true;
		}
	}
	return false;
}
