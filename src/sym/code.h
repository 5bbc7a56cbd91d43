// SPDX-License-Identifier: GPL-2.0-or-later
// The machine code of functions: from the file that was mapped (also of the build-id cache and of an archive), the vdso, a
// vmlinux or module, or /proc/kcore and its copies. Addresses come in the dso's symbol space (location.addr) and go out as the
// file counts them, which is what disassemblers show.
#pragma once
#include "sym/sym.h"

struct code;

struct code_bytes {
	struct str bytes;	// borrowed from the code
	uint64_t addr;		// of the first one, as the file counts
	uint64_t wanted;	// the function's size; more than bytes.n when the file is too short
	const char *section;	// "" when it is not known
	uint32_t section_index; // 0: not known
	uint16_t machine;	// EM_*
	bool is_64bit, big_endian;
};

// -ENOENT with a sentence that says what is missing and how to get it. Opens the file once; the caller frees.
int code_new(struct code **ret, struct sym *sym, struct dso *dso);
void code_free(struct code *code);
// The code of [start, end) in symbol space; at most 64 MiB. -ENOENT with a sentence.
int code_read(struct code *code, uint64_t start, uint64_t end, struct code_bytes *ret);

// As names_find; for the kernel the names of the recording's symbols.
const char *code_name(struct code *code, uint64_t addr, uint64_t *ret_offset);
// The first name in a section behind an address, as names_next.
bool code_next_name(const struct code *code, uint64_t addr, uint32_t section, uint64_t *ret);
// The function that the file's symbols say an address is in, not demangled; NULL: none.
const char *code_function(const struct code *code, uint64_t addr);
const char *code_path(const struct code *code); // what was opened
