// SPDX-License-Identifier: GPL-2.0-or-later
// Counting where the events happen: for each hit of a tracepoint the kernel runs expressions as eBPF (expr/bpf.h) and adds to a row of
// numbers; only the rows come out. Costs nothing in user space between two reads.
//
// A row has a key (numbers, texts, buckets, call stacks) and cells. Several events may share the rows, each with its own expressions for
// the key and its own cells. An event may wait for a second one with the same number (`begins`): rows and cells of the second (`ends`) then
// know the delay, and the keys that are the first one's (`first`). Times are CLOCK_MONOTONIC's. Nothing of other users of the same tracepoint changes: the programs always let the hit pass.
#pragma once
#include "expr/expr.h"
#include <stddef.h>

enum bpf_key_kind {
	BPF_KEY_NUMBER, // 8 bytes
	BPF_KEY_LOG2,	// 8 bytes: which power of two; 0 of 0 and 1
	BPF_KEY_BUCKET, // 8 bytes: expr_bucket() of a number
	BPF_KEY_TEXT,	// .size bytes, filled up with NUL; longer texts are cut
	BPF_KEY_CGROUP, // 8 bytes: the id of the control group (version 2) of who runs
	// 8 bytes: the kernel's call stack, for bpf_count_stack until the second read after this one; negative: it has none, -EEXIST: there was
	// no place for it
	BPF_KEY_STACK,
};

struct bpf_key {
	enum bpf_key_kind kind;
	uint32_t size; // of a text: a multiple of 8, at most EXPR_BPF_TEXT_MAX
	uint32_t unit; // of a power or bucket: the number is divided by it before; of a stack: at most so many frames; 0: 1, all
	bool delay;    // of a number, power or bucket: the delay, ns, is the number
	bool first;    // of pairs: what the first event said
};

enum bpf_cell_kind {
	BPF_CELL_HITS,
	BPF_CELL_SUM, // wraps around
	BPF_CELL_MIN, // UINT64_MAX (of signed values: INT64_MAX) when there was none
	BPF_CELL_MAX, // 0 (INT64_MIN) when there was none
};

struct bpf_cell {
	enum bpf_cell_kind kind;
	bool is_signed; // of MIN and MAX
};

enum {
	BPF_KEYS_MAX = 4,
	BPF_KEY_BYTES_MAX = 96,
	BPF_CELLS_MAX = 16,
	BPF_UPDATES_MAX = 8,
	BPF_STACK_MAX = 32
};

struct bpf_count_options {
	const struct bpf_key *keys;
	uint32_t keys_n; // 0: one row for all
	const struct bpf_cell *cells;
	uint32_t cells_n;
	uint32_t rows_max; // 0: 4096; the kernel needs about 2 us a row to make them
	uint32_t stacks_max; // different ones, a power of two; 0: what 4 MB hold. They are forgotten in time for new ones.
	const uint32_t *cpus; // only there; NULL: everywhere
	uint32_t cpus_n;
};

struct bpf_update {
	uint32_t cell;
	bool delay;		  // the delay, ns, is the value
	const struct expr *value; // of HITS: NULL
};

struct bpf_count_event {
	uint32_t id;		   // of the tracepoint
	uint32_t record_bytes;	   // the end of its last field
	const struct expr *filter; // NULL: every hit
	const struct expr *keys[BPF_KEYS_MAX];
	struct bpf_update updates[BPF_UPDATES_MAX];
	uint32_t updates_n;
	bool not_self;		 // without what this process does
	const struct expr *pair; // the number that joins first and second
	bool begins,
		ends; // one of them; what begins has no updates, and only the keys that are the first one's
	bool keeps; // of what begins: one that waits already stays
	uint64_t only_first[2]; // of what ends: the first key of the first event is one of these, else the pair is forgotten
	uint32_t only_first_n;
};

struct bpf_count;

// What was not counted.
struct bpf_count_stats {
	uint64_t failed; // hits whose expressions failed (division by zero, a pointer out of the event)
	uint64_t full;	     // hits whose row found no place
	uint64_t waits_full; // first events that found no place
	uint64_t again; // first events that came again while they waited; without `keeps` they wait anew
	uint64_t backward; // second events whose time is before that of the first; the first waits on
	uint64_t missed; // hits that the kernel skipped as a program ran already; UINT64_MAX: this kernel does not say
};

// The options are copied. -EPERM, ... with a sentence; the caller then counts in user space.
int bpf_count_open(struct bpf_count **ret, const struct bpf_count_options *options);
// Counts from here on. -EOPNOTSUPP: an expression is not for the kernel; -EINVAL: the verifier refuses it (its log: debug). Some ms.
int bpf_count_add(struct bpf_count *count, const struct bpf_count_event *event);
// Gives each row that was counted in since the last read, in any order, and forgets it. No hit is lost or counted twice in between:
// the kernel counts into another set of rows meanwhile. The hook returns < 0 to end.
int bpf_count_read(struct bpf_count *count,
		   int (*row)(void *arg, const void *key, const uint64_t *cells), void *arg);
// The addresses of a key of kind BPF_KEY_STACK, the innermost first: how many; 0: the kernel had none, or no place for it.
size_t bpf_count_stack(struct bpf_count *count, uint64_t key, uint64_t ret[BPF_STACK_MAX]);
// First events that wait: since when (CLOCK_MONOTONIC), and the keys that they said, one behind the other.
void bpf_count_waiting(const struct bpf_count *count,
		       void (*waits)(void *arg, uint64_t since_ns, const void *first_keys),
		       void *arg);
// Since the beginning.
int bpf_count_stats(const struct bpf_count *count, struct bpf_count_stats *ret);
void bpf_count_close(struct bpf_count *count); // NULL is allowed
