// SPDX-License-Identifier: GPL-2.0-or-later
// .debug_line, versions 2 to 5: the source line of each address of a unit, as one sorted array.
#pragma once
#include "obj/dwarf.h"

struct line_row {
	uint64_t addr;	     // the first that the line is for
	uint32_t file, line; // file: for lines_path
};

// A stretch of code without holes.
struct line_sequence {
	uint64_t low, high, reach; // [low, high); reach: the highest end up to here
	uint32_t first, n;	   // rows
};

struct line_file {
	const char *name, *path; // path: NULL until it is asked for
	uint32_t dir;
};

struct lines {
	VEC(struct line_row) rows;
	VEC(struct line_sequence) sequences;
	VEC(struct line_file) files;
	VEC(const char *) dirs;
	const char *comp_dir; // NULL: none
	struct arena *arena;  // of the paths
};

// A row as the compiler wrote it: several may have one address.
struct line_mark {
	uint64_t addr;
	uint32_t file, line;
	uint32_t order;		// in the program
	uint32_t discriminator; // which of several pieces of code of the line; 0: not told
	bool is_stmt;		// a statement begins: a good place to stop at
};
struct line_marks {
	struct line_mark *v;
	size_t n, capacity;
};

// All rows of a unit but the ends of sequences, sorted by address; those of one address as the compiler wrote them. Read
// anew each time, 10 ns a byte. Adds to `ret`, which is the caller's to free.
void lines_read_marks(struct dwarf_unit *unit, struct line_marks *ret);

// The table of a unit, read when it is first asked for; 6 ns a byte then. NULL: it has none. The dwarf frees it.
struct lines *lines_of(struct dwarf_unit *unit);
void lines_free(struct lines *lines);
// Log n. NULL: no line.
const struct line_row *lines_find(const struct lines *lines, uint64_t addr);
// As the compiler was told it, with its folder; NULL: no such file. Lives as long as the dwarf.
const char *lines_path(struct lines *lines, uint32_t file);
