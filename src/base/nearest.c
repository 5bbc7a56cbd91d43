// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/nearest.h"
#include "base/alloc.h"
#include "base/str.h"
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

const char *nearest(const char *word, const char *const *candidates)
{
	unsigned limit = MAX(1u, ((unsigned)strlen(word) + 1) / 3), best = limit + 1;
	const char *found = NULL;

	for (; *candidates; candidates++) {
		unsigned d = edit_distance(word, *candidates, limit);

		if (d > limit && strlen(word) >= 3 &&
		    (strstr(*candidates, word) ||
		     (strlen(*candidates) >= 3 && text_starts(word, *candidates))))
			d = limit;
		if (d < best) {
			best = d;
			found = *candidates;
		}
	}
	return found;
}
