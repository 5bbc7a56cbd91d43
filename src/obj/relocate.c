// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/relocate.h"
#include "base/alloc.h"
#include "obj/dwarf_read.h"

enum {
	MOST_SECTIONS = 1 << 20,
	ALIGN = 64,
	// Younger than some elf.h.
	R_AARCH64_PREL64_ = 260,
	R_AARCH64_PREL32_ = 261,
	R_RISCV_SET_ULEB128_ = 60,
	R_RISCV_SUB_ULEB128_ = 61,
};
// No sum of sections overflows.
#define MOST_BYTES (1ull << 40)

// What debug sections have: words that are an address, or the distance of one from here. Where linkers make code shorter, the
// distance of two addresses is one relocation that puts or adds the first and one that subtracts the second.
enum action { PUT, PUT_FROM_HERE, ADD, SUBTRACT };
enum form { WORD, LOW_6_BITS, LEB128 };
struct kind {
	uint16_t machine, type;
	uint8_t bytes; // at least
	enum action action;
	enum form form;
};
static const struct kind kinds[] = {
	{EM_X86_64, R_X86_64_64, 8},
	{EM_X86_64, R_X86_64_32, 4},
	{EM_X86_64, R_X86_64_32S, 4},
	{EM_X86_64, R_X86_64_16, 2},
	{EM_X86_64, R_X86_64_8, 1},
	{EM_X86_64, R_X86_64_DTPOFF64, 8},
	{EM_X86_64, R_X86_64_DTPOFF32, 4},
	{EM_X86_64, R_X86_64_PC64, 8, PUT_FROM_HERE},
	{EM_X86_64, R_X86_64_PC32, 4, PUT_FROM_HERE},
	{EM_386, R_386_32, 4},
	{EM_386, R_386_16, 2},
	{EM_386, R_386_8, 1},
	{EM_386, R_386_TLS_LDO_32, 4},
	{EM_386, R_386_PC32, 4, PUT_FROM_HERE},
	{EM_AARCH64, R_AARCH64_ABS64, 8},
	{EM_AARCH64, R_AARCH64_ABS32, 4},
	{EM_AARCH64, R_AARCH64_ABS16, 2},
	{EM_AARCH64, R_AARCH64_PREL64_, 8, PUT_FROM_HERE},
	{EM_AARCH64, R_AARCH64_PREL32_, 4, PUT_FROM_HERE},
	{EM_ARM, R_ARM_ABS32, 4},
	{EM_ARM, R_ARM_TLS_LDO32, 4},
	{EM_ARM, R_ARM_REL32, 4, PUT_FROM_HERE},
	{EM_PPC64, R_PPC64_ADDR64, 8},
	{EM_PPC64, R_PPC64_ADDR32, 4},
	{EM_S390, R_390_64, 8},
	{EM_S390, R_390_32, 4},
	{EM_RISCV, R_RISCV_64, 8},
	{EM_RISCV, R_RISCV_32, 4},
	{EM_RISCV, R_RISCV_TLS_DTPREL64, 8},
	{EM_RISCV, R_RISCV_TLS_DTPREL32, 4},
	{EM_RISCV, R_RISCV_32_PCREL, 4, PUT_FROM_HERE},
	{EM_RISCV, R_RISCV_SET32, 4},
	{EM_RISCV, R_RISCV_SET16, 2},
	{EM_RISCV, R_RISCV_SET8, 1},
	{EM_RISCV, R_RISCV_SET6, 1, PUT, LOW_6_BITS},
	{EM_RISCV, R_RISCV_SET_ULEB128_, 1, PUT, LEB128},
	{EM_RISCV, R_RISCV_ADD64, 8, ADD},
	{EM_RISCV, R_RISCV_ADD32, 4, ADD},
	{EM_RISCV, R_RISCV_ADD16, 2, ADD},
	{EM_RISCV, R_RISCV_ADD8, 1, ADD},
	{EM_RISCV, R_RISCV_SUB64, 8, SUBTRACT},
	{EM_RISCV, R_RISCV_SUB32, 4, SUBTRACT},
	{EM_RISCV, R_RISCV_SUB16, 2, SUBTRACT},
	{EM_RISCV, R_RISCV_SUB8, 1, SUBTRACT},
	{EM_RISCV, R_RISCV_SUB6, 1, SUBTRACT, LOW_6_BITS},
	{EM_RISCV, R_RISCV_SUB_ULEB128_, 1, SUBTRACT, LEB128},
};

static const struct kind *kind_of(uint16_t machine, uint64_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].machine == machine && kinds[i].type == type)
			return &kinds[i];
	}
	return NULL;
}

static bool is_text(const struct elf_section *section)
{
	return strcmp(section->name, ".text") == 0;
}

void relocate_init(struct relocate *ret, const struct elf *elf)
{
	struct elf_section section;
	uint64_t at = 0;

	*ret = (struct relocate){0};
	if (elf->type != ET_REL || elf->sections_n > MOST_SECTIONS)
		return;
	ret->n = elf->sections_n;
	ret->sections = xcalloc(ret->n + 1u, sizeof(*ret->sections));
	ret->budget = elf->n / sizeof(Elf32_Rel);
	if (elf_find_section(elf, ".text", &section))
		at = MIN(section.size, MOST_BYTES);
	for (uint32_t i = 1; elf_section(elf, i, &section); i++) {
		bool relocates = section.type == SHT_RELA || section.type == SHT_REL;

		if (relocates && section.info < ret->n)
			ret->sections[section.info].is_relocated = true;
		if (!(section.flags & SHF_ALLOC) || is_text(&section))
			continue;
		at = (at + ALIGN - 1) / ALIGN * ALIGN;
		ret->sections[i].base = at;
		at += MIN(section.size, MOST_BYTES);
	}
}

void relocate_done(struct relocate *relocate)
{
	free(relocate->sections);
	*relocate = (struct relocate){0};
}

bool relocate_address(const struct relocate *relocate, const struct elf *elf, uint32_t section,
		      uint64_t *place)
{
	struct elf_section found;

	if (section >= relocate->n || !elf_section(elf, section, &found) ||
	    !(found.flags & SHF_ALLOC))
		return false;
	*place += relocate->sections[section].base;
	return true;
}

struct run {
	const struct relocate *relocate;
	const struct elf *elf;
	struct elf_symbols symbols;
	struct str far_sections; // of symbols: their section where 16 bits don't hold it
	uint64_t base;		 // of the section that is changed
	uint8_t *bytes;
	size_t n;
};

static uint64_t number_at(const struct run *run, struct str bytes, uint64_t at, unsigned size)
{
	struct dwarf_reader r = dwarf_reader_at(bytes, at, run->elf->swap);

	return dwarf_uint(&r, size);
}

static bool symbol_address(const struct run *run, uint64_t index, uint64_t *ret)
{
	struct elf_symbol symbol;
	uint32_t section;

	// Nothing but what is added counts.
	if (!index) {
		*ret = 0;
		return true;
	}
	if (index >= run->symbols.n)
		return false;
	elf_symbol(&run->symbols, (uint32_t)index, &symbol);
	section = symbol.section;
	*ret = symbol.value;
	if (section == SHN_ABS)
		return true;
	if (section == SHN_XINDEX) {
		section = (uint32_t)number_at(run, run->far_sections, index * 4, 4);
	} else if (section >= SHN_LORESERVE) {
		return false;
	}
	if (section == SHN_UNDEF || section >= run->relocate->n)
		return false;
	*ret += run->relocate->sections[section].base;
	return true;
}

static void write_number(const struct elf *elf, uint8_t *p, unsigned bytes, uint64_t value)
{
	bool little = elf->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (unsigned i = 0; i < bytes; i++)
		p[little ? i : bytes - 1 - i] = (uint8_t)(value >> 8 * i);
}

// A number keeps the bytes that it has.
static void write_leb128(uint8_t *p, const uint8_t *end, uint64_t value)
{
	for (; p < end; p++, value >>= 7) {
		bool is_last = !(*p & 0x80);

		*p = (uint8_t)((value & 0x7f) | (*p & 0x80));
		if (is_last)
			return;
	}
}

static bool read_place(const struct run *run, const struct kind *kind, uint64_t at, uint64_t *ret)
{
	struct str bytes = {(const char *)run->bytes, run->n};
	struct dwarf_reader r = dwarf_reader_at(bytes, at, run->elf->swap);

	*ret = kind->form == LEB128 ? dwarf_uleb(&r) : dwarf_uint(&r, kind->bytes);
	return !r.bad;
}

static void write_place(const struct run *run, const struct kind *kind, uint64_t at, uint64_t value)
{
	uint8_t *p = run->bytes + at;

	if (kind->form == LEB128)
		write_leb128(p, run->bytes + run->n, value);
	else if (kind->form == LOW_6_BITS)
		*p = (uint8_t)((*p & 0xc0) | (value & 0x3f));
	else
		write_number(run->elf, p, kind->bytes, value);
}

static void apply_one(const struct run *run, struct str table, uint64_t entry, bool has_addend)
{
	const struct elf *elf = run->elf;
	unsigned word = elf->is_64bit ? 8 : 4;
	uint64_t at = number_at(run, table, entry, word), addr, before;
	uint64_t info = number_at(run, table, entry + word, word);
	const struct kind *kind =
		kind_of(elf->machine, elf->is_64bit ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info));

	if (!kind || !read_place(run, kind, at, &before) ||
	    !symbol_address(run, elf->is_64bit ? ELF64_R_SYM(info) : ELF32_R_SYM(info), &addr))
		return;
	addr += has_addend ? number_at(run, table, entry + 2 * word, word) : before;
	switch (kind->action) {
	case PUT:
		break;
	case PUT_FROM_HERE:
		addr -= run->base + at;
		break;
	case ADD:
		addr = before + addr;
		break;
	case SUBTRACT:
		addr = before - addr;
		break;
	}
	write_place(run, kind, at, addr);
}

// The table of those symbols whose section has too high a number.
static struct str find_far_sections(const struct elf *elf, uint32_t symbols)
{
	struct elf_section section;

	for (uint32_t i = 1; elf_section(elf, i, &section); i++) {
		if (section.type == SHT_SYMTAB_SHNDX && section.link == symbols)
			return elf_content(elf, &section);
	}
	return (struct str){0};
}

static void apply_table(struct run *run, const struct elf_section *table, uint64_t *budget)
{
	bool has_addend = table->type == SHT_RELA;
	size_t word = run->elf->is_64bit ? 8 : 4, whole = (has_addend ? 3 : 2) * word;
	struct str content = elf_content(run->elf, table);
	struct elf_section symbols;

	if (table->entry_size != whole || !elf_section(run->elf, table->link, &symbols) ||
	    !elf_symbols_init(&run->symbols, run->elf, &symbols))
		return;
	run->far_sections = (struct str){0};
	if (run->elf->sections_n >= SHN_LORESERVE)
		run->far_sections = find_far_sections(run->elf, symbols.index);
	for (size_t at = 0; content.n - at >= whole && *budget; at += whole, --*budget)
		apply_one(run, content, at, has_addend);
}

void relocate_apply(struct relocate *relocate, const struct elf *elf,
		    const struct relocate_bytes *bytes)
{
	struct run run = {.relocate = relocate, .elf = elf, .bytes = bytes->p, .n = bytes->n};
	struct elf_section table;

	if (!relocate_wanted(relocate, bytes->section))
		return;
	run.base = relocate->sections[bytes->section].base;
	for (uint32_t i = 1; elf_section(elf, i, &table) && relocate->budget; i++) {
		if ((table.type == SHT_RELA || table.type == SHT_REL) && table.info == bytes->section)
			apply_table(&run, &table, &relocate->budget);
	}
}
