// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/map.h"
#include "base/alloc.h"
#include "base/hash.h"

void map_done(struct map *map)
{
	free(map->slots);
	free(map->used);
	*map = (struct map){0};
}

void map_clear(struct map *map)
{
	if (map->used)
		memset(map->used, 0, map->mask + 1);
	map->n = 0;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	if (!map->n)
		return NULL;
	for (size_t i = hash_u64(key) & map->mask; map->used[i]; i = (i + 1) & map->mask) {
		if (map->slots[i].key == key)
			return &map->slots[i].value;
	}
	return NULL;
}

static void grow(struct map *map)
{
	struct map old = *map;
	size_t size = old.slots ? (old.mask + 1) * 2 : 16;

	map->slots = xreallocarray(NULL, size, sizeof(*map->slots));
	map->used = xcalloc(size, 1);
	map->mask = size - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (!old.used[i])
			continue;
		size_t k = hash_u64(old.slots[i].key) & map->mask;
		while (map->used[k])
			k = (k + 1) & map->mask;
		map->used[k] = 1;
		map->slots[k] = old.slots[i];
	}
	free(old.slots);
	free(old.used);
}

uint64_t *map_at(struct map *map, uint64_t key, bool *ret_new)
{
	size_t i;

	if (!map->slots || (map->n + 1) * 8 > (map->mask + 1) * 5)
		grow(map);
	for (i = hash_u64(key) & map->mask; map->used[i]; i = (i + 1) & map->mask) {
		if (map->slots[i].key == key) {
			if (ret_new)
				*ret_new = false;
			return &map->slots[i].value;
		}
	}
	map->used[i] = 1;
	map->slots[i] = (struct map_slot){key, 0};
	map->n++;
	if (ret_new)
		*ret_new = true;
	return &map->slots[i].value;
}

bool map_remove(struct map *map, uint64_t key)
{
	uint64_t *value = map_find(map, key);
	size_t hole, i;

	if (!value)
		return false;
	hole = (size_t)((struct map_slot *)(void *)((char *)value -
						    offsetof(struct map_slot, value)) -
			map->slots);
	// Backward-shift deletion: no tombstones.
	for (i = (hole + 1) & map->mask; map->used[i]; i = (i + 1) & map->mask) {
		size_t home = hash_u64(map->slots[i].key) & map->mask;

		if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->used[hole] = 0;
	map->n--;
	return true;
}

bool map_next(const struct map *map, size_t *i, struct map_slot *ret_slot)
{
	for (; map->slots && *i <= map->mask; (*i)++) {
		if (map->used[*i]) {
			*ret_slot = map->slots[(*i)++];
			return true;
		}
	}
	return false;
}
