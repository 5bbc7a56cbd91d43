// SPDX-License-Identifier: GPL-2.0-or-later
// Reads numbers and strings of a header section, in either byte order, never past its end.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool swap;
	bool bad; // something did not fit; all later reads give 0
};

static inline struct cursor cursor_of(const void *p, size_t size, bool swap)
{
	const uint8_t *at = p;

	return (struct cursor){.at = at, .end = size ? at + size : at, .swap = swap};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

// n bytes where they lie, or NULL.
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->at;

	if (c->bad || cursor_left(c) < n) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return p;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v = 0;
	const uint8_t *p = cursor_bytes(c, 4);

	if (p)
		memcpy(&v, p, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v = 0;
	const uint8_t *p = cursor_bytes(c, 8);

	if (p)
		memcpy(&v, p, 8);
	return c->swap ? __builtin_bswap64(v) : v;
}

// A length and as many bytes with a NUL among them (perf pads to 64). NULL when malformed.
static inline const char *cursor_string(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const uint8_t *p = cursor_bytes(c, n);

	if (!p || !memchr(p, 0, n)) {
		c->bad = true;
		return NULL;
	}
	return (const char *)p;
}

static inline uint32_t load_u32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return swap ? __builtin_bswap64(v) : v;
}
