// SPDX-License-Identifier: GPL-2.0-or-later
// What the files that write x86 instructions share: disasm_x86.c (prefixes, the whole), disasm_x86_name.c, disasm_x86_operands.c.
#pragma once
#include "obj/disasm_x86.h"
#ifdef HAVE_CAPSTONE

// What the bytes before the opcode are.
struct prefixes {
	uint8_t bytes[15];
	unsigned n;
	uint8_t rex; // 0: none
};

// How an instruction is written; 0: as most.
enum how {
	HOW_INTEGER = 1, // AT&T: a letter for the size when no register tells it
	HOW_STRING,	 // its operands are written whatever they are
	HOW_FLOAT,
	HOW_FLOAT_INTEGER,
	HOW_CONVERT,
	HOW_STACK, // 64-bit programs: of 8 bytes, without a letter
};

struct writer {
	const struct capstone *cs;
	const struct disasm_options *options;
	const cs_insn *insn;
	const cs_x86 *x86;
	struct out *out;
	struct prefixes prefixes;
	uint8_t opcode[2]; // map (0, 0x0f, 0x38, 0x3a), opcode
	uint8_t evex[3];   // all 0: not of AVX-512
	bool att;
	enum how how;
};

enum how x86_how_of(const struct writer *w);
const cs_x86_op *x86_memory_operand(const struct writer *w); // NULL: none
bool x86_is_shift(unsigned id);
const char *x86_plain_name(const struct writer *w); // without the words for prefixes
bool x86_is_float_stack(const struct writer *w);
bool x86_is_branch(const struct writer *w);
void x86_put_name(const struct writer *w);
void x86_put_operands(const struct writer *w, size_t start);
#endif
