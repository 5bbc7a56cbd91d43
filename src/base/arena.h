// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that is freed all at once. Pointers stay valid until arena_done or arena_reset.
#pragma once
#include "base/str.h"
#include <stddef.h>

struct arena_block;

// Zero-initialised is an empty arena.
struct arena {
	struct arena_block *block; // newest first
	char *at, *end;
	size_t total_bytes; // asked from the heap
};

void arena_done(struct arena *arena);
// Forgets all, keeps one block.
void arena_reset(struct arena *arena);
void *arena_alloc_slow(struct arena *arena, size_t size);

// 8-byte aligned, not zeroed.
static inline void *arena_alloc(struct arena *arena, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if ((size_t)(arena->end - arena->at) < size || !arena->at)
		return arena_alloc_slow(arena, size);
	char *p = arena->at;
	arena->at += size;
	return p;
}

void *arena_zalloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, struct str s);	  // NUL-terminated
char *arena_upper(struct arena *arena, const char *text); // in capitals
void *arena_memdup(struct arena *arena, const void *p, size_t size);
// One behind the other, NUL-terminated.
char *arena_join(struct arena *arena, struct str a, struct str b);
char *arena_fmt(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
