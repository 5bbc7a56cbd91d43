// SPDX-License-Identifier: GPL-2.0-or-later
// Counting, told once: rows have keys and cells, both are texts of expressions over the fields of events. Where it is possible the kernel
// counts (flow/bpf_count.h), else tally_hit does; the rows are the same, and who reads them need not know.
//
// An event counts by itself, or it is the first or the second of a pair: the first one waits for the second with the same number, which
// then counts; rows and cells know the delay between both, and keys may be what the first one said.
#pragma once
#include "abi/sample.h"
#include "agg/dist.h"
#include "agg/pairs.h"
#include "data/recording.h"
#include "expr/expr.h"

enum { TALLY_KEYS = 4, TALLY_CELLS = 32, TALLY_ROWS_MAX = 1 << 20, TALLY_STACK_MAX = 32 };

enum tally_key_kind {
	TALLY_NUMBER,
	TALLY_TEXT,  // TALLY_COMM is the name of the thread that the event happens in
	TALLY_LOG2,  // of a number: 0 of 0 and 1, 1 of 2 and 3, 2 of 4 to 7, ...
	TALLY_STACK, // the kernel's call stack, the innermost first; any text
	TALLY_CGROUP, // the id of the control group that the event happens in (sys/cgroup.h); any text
};

#define TALLY_COMM "comm(_tid)"
// As a key's text or a cell's value: from the first event of the pair to the second, ns.
#define TALLY_DELAY "_delay"

struct tally_key {
	enum tally_key_kind kind;
	uint32_t unit; // of LOG2: the number is divided by it before; of STACK: at most so many frames; 0: 1, all
	bool first; // of pairs: what the first event said
	bool label; // of the row, not what tells rows apart: the first one that is met
};

enum tally_cell_kind {
	TALLY_HITS,
	TALLY_SUM, // wraps around
	TALLY_MIN, // UINT64_MAX (of signed values: INT64_MAX) when there was none
	TALLY_MAX, // 0 (INT64_MIN) when there was none
	TALLY_DIST, // how the numbers are distributed; at most one. What has a negative one is not counted at all.
	// Of pairs whose rows are told apart by what firsts say: what waits when the rows are read. No event adds to them.
	TALLY_OUTSTANDING, // how many firsts
	TALLY_OLDEST, // since when the one that has waited longest does (see tally_waits); UINT64_MAX: none waits
};

struct tally_update {
	uint32_t cell;
	const char *value; // of HITS: NULL
};

enum tally_role { TALLY_ALONE, TALLY_FIRST, TALLY_SECOND };

struct tally_event {
	const struct event *event;
	const char *filter; // in the kernel's syntax: who gives samples has applied it; NULL: none
	const char *keys[TALLY_KEYS]; // NULL: of a label, the event says none; of a pair, the other event says it
	const struct tally_update *updates; // borrowed while the tally lives
	uint32_t updates_n;
	enum tally_role role;
	const char *pair; // the number by which first and second belong together
	bool keeps;	  // of a first: one that waits already stays
	uint64_t only_first[2]; // of a second: the first key of its first is one of these numbers, else the pair is forgotten
	uint32_t only_first_n;
	bool not_self; // the kernel leaves out what this process does
};

struct tally_options {
	const char *name; // of who counts, in messages
	const struct tally_key *keys;
	uint32_t keys_n;
	const enum tally_cell_kind *cells;
	uint32_t cells_n;
	const struct tally_event *events; // borrowed, with all texts, while the tally lives
	uint32_t events_n;
	uint32_t rows_max;	   // in the kernel; 0: some thousand
	const char *not_in_kernel; // why the kernel can't count; NULL: it may
	bool kernel_or_none;	   // -EOPNOTSUPP where the kernel can't count
	const uint32_t *cpus;	   // the kernel counts there; NULL: everywhere
	uint32_t cpus_n;
	struct expr_machine *machine;
	// The name of a thread; NULL: the machine's.
	const char *(*comm)(void *arg, const struct sample *sample);
	// Is the frame none that stacks are told apart by? Asked for each, innermost first, when rows are made. NULL: none is.
	bool (*skips_frame)(void *arg, uint64_t ip);
	void *arg, *skips_arg;
};

struct tally;

// -v says where it counts, and why not in the kernel. The arrays of keys and cells are copied.
int tally_open(struct tally **ret, const struct tally_options *options);
void tally_close(struct tally *tally); // says what was not counted; NULL is allowed
bool tally_in_kernel(const struct tally *tally);
// What the expressions ask the run for.
bool tally_asks_symbols(const struct tally *tally);
bool tally_asks_tasks(const struct tally *tally);

// What is wanted besides the events' own filters, from now on: "" all. Fails with a sentence, then nothing has changed.
int tally_filter(struct tally *tally, const char *text);

// ---- hits, where the kernel doesn't count

enum tally_result { TALLY_LEFT_OUT, TALLY_WAITS, TALLY_COUNTED };

struct tally_hit {
	uint64_t data; // of a first: kept with it; of a second: what the first one left
	uint64_t first_ns, delay_ns; // of a counted second
	uint32_t row;		     // of what is counted
};

enum tally_result tally_hit(struct tally *tally, uint32_t event, const struct sample *sample,
			    struct tally_hit *hit);
// First events that wait, by what tally_each_waiting gives: since when, by the clock of samples, where the kernel counts CLOCK_MONOTONIC's;
// the keys that they said, the others are 0.
typedef void tally_waits(void *arg, uint64_t since_ns, const uint64_t keys[TALLY_KEYS]);
void tally_each_waiting(struct tally *tally, tally_waits *waits, void *arg);
// Events were lost: what waits is not known any more. How many.
uint64_t tally_forget_waiting(struct tally *tally);
// First events that wait, where the kernel doesn't count, by their number. slot->data is what tally_hit was given.
const struct pairs *tally_waiting(const struct tally *tally);
// The first key of the first event that waits.
uint64_t tally_waiting_key(const struct tally *tally, const struct pair_slot *slot);

// ---- rows

// Takes what the kernel counted since the last time, and what waits.
int tally_read(struct tally *tally);
// Forgets all rows.
void tally_clear(struct tally *tally);
size_t tally_rows(const struct tally *tally);
uint64_t tally_number(const struct tally *tally, size_t row, uint32_t key);
// A text; "" when there is none.
const char *tally_text(const struct tally *tally, size_t row, uint32_t key);
// Addresses, the innermost first; 0: not known.
size_t tally_stack(const struct tally *tally, size_t row, uint32_t key, const uint64_t **ret);
uint64_t tally_cell(const struct tally *tally, size_t row, uint32_t cell);
// For cells that no event adds to: who counts does.
uint64_t *tally_cell_at(struct tally *tally, size_t row, uint32_t cell);
const struct dist *tally_dist(const struct tally *tally, size_t row);
bool tally_key_is_signed(const struct tally *tally, uint32_t key);
bool tally_cell_is_signed(const struct tally *tally, uint32_t cell);

struct tally_order {
	uint32_t at; // which
	bool is_key; // up; else a cell: down
};
// The numbers of all rows, sorted, in `ret` [tally_rows]. Rows that are equal in all are in the order in which they came.
void tally_sort(const struct tally *tally, const struct tally_order *order, size_t n, uint32_t *ret);

struct tally_stats {
	uint64_t hits;	   // that are in the rows
	uint64_t overflow; // that found no place
	uint64_t negative; // left out: their number of DIST is negative
	uint64_t again; // first events that came again while they waited: since when they did before is not known
	uint64_t no_stack; // of hits: the kernel had no place for their stacks
};
// Since the last tally_clear.
struct tally_stats tally_stats(const struct tally *tally);
// Pairs since the last time whose second event happened before the first: they are left out, the first waits on.
uint64_t tally_take_backward(struct tally *tally);
