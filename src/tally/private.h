// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of tally.h.
#pragma once
#include "base/intern.h"
#include "base/map.h"
#include "flow/bpf_count.h"
#include "flow/event_value.h"
#include "tally/tally.h"

enum tally_value_kind { TALLY_ONE, TALLY_OF_DELAY, TALLY_OF_EVENT };

// What an event says to a key or a cell, read here.
struct tally_value {
	enum tally_value_kind kind;
	bool has, is_comm;
	struct event_value value;
};

// What a hit does to a cell of its row.
struct tally_step {
	enum tally_cell_kind kind;
	uint32_t cell;
	uint64_t flip;		   // of MIN and MAX: makes signed numbers compare as unsigned ones
	bool same;		   // its number is that of the step before
	struct tally_value *value; // of HITS: NULL
};

struct tally_here {
	enum tally_role role;
	bool keeps;
	uint32_t only_first_n;
	const uint64_t *only_first;
	uint8_t own[TALLY_KEYS],
		own_n; // the keys that it says and that tell rows apart (of a first: that it keeps)
	size_t last_row; // that it counted in
	struct tally_value pair, keys[TALLY_KEYS];
	struct tally_step *steps;
	uint32_t steps_n;
	struct tally_value *updates; // [updates_n]
	struct tally_value *dist;    // that of DIST; NULL: none
	struct expr *filter;	     // what tally_filter added; NULL: none
};

struct tally {
	struct tally_options options;
	struct tally_key keys[TALLY_KEYS];
	enum tally_cell_kind cells[TALLY_CELLS];
	bool key_signed[TALLY_KEYS], cell_signed[TALLY_CELLS];
	bool asks_symbols, asks_tasks;
	uint32_t dist;			    // the cell that is one; UINT32_MAX: none
	uint32_t told_n;		    // keys that tell rows apart,
	uint32_t told;			    // the last one of them
	uint8_t first[TALLY_KEYS], first_n; // keys that first events say
	bool labels;			    // there are some
	struct tally_here *here;	    // [events_n]
	struct pairs waiting;	    // slot->event: keys of the first, as tally_first_of has them
	VEC(uint64_t) first_keys;   // first_n each, of those that wait and need a place
	VEC(uint32_t) first_unused; // places
	uint64_t first_aged_n;	    // waiting.aged_out_n when places were looked through last
	bool tells_waiting;	    // a cell says what waits

	struct tally_kernel *kernel; // NULL: it doesn't count
	struct expr *ksymbol;	     // name of the number _time

	struct map by_keys; // a row's number by a hash of its keys, or by its only key
	VEC(uint64_t) row_keys;
	VEC(uint64_t) row_cells;
	VEC(struct dist) row_dists;
	size_t rows_n;
	struct intern texts; // and stacks, as bytes
	struct tally_stats stats;
	uint64_t backward_n;
	struct arena arena;
};

// here.c
int tally_here_open(struct tally *tally);
void tally_here_done(struct tally *tally);
int tally_here_filter(struct tally *tally, const char *text);

// kernel.c: -EOPNOTSUPP, ... with a sentence where the kernel can't. `filter` is that of tally_filter.
int tally_kernel_open(struct tally *tally, struct tally_kernel **ret, const char *filter);
void tally_kernel_close(struct tally_kernel *kernel, const char *name);
int tally_kernel_read(struct tally *tally);

// here.c: what tally_each_waiting does; other numbers for the texts of firsts that wait, as they are in tally->texts from now on.
void tally_here_waiting(struct tally *tally, tally_waits *waits, void *arg);
void tally_here_renew(struct tally *tally, const struct intern *old);
// kernel.c: likewise
void tally_kernel_waiting(struct tally *tally, tally_waits *waits, void *arg);

// tally.c: a text as a key; a key for which there is no place: TALLY_NO_TEXT, which no row has.
#define TALLY_NO_TEXT UINT64_MAX
uint64_t tally_text_key(struct tally *tally, struct str text);
// A stack as a key, n addresses.
uint64_t tally_stack_key(struct tally *tally, const uint64_t *frames, size_t n);

// The row with these keys (labels are set where it has none), made when there is none; SIZE_MAX: there is no place.
size_t tally_row(struct tally *tally, const uint64_t keys[TALLY_KEYS]);
static inline uint64_t *tally_cells_of(const struct tally *tally, size_t row)
{
	return tally->row_cells.v + row * tally->options.cells_n;
}
static inline bool tally_is_row(const struct tally *tally, size_t row, const uint64_t *keys)
{
	const uint64_t *its = tally->row_keys.v + row * tally->options.keys_n;

	for (uint32_t i = 0; i < tally->options.keys_n; i++)
		if (its[i] != keys[i] && !tally->keys[i].label)
			return false;
	return true;
}
// Which power of two, see TALLY_LOG2.
static inline uint64_t tally_log2(uint64_t v)
{
	return v < 2 ? 0 : 63 - (uint64_t)__builtin_clzll(v);
}
// Adds what was counted elsewhere to a cell that is no distribution.
static inline void tally_merge(const struct tally *tally, uint32_t at, uint64_t *cell, uint64_t v)
{
	const uint64_t flip = tally->cell_signed[at] ? (uint64_t)1 << 63 : 0;

	if (tally->cells[at] == TALLY_MIN)
		*cell = (v ^ flip) < (*cell ^ flip) ? v : *cell;
	else if (tally->cells[at] == TALLY_MAX)
		*cell = (v ^ flip) > (*cell ^ flip) ? v : *cell;
	else
		*cell += v;
}
