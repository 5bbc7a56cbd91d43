// SPDX-License-Identifier: GPL-2.0-or-later
// ELF images as they lie in memory: sections, segments, symbols, notes. Both classes and byte orders. Every
// offset is checked against the image; nothing is copied, all pointers point into it. Layout: elf(5).
#pragma once
#include "base/str.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_section {
	uint32_t index;
	const char *name; // "" when it can't be read
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, entry_size;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, file_size, memory_size;
};

struct elf {
	const uint8_t *p;
	size_t n;
	bool is_64bit, swap;
	uint16_t type, machine;
	uint64_t sections_at, segments_at;
	uint32_t sections_n, segments_n, section_size, segment_size;
	struct str names; // section names, ends with NUL
};

// Numbers of an image, wherever they lie.
static inline uint16_t elf_u16(const struct elf *elf, const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t elf_u32(const struct elf *elf, const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t elf_u64(const struct elf *elf, const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap64(v) : v;
}

// As large as an address.
static inline uint64_t elf_word(const struct elf *elf, const void *p)
{
	return elf->is_64bit ? elf_u64(elf, p) : elf_u32(elf, p);
}

// e_entry
static inline uint64_t elf_entry(const struct elf *elf)
{
	return elf_word(elf, elf->p + 24);
}

// -EINVAL (no sentence) when it is no ELF image or its headers lie outside. Broken section headers leave 0 sections.
int elf_init(struct elf *ret, const uint8_t *p, size_t n);
bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *ret);
bool elf_find_section(const struct elf *elf, const char *name, struct elf_section *ret);
// The content; empty for SHT_NOBITS and when it lies outside of the image.
struct str elf_content(const struct elf *elf, const struct elf_section *section);
bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *ret);
// The PT_LOAD segment that holds a virtual address.
bool elf_segment_of(const struct elf *elf, uint64_t vaddr, struct elf_segment *ret);

struct elf_symbols {
	const struct elf *elf;
	const uint8_t *p;
	uint32_t n, entry_size, section; // section: index of the table
	struct str strings;
};

struct elf_symbol {
	const char *name; // "" when there is none
	uint64_t value, size;
	uint8_t binding, type, visibility;
	uint16_t section; // SHN_*
};

// False unless the section is a whole symbol table (SHT_SYMTAB, SHT_DYNSYM) with its strings.
bool elf_symbols_init(struct elf_symbols *ret, const struct elf *elf,
		      const struct elf_section *section);
// index < symbols->n
void elf_symbol(const struct elf_symbols *symbols, uint32_t index, struct elf_symbol *ret);
// The virtual address of a function in a symbol table, whatever its version: the first one, or what programs get ("@@").
bool elf_find_function(const struct elf *elf, const struct elf_section *section, struct str name,
		       uint64_t *ret);

// The symbols that the PLT's entries stand for, in their order (.rela.plt or .rel.plt).
struct elf_plt {
	struct elf_symbols symbols;
	struct str relocations;
	uint32_t n, entry_size;
	bool is_rela;
	uint64_t offset, header_bytes, entry_bytes; // of .plt in the file
};
bool elf_plt_init(struct elf_plt *ret, const struct elf *elf);
// The name of entry `index`; "" for those without a symbol (IFUNC).
const char *elf_plt_name(const struct elf_plt *plt, uint32_t index);

// The GNU build-id among notes; returns its size (at most 20), 0 when there is none.
size_t notes_build_id(struct str notes, bool swap, uint8_t ret[20]);
// Of an image, looked for where perf does (.note.gnu.build-id, .notes, .note), then in PT_NOTE.
size_t elf_build_id(const struct elf *elf, uint8_t ret[20]);
// The file name of .gnu_debuglink, NULL when there is none; the CRC of that file's content, 0: not known.
const char *elf_debuglink(const struct elf *elf, uint32_t *ret_crc);
