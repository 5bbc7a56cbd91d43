// SPDX-License-Identifier: GPL-2.0-or-later
// Relocatable files (.o, kernel modules): addresses in their debug information are 0 until a linker fills them in. This puts the
// sections somewhere and does so: .text at 0, which is what perf takes a module's addresses from, the others behind it.
// Kinds of relocations: the ELF supplements (psABI) of the machines, elf(5).
#pragma once
#include "obj/elf.h"

struct relocate_section {
	uint64_t base;	   // where it lies; 0 when it isn't loaded
	bool is_relocated; // others say what goes into it
};

struct relocate {
	struct relocate_section *sections; // by index, owned; NULL: the file is not relocatable
	uint32_t n;
	uint64_t budget; // relocations that may still be applied: sections of a made up file can all be the same bytes
};

// Walks the section headers once; finds nothing to do in files that are not relocatable.
void relocate_init(struct relocate *ret, const struct elf *elf);
void relocate_done(struct relocate *relocate);
static inline bool relocate_wanted(const struct relocate *relocate, uint32_t section)
{
	return section < relocate->n && relocate->sections[section].is_relocated;
}
// A place in a section, as its offset there, becomes an address; false: the section is not loaded.
bool relocate_address(const struct relocate *relocate, const struct elf *elf, uint32_t section,
		      uint64_t *place);
// The unpacked bytes of a section.
struct relocate_bytes {
	uint32_t section;
	uint8_t *p;
	size_t n;
};
// Applies what the file has for a section to its bytes. Kinds of other machines, symbols that are defined elsewhere and
// places outside of the bytes are left as they are.
void relocate_apply(struct relocate *relocate, const struct elf *elf,
		    const struct relocate_bytes *bytes);
