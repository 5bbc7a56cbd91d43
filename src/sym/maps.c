// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/private.h"
#include "base/search.h"

enum {
	// Twice what vm.max_map_count allows by default; a space with more was made up.
	MOST_MAPS = 1 << 17,
	// In all spaces together: 256 MB of pointers.
	MOST_MAPS_TOTAL = 1 << 25,
};

struct space *space_new(struct sym *sym, uint32_t pid)
{
	struct sym_private *p = sym->private;
	struct space *space = p->free_spaces.n ? vec_pop(&p->free_spaces)
					       : arena_zalloc(&p->arena, sizeof(*space));

	space->id = ++sym->private->next_space_id;
	space->pid = pid;
	return space;
}

static void mapping_put(struct mapping *map)
{
	if (!--map->refs)
		free(map);
}

// Index of the first map that starts above ip.
static size_t first_above(const struct space *space, uint64_t ip)
{
	return SEARCH(space->maps.n, i, space->maps.v[i]->start <= ip);
}

const struct mapping *space_find(const struct space *space, uint64_t ip)
{
	size_t at = first_above(space, ip);

	// Only the kernel's may overlap (their bounds come from symbols), and then by neighbours.
	for (size_t back = 0; at > 0 && back < 4; back++) {
		const struct mapping *map = space->maps.v[--at];

		if (ip < map->end)
			return map;
	}
	return NULL;
}

void near_map_find(struct near_map *near, const struct space *space, uint64_t ip)
{
	struct mapping *const *maps = space->maps.v;
	size_t at = first_above(space, ip), n = space->maps.n;
	uint64_t next = at < n ? maps[at]->start : UINT64_MAX;

	if (at && ip < maps[at - 1]->end) {
		near->map = maps[at - 1];
		near->start = near->map->start;
		near->end = MIN(near->map->end, next);
	} else {
		near->map = NULL;
		near->start = at ? maps[at - 1]->end : 0;
		near->end = next;
	}
}

static bool may_grow(struct sym *sym, const struct space *space, size_t more)
{
	if (space->maps.n + more <= MOST_MAPS && sym->private->maps_total + more <= MOST_MAPS_TOTAL)
		return true;
	sym->maps_dropped += more;
	return false;
}

// n maps that come in place of those in [from, to).
struct change {
	size_t from, to;
	struct mapping *const *maps;
	size_t n;
};

static void splice(struct sym *sym, struct space *space, const struct change *change)
{
	const size_t from = change->from, to = change->to, n = change->n;
	size_t behind = space->maps.n - to;

	if (n > to - from)
		vec_reserve(&space->maps, n - (to - from));
	if (behind)
		memmove(space->maps.v + from + n, space->maps.v + to,
			behind * sizeof(*space->maps.v));
	if (n)
		memcpy(space->maps.v + from, change->maps, n * sizeof(*change->maps));
	space->maps.n = from + n + behind;
	sym->private->maps_total += n - (to - from);
	space->generation++;
}

static struct mapping *mapping_dup(const struct mapping *map)
{
	struct mapping *dup = xmemdup(map, sizeof(*map));

	dup->refs = 1;
	return dup;
}

void space_insert(struct sym *sym, struct space *space, struct mapping *map)
{
	size_t from, to, n = 0;
	struct mapping *put[3];

	if (map->end <= map->start || !may_grow(sym, space, 2)) {
		mapping_put(map);
		return;
	}
	from = first_above(space, map->start);
	while (from > 0 && space->maps.v[from - 1]->end > map->start)
		from--;
	for (to = from; to < space->maps.n && space->maps.v[to]->start < map->end; to++)
		;
	if (from < to && space->maps.v[from]->start < map->start) {
		struct mapping *before = mapping_dup(space->maps.v[from]);

		before->end = map->start;
		put[n++] = before;
	}
	put[n++] = map;
	if (from < to && space->maps.v[to - 1]->end > map->end) {
		struct mapping *after = mapping_dup(space->maps.v[to - 1]);

		after->pgoff += map->end - after->start;
		after->start = map->end;
		put[n++] = after;
	}
	for (size_t i = from; i < to; i++)
		mapping_put(space->maps.v[i]);
	splice(sym, space, &(struct change){from, to, put, n});
}

void space_insert_raw(struct sym *sym, struct space *space, struct mapping *map)
{
	size_t at;

	if (!may_grow(sym, space, 1)) {
		mapping_put(map);
		return;
	}
	at = first_above(space, map->start);
	splice(sym, space, &(struct change){at, at, &map, 1});
}

struct mapping *space_own(struct space *space, const struct mapping *map)
{
	size_t at = first_above(space, map->start);

	while (at > 0 && space->maps.v[at - 1] != map)
		at--;
	if (at == 0 || map->refs == 1)
		return (struct mapping *)map;
	space->maps.v[at - 1]->refs--;
	space->maps.v[at - 1] = mapping_dup(map);
	space->generation++;
	return space->maps.v[at - 1];
}

void space_remove(struct sym *sym, struct space *space, struct mapping *map)
{
	size_t at = first_above(space, map->start);

	while (at > 0 && space->maps.v[at - 1] != map)
		at--;
	if (at == 0)
		return;
	splice(sym, space, &(struct change){.from = at - 1, .to = at});
	mapping_put(map);
}

static int compare_starts(const void *a, const void *b)
{
	const struct mapping *x = *(struct mapping *const *)a, *y = *(struct mapping *const *)b;

	return (x->start > y->start) - (x->start < y->start);
}

void space_sort(struct space *space)
{
	if (space->maps.n)
		qsort(space->maps.v, space->maps.n, sizeof(*space->maps.v), compare_starts);
	space->generation++;
}

void space_clone(struct sym *sym, struct space *space, const struct space *parent)
{
	size_t n = parent->maps.n;

	if (!n)
		return;
	if (n > sym->private->copy_budget) {
		sym->maps_dropped += n;
		return;
	}
	sym->private->copy_budget -= n;
	if (space->maps.n) {
		for (size_t i = 0; i < n; i++) {
			parent->maps.v[i]->refs++;
			space_insert(sym, space, parent->maps.v[i]);
		}
		return;
	}
	if (!may_grow(sym, space, n))
		return;
	space->maps.v = xmemdup(parent->maps.v, n * sizeof(*space->maps.v));
	space->maps.n = space->maps.capacity = n;
	for (size_t i = 0; i < n; i++)
		space->maps.v[i]->refs++;
	sym->private->maps_total += n;
	space->generation++;
}

void space_clear(struct sym *sym, struct space *space)
{
	for (size_t i = 0; i < space->maps.n; i++)
		mapping_put(space->maps.v[i]);
	sym->private->maps_total -= space->maps.n;
	vec_done(&space->maps);
	space->generation++;
}
