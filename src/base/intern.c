// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/intern.h"
#include "base/hash.h"

void intern_init(struct intern *intern)
{
	*intern = (struct intern){.mask = 63};
	intern->slots = xcalloc(intern->mask + 1, sizeof(*intern->slots));
	intern_str(intern, STR(""));
}

void intern_done(struct intern *intern)
{
	arena_done(&intern->arena);
	vec_done(&intern->strings);
	free(intern->slots);
	intern->slots = NULL;
}

static size_t find_slot(const struct intern *intern, struct str s)
{
	size_t i = hash_bytes(s.p, s.n) & intern->mask;

	while (intern->slots[i] && !str_eq(intern->strings.v[intern->slots[i] - 1], s))
		i = (i + 1) & intern->mask;
	return i;
}

static void grow(struct intern *intern)
{
	intern->mask = intern->mask * 2 + 1;
	free(intern->slots);
	intern->slots = xcalloc(intern->mask + 1, sizeof(*intern->slots));
	for (size_t id = 0; id < intern->strings.n; id++)
		intern->slots[find_slot(intern, intern->strings.v[id])] = (uint32_t)id + 1;
}

uint32_t intern_str(struct intern *intern, struct str s)
{
	size_t i = find_slot(intern, s);

	if (intern->slots[i])
		return intern->slots[i] - 1;
	if ((intern->strings.n + 1) * 2 > intern->mask) {
		grow(intern);
		i = find_slot(intern, s);
	}
	vec_push(&intern->strings, (struct str){arena_strdup(&intern->arena, s), s.n});
	intern->slots[i] = (uint32_t)intern->strings.n;
	return (uint32_t)intern->strings.n - 1;
}

uint32_t intern_lookup(const struct intern *intern, struct str s)
{
	size_t i = find_slot(intern, s);
	return intern->slots[i] ? intern->slots[i] - 1 : UINT32_MAX;
}
