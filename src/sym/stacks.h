// SPDX-License-Identifier: GPL-2.0-or-later
// Call stacks as 32-bit ids. Frames are interned by (dso, symbol) or (dso, address) when there is no symbol;
// stacks live in a trie: node = (parent, frame), so a sample adds one number and a common caller is stored once.
// The trie's root side is the caller's end (node 0 is the empty stack); the node of a stack is its innermost frame.
#pragma once
#include "abi/sample.h"
#include "base/map.h"
#include "base/vec.h"
#include "sym/source.h"
#include "sym/sym.h"

struct frame {
	struct dso *dso;	  // NULL: in no map
	const struct symbol *sym; // NULL: none
	uint64_t ip;		  // as first seen (virtual)
	uint64_t addr;		  // location.addr as first seen
	const char *srcline; // "file.c:12" of the first seen; NULL: not known, or not asked for
	uint8_t cpumode;
	char level;
	bool is_return; // as first seen: the address is where a call returns to, not where it stands
};

struct stack_node {
	uint32_t parent, frame, depth;
	uint32_t child; // the first one, 0: none. Most nodes have no other: only those are looked up in a table.
};

// How frames become one: perf's callchain key "function" (default) or "address"; by name, all addresses of a file that
// have no symbol are one frame; by place, an address of a file is one frame, wherever the file is mapped, but apart as where a
// call returns to and as where it stands.
enum frame_key {
	FRAME_BY_FUNCTION,
	FRAME_BY_ADDRESS,
	FRAME_BY_NAME,
	FRAME_BY_SRCLINE,
	FRAME_BY_PLACE
};

// One address of a call chain with the stack from the outer end up to it.
struct stack_step {
	uint64_t ip;
	uint32_t node;
	uint8_t cpumode;
	bool is_return;
};

// The addresses of a call chain, each with its mode.
struct chain_walk {
	const uint64_t *at, *end;
	uint8_t cpumode;
	bool at_calls, is_return;
};

static inline struct chain_walk chain_walk_of(const struct sample *sample)
{
	return (struct chain_walk){.at = sample->callchain,
				   .end = sample->callchain + sample->callchain_n,
				   .cpumode = PERF_RECORD_MISC_USER,
				   .at_calls = sample->at_calls};
}

// 1: an address, 0: the end, -1: a marker that nobody knows.
static inline int chain_next(struct chain_walk *walk, struct stack_step *ret)
{
	while (walk->at < walk->end) {
		uint64_t ip = *walk->at++;

		if (ip < PERF_CONTEXT_MAX) {
			*ret = (struct stack_step){.ip = ip,
						   .cpumode = walk->cpumode,
						   .is_return = walk->is_return};
			walk->is_return = !walk->at_calls || walk->cpumode != PERF_RECORD_MISC_USER;
			return 1;
		}
		walk->cpumode = cpumode_of_context(ip);
		walk->is_return = false;
		if (walk->cpumode == PERF_RECORD_MISC_CPUMODE_UNKNOWN)
			return -1;
	}
	return 0;
}

static inline struct location stack_step_resolve(struct sym *sym, struct task *task,
						 const struct stack_step *step)
{
	return step->is_return ? sym_resolve_return(sym, task, step->cpumode, step->ip)
			       : sym_resolve(sym, task, step->cpumode, step->ip);
}

// The last chain of a task: the next one mostly begins alike.
struct stack_memory {
	uint64_t where; // address spaces, as they were
	bool ends_at_place;
	VEC(struct stack_step) steps;
};

// A whole chain seen before: in the same address space when it is long, by the addresses of its files when it is short.
struct known_chain {
	uint64_t key; // 0: empty
	uint32_t node;
	bool ends_at_place; // as struct stack_ask has it
};

// The frame of an address of a file or of the kernel, whatever the address space.
struct known_frame {
	uint64_t key;	// 0: empty
	uint32_t frame; // or a run
};

// An address inside of inlined functions is several frames at once: instead of a frame's number, this and the run's.
#define STACK_RUN (1u << 31)
struct frame_run {
	uint32_t first, n; // into run_frames, innermost first
};
enum {
	STACK_MEMORIES = 16,
	STACK_CHAINS = 1 << 16,
	STACK_PATHS = 1 << 16,
	STACK_FRAMES = 1 << 17,
	STACK_SHORT = 24, // entries of a chain that need no memory of the last one
};

struct stacks {
	struct sym *sym;
	struct sources *sources;  // whose inlined functions become frames; borrowed; NULL: none do
	bool want_srclines;	  // frames know their line
	bool no_inlines;	  // sources are for lines only
	struct source_frame line; // of the address at hand
	enum frame_key key;
	uint32_t max_stack;   // frames; 0: no limit
	bool keep_outermost;  // max_stack cuts at the inner end
	bool hide_unresolved; // frames without a symbol are left out
	VEC(struct frame) frames;
	VEC(struct stack_node) nodes;
	struct map frame_ids, run_ids;
	uint32_t *node_slots; // hash table by (parent, frame) of nodes that are no first child, 0: empty
	size_t node_mask, hashed_n;
	struct known_chain *chains; // STACK_CHAINS of them, direct mapped
	struct known_chain *paths;  // STACK_PATHS: rows of frames or runs, the same
	uint32_t nowhere[8]; // by cpumode: the frame of all that lies in no map, when by name; 0: none yet
	struct known_frame *known;		  // STACK_FRAMES, direct mapped
	struct stack_memory last[STACK_MEMORIES]; // by task
	VEC(struct stack_step) steps;
	VEC(struct frame_run) runs;
	VEC(uint32_t) run_frames;
	VEC(uint32_t) path; // of the chain being resolved, innermost first
	uint64_t corrupt_n;
};

void stacks_init(struct stacks *stacks, struct sym *sym, enum frame_key key);
void stacks_done(struct stacks *stacks);
// Frees what only new samples need; frames and nodes stay.
void stacks_end(struct stacks *stacks);
// The location's frame with its line (want_srclines), whatever is inlined there.
uint32_t stacks_line_frame(struct stacks *stacks, const struct location *location);
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame);
// One of several samples whose stacks are asked for together.
struct stack_ask {
	struct task *task;
	const struct sample *sample;
	uint32_t node; // the answer
	// The innermost frame says all of where the sample lies: it is there, and nothing is inlined, left out, or told apart by less.
	bool is_of_place;
};
enum { STACK_BATCH = 16 };

// The stack of a sample: its call chain, context markers followed; without a chain its ip alone. A chain with
// an unknown context marker is corrupt and gives node 0. The same chain in an unchanged address space
// costs one hash lookup.
uint32_t stacks_of_sample(struct stacks *stacks, struct task *task, const struct sample *sample);
// Likewise of up to STACK_BATCH samples; cheaper than one by one, as their cache misses overlap.
void stacks_of_samples(struct stacks *stacks, struct stack_ask *asks, size_t n);

static inline const struct frame *stacks_node_frame(const struct stacks *stacks, uint32_t node)
{
	return &stacks->frames.v[stacks->nodes.v[node].frame];
}
