// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/names.h"
#include "base/radix.h"
#include "base/search.h"
#include "obj/cfi.h"
#include "obj/demangle.h"

enum {
	MOST_NAMES = 1 << 24,
	LONGEST_NAME = 1 << 12,
	SLOT_BYTES = 16, // of a PLT's entry, at most
	VERSION_HIDDEN = 0x8000,
};

// ---- the versions of dynamic symbols: .gnu.version, .gnu.version_d, .gnu.version_r (LSB, "Symbol Versioning")

struct versions {
	struct str numbers;	 // a number each symbol
	VEC(const char *) texts; // by number
	const struct elf *elf;
};

static const char *string_at(struct str strings, uint32_t at)
{
	if (at >= strings.n || !memchr(strings.p + at, '\0', strings.n - at))
		return NULL;
	return strings.p + at;
}

static void set_version(struct versions *versions, unsigned number, const char *text)
{
	number &= ~(unsigned)VERSION_HIDDEN;
	while (versions->texts.n <= number)
		vec_push(&versions->texts, NULL);
	versions->texts.v[number] = text;
}

// Versions that the file defines: what is at vd_ndx, vd_aux (its first name), vd_next.
static void read_defined(struct versions *versions, struct str content, struct str strings)
{
	const uint8_t *p = (const uint8_t *)content.p;
	size_t at = 0;

	for (size_t n = 0; n < content.n / 20; n++) {
		uint32_t aux, next;

		if (content.n < 20 || at > content.n - 20)
			return;
		aux = elf_u32(versions->elf, p + at + 12);
		next = elf_u32(versions->elf, p + at + 16);
		if (aux < content.n - at && content.n - at - aux >= 8) {
			unsigned number = elf_u16(versions->elf, p + at + 4);
			uint32_t name = elf_u32(versions->elf, p + at + aux);
			bool is_base = elf_u16(versions->elf, p + at + 2) & 1;

			set_version(versions, number, is_base ? "Base" : string_at(strings, name));
		}
		if (!next || next > content.n - at)
			return;
		at += next;
	}
}

// Versions that it needs of others: lists of vernaux (vna_other, vna_name, vna_next).
static void read_needed(struct versions *versions, struct str content, struct str strings)
{
	const uint8_t *p = (const uint8_t *)content.p;
	size_t at = 0;

	for (size_t n = 0; n < content.n / 16; n++) {
		size_t aux;
		uint32_t next;

		if (content.n < 16 || at > content.n - 16)
			return;
		aux = at + elf_u32(versions->elf, p + at + 8);
		next = elf_u32(versions->elf, p + at + 12);
		for (size_t k = 0; k < content.n / 16; k++) {
			uint32_t step;

			if (aux > content.n - 16)
				break;
			set_version(versions, elf_u16(versions->elf, p + aux + 6),
				    string_at(strings, elf_u32(versions->elf, p + aux + 8)));
			step = elf_u32(versions->elf, p + aux + 12);
			if (!step || step > content.n - aux)
				break;
			aux += step;
		}
		if (!next || next > content.n - at)
			return;
		at += next;
	}
}

static void read_versions(struct versions *ret, const struct elf *elf)
{
	struct elf_section section, strings;

	*ret = (struct versions){.elf = elf};
	if (!elf_find_section(elf, ".gnu.version", &section))
		return;
	ret->numbers = elf_content(elf, &section);
	set_version(ret, 1, "Base");
	if (elf_find_section(elf, ".gnu.version_d", &section) &&
	    elf_section(elf, section.link, &strings))
		read_defined(ret, elf_content(elf, &section), elf_content(elf, &strings));
	if (elf_find_section(elf, ".gnu.version_r", &section) &&
	    elf_section(elf, section.link, &strings))
		read_needed(ret, elf_content(elf, &section), elf_content(elf, &strings));
}

static void version_of(const struct versions *versions, uint32_t symbol, struct name *name)
{
	unsigned number;

	if (versions->numbers.n / 2 <= symbol)
		return;
	number = elf_u16(versions->elf, (const uint8_t *)versions->numbers.p + symbol * 2);
	name->is_hidden = number & VERSION_HIDDEN;
	number &= ~(unsigned)VERSION_HIDDEN;
	if (number && number < versions->texts.n)
		name->version = versions->texts.v[number];
}

// ---- which of several names at one address is shown: objdump's order

static int yes_first(bool x, bool y)
{
	return x == y ? 0 : x ? -1 : 1;
}

static bool is_object_file(const char *name)
{
	size_t n = strlen(name);

	return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'o' || name[n - 1] == 'a');
}

// Below 0: x is shown, of two at one address.
static int compare(const struct name *x, const struct name *y)
{
	int cmp;

	cmp = yes_first(!is_object_file(x->text), !is_object_file(y->text));
	if (!cmp)
		cmp = yes_first(x->type == STT_FUNC, y->type == STT_FUNC);
	if (!cmp)
		cmp = yes_first(x->type == STT_OBJECT, y->type == STT_OBJECT);
	if (!cmp && x->size != y->size)
		cmp = x->size > y->size ? -1 : 1;
	if (!cmp)
		cmp = yes_first(x->is_global, y->is_global);
	if (!cmp)
		cmp = yes_first(x->text[0] != '.', y->text[0] != '.');
	return cmp ? cmp : strcmp(x->text, y->text);
}

static bool is_wanted(const struct elf_symbol *symbol)
{
	// The name last: it lies elsewhere.
	return symbol->section != SHN_UNDEF && symbol->section != SHN_COMMON &&
	       symbol->type != STT_SECTION && symbol->type != STT_FILE && *symbol->name;
}

// In a relocatable file each section begins at 0; .text is the one whose code is shown. SHN_UNDEF: all sections have places.
static uint32_t text_of(const struct elf *elf)
{
	struct elf_section section;

	return elf->type == ET_REL && elf_find_section(elf, ".text", &section) ? section.index
									       : SHN_UNDEF;
}

static bool add_table(struct names *names, const struct elf *elf, const char *section_name,
		      const struct versions *versions)
{
	struct elf_section section;
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	size_t before = names->all.n;
	uint32_t text = text_of(elf);

	if (!elf_find_section(elf, section_name, &section) ||
	    !elf_symbols_init(&symbols, elf, &section))
		return false;
	for (uint32_t i = 0; i < symbols.n && names->all.n < MOST_NAMES; i++) {
		struct name *name;

		elf_symbol(&symbols, i, &symbol);
		if (!is_wanted(&symbol) || (text != SHN_UNDEF && symbol.section != text))
			continue;
		name = vec_add(&names->all);
		*name = (struct name){
			.addr = symbol.value,
			.size = symbol.size,
			.text = symbol.name,
			.section = symbol.section,
			.type = symbol.type,
			.is_global = symbol.binding == STB_GLOBAL,
		};
		if (versions)
			version_of(versions, i, name);
	}
	return names->all.n > before;
}

// ---- dynamic relocations, and the PLT's entries, which jump through their places

struct relocation_table {
	struct elf_symbols symbols;
	bool has_symbols;
	bool named_only; // the many that only move with the file are not wanted
	const struct versions *versions;
};

static void add_relocation(struct names *names, const struct elf *elf,
			   const struct relocation_table *table, const uint8_t *p)
{
	size_t word = elf->is_64bit ? 8 : 4;
	uint64_t info = elf_word(elf, p + word), addend = elf_word(elf, p + 2 * word);
	uint64_t at = elf->is_64bit ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
	struct name name = {.addr = elf_word(elf, p), .is_undefined = true};
	struct elf_symbol symbol;

	if (at && table->has_symbols && at < table->symbols.n) {
		elf_symbol(&table->symbols, (uint32_t)at, &symbol);
		name.text = symbol.name;
		name.is_undefined = symbol.section == SHN_UNDEF;
		version_of(table->versions, (uint32_t)at, &name);
	} else if (elf->machine == EM_X86_64 && ELF64_R_TYPE(info) == R_X86_64_IRELATIVE) {
		name.text = arena_fmt(&names->arena, "*ABS*+0x%llx", (unsigned long long)addend);
		name.is_synthetic = true;
	} else if (table->named_only) {
		return;
	} else {
		name.text = "*ABS*";
		name.is_synthetic = true;
	}
	if (*name.text)
		vec_push(&names->relocations, name);
}

// By address; what has the same one stays in its order.
static void sort_by_addr(struct name **v, size_t n)
{
	struct keyed *keys = xreallocarray(NULL, n + 1, sizeof(*keys));
	struct name *sorted = xreallocarray(NULL, n + 1, sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct keyed){(*v)[i].addr, (uint32_t)i};
	radix_sort(keys, n);
	for (size_t i = 0; i < n; i++)
		sorted[i] = (*v)[keys[i].value];
	free(keys);
	free(*v);
	*v = sorted;
}

static void read_relocations(struct names *names, const struct elf *elf,
			     const struct versions *versions, bool named_only)
{
	struct relocation_table table = {.versions = versions, .named_only = named_only};
	struct elf_section section, dynsym;
	size_t size = elf->is_64bit ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);

	if (elf_find_section(elf, ".dynsym", &dynsym))
		table.has_symbols = elf_symbols_init(&table.symbols, elf, &dynsym);
	for (uint32_t i = 1; elf_section(elf, i, &section); i++) {
		struct str content;

		if (section.type != SHT_RELA || !(section.flags & SHF_ALLOC))
			continue;
		content = elf_content(elf, &section);
		for (size_t at = 0; content.n - at >= size && names->relocations.n < MOST_NAMES;
		     at += size)
			add_relocation(names, elf, &table, (const uint8_t *)content.p + at);
	}
	sort_by_addr(&names->relocations.v, names->relocations.n);
	names->relocations.capacity = names->relocations.n;
}

static const struct name *relocation_at(const struct names *names, uint64_t addr)
{
	size_t i = SEARCH(names->relocations.n, k, names->relocations.v[k].addr < addr);

	return i < names->relocations.n && names->relocations.v[i].addr == addr
		       ? &names->relocations.v[i]
		       : NULL;
}

// x86-64: "jmp *PLACE(%rip)" somewhere in the slot.
static void add_plt_slot(struct names *names, const struct elf_section *section, struct str code,
			 uint64_t addr)
{
	const uint8_t *p = (const uint8_t *)code.p;

	for (size_t i = 0; i + 6 <= code.n; i++) {
		const struct name *relocation;
		int32_t distance;

		if (p[i] != 0xff || p[i + 1] != 0x25)
			continue;
		memcpy(&distance, p + i + 2, 4);
		relocation = relocation_at(names, addr + i + 6 + (uint64_t)(int64_t)distance);
		if (!relocation)
			return;
		vec_push(&names->all,
			 (struct name){
				 .addr = addr,
				 .size = code.n,
				 .text = arena_join(&names->arena,
						    (struct str){relocation->text,
								 strnlen(relocation->text,
									 LONGEST_NAME)},
						    str_of("@plt")),
				 .section = (uint16_t)section->index,
				 .is_global = true,
				 .is_synthetic = true,
			 });
		return;
	}
}

static void add_plt(struct names *names, const struct elf *elf)
{
	static const char *const sections[] = {".plt", ".plt.got", ".plt.sec", ".plt.bnd"};
	struct elf_section section;

	if (elf->machine != EM_X86_64 || elf->swap)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct str content;
		size_t slot = SLOT_BYTES;

		if (!elf_find_section(elf, sections[i], &section))
			continue;
		content = elf_content(elf, &section);
		if (section.entry_size == 8 || content.n % SLOT_BYTES)
			slot = 8;
		for (size_t at = 0; content.n - at >= slot && names->all.n < MOST_NAMES; at += slot)
			add_plt_slot(names, &section, (struct str){content.p + at, slot},
				     section.addr + at);
	}
}

static void sort_names(struct names *names)
{
	size_t n = names->all.n, kept = 0, end;
	struct name *v;

	sort_by_addr(&names->all.v, n);
	names->all.capacity = n;
	v = names->all.v;
	for (size_t i = 0; i < n; i = end) {
		struct name best = v[i];

		for (end = i + 1; end < n && v[end].addr == best.addr; end++) {
			if (compare(&v[end], &best) < 0)
				best = v[end];
		}
		v[kept++] = best;
	}
	names->all.n = kept;
}

void names_init(struct names *ret, const struct elf *elf, const struct elf *debug)
{
	struct versions versions;

	*ret = (struct names){0};
	read_versions(&versions, elf);
	read_relocations(ret, elf, &versions, false);
	add_table(ret, elf, ".symtab", NULL);
	if (debug)
		add_table(ret, debug, ".symtab", NULL);
	ret->is_dynamic = !ret->all.n && add_table(ret, elf, ".dynsym", &versions);
	add_plt(ret, elf);
	vec_done(&versions.texts);
	sort_names(ret);
}

void names_init_plt(struct names *ret, const struct elf *elf)
{
	const struct versions none = {.elf = elf};

	*ret = (struct names){0};
	if (elf->machine != EM_X86_64 || elf->swap)
		return;
	read_relocations(ret, elf, &none, true);
	add_plt(ret, elf);
	sort_names(ret);
}

void names_add_functions(struct names *names, const struct elf *elf, const char *file)
{
	const size_t named = names->all.n;
	struct cfi_function *functions;
	size_t n;

	if ((named && !names->is_dynamic) || cfi_functions(elf, &functions, &n) < 0)
		return;
	for (size_t i = 0; i < n && names->all.n < MOST_NAMES; i++) {
		uint64_t addr = functions[i].vaddr;
		size_t before = SEARCH(named, k, names->all.v[k].addr <= addr);

		if (before && names->all.v[before - 1].addr == addr)
			continue;
		vec_push(&names->all, (struct name){.addr = addr,
						    .size = functions[i].end - functions[i].at,
						    .text = arena_fmt(&names->arena, "%s@%llx", file,
								      (unsigned long long)addr),
						    .type = STT_FUNC,
						    .is_synthetic = true});
	}
	free(functions);
	sort_names(names);
}

void names_done(struct names *names)
{
	vec_done(&names->all);
	vec_done(&names->relocations);
	arena_done(&names->arena);
}

static const char *shown(struct names *names, struct name *name)
{
	auto_free char *base = NULL;
	char *plain = NULL;

	if (name->shown)
		return name->shown;
	// What is before "@plt" may be mangled.
	if (name->is_synthetic && text_ends(name->text, "@plt"))
		base = str_dup((struct str){name->text, strlen(name->text) - 4});
	if (!names->no_demangle && demangle_maybe(base ? base : name->text))
		plain = demangle(base ? base : name->text, true);
	if (base && plain) {
		name->shown = arena_fmt(&names->arena, "%.*s@plt", LONGEST_NAME, plain);
		free(plain);
		return name->shown;
	}
	name->shown = arena_fmt(&names->arena, "%.*s%s%s", LONGEST_NAME, plain ? plain : name->text,
				!name->version				? ""
				: name->is_hidden || name->is_undefined ? "@"
									: "@@",
				name->version ? name->version : "");
	free(plain);
	return name->shown;
}

const char *names_find(struct names *names, uint64_t addr, uint64_t *ret_offset)
{
	size_t i = SEARCH(names->all.n, k, names->all.v[k].addr <= addr);
	const struct name *relocation;

	*ret_offset = 0;
	if (i && names->all.v[i - 1].addr == addr)
		return shown(names, &names->all.v[i - 1]);
	relocation = relocation_at(names, addr);
	if (relocation && !relocation->is_synthetic)
		return shown(names, (struct name *)relocation);
	if (!i)
		return NULL;
	*ret_offset = addr - names->all.v[i - 1].addr;
	return shown(names, &names->all.v[i - 1]);
}

bool names_next(const struct names *names, uint64_t addr, uint32_t section, uint64_t *ret)
{
	size_t i = SEARCH(names->all.n, k, names->all.v[k].addr <= addr);

	for (; i < names->all.n; i++) {
		if (section == SHN_UNDEF || names->all.v[i].section == section) {
			*ret = names->all.v[i].addr;
			return true;
		}
	}
	return false;
}

const char *names_function(const struct names *names, uint64_t addr)
{
	size_t i = SEARCH(names->all.n, k, names->all.v[k].addr <= addr);

	while (i-- > 0 && !names->is_dynamic) {
		const struct name *name = &names->all.v[i];

		if (!name->is_synthetic && (name->type == STT_FUNC || name->type == STT_NOTYPE))
			return name->text;
	}
	return NULL;
}
