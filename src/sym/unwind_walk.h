// SPDX-License-Identifier: GPL-2.0-or-later
// A walk up a stack: unwind.c goes from frame to frame, unwind_join.c takes what an earlier stack had further up.
#pragma once
#include "base/hash.h"
#include "obj/cfi.h"
#include "sym/load.h"
#include "sym/private.h"
#include "sym/unwind.h"
#include <string.h>

enum {
	PC = CFI_RA_COLUMN, // where the pc stands among the registers
	ARM64_LR = 30,
	WALK_KNOWN = 1 << 13, // entries of unwinder.known
	WALK_FAR = 1 << 26,   // no stack is deeper: what lies further up is no frame
};

struct unwind_dso {
	const struct cfi_table *table; // NULL: none
	struct elf_source source;
	bool has_source;
	bool keeps_frames; // frame pointers led on from code in it that nothing else describes
	// Where functions begin and end, from the first time that somebody asks.
	bool knows_functions;
	struct cfi_function *functions;
	size_t functions_n;
};

struct machine {
	uint16_t code;		// EM_*
	uint8_t sp, fp, pc_reg; // by DWARF numbers; pc_reg 255: none
	uint8_t word;		// bytes
};

struct walk {
	struct unwinder *unwinder;
	struct task *task;
	const struct unwind_input *input;
	uint64_t *ips; // the n frames so far, innermost first; room for max
	uint32_t n, max;
	const uint8_t *stack;
	uint64_t stack_at, readable; // readable: first bytes of what 8 can be read from
	uint64_t stack_size;
	uint64_t cfa;	   // of the frame that a step is taken from
	uint64_t first_fp; // the frame pointer of the innermost frame
	uint64_t regs[CFI_REGS];
	const struct machine *machine;
	enum unwind_end end; // why the last read failed
	bool reads_later; // what the copy doesn't hold is read from the thread's memory as it is now
	bool has_read_later;
	bool is_guessed; // a frame on the way was found by what nothing confirms
	uint64_t no_frame_at; // where a function goes on that has no frame yet: what it has called makes one
	bool is_elsewhere; // code without a file has its frame on none that the copy is of
};

// What to do at an address of an address space; direct mapped.
struct unwind_known {
	uint64_t pc, space;	       // space: id << 32 | generation; 0: empty
	const struct cfi_rule *rule;   // NULL: no frame information
	const struct cfi_table *table; // of the rule
	bool is_base;		       // a stack's first function, as its frame pointer said
	uint8_t call;		       // may a call return behind it? 0: not asked yet
	uint32_t asked;		       // how often there was no rule
};

// A frame, as far as the instructions that lie ahead of it need to know.
struct walk_before {
	uint64_t pc, sp, fp;
	bool is_exact, has_rule;
};

// ---- unwind_places.c: what is known of an address
// Of the file of a DSO, opened at the first question.
struct unwind_dso *unwind_dso_of(struct unwinder *unwinder, struct dso *dso);
void walk_look_up(const struct walk *w, uint64_t pc, bool is_exact, struct unwind_known *ret);
// Code that a compiler makes may not be complete at the first look: its calls are put in when they are first made. So one looks again,
// ever less often.
static inline bool walk_asks_again(const struct walk *w, struct unwind_known *known)
{
	known->asked++;
	return w->unwinder->is_live && (known->asked & (known->asked - 1)) == 0;
}
// `is_exact`: of an instruction; else of the call in front of where it returns to.
static inline struct unwind_known *walk_known(const struct walk *w, uint64_t pc, bool is_exact)
{
	const struct space *space = w->task->space;
	uint64_t key = (uint64_t)space->id << 32 | space->generation;
	struct unwind_known *known = &w->unwinder->known[hash_mix(pc, key) % WALK_KNOWN];

	if (known->pc != pc || known->space != key) {
		walk_look_up(w, pc, is_exact, known);
		known->pc = pc;
		known->space = key;
		known->is_base = false;
		known->asked = 0;
	} else if (__builtin_expect(!known->rule, 0) && walk_asks_again(w, known)) {
		walk_look_up(w, pc, is_exact, known);
	}
	return known;
}
// What lies in files: constants, code.
bool walk_read_file(const struct walk *w, uint64_t addr, void *ret, size_t size);
// Beside the copy of the stack. False: w->end says why.
bool walk_read_elsewhere(struct walk *w, uint64_t addr, uint64_t *ret);

static inline bool walk_read_word(struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - w->stack_at;

	if (__builtin_expect(at >= w->readable, 0))
		return walk_read_elsewhere(w, addr, ret);
	memcpy(ret, w->stack + at, 8);
	return true;
}

// Signatures of return addresses (PAC) stand above the bits that an address has.
static inline uint64_t walk_plain_address(const struct walk *w, uint64_t addr)
{
	return w->machine->code == EM_AARCH64 ? addr & ((1ull << 48) - 1) : addr;
}

struct walk_function {
	uint64_t start, end;
};
// Which has an address, as its file says of all of them.
bool walk_function_of(const struct walk *w, uint64_t pc, struct walk_function *ret);
// The first function of a thread, as its frame information says.
bool walk_is_root_rule(const struct unwind_known *known);
bool walk_is_root(struct walk *w, uint64_t pc);
// Can a call have come from where the pc returns to?
bool walk_is_behind_call(const struct walk *w);
bool walk_is_return(const struct walk *w);

// ---- unwind_code.c: frames of code that nobody describes, by its instructions
// Instructions, from wherever they can be had; fewer than asked for at the end of a map. 0: from nowhere.
size_t walk_read_code(const struct walk *w, uint64_t addr, void *ret, size_t size);
// What the code at a place without frame information does with the stack on its way to the return; NULL: nobody can tell.
const struct cfi_rule *walk_rule_of_code(const struct walk *w, uint64_t pc, bool is_leaf);
void unwind_made_free(struct unwind_made *made);

// ---- unwind_step.c
// One frame up: the registers are the caller's. False: w->end says why.
bool walk_step(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal);
// Once more from the frame before, whose information led nowhere.
bool walk_step_again(struct walk *w, struct walk_before *before);

// ---- unwind_without.c: where there is no frame information
bool walk_is_code(const struct walk *w, uint64_t pc);
// Is that where a call returns to, of code in a file? `ret_target`: where it went, 0 when only a register or memory knows.
bool walk_follows_call(const struct walk *w, uint64_t pc, uint64_t *ret_target);
// Can no call return there? False also where there is nothing to read.
bool walk_is_no_return(const struct walk *w, uint64_t pc);
bool walk_is_sigreturn(const struct walk *w, uint64_t pc);
// As walk_step.
bool walk_step_sigreturn(struct walk *w);
bool walk_step_guessed(struct walk *w, bool is_leaf);

// ---- unwind_by_kernel.c: where the copy of the stack ends
// Puts frames of the kernel's chain behind those that there are.
void walk_by_kernel(struct walk *w);
