// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions as text, the way GNU objdump writes them, and where jumps and calls go. Over bytes; libcapstone decodes
// (without it disasm_new says so). x86 is written here from the decoded operands, as libcapstone's own text has other
// suffixes, numbers and names; other processors' instructions are libcapstone's text. What is written otherwise than
// by objdump is in docs/differences.md.
#pragma once
#include "base/out.h"
#include <stdbool.h>

struct disasm;

enum disasm_syntax { DISASM_ATT, DISASM_INTEL };

struct disasm_options {
	uint16_t machine; // EM_* of elf.h
	bool is_64bit, big_endian;
	enum disasm_syntax syntax; // of x86
	// The symbol that an address is in, or the last one before it, and how far behind its start; NULL: none. May be NULL.
	const char *(*name_of)(void *arg, uint64_t addr, uint64_t *ret_offset);
	void *arg;
};

enum disasm_kind { DISASM_PLAIN, DISASM_JUMP, DISASM_CALL, DISASM_RETURN };

struct disasm_insn {
	uint64_t addr;
	uint32_t size; // bytes
	enum disasm_kind kind;
	bool has_target; // of a direct jump or call
	uint64_t target;
	bool is_trap;	     // enters the kernel or comes back from it: system calls, interrupts
	bool is_nop, is_bad; // bad: no instruction, one byte is passed over
};

// -ENOTSUP with a sentence: no libcapstone, or a processor that is not known.
int disasm_new(struct disasm **ret, const struct disasm_options *options);
void disasm_free(struct disasm *disasm);
// Appends the text of the first instruction of `bytes` (at least one) to `out`, a writer into memory; no newline. About 1 us.
struct disasm_insn disasm_next(struct disasm *disasm, struct str bytes, uint64_t addr,
			       struct out *out);
