// SPDX-License-Identifier: GPL-2.0-or-later
// Open-addressing hash map from a 64-bit key to a 64-bit value (an id, a pointer, a count).
// One cache miss a lookup. Keys are hashed here; all keys are allowed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	uint64_t value;
};

// Zero-initialised is an empty map.
struct map {
	struct map_slot *slots; // key 0: empty; key 0 itself lives in `zero`
	size_t n;
	size_t mask; // slots - 1, 0 when nothing is allocated
	uint64_t zero;
	bool has_zero;
};

void map_done(struct map *map);
void map_clear(struct map *map);
// The value's address or NULL; valid until the next map_at or map_remove.
uint64_t *map_find(const struct map *map, uint64_t key);
// The value's address, a new one being 0 (*ret_new, may be NULL, says so).
uint64_t *map_at(struct map *map, uint64_t key, bool *ret_new);
bool map_remove(struct map *map, uint64_t key);
// Walk: for (size_t i = 0; map_next(map, &i, &slot);)
bool map_next(const struct map *map, size_t *i, struct map_slot *ret_slot);

// The key will be asked for soon.
void map_expect(const struct map *map, uint64_t key);

static inline void *map_find_ptr(const struct map *map, uint64_t key)
{
	uint64_t *value = map_find(map, key);
	return value ? (void *)(uintptr_t)*value : NULL;
}
static inline void map_set_ptr(struct map *map, uint64_t key, void *value)
{
	*map_at(map, key, NULL) = (uintptr_t)value;
}
