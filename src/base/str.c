// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/str.h"
#include "base/alloc.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

bool text_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

struct str str_trim(struct str s)
{
	while (s.n && isspace((unsigned char)s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_cut(struct str *rest, char sep)
{
	struct str all = *rest;
	const char *at = all.n ? memchr(all.p, sep, all.n) : NULL;

	if (!at) {
		*rest = (struct str){NULL, 0};
		return all;
	}
	rest->p = at + 1;
	rest->n = all.n - (size_t)(at - all.p) - 1;
	return (struct str){all.p, (size_t)(at - all.p)};
}

char *str_dup(struct str s)
{
	char *copy = xmalloc(s.n + 1);

	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	return copy;
}

char *text_dup_fmt(const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		alloc_failed();
	va_end(args);
	return text;
}

// Matches one [set] at *ret_glob (behind the '['); leaves *ret_glob behind the ']'.
static bool match_set(const char **ret_glob, unsigned char c)
{
	const char *g = *ret_glob;
	bool negate = *g == '!' || *g == '^', hit = false, first = true;

	if (negate)
		g++;
	for (; *g && (first || *g != ']'); g++, first = false) {
		unsigned char low = (unsigned char)*g, high = low;

		if (g[1] == '-' && g[2] && g[2] != ']') {
			high = (unsigned char)g[2];
			g += 2;
		}
		hit |= low <= c && c <= high;
	}
	*ret_glob = *g ? g + 1 : g;
	return hit != negate;
}

bool text_glob(const char *text, const char *glob)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		const char *g = glob;
		bool ok;

		if (*g == '*') {
			star = ++glob;
			resume = text;
			continue;
		}
		if (*g == '[') {
			g++;
			ok = match_set(&g, (unsigned char)*text);
		} else {
			if (*g == '\\' && g[1])
				g++;
			ok = *g && (*glob == '?' || *g == *text);
			g += *g ? 1 : 0;
		}
		if (ok) {
			glob = g;
			text++;
		} else if (star) {
			glob = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}
