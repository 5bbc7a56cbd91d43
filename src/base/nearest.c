// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/nearest.h"
#include "base/alloc.h"
#include "base/str.h"
#include <limits.h>
#include <string.h>

enum { LONGEST = 127 };

unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned rows[3][LONGEST + 1];
	unsigned *two_above = rows[0], *above = rows[1], *row = rows[2];

	if (n > LONGEST || m > LONGEST)
		return limit + 1;
	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned best = row[0] = (unsigned)i;

		for (size_t j = 1; j <= m; j++) {
			unsigned d = above[j - 1] + (a[i - 1] != b[j - 1]);

			d = MIN(d, MIN(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = MIN(d, two_above[j - 2] + 1);
			row[j] = d;
			best = MIN(best, d);
		}
		if (best > limit)
			return limit + 1;
		unsigned *free_row = two_above;
		two_above = above;
		above = row;
		row = free_row;
	}
	return above[m];
}

// How far a candidate is: its distance, then, behind all that are near by it, what begins with the word, what contains it, what the
// word begins with. UINT_MAX: not near.
static unsigned rank(const char *word, const char *candidate, unsigned limit)
{
	unsigned d = edit_distance(word, candidate, limit);

	if (d < limit || (d == limit && strlen(word) < 3))
		return d;
	if (strlen(word) >= 3 && text_starts(candidate, word))
		return limit;
	if (d == limit)
		return limit + 1;
	if (strlen(word) >= 3 && strstr(candidate, word))
		return limit + 2;
	if (strlen(candidate) >= 3 && text_starts(word, candidate))
		return limit + 3;
	return UINT_MAX;
}

const char *nearest(const char *word, const char *const *candidates)
{
	unsigned limit = MAX(1u, ((unsigned)strlen(word) + 1) / 3), best = UINT_MAX;
	const char *found = NULL;

	for (; *candidates; candidates++) {
		unsigned d = rank(word, *candidates, limit);

		if (d < best) {
			best = d;
			found = *candidates;
		}
	}
	return found;
}
