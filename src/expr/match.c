// SPDX-License-Identifier: GPL-2.0-or-later
// Text against a constant: equal, or a glob with * ? [a-z] [!a-z] and backslash.
#include "expr/code.h"

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (strchr("*?[\\", s.p[i]))
			return false;
	return true;
}

void expr_match_init(struct expr_match *match, enum expr_match_kind kind, struct str pattern)
{
	struct str inner = pattern;
	bool front = false, end = false;

	*match = (struct expr_match){.kind = kind, .pattern = pattern};
	if (kind == EXPR_MATCH_EQUAL) { // up to a NUL, as C's strings end there
		const char *nul = pattern.n ? memchr(pattern.p, 0, pattern.n) : NULL;

		if (nul)
			match->pattern.n = (size_t)(nul - pattern.p);
		match->fixed = match->pattern;
		return;
	}
	if (inner.n && inner.p[0] == '*') {
		end = true;
		inner.p++;
		inner.n--;
	}
	if (inner.n && inner.p[inner.n - 1] == '*') {
		front = true;
		inner.n--;
	}
	if (!is_plain(inner))
		match->shape = EXPR_SHAPE_GLOB;
	else if (front && end)
		match->shape = EXPR_SHAPE_MIDDLE;
	else if (front)
		match->shape = EXPR_SHAPE_FRONT;
	else if (end)
		match->shape = EXPR_SHAPE_END;
	match->fixed = inner;
}

// One element of a pattern at *at against c; moves *at behind it.
static bool match_class(struct str glob, size_t *at, unsigned char c)
{
	size_t i = *at + 1;
	bool negated = i < glob.n && glob.p[i] == '!', found = false;
	size_t start;

	i += negated;
	start = i;
	for (; i < glob.n && (i == start || glob.p[i] != ']'); i++) {
		unsigned char low = (unsigned char)glob.p[i], high = low;

		if (i + 2 < glob.n && glob.p[i + 1] == '-' && glob.p[i + 2] != ']') {
			high = (unsigned char)glob.p[i + 2];
			i += 2;
		}
		found |= low <= c && c <= high;
	}
	if (i >= glob.n) { // without its end a bracket is a character
		++*at;
		return c == '[';
	}
	*at = i + 1;
	return found != negated;
}

static bool match_one(struct str glob, size_t *at, unsigned char c)
{
	switch (glob.p[*at]) {
	case '?':
		++*at;
		return true;
	case '[':
		return match_class(glob, at, c);
	case '\\':
		if (*at + 1 < glob.n)
			++*at;
		__attribute__((fallthrough));
	default:
		return (unsigned char)glob.p[(*at)++] == c;
	}
}

// Goes back to the last star only, which is enough; at most text times pattern steps.
static bool match_glob(struct str glob, struct str text)
{
	size_t at = 0, i = 0, star = SIZE_MAX, mark = 0;

	while (i < text.n) {
		size_t next = at;

		if (at < glob.n && glob.p[at] == '*') {
			star = ++at;
			mark = i;
		} else if (at < glob.n && match_one(glob, &next, (unsigned char)text.p[i])) {
			at = next;
			i++;
		} else if (star != SIZE_MAX) {
			at = star;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (at < glob.n && glob.p[at] == '*')
		at++;
	return at == glob.n;
}

bool expr_match_text(const struct expr_match *match, struct str text)
{
	const struct str fixed = match->fixed;
	bool result;

	if (match->kind == EXPR_MATCH_EQUAL) { // an array without a NUL equals what goes on behind it
		const size_t n = match->limit ? MIN(fixed.n, (size_t)match->limit) : fixed.n;

		return (text.n == n && memcmp(text.p, fixed.p, n) == 0) != match->negated;
	}
	if (match->shape == EXPR_SHAPE_GLOB)
		return match_glob(match->pattern, text) != match->negated;
	if (text.n < fixed.n)
		return match->negated;
	switch (match->shape) {
	case EXPR_SHAPE_FULL:
		result = str_eq(text, fixed);
		break;
	case EXPR_SHAPE_FRONT:
		result = memcmp(text.p, fixed.p, fixed.n) == 0;
		break;
	case EXPR_SHAPE_END:
		result = memcmp(text.p + text.n - fixed.n, fixed.p, fixed.n) == 0;
		break;
	default:
		result = memmem(text.p, text.n, fixed.p, fixed.n) != NULL;
	}
	return result != match->negated;
}
