// SPDX-License-Identifier: GPL-2.0-or-later
// What stands at an address of an ELF file, named as GNU objdump names it: by symbols, entries of the PLT ("read@plt") and
// dynamic relocations ("stdout@GLIBC_2.2.5"), with versions; an address belongs to the last name before it, however far that
// is. Functions over bytes; the images must stay. (For where samples are, sym/ has tables of functions with their ends.)
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "obj/elf.h"

struct name {
	uint64_t addr;
	uint64_t size;	     // as the symbol says, 0: not known
	const char *text;    // as in the file, borrowed; with "@plt" and the like in the arena
	const char *version; // NULL: none
	const char *shown;   // demangled, with its version; NULL: not made yet
	uint16_t section;    // SHN_*
	uint8_t type;	     // STT_*
	bool is_global, is_synthetic, is_hidden, is_undefined;
};

struct names {
	VEC(struct name) all;	      // sorted by address, one each
	VEC(struct name) relocations; // dynamic ones, likewise
	struct arena arena;
	bool no_demangle;
	bool is_dynamic; // the only symbols are dynamic ones
};

// Of an image and of its separate debug file (NULL: none); of relocatable ones those of .text. n log n of its symbols.
void names_init(struct names *ret, const struct elf *elf, const struct elf *debug);
// Only the entries of its PLTs, where their code says through which place they jump: x86-64's .plt, .plt.got, .plt.sec.
void names_init_plt(struct names *ret, const struct elf *elf);
// Of a file without a symbol table: functions that have no name, by the file and where they begin, "gzip@4300" (cfi_functions).
void names_add_functions(struct names *names, const struct elf *elf, const char *file);
void names_done(struct names *names);
// The last name at or before an address and how far behind it that is; NULL: none. Log n. Lives as long as the names.
const char *names_find(struct names *names, uint64_t addr, uint64_t *ret_offset);
// The first name behind an address that lies in a section (an index; SHN_UNDEF: any); false: none.
bool names_next(const struct names *names, uint64_t addr, uint32_t section, uint64_t *ret);
// The function that an address is in, by .symtab only, as it is in the file; NULL: none.
const char *names_function(const struct names *names, uint64_t addr);
