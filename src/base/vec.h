// SPDX-License-Identifier: GPL-2.0-or-later
// Growing arrays of any type: VEC(struct foo) foos; vec_push(&foos, foo); foos.v[i], foos.n.
#pragma once
#include "base/alloc.h"
#include <string.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, capacity;                                                                \
	}

// Room for `more` further elements.
#define vec_reserve(vec, more)                                                                     \
	vec_grow_((void **)&(vec)->v, &(vec)->capacity, (vec)->n + (more), sizeof(*(vec)->v))

#define vec_push(vec, ...)                                                                         \
	do {                                                                                       \
		if ((vec)->n == (vec)->capacity)                                                   \
			vec_reserve(vec, 1);                                                       \
		(vec)->v[(vec)->n++] = (__VA_ARGS__);                                              \
	} while (0)

// A new zeroed element at the end; returns its address (valid until the next growth).
#define vec_add(vec)                                                                               \
	((vec)->n == (vec)->capacity ? vec_reserve(vec, 1) : (void)0,                              \
	 memset(&(vec)->v[(vec)->n], 0, sizeof(*(vec)->v)), &(vec)->v[(vec)->n++])

#define vec_pop(vec) ((vec)->v[--(vec)->n])
#define vec_last(vec) ((vec)->v[(vec)->n - 1])
#define vec_clear(vec) ((void)((vec)->n = 0))
#define vec_done(vec)                                                                              \
	do {                                                                                       \
		free((vec)->v);                                                                    \
		(vec)->v = NULL;                                                                   \
		(vec)->n = (vec)->capacity = 0;                                                    \
	} while (0)

// for each element by address: vec_each(struct foo, f, &foos)
#define vec_each(type, it, vec) for (type *it = (vec)->v; it && it < (vec)->v + (vec)->n; it++)

static inline void vec_grow_(void **v, size_t *capacity, size_t wanted, size_t size)
{
	size_t n = *capacity;

	if (wanted <= n)
		return;
	n = n ? n * 2 : 8;
	if (n < wanted)
		n = wanted;
	*v = xreallocarray(*v, n, size);
	*capacity = n;
}
