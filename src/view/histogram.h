// SPDX-License-Identifier: GPL-2.0-or-later
// How often numbers of which size came: counts by powers of two, and how that looks as rows of a table. As text it looks as bcc's
// (encoder/core/histogram.h).
#pragma once
#include "view/table.h"

enum { HISTOGRAM_ROWS = 64 };

struct histogram {
	const char *unit;		 // of the numbers: "usecs"
	const char *of, *is;		 // "disk", "vda": what it is about; NULL: all
	uint64_t counts[HISTOGRAM_ROWS]; // [0]: of 0 and 1, [1]: of 2 and 3, [2]: of 4 to 7, ...
};

static inline uint64_t histogram_from(unsigned row)
{
	return row ? (uint64_t)1 << row : 0;
}
static inline uint64_t histogram_to(unsigned row)
{
	return ((uint64_t)2 << row) - 1; // of the last: all bits, as 2 << 63 is 0
}
// The last row that has a count; -1: none has.
int histogram_last(const struct histogram *histogram);
// One row of a table for each of the counts up to the last: [is,] from, to, count.
void histogram_columns(struct table *table, const struct histogram *histogram);
void histogram_rows(struct table *table, const struct histogram *histogram);
