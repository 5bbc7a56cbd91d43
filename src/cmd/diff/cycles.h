// SPDX-License-Identifier: GPL-2.0-or-later
// diff -c cycles: the basic blocks of a row's function, and what changed in their cycles from the baseline to a file. Blocks
// are the same when they begin and end at the same offsets in functions of the same name. Order and numbers are perf's.
#pragma once
#include "cmd/diff/diff.h"

struct block_change {
	const struct block *base, *block; // base NULL: the baseline doesn't have it
	int64_t change;			  // of the average number of cycles; 0 without a baseline
	// Of the changes of the first times that the block ran, one by one.
	uint64_t sparks[BLOCK_SPARKS];
	uint32_t sparks_n;
	double spread_percent; // standard error of their mean, in percent of it
};

struct block_changes {
	VEC(struct block_change) v; // the largest change first
	const struct place *place;  // the function
	struct report *report;	    // that it is of
};

// Of a row in a file; none where it has no such row or no function. The row's and the file's reports own what is in it.
void block_changes_init(struct block_changes *ret, const struct diff *diff,
			const struct diff_row *row, size_t file);
void block_changes_done(struct block_changes *changes);
// How many blocks the row's function has where the row is from.
size_t block_changes_base_n(const struct diff_row *row);
// "[code.c:12 -> code.c:14]", else as offsets.
void block_change_put_range(const struct block_changes *changes, const struct block_change *change,
			    struct out *out);
// The column of --cycles-hist: the spread and a bar for each time; nothing where there is no difference.
void block_change_put_sparks(const struct block_change *change, char ret[64]);
