// SPDX-License-Identifier: GPL-2.0-or-later
// Borrowed slices of text: what a parser hands out instead of copies.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// n bytes at p, not NUL-terminated; p may be NULL when n is 0.
struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_FMT(s) (int)(s).n, (s).p // for "%.*s"

static inline struct str str_of(const char *text)
{
	return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *text)
{
	return str_eq(a, str_of(text));
}

static inline bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

// Without the mark that some editors put before UTF-8.
static inline struct str str_after_bom(struct str s)
{
	return str_starts(s, "\xef\xbb\xbf") ? (struct str){s.p + 3, s.n - 3} : s;
}

static inline bool text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *s, const char *suffix);

// What stands behind a path's last slash; all of it where nothing does.
const char *text_base_name(const char *path);

// Without white space at both ends.
struct str str_trim(struct str s);

// Cuts *rest at the first `sep`: returns the part before it, leaves the part after it. When there is
// no `sep` the whole is returned and *rest becomes {NULL, 0}; a NULL *rest returns {NULL, 0}.
struct str str_cut(struct str *rest, char sep);

// A heap copy with a NUL behind it; the caller frees it.
char *str_dup(struct str s);

// Heap-formatted text (never NULL); the caller frees it.
char *text_dup_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Shell-like glob with * ? [a-z] [!a-z] and backslash, as perf's strglobmatch. Linear in practice, at
// worst strlen(text) * strlen(glob).
bool text_glob(const char *text, const char *glob);
