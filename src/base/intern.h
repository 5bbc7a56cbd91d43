// SPDX-License-Identifier: GPL-2.0-or-later
// Strings become dense 32-bit ids, equal text equal id. Id 0 is the empty string.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdint.h>

struct intern {
	struct arena arena;
	VEC(struct str) strings; // by id; NUL-terminated
	uint32_t *slots;	 // id + 1, 0 = empty
	size_t mask;
};

void intern_init(struct intern *intern);
void intern_done(struct intern *intern);
uint32_t intern_str(struct intern *intern, struct str s);
// UINT32_MAX if it is not there.
uint32_t intern_lookup(const struct intern *intern, struct str s);

static inline uint32_t intern_text(struct intern *intern, const char *text)
{
	return intern_str(intern, str_of(text));
}
static inline const char *intern_get(const struct intern *intern, uint32_t id)
{
	return intern->strings.v[id].p;
}
