// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/elf.h"
#include "base/err.h"

// Programs have ten; those who look up many addresses shall not walk 65535.
enum { MOST_LOADED = 1024 };

#define FIELD(elf, p, kind, field)                                                                   \
	((elf)->is_64bit                                                                             \
		 ? GET(elf, (p) + offsetof(Elf64_##kind, field), sizeof(((Elf64_##kind *)0)->field)) \
		 : GET(elf, (p) + offsetof(Elf32_##kind, field), sizeof(((Elf32_##kind *)0)->field)))
#define GET(elf, p, size)                                                                          \
	((size) == 8 ? elf_u64(elf, p) : (size) == 4 ? elf_u32(elf, p) : elf_u16(elf, p))

static bool inside(const struct elf *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->n && size <= elf->n - offset;
}

static const uint8_t *section_header(const struct elf *elf, uint32_t index)
{
	return elf->p + elf->sections_at + (uint64_t)index * elf->section_size;
}

// More sections than 65279, or names in a section above: the truth stands in section 0.
static uint32_t learn_sections(struct elf *elf)
{
	uint32_t strings = (uint32_t)FIELD(elf, elf->p, Ehdr, e_shstrndx);
	uint64_t n = FIELD(elf, elf->p, Ehdr, e_shnum);
	size_t whole = elf->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	elf->sections_at = FIELD(elf, elf->p, Ehdr, e_shoff);
	elf->section_size = (uint32_t)FIELD(elf, elf->p, Ehdr, e_shentsize);
	if (!elf->sections_at || elf->section_size < whole || !inside(elf, elf->sections_at, whole))
		return 0;
	if (n == 0)
		n = FIELD(elf, section_header(elf, 0), Shdr, sh_size);
	if (strings == SHN_XINDEX)
		strings = (uint32_t)FIELD(elf, section_header(elf, 0), Shdr, sh_link);
	if (n > (elf->n - elf->sections_at) / elf->section_size)
		n = 0;
	elf->sections_n = (uint32_t)n;
	return strings;
}

static void learn_segments(struct elf *elf)
{
	size_t whole = elf->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t n = FIELD(elf, elf->p, Ehdr, e_phnum);

	elf->segments_at = FIELD(elf, elf->p, Ehdr, e_phoff);
	elf->segment_size = (uint32_t)FIELD(elf, elf->p, Ehdr, e_phentsize);
	if (elf->segment_size < whole || elf->segments_at > elf->n ||
	    n > (elf->n - elf->segments_at) / elf->segment_size)
		n = 0;
	elf->segments_n = (uint32_t)n;
}

int elf_init(struct elf *ret, const uint8_t *p, size_t n)
{
	const bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	struct elf elf = {.p = p, .n = n};
	struct elf_section names;
	uint32_t strings;

	if (n < sizeof(Elf32_Ehdr) || memcmp(p, ELFMAG, SELFMAG) ||
	    (p[EI_CLASS] != ELFCLASS64 && p[EI_CLASS] != ELFCLASS32) ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
		return -EINVAL;
	elf.is_64bit = p[EI_CLASS] == ELFCLASS64;
	if (elf.is_64bit && n < sizeof(Elf64_Ehdr))
		return -EINVAL;
	elf.swap = (p[EI_DATA] == ELFDATA2LSB) != little_host;
	elf.type = (uint16_t)FIELD(&elf, p, Ehdr, e_type);
	elf.machine = (uint16_t)FIELD(&elf, p, Ehdr, e_machine);
	strings = learn_sections(&elf);
	learn_segments(&elf);
	if (elf_section(&elf, strings, &names)) {
		elf.names = elf_content(&elf, &names);
		while (elf.names.n && elf.names.p[elf.names.n - 1])
			elf.names.n--;
	}
	*ret = elf;
	return 0;
}

bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *ret)
{
	const uint8_t *p;
	uint32_t name;

	if (index >= elf->sections_n)
		return false;
	p = section_header(elf, index);
	name = (uint32_t)FIELD(elf, p, Shdr, sh_name);
	*ret = (struct elf_section){
		.index = index,
		.name = name < elf->names.n ? elf->names.p + name : "",
		.type = (uint32_t)FIELD(elf, p, Shdr, sh_type),
		.link = (uint32_t)FIELD(elf, p, Shdr, sh_link),
		.info = (uint32_t)FIELD(elf, p, Shdr, sh_info),
		.flags = FIELD(elf, p, Shdr, sh_flags),
		.addr = FIELD(elf, p, Shdr, sh_addr),
		.offset = FIELD(elf, p, Shdr, sh_offset),
		.size = FIELD(elf, p, Shdr, sh_size),
		.entry_size = FIELD(elf, p, Shdr, sh_entsize),
	};
	return true;
}

bool elf_find_section(const struct elf *elf, const char *name, struct elf_section *ret)
{
	for (uint32_t i = 1; i < elf->sections_n; i++) {
		uint32_t at = (uint32_t)FIELD(elf, section_header(elf, i), Shdr, sh_name);

		if (at < elf->names.n && strcmp(elf->names.p + at, name) == 0)
			return elf_section(elf, i, ret);
	}
	return false;
}

struct str elf_content(const struct elf *elf, const struct elf_section *section)
{
	if (section->type == SHT_NOBITS || !inside(elf, section->offset, section->size))
		return (struct str){NULL, 0};
	return (struct str){(const char *)elf->p + section->offset, section->size};
}

bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *ret)
{
	const uint8_t *p;

	if (index >= elf->segments_n)
		return false;
	p = elf->p + elf->segments_at + (uint64_t)index * elf->segment_size;
	*ret = (struct elf_segment){
		.type = (uint32_t)FIELD(elf, p, Phdr, p_type),
		.flags = (uint32_t)FIELD(elf, p, Phdr, p_flags),
		.offset = FIELD(elf, p, Phdr, p_offset),
		.vaddr = FIELD(elf, p, Phdr, p_vaddr),
		.file_size = FIELD(elf, p, Phdr, p_filesz),
		.memory_size = FIELD(elf, p, Phdr, p_memsz),
	};
	return true;
}

bool elf_segment_of(const struct elf *elf, uint64_t vaddr, struct elf_segment *ret)
{
	struct elf_segment segment;

	for (uint32_t i = 0; i < MOST_LOADED && elf_segment(elf, i, &segment); i++) {
		if (segment.type == PT_LOAD && vaddr >= segment.vaddr &&
		    vaddr - segment.vaddr < segment.memory_size) {
			*ret = segment;
			return true;
		}
	}
	return false;
}

bool elf_symbols_init(struct elf_symbols *ret, const struct elf *elf,
		      const struct elf_section *section)
{
	size_t whole = elf->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct elf_section strings;
	struct str content;

	if ((section->type != SHT_SYMTAB && section->type != SHT_DYNSYM) ||
	    section->entry_size < whole || section->entry_size > 4096)
		return false;
	content = elf_content(elf, section);
	if (!content.n || content.n / section->entry_size > UINT32_MAX ||
	    !elf_section(elf, section->link, &strings))
		return false;
	*ret = (struct elf_symbols){
		.elf = elf,
		.p = (const uint8_t *)content.p,
		.n = (uint32_t)(content.n / section->entry_size),
		.entry_size = (uint32_t)section->entry_size,
		.section = section->index,
		.strings = elf_content(elf, &strings),
	};
	while (ret->strings.n && ret->strings.p[ret->strings.n - 1])
		ret->strings.n--;
	return true;
}

void elf_symbol(const struct elf_symbols *symbols, uint32_t index, struct elf_symbol *ret)
{
	const struct elf *elf = symbols->elf;
	const uint8_t *p = symbols->p + (uint64_t)index * symbols->entry_size;
	uint32_t name = elf_u32(elf, p);
	uint8_t info, other;

	if (elf->is_64bit) {
		info = p[offsetof(Elf64_Sym, st_info)];
		other = p[offsetof(Elf64_Sym, st_other)];
	} else {
		info = p[offsetof(Elf32_Sym, st_info)];
		other = p[offsetof(Elf32_Sym, st_other)];
	}
	*ret = (struct elf_symbol){
		.name = name < symbols->strings.n ? symbols->strings.p + name : "",
		.value = FIELD(elf, p, Sym, st_value),
		.size = FIELD(elf, p, Sym, st_size),
		.binding = ELF64_ST_BIND(info),
		.type = ELF64_ST_TYPE(info),
		.visibility = ELF64_ST_VISIBILITY(other),
		.section = (uint16_t)FIELD(elf, p, Sym, st_shndx),
	};
}

// "malloc@@GLIBC_2.2.5" is malloc.
static bool is_named(const char *symbol, struct str name)
{
	return !strncmp(symbol, name.p, name.n) && (!symbol[name.n] || symbol[name.n] == '@');
}

bool elf_find_function(const struct elf *elf, const struct elf_section *section, struct str name,
		       uint64_t *ret)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	bool found = false;

	if (!name.n || !elf_symbols_init(&symbols, elf, section))
		return false;
	for (uint32_t i = 0; i < symbols.n; i++) {
		elf_symbol(&symbols, i, &symbol);
		// Functions in assembly may have no type.
		if ((symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC &&
		     symbol.type != STT_NOTYPE) ||
		    symbol.section == SHN_UNDEF || symbol.section == SHN_ABS ||
		    !is_named(symbol.name, name))
			continue;
		if (!found || strstr(symbol.name, "@@"))
			*ret = symbol.value;
		found = true;
	}
	return found;
}

// Sizes of the first entry and of the others, where the section does not say (after the psABIs).
static void plt_sizes(struct elf_plt *plt, uint16_t machine, uint64_t section_entry)
{
	static const struct {
		uint16_t machine, header, entry;
	} known[] = {{EM_ARM, 20, 12}, {EM_AARCH64, 32, 16}, {EM_SPARC, 48, 12}, {EM_SPARCV9, 128, 32}};

	plt->header_bytes = plt->entry_bytes = section_entry;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].machine == machine) {
			plt->header_bytes = known[i].header;
			plt->entry_bytes = known[i].entry;
		}
	}
}

bool elf_plt_init(struct elf_plt *ret, const struct elf *elf)
{
	struct elf_section relocations, dynsym, plt;
	struct elf_plt r = {0};
	size_t whole;

	if (!elf_find_section(elf, ".rela.plt", &relocations) &&
	    !elf_find_section(elf, ".rel.plt", &relocations))
		return false;
	if (!elf_find_section(elf, ".dynsym", &dynsym) || relocations.link != dynsym.index ||
	    !elf_find_section(elf, ".plt", &plt) || !elf_symbols_init(&r.symbols, elf, &dynsym))
		return false;
	r.is_rela = relocations.type == SHT_RELA;
	whole = elf->is_64bit ? (r.is_rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel))
			      : (r.is_rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	r.relocations = elf_content(elf, &relocations);
	if (relocations.entry_size < whole || relocations.entry_size > 4096)
		return false;
	r.entry_size = (uint32_t)relocations.entry_size;
	if (r.relocations.n / r.entry_size > UINT32_MAX)
		return false;
	r.n = (uint32_t)(r.relocations.n / r.entry_size);
	r.offset = plt.offset;
	plt_sizes(&r, elf->machine, plt.entry_size);
	*ret = r;
	return r.n > 0;
}

const char *elf_plt_name(const struct elf_plt *plt, uint32_t index)
{
	const struct elf *elf = plt->symbols.elf;
	const uint8_t *p = (const uint8_t *)plt->relocations.p + (uint64_t)index * plt->entry_size;
	uint64_t info = FIELD(elf, p, Rel, r_info); // Rela starts with the same fields
	uint64_t symbol = elf->is_64bit ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
	struct elf_symbol found;

	if (symbol >= plt->symbols.n)
		return "";
	elf_symbol(&plt->symbols, (uint32_t)symbol, &found);
	return found.name;
}

size_t notes_build_id(struct str notes, bool swap, uint8_t ret[20])
{
	const struct elf how = {.swap = swap};
	const uint8_t *p = (const uint8_t *)notes.p;
	uint64_t left = notes.n;

	while (left >= sizeof(Elf64_Nhdr)) {
		uint64_t name_n = elf_u32(&how, p), value_n = elf_u32(&how, p + 4);
		uint32_t type = elf_u32(&how, p + 8);
		uint64_t value_at = sizeof(Elf64_Nhdr) + ((name_n + 3) & ~3ull);
		uint64_t whole = value_at + ((value_n + 3) & ~3ull);

		if (value_at > left || value_n > left - value_at)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_n == 4 && value_n &&
		    memcmp(p + sizeof(Elf64_Nhdr), "GNU", 4) == 0) {
			size_t n = value_n < 20 ? (size_t)value_n : 20;

			memset(ret, 0, 20);
			memcpy(ret, p + value_at, n);
			return n;
		}
		if (whole >= left)
			return 0;
		p += whole;
		left -= whole;
	}
	return 0;
}

size_t elf_build_id(const struct elf *elf, uint8_t ret[20])
{
	static const char *const names[] = {".note.gnu.build-id", ".notes", ".note"};
	struct elf_section section;
	struct elf_segment segment;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (elf_find_section(elf, names[i], &section)) {
			size_t n = notes_build_id(elf_content(elf, &section), elf->swap, ret);

			if (n)
				return n;
		}
	}
	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		size_t n;

		if (segment.type != PT_NOTE || !inside(elf, segment.offset, segment.file_size))
			continue;
		n = notes_build_id((struct str){(const char *)elf->p + segment.offset,
						segment.file_size},
				   elf->swap, ret);
		if (n)
			return n;
	}
	return 0;
}

const char *elf_debuglink(const struct elf *elf, uint32_t *ret_crc)
{
	struct elf_section section;
	struct str content;
	size_t at;

	if (!elf_find_section(elf, ".gnu_debuglink", &section))
		return NULL;
	content = elf_content(elf, &section);
	if (!content.n || !content.p[0] || !memchr(content.p, '\0', content.n))
		return NULL;
	// Behind the name, at the next multiple of 4.
	at = (strlen(content.p) + 1 + 3) & ~(size_t)3;
	*ret_crc = at + 4 <= content.n ? elf_u32(elf, content.p + at) : 0;
	return content.p;
}
