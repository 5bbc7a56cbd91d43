// SPDX-License-Identifier: GPL-2.0-or-later
// Where variables are while a program runs: location expressions and lists (DWARF 5 section 2.6), brought into the form that the
// kernel's probe events can fetch: a register or an address, then memory behind pointers, each with an offset.
#pragma once
#include "obj/die.h"

enum { PLACE_MOST_STEPS = 8, PLACE_MOST_PIECES = 16 };

enum place_base {
	PLACE_NOWHERE,	// optimized out here
	PLACE_REGISTER, // number: DWARF's
	PLACE_ADDRESS,	// number: virtual address
	PLACE_CONSTANT, // number: the value
};

// The value is base + add; after each step memory at (what it is + steps[i]). The last step's memory is the variable itself
// when in_memory, otherwise what the last step read, plus add, is its value.
struct place {
	enum place_base base;
	uint64_t number;
	int64_t steps[PLACE_MOST_STEPS];
	uint8_t steps_n;
	bool in_memory;
	int64_t add;	    // of values, not in memory
	uint32_t bits;	    // only so many of the low bits are the value; 0: all
	uint64_t at, bytes; // the part of the variable that this is; bytes 0: all of it
};

struct places {
	struct place v[PLACE_MOST_PIECES];
	unsigned n;
};

struct place_context {
	const struct die *function; // for its frame base
	uint64_t pc;
	bool at_entry; // registers are still as the caller left them
	// The canonical frame address at pc, as register + offset; false: not known. May be NULL.
	bool (*cfa)(void *arg, uint64_t pc, unsigned *ret_register, int64_t *ret_offset);
	void *arg;
};

// Where `variable` is at the context's pc. 0, or -ENOENT: nowhere there; -ENOTSUP: somewhere that probes can't reach; no sentence.
int variable_places(const struct die *variable, const struct place_context *context,
		    struct places *ret);
// Likewise for a whole expression.
int places_of(const struct dwarf_unit *unit, struct str expression,
	      const struct place_context *context, struct places *ret);
// DW_AT_location or DW_AT_frame_base: calls with each range of addresses and its expression; a single one has the range
// 0 to UINT64_MAX. False: there is no such attribute.
typedef void location_entry(void *arg, uint64_t low, uint64_t high, struct str expression);
// The earliest place in the function behind the context's pc; as variable_places.
int variable_later_places(const struct die *variable, const struct place_context *context,
			  struct places *ret);
bool variable_locations(const struct die *die, uint16_t attr, location_entry *call, void *arg);

// Parameters and variables that a scope (function or inlined call) has at pc: its own, then those of the blocks around pc, then
// those of calls inlined there (`inlined`). Calls with each and the innermost scope that it is in, outer ones first. call returns false to stop.
typedef bool variable_visit(void *arg, const struct die *variable, const struct die *scope,
			    bool inlined);
void variables_at(const struct die *scope, uint64_t pc, variable_visit *call, void *arg);
