// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/arena.h"
#include "base/alloc.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

struct arena_block {
	struct arena_block *next;
	size_t size;
	char data[];
};

enum { FIRST_BLOCK = 4096 - 16, LARGEST_BLOCK = 1 << 20 };

void arena_done(struct arena *arena)
{
	while (arena->block) {
		struct arena_block *next = arena->block->next;
		free(arena->block);
		arena->block = next;
	}
	*arena = (struct arena){0};
}

void arena_reset(struct arena *arena)
{
	struct arena_block *keep = arena->block;

	if (!keep)
		return;
	while (keep->next) {
		struct arena_block *next = keep->next;
		keep->next = next->next;
		arena->total_bytes -= next->size;
		free(next);
	}
	arena->at = keep->data;
	arena->end = keep->data + keep->size;
}

void *arena_alloc_slow(struct arena *arena, size_t size)
{
	size_t want = arena->block ? MIN(arena->block->size * 2, (size_t)LARGEST_BLOCK)
				   : (size_t)FIRST_BLOCK;
	struct arena_block *block;

	if (want < size)
		want = size;
	block = xmalloc(sizeof(*block) + want);
	block->size = want;
	block->next = arena->block;
	arena->block = block;
	arena->total_bytes += want;
	arena->at = block->data + size;
	arena->end = block->data + want;
	return block->data;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
	return memset(arena_alloc(arena, size), 0, size);
}

void *arena_memdup(struct arena *arena, const void *p, size_t size)
{
	void *copy = arena_alloc(arena, size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *arena_upper(struct arena *arena, const char *text)
{
	char *ret = arena_strdup(arena, str_of(text));

	for (char *p = ret; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return ret;
}

char *arena_strdup(struct arena *arena, struct str s)
{
	char *copy = arena_alloc(arena, s.n + 1);

	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	return copy;
}

char *arena_join(struct arena *arena, struct str a, struct str b)
{
	char *to = arena_alloc(arena, a.n + b.n + 1);

	memcpy(to, a.p, a.n);
	memcpy(to + a.n, b.p, b.n);
	to[a.n + b.n] = '\0';
	return to;
}

char *arena_fmt(struct arena *arena, const char *fmt, ...)
{
	va_list args;
	char *copy;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		n = 0;
	copy = arena_alloc(arena, (size_t)n + 1);
	va_start(args, fmt);
	vsnprintf(copy, (size_t)n + 1, fmt, args);
	va_end(args);
	return copy;
}
