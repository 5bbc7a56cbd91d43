// SPDX-License-Identifier: GPL-2.0-or-later
// Counting in the kernel, inside: bpf_count.c has the maps and reads them, bpf_count_program.c makes the programs.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "expr/bpf.h"
#include "flow/bpf_count.h"

enum turn { TURN_ROWS, TURN_STACKS };
enum stat { STAT_FAILED, STAT_FULL, STAT_WAITS_FULL, STAT_BACKWARD, STAT_AGAIN, STATS };

struct program {
	int perf, program;
};

struct bpf_count {
	struct bpf_count_options options;
	struct bpf_key keys[BPF_KEYS_MAX];
	struct bpf_cell cells[BPF_CELLS_MAX];
	uint32_t key_bytes, first_bytes; // first: of the keys that first events say
	uint32_t frames;		 // of stacks
	int rows[2];			 // one is counted into, the other read
	int turn;			 // numbers: which; the generation of stacks
	int stats, cpus, waiting;
	int stacks[2]; // by generation; the one before is still known
	uint32_t generation;
	struct map stacks_seen; // of this generation, by id
	uint32_t stacks_max;
	uint64_t swept_full; // when those that wait were thinned out last
	uint32_t current;
	int value_cpus;
	VEC(struct program) programs;
};

static inline uint32_t bpf_key_bytes(const struct bpf_key *key)
{
	return key->kind == BPF_KEY_TEXT ? key->size : 8;
}

// A row of zeros stands for nothing yet: extremes are kept so that the larger number is the newer one, also of the smallest.
static inline uint64_t bpf_cell_flip(const struct bpf_cell *cell)
{
	return (cell->is_signed ? (uint64_t)1 << 63 : 0) ^
	       (cell->kind == BPF_CELL_MIN ? UINT64_MAX : 0);
}

// Its program, into `ret`, which is the caller's to expr_bpf_done also on an error. -EOPNOTSUPP with a sentence.
int bpf_count_program(const struct bpf_count *count, const struct bpf_count_event *event,
		      struct expr_bpf *ret);
