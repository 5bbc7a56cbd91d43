// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks, one a line: "outermost;...;innermost VALUE", frames may end in _[k] kernel, _[j] JIT, _[i] inlined,
// _[w] waker. Two values on every line ("stack BEFORE AFTER") are the two sides of a difference. Lines that start with
// '#' are comments. Values may have a fraction.
#pragma once
#include "view/flame.h"

struct folded_options {
	unsigned side;	    // where single values go
	bool reverse;	    // innermost frame first in the tree
	bool single_column; // never take two numbers as two sides
};

struct folded_result {
	uint64_t lines, bad_lines;
	uint64_t first_bad_line; // 1 is the first; 0: none
	bool two_columns;
};

// Adds all stacks of the text. Lines that are no stacks are counted, never fatal. About 25 ns a frame; a line that begins
// as the one before it pays only for the rest.
void folded_read(struct flame *flame, struct str text, const struct folded_options *options,
		 struct folded_result *ret);
// Is the line a folded stack (something, white space, a number)?
bool folded_is_line(struct str line);
