// SPDX-License-Identifier: GPL-2.0-or-later
// A line made of parts, of which the less important ones go as wholes where there is no room: half a number or sentence
// would say something else.
#pragma once
#include "base/out.h"

enum { TUI_PARTS_MAX = 16 };

struct tui_parts {
	struct out out; // what is written here belongs to the part that was begun last
	struct {
		size_t at;
		int rank;
	} parts[TUI_PARTS_MAX];
	size_t n;
};

void tui_parts_init(struct tui_parts *line);
void tui_parts_done(struct tui_parts *line);
// Rank 0 stays; of the others the highest rank goes first, of equal ones the last.
void tui_parts_begin(struct tui_parts *line, int rank);
// All words of a list, two spaces between them; the last ones go first, the first one stays.
void tui_parts_words(struct tui_parts *line, const char *const *words);
// Takes parts out until the rest has at most `columns` bytes, or only rank 0 is left. Valid until the line changes.
struct str tui_parts_fit(struct tui_parts *line, size_t columns);
// A column of a table, with ".." at its end where it is cut; what is cut from a text of strangers is not half a character.
void tui_cut(struct out *text, size_t columns);
