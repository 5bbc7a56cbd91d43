// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and what was inlined into them, from .debug_info: for each function one sorted array that says for every address
// which call is the innermost. And what most want: the source lines and functions of an address.
#pragma once
#include "obj/dwarf.h"

// A function, or a call that was inlined.
struct inline_scope {
	uint32_t parent; // INLINE_NONE: a function
	uint32_t call_file, call_line;
	struct dwarf_value origin; // names it
	const char *name;	   // NULL: not looked up yet, or none
	bool has_name;		   // looked up
};
enum { INLINE_NONE = UINT32_MAX };

// From `start` up to the next one's.
struct inline_piece {
	uint64_t start;
	uint32_t scope; // INLINE_NONE: no function
};

// A function with code. What is inside of it is read when an address of it is asked for.
struct inline_function {
	uint64_t at, end;  // offsets in .debug_info that its entries lie between
	uint32_t first, n; // pieces
	bool is_read;
};

struct inline_pieces {
	struct inline_piece *v;
	size_t n, capacity;
};

struct inlines {
	VEC(struct inline_scope) scopes;
	struct inline_pieces pieces;	       // function by function, each sorted
	struct inline_pieces places;	       // sorted; scope: index of a function
	VEC(struct inline_function) functions; // in the order of .debug_info
	struct inline_function all; // the whole unit: for code of functions that are inside of others or of types
};

// Those of a unit that holds its entries (dwarf_unit_whole); what is inside of types and functions is skipped here where the
// compiler says how. Never NULL.
struct inlines *inlines_of(struct dwarf_unit *unit);
void inlines_free(struct inlines *inlines);
// The innermost scope; log n, once a function is read. INLINE_NONE: in no function. Scopes move when more are read.
uint32_t inlines_find(struct dwarf_unit *unit, uint64_t addr);

struct dwarf_frame {
	const char *function; // mangled where it is; NULL: not known
	const char *file;     // whole path; NULL: not known
	uint32_t line;	      // 0: not known
};

// What the source says about an address: the function that it is in, behind those that were inlined, innermost first; each with
// the line where it is. The last one is the function itself. At most `most`; the outer ones are left out. 0: nothing is known.
size_t dwarf_frames(struct dwarf *dwarf, uint64_t addr, struct dwarf_frame *ret, size_t most);
// Only the innermost line, without names: faster when the entries were not read yet. False: not known.
bool dwarf_line(struct dwarf *dwarf, uint64_t addr, struct dwarf_frame *ret);
