// SPDX-License-Identifier: GPL-2.0-or-later
// How to get from a frame to its caller, for a whole file: call frame information (.eh_frame, .debug_frame) worked off
// once into a sorted table of 8-byte rows. Rules are few and shared by rows, expressions lie aside. x86-64, i386 and arm64.
// Formats: DWARF 5 section 6.4; refspecs.linuxfoundation.org, LSB Core, "Exception Frames"; registers: the psABIs.
#pragma once
#include "base/str.h"
#include "obj/elf.h"
#include <stdint.h>

enum {
	CFI_REGS = 33,	    // x86-64: 0-15; i386: 0-7; arm64: x0-x30, sp 31
	CFI_RA_COLUMN = 32, // where the caller's pc is noted, whatever the machine calls it
};

// Rows hold from their place up to that of the next row.
struct cfi_row {
	uint32_t at;   // offset in the file; in relocatable files the address by obj/relocate
	uint32_t rule; // index into cfi_table.rules, 0: nothing is known
};

enum cfi_cfa {
	CFI_CFA_NONE,	    // nothing is known
	CFI_CFA_REGISTER,   // register + offset
	CFI_CFA_PLT,	    // register + 8, and 8 more where pc & 15 >= offset: GNU ld's PLT
	CFI_CFA_EXPRESSION, // offset: into cfi_table.expressions
};

enum cfi_where {
	CFI_UNDEFINED,	    // of the return address: there is no caller
	CFI_SAME,	    // rarely spelled out: what isn't named is unchanged
	CFI_AT_CFA,	    // in memory at CFA + value
	CFI_CFA_PLUS,	    // is CFA + value
	CFI_REGISTER,	    // in register `value`
	CFI_AT_EXPRESSION,  // in memory where expression `value` says
	CFI_VAL_EXPRESSION, // is what expression `value` says
};

enum {
	CFI_SIGNAL = 1, // the caller was interrupted here, it did not call
	CFI_SIMPLE = 2, // CFA from a register, and all that is saved is CFI_AT_CFA
	CFI_SWITCH = 4, // goes on on another stack: who called it is not on that of whom it calls
	CFI_MAKES_FRAME = 16, // of instructions: makes its caller's frame, which has none yet
	CFI_KEEPS_FP =
		8, // of Go, which does not say so by the CFA: the frame pointer is the function's own
};

struct __attribute__((may_alias)) cfi_saved {
	uint8_t reg, where;
	uint16_t zero;
	int32_t value;
};

// In cfi_table.rules as 1 + saved_n words of 8 bytes. The return address comes first.
struct __attribute__((may_alias)) cfi_rule {
	uint8_t cfa, cfa_reg, flags, saved_n;
	int32_t cfa_offset;
	struct cfi_saved saved[];
};

struct cfi_table {
	const struct cfi_row *rows; // sorted by `at`; the last one ends the table with rule 0
	const uint64_t *rules;	    // word 0 is the rule of nothing
	const uint8_t *expressions; // each as 2 bytes of length and its bytes
	uint32_t rows_n, rules_n, expressions_n; // rules_n in words, expressions_n in bytes
	uint16_t machine;			 // EM_X86_64, EM_386, EM_AARCH64
	void *owned; // what cfi_table_done frees; NULL when the arrays are the caller's
	// Of cfi_table_index: which row holds at the start of each block of 2^index_shift bytes of code.
	uint32_t *index;
	uint32_t index_n, index_shift; // entries but the last are blocks
};

static inline const struct cfi_rule *cfi_rule_at(const struct cfi_table *table, uint32_t rule)
{
	return (const struct cfi_rule *)&table->rules[rule];
}

// From the file that is mapped, and a file with its debug information (NULL: none) for what .eh_frame doesn't cover. A file
// without any frame information gives a table without rows. -ENOTSUP for other machines, -EFBIG when it is made up to
// fill memory; no sentence. About 60 ns a row.
int cfi_build(struct cfi_table *ret, const struct elf *runtime, const struct elf *debug);
// Likewise of single pieces of code in a file that is no ELF file, as JIT compilers write them.
struct cfi_piece {
	struct str eh_frame; // made as if it stood behind the code, whose size is a multiple of 8 then
	uint64_t at, size; // of the code in the file
};
int cfi_build_pieces(struct cfi_table *ret, uint16_t machine, const struct cfi_piece *pieces,
		     size_t n);
void cfi_table_done(struct cfi_table *table);

// Code of one function, or of a part of it that the compiler put elsewhere; offsets in the file.
struct cfi_function {
	uint32_t at, end;
	uint64_t vaddr; // of `at`
};
// Where functions begin and end, as the file that is mapped tells whoever unwinds: what a stripped program still knows. In the
// order of places, not overlapping, without the PLT. The caller frees *ret. -ENOTSUP for other machines, no sentence.
int cfi_functions(const struct elf *runtime, struct cfi_function **ret, size_t *ret_n);

// Makes cfi_find faster, for a byte and a half a row. cfi_build does so itself. The rows must be good.
void cfi_table_index(struct cfi_table *table);

// Does a table that comes from elsewhere hold what cfi_build promises? Nothing that passes makes a reader of the table
// leave it. About 2 ns a row.
bool cfi_table_valid(const struct cfi_table *table);

// The row of a file offset, NULL in front of all rows. About 5 ns where the table is warm.
const struct cfi_row *cfi_find(const struct cfi_table *table, uint64_t at);
// The bytes of expression `at`.
struct str cfi_expression(const struct cfi_table *table, int32_t at);
