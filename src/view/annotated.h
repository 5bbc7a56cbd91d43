// SPDX-License-Identifier: GPL-2.0-or-later
// A function as lines: source and instructions, with what was counted at each, and where jumps go. What makes it is code/annotate.h; how it looks is the business of those who show it.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

enum annotated_kind {
	ANNOTATED_NOTE, // neither: "Disassembly of section .text:", empty lines, "function():", "file.c:12"
	ANNOTATED_SOURCE,
	ANNOTATED_INSTRUCTION,
};

enum annotated_flow { ANNOTATED_ON, ANNOTATED_JUMP, ANNOTATED_CALL, ANNOTATED_RETURN };

struct annotated_count {
	uint64_t samples, period;
};

struct annotated_line {
	enum annotated_kind kind;
	const char *text; // one line, tabs expanded; of an instruction "mov    %rsp,%rbp"
	uint32_t number;  // as perf counts lines: of the source file where that is known
	// of instructions
	uint64_t addr;
	uint32_t offset; // from the function's start
	uint32_t size;
	const uint8_t *bytes;
	enum annotated_flow flow;
	bool is_nop;
	bool has_target; // a direct jump or call
	uint64_t target;
	uint32_t jump_to; // the line that a jump inside of the function goes to; ANNOTATED_NOWHERE
	uint32_t jumps_here;		// how many come here
	struct annotated_count *counts; // by event; NULL: no instruction
	// of instructions and source: the line in the source, the innermost function; NULL, 0: not known
	const char *file, *function;
	uint32_t line;
	// of instructions, from branch stacks; 0: not known
	float ipc; // of the block that it is in, instructions per cycle
	uint64_t cycles, cycles_least, cycles_most; // that the block took which this branch ends
};
enum { ANNOTATED_NOWHERE = UINT32_MAX };

// Of blocks whose begin is known: what was executed, in how many cycles, and how many of the function's instructions are in one.
struct annotated_cycles {
	bool any; // some branch has cycles
	uint64_t cycles, instructions, covered;
};

struct annotated {
	const char *symbol, *path; // of the function; the file that its code is from
	uint64_t addr, size;	   // as the file counts
	uint32_t events_n;
	struct annotated_count *totals; // of the function, by event: samples that lie beside all instructions too
	VEC(struct annotated_line) lines;
	VEC(uint32_t) instructions; // which of the lines are, in order of addresses
	uint32_t max_jumps_here;
	struct annotated_cycles cycles;
	struct arena arena;
};

void annotated_init(struct annotated *annotated, uint32_t events_n);
void annotated_done(struct annotated *annotated);
// Finds instructions, and jump_to and jumps_here of all lines, once the lines stand. n log n.
void annotated_link(struct annotated *annotated);
// Of linked lines, by an address of the file: the last instruction that begins there or before; ANNOTATED_NOWHERE: none. Log n.
uint32_t annotated_before(const struct annotated *annotated, uint64_t addr);
// The instruction there, or the one that it is inside of; ANNOTATED_NOWHERE: none.
uint32_t annotated_at(const struct annotated *annotated, uint64_t addr);
// The function's instructions per cycle, and the share of its instructions of which they are known, in percent; 0: not known.
double annotated_ipc(const struct annotated *annotated);
double annotated_ipc_coverage(const struct annotated *annotated);
// "12", with the range "12(10/15)"; "" where they are not known.
void annotated_cycles_text(const struct annotated_line *line, bool with_range, char ret[96]);
