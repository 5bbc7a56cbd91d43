// SPDX-License-Identifier: GPL-2.0-or-later
// A walk up a stack, as unwind.c (by frame information) and unwind_without.c (where there is none) share it.
#pragma once
#include "obj/cfi.h"
#include "sym/load.h"
#include "sym/private.h"
#include "sym/unwind.h"
#include <string.h>

enum {
	PC = CFI_RA_COLUMN, // where the pc stands among the registers
	ARM64_LR = 30,
};

struct unwind_dso {
	const struct cfi_table *table; // NULL: none
	struct elf_source source;
	bool has_source;
	bool keeps_frames; // frame pointers led on from code in it that nothing else describes
};

struct machine {
	uint16_t code;		// EM_*
	uint8_t sp, fp, pc_reg; // by DWARF numbers; pc_reg 255: none
	uint8_t word;		// bytes
};

struct walk {
	struct unwinder *unwinder;
	struct task *task;
	const uint8_t *stack;
	uint64_t stack_at, readable; // readable: first bytes of what 8 can be read from
	uint64_t stack_size;
	uint64_t first_fp; // the frame pointer of the innermost frame
	uint64_t regs[CFI_REGS];
	const struct machine *machine;
	enum unwind_end end; // why the last read failed
	bool reads_later; // what the copy doesn't hold is read from the thread's memory as it is now
	bool has_read_later;
	bool is_guessed;   // a frame on the way was found by what nothing confirms
	bool is_elsewhere; // code without a file has its frame on none that the copy is of
};

// Of the file of a DSO, opened at the first question.
struct unwind_dso *unwind_dso_of(struct unwinder *unwinder, struct dso *dso);
// What lies in files: constants, code.
bool walk_read_file(const struct walk *w, uint64_t addr, void *ret, size_t size);
// Instructions, from wherever they can be had; fewer than asked for at the end of a map. 0: from nowhere.
size_t walk_read_code(const struct walk *w, uint64_t addr, void *ret, size_t size);
// What the code at a place without frame information does with the stack on its way to the return; NULL: nobody can tell.
const struct cfi_rule *walk_rule_of_code(const struct walk *w, uint64_t pc, bool is_leaf);
void unwind_made_free(struct unwind_made *made);
// From the stack as it is now.
bool unwind_read_later(struct unwind_joins *joins, const struct task *task, uint64_t addr,
		       uint64_t *ret);
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

bool walk_is_code(const struct walk *w, uint64_t pc);
// Can no call return there? False also where there is nothing to read.
bool walk_is_no_return(const struct walk *w, uint64_t pc);
bool walk_is_sigreturn(const struct walk *w, uint64_t pc);
// One frame up: the registers are the caller's. False: w->end says why.
bool walk_step_sigreturn(struct walk *w);
bool walk_step_guessed(struct walk *w, bool is_leaf);
