// SPDX-License-Identifier: GPL-2.0-or-later
// Basic blocks from branch stacks that carry cycles: a block begins where a branch went to and ends at the next branch, whose
// cycles it took. Blocks are told by the branch at their end; of several that overlap the longest one counts, as in perf
// (tools/perf/util/annotate.c of 6.1, symbol__account_cycles).
#pragma once
#include "abi/sample.h"
#include "base/map.h"
#include "base/vec.h"
#include "sym/sym.h"
#include "view/annotated.h"

enum { BLOCK_SPARKS = 8 };

// Offsets are from the function's start.
struct block {
	uint64_t end;	 // of the branch
	uint64_t start;	 // of the longest block; without has_start nobody knows
	uint64_t cycles; // of the longest block, in all its `n` times
	uint64_t cycles_all, cycles_least, cycles_most; // of all `n_all` blocks that end here
	uint32_t n, n_all;
	uint16_t resets; // how often a longer one came
	bool has_start;
	uint32_t sparks[BLOCK_SPARKS]; // cycles of the longest block, the first MIN(n, BLOCK_SPARKS) times
};

struct function_blocks {
	const struct symbol *symbol;
	struct map by_end; // -> index + 1
	VEC(struct block) blocks;
};

struct blocks {
	struct map by_symbol;		   // -> struct function_blocks *
	VEC(struct function_blocks *) all; // in order of first sight
	uint64_t total_cycles;		   // of all branches, also of those outside of functions
	bool no_starts; // set by who knows that branches of some kinds are missing: then nobody knows where a block began
};

struct blocks *blocks_new(void);
void blocks_free(struct blocks *blocks);
// A sample's branch stack. Without cycles in its newest branch it says nothing, as in perf. About 60 ns a branch.
void blocks_add_sample(struct blocks *blocks, struct sym *sym, struct task *task,
		       const struct sample *sample);
// A branch at `from`; `came_to` is where the one before it went, NULL: not known. Symbols are told apart by their address.
void blocks_add(struct blocks *blocks, const struct location *from, const struct location *came_to,
		unsigned cycles);
// A function's blocks in the order of their ends; NULL: none. n log n.
struct function_blocks *blocks_find(const struct blocks *blocks, const struct symbol *symbol);
// Cycles and instructions per cycle of the lines of a function. `blocks` may be NULL.
void blocks_annotate(struct function_blocks *blocks, struct annotated *lines);

static inline unsigned branch_cycles(const struct perf_branch_entry *branch)
{
	uint64_t flags;

	memcpy(&flags, (const char *)branch + 2 * sizeof(uint64_t), sizeof(flags));
	return flags >> 4 & 0xffff;
}
