// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and what was inlined into them, from .debug_info: for each unit one sorted array that says for every address which
// call is the innermost. And what most want: the source lines and functions of an address.
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

struct inlines {
	VEC(struct inline_scope) scopes;
	VEC(struct inline_piece) pieces; // sorted
};

// Those of a unit that holds its entries (dwarf_unit_whole), read when they are first asked for. Never NULL.
const struct inlines *inlines_of(struct dwarf_unit *unit);
void inlines_free(struct inlines *inlines);
// The innermost scope; log n. INLINE_NONE: in no function.
uint32_t inlines_find(const struct inlines *inlines, uint64_t addr);

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
