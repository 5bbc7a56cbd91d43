// SPDX-License-Identifier: GPL-2.0-or-later
// Which symbols of an ELF file count, and what address they get: perf's rules (dso__load_sym).
//
// A stripped program still says how to unwind it, so it is known where its functions begin and end: cfi_functions lists them,
// and sym calls them by file and address, gzip@4300 (sym_options.functions), for all code that no symbol covers. Flame graphs,
// screens, exports and profilers show them; report, script and annotate as text do on request, as perf has none. annotate and
// probe -x take such names. With a debug package or debuginfod the same rows get their true names.
#include <limits.h>
#include <stdio.h>
#include "base/search.h"
#include "obj/cfi.h"
#include "obj/demangle.h"
#include "obj/gopclntab.h"
#include "obj/names.h"
#include "sym/load.h"

enum {
	// Longer than any compiler makes them; offsets of a made up table can all point into one endless text.
	LONGEST_NAME = 1 << 16,
	LONGEST_SECTION_NAME = 256,
	LONGEST_PLT_NAME = 1000,
	MOST_PLT_ENTRIES = 1 << 18,
};

static bool is_wanted(const struct elf_symbol *symbol, bool *ret_label)
{
	*ret_label = false;
	if (!*symbol->name || symbol->section == SHN_UNDEF || symbol->section == SHN_ABS)
		return false;
	if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC || symbol->type == STT_OBJECT)
		return true;
	*ret_label = symbol->type == STT_NOTYPE && symbol->visibility != STV_HIDDEN &&
		     symbol->visibility != STV_INTERNAL;
	return *ret_label;
}

// Marks of ARM for code and data, not functions: $a, $d.123.
static bool is_arm_mark(const struct elf *elf, const char *name)
{
	return (elf->machine == EM_ARM || elf->machine == EM_AARCH64) && name[0] == '$' &&
	       name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

// The section of the last symbol: neighbours mostly share it.
struct section_cache {
	const struct elf *symbols, *runtime;
	struct elf_section section;
	bool known, ok, has_code_or_data;
};

static bool section_of(struct section_cache *cache, uint32_t index)
{
	if (cache->known && cache->section.index == index)
		return cache->ok;
	cache->known = true;
	cache->section.index = index;
	cache->ok = elf_section(cache->symbols, index, &cache->section);
	if (!cache->ok)
		return false;
	cache->ok = cache->section.flags & SHF_ALLOC;
	// In a debug file code has no bytes, and so no true offset.
	if (cache->ok && cache->section.type == SHT_NOBITS)
		cache->ok = elf_section(cache->runtime, index, &cache->section);
	cache->section.index = index;
	if (cache->ok) {
		const char *name = cache->section.name;
		size_t n = strnlen(name, LONGEST_SECTION_NAME);

		cache->has_code_or_data = memmem(name, n, "text", 4) || memmem(name, n, "data", 4);
	}
	return cache->ok;
}

struct table_walk {
	struct elf_symbols table;
	struct section_cache sections;
	const struct elf *symbols;
	const char *strings; // a copy that outlives the file
	uint32_t next;
};

static void keep_symbol(struct symtab *symtab, const struct table_walk *walk,
			const struct elf_symbol *symbol, bool demangle)
{
	symtab_add(symtab, &(struct symbol){
				   .start = symbol->value,
				   .end = symbol->value + symbol->size,
				   .name = walk->strings + (symbol->name - walk->table.strings.p),
				   .binding = symbol->binding,
				   .type = symbol->type,
				   .mangled = demangle && demangle_maybe(symbol->name),
			   });
}

// Of a table in `symbols`, with the sections of the file that runs.
static struct table_walk table_walk(const struct elf_source *symbols, const struct elf_source *runtime)
{
	return (struct table_walk){.symbols = &symbols->elf,
				   .sections = {.symbols = &symbols->elf, .runtime = &runtime->elf}};
}

static bool walk_start(struct table_walk *walk, struct arena *names, const struct elf_section *section)
{
	if (!elf_symbols_init(&walk->table, walk->symbols, section) || !walk->table.strings.n)
		return false;
	walk->strings = arena_memdup(names, walk->table.strings.p, walk->table.strings.n);
	return true;
}

// The next symbol that counts; its section is then in walk->sections.
static bool walk_next(struct table_walk *walk, struct elf_symbol *ret)
{
	bool is_label;

	while (walk->next < walk->table.n) {
		elf_symbol(&walk->table, walk->next++, ret);
		if (!is_wanted(ret, &is_label) || is_arm_mark(walk->symbols, ret->name) ||
		    !section_of(&walk->sections, ret->section) ||
		    (is_label && !walk->sections.has_code_or_data) ||
		    strnlen(ret->name, LONGEST_NAME) == LONGEST_NAME)
			continue;
		// The lowest bit says that it is Thumb code.
		if (walk->symbols->machine == EM_ARM && ret->type == STT_FUNC)
			ret->value &= ~1ull;
		return true;
	}
	return false;
}

static int by_offset(const void *a, const void *b)
{
	const struct elf_section *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// A symbol without a size reaches to the next one, but not out of its section: _init is not what lies behind .init.
static void cut_at_sections(struct symtab *symtab, const struct elf *elf)
{
	VEC(struct elf_section) sections = {0};
	struct elf_section section;

	for (uint32_t i = 1; elf_section(elf, i, &section); i++) {
		if ((section.flags & SHF_ALLOC) && section.type != SHT_NOBITS && section.size)
			vec_push(&sections, section);
	}
	if (sections.n)
		qsort(sections.v, sections.n, sizeof(*sections.v), by_offset);
	vec_each(struct symbol, symbol, &symtab->symbols) {
		size_t n;

		if (!symbol->guessed_end)
			continue;
		n = SEARCH(sections.n, k, sections.v[k].offset <= symbol->start);
		if (n && symbol->start - sections.v[n - 1].offset < sections.v[n - 1].size)
			symbol->end =
				MIN(symbol->end, sections.v[n - 1].offset + sections.v[n - 1].size);
	}
	vec_done(&sections);
}

static size_t load_table(struct sym *sym, struct dso *dso, struct table_walk walk,
			 const struct elf_section *section)
{
	const struct elf *runtime = walk.sections.runtime;
	struct elf_segment segment = {0};
	struct elf_symbol symbol;
	size_t n = 0;

	if (!walk_start(&walk, &dso->symtab->names, section))
		return 0;
	vec_reserve(&dso->symtab->symbols, walk.table.n);
	while (walk_next(&walk, &symbol)) {
		if (symbol.value - segment.vaddr < segment.memory_size ||
		    elf_segment_of(runtime, symbol.value, &segment))
			symbol.value -= segment.vaddr - segment.offset;
		else
			symbol.value -= walk.sections.section.addr - walk.sections.section.offset;
		dso_private_of(dso)->has_functions |= walk.sections.section.flags & SHF_EXECINSTR;
		keep_symbol(dso->symtab, &walk, &symbol, !sym->options.no_demangle);
		n++;
	}
	if (n) {
		symtab_fix(dso->symtab, SYMTAB_FILE);
		cut_at_sections(dso->symtab, runtime);
	}
	return n;
}

size_t load_elf(struct sym *sym, struct dso *dso, const struct elf_source *symbols,
		const struct elf_source *runtime)
{
	const struct table_walk walk = table_walk(symbols, runtime);
	size_t n = 0;

	dso->is_64bit = symbols->elf.is_64bit;
	dso->adjust_symbols = true;
	if (symbols->has_symtab)
		n += load_table(sym, dso, walk, &symbols->symtab);
	if (symbols->has_dynsym)
		n += load_table(sym, dso, walk, &symbols->dynsym);
	return n;
}

size_t load_go(struct sym *sym, struct dso *dso, const struct elf_source *runtime)
{
	struct gopclntab_function function;
	struct gopclntab table;
	struct elf_segment segment = {0};
	const char *names;
	size_t n = 0;

	if (!gopclntab_init(&table, &runtime->elf))
		return 0;
	names = arena_memdup(&dso->symtab->names, table.bytes.p, table.bytes.n);
	for (uint32_t i = 0; i < table.functions_n; i++) {
		if (!gopclntab_function(&table, i, &function) || !*function.name)
			continue;
		if (function.addr - segment.vaddr >= segment.file_size &&
		    !elf_segment_of(&runtime->elf, function.addr, &segment))
			continue;
		symtab_add(dso->symtab,
			   &(struct symbol){
				   .start = function.addr - segment.vaddr + segment.offset,
				   .end = function.end - segment.vaddr + segment.offset,
				   .name = names + (function.name - table.bytes.p),
				   .binding = STB_GLOBAL,
				   .type = STT_FUNC,
			   });
		n++;
	}
	dso->is_64bit = runtime->elf.is_64bit;
	dso->adjust_symbols = true;
	if (n)
		symtab_fix(dso->symtab, SYMTAB_FILE);
	return n;
}

// Where a program begins; libraries have none.
static uint64_t entry_of(const struct elf *elf)
{
	struct elf_segment segment;

	if (elf->type == ET_EXEC)
		return elf_entry(elf);
	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type == PT_INTERP)
			return elf_entry(elf);
	}
	return 0;
}

// Does a symbol that is there say whose code `function` is? One that only reaches as far as nobody else does is cut off.
static bool is_named(struct symtab *symtab, size_t symbols_n, const struct cfi_function *function)
{
	size_t n = SEARCH(symbols_n, k, symtab->symbols.v[k].start <= function->at);
	struct symbol *before;

	if (!n)
		return false;
	before = &symtab->symbols.v[n - 1];
	if (before->start == function->at || (function->at < before->end && !before->guessed_end))
		return true;
	before->end = MIN(before->end, function->at);
	return false;
}

size_t load_functions(struct sym *sym, struct dso *dso, const struct elf_source *runtime)
{
	struct symtab *symtab = dso->symtab;
	const size_t symbols_n = symtab->symbols.n;
	const uint64_t entry = entry_of(&runtime->elf);
	struct cfi_function *functions;
	char name[PATH_MAX];
	size_t n;

	if (!sym->options.functions || cfi_functions(&runtime->elf, &functions, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (is_named(symtab, symbols_n, &functions[i]))
			continue;
		snprintf(name, sizeof(name), "%s@%llx", dso->short_name,
			 (unsigned long long)functions[i].vaddr);
		symtab_add(symtab,
			   &(struct symbol){
				   .start = functions[i].at,
				   .end = functions[i].end,
				   .name = entry && functions[i].vaddr == entry
						   ? "_start"
						   : arena_strdup(&symtab->names, str_of(name)),
				   .binding = STB_LOCAL,
				   .type = STT_FUNC,
				   .is_place = true,
			   });
	}
	free(functions);
	dso->is_64bit = runtime->elf.is_64bit;
	dso->adjust_symbols = true;
	symtab_sort(symtab);
	return symtab->symbols.n - symbols_n;
}

static void add_stub(struct sym *sym, struct dso *dso, struct symbol stub, struct str name)
{
	stub.name = arena_join(&dso->symtab->names, name, str_of("@plt"));
	stub.binding = STB_GLOBAL;
	stub.type = STT_FUNC;
	stub.mangled = !sym->options.no_demangle && demangle_maybe(stub.name);
	symtab_add(dso->symtab, &stub);
}

// What the code of each entry says.
static void load_plt_by_code(struct sym *sym, struct dso *dso, const struct elf *elf)
{
	struct elf_segment segment;
	struct names names;

	names_init_plt(&names, elf);
	vec_each(const struct name, name, &names.all) {
		struct str text = {name->text, strnlen(name->text, LONGEST_PLT_NAME)};
		uint64_t at;

		if (!elf_segment_of(elf, name->addr, &segment))
			continue;
		if (text_ends(name->text, "@plt") && text.n < LONGEST_PLT_NAME)
			text.n -= strlen("@plt");
		at = name->addr - segment.vaddr + segment.offset;
		add_stub(sym, dso, (struct symbol){.start = at, .end = at + name->size}, text);
	}
	names_done(&names);
}

void load_plt(struct sym *sym, struct dso *dso, const struct elf_source *runtime)
{
	struct symtab *symtab = dso->symtab;
	const size_t before = symtab->symbols.n;
	struct elf_plt plt = {0};
	size_t by_code;
	uint64_t at;

	load_plt_by_code(sym, dso, &runtime->elf);
	by_code = symtab->symbols.n - before;
	// Entries that only lead to the linker (of a program with .plt.sec), and other machines': in the order of their relocations.
	if (!elf_plt_init(&plt, &runtime->elf))
		plt.n = 0;
	at = plt.offset + plt.header_bytes;
	for (uint32_t i = 0; i < MIN(plt.n, MOST_PLT_ENTRIES); i++, at += plt.entry_bytes) {
		const char *name = elf_plt_name(&plt, i);
		size_t known = before + SEARCH(by_code, k, symtab->symbols.v[before + k].start < at);

		if (known == before + by_code || symtab->symbols.v[known].start != at)
			add_stub(sym, dso, (struct symbol){.start = at, .end = at + plt.entry_bytes},
				 (struct str){name, strnlen(name, LONGEST_PLT_NAME)});
	}
	symtab_sort(symtab);
}

// Where symbols of a section other than .text go: a dso of their own, "[kernel.kallsyms].init.text".
static struct dso *section_dso(struct kernel_load *load, const struct elf_section *section)
{
	struct sym *sym = load->sym;
	char name[512];
	struct mapping *map;
	struct dso *dso;

	snprintf(name, sizeof(name), "%.200s%.200s", load->dso->short_name, section->name);
	dso = dso_find(sym, name);
	if (dso)
		return dso;
	dso = dso_get(sym, name, NULL);
	dso->kind = load->dso->kind;
	dso_private_of(dso)->section_of_kernel = true;
	dso->state = DSO_LOADED;
	dso_set_short_name(sym, dso, name);
	dso_set_long_name(sym, dso, load->dso->long_name);
	map = NEW(struct mapping);
	*map = (struct mapping){
		.start = section->addr + load->reloc,
		.end = section->addr + load->reloc + section->size,
		.pgoff = section->offset,
		.dso = dso,
		.refs = 1,
	};
	space_insert_raw(sym, sym->kernel, map);
	return dso;
}

static void place_text(struct kernel_load *load, const struct elf_section *section)
{
	struct mapping *map = load->map;

	if (load->placed || !map)
		return;
	load->placed = true;
	map->pgoff = section->offset;
	if (!load->is_module) {
		map->start = section->addr + load->reloc;
		map->end = map->start + section->size;
		map->identity = false;
	}
	space_sort(load->sym->kernel);
}

static struct dso *kernel_target(struct kernel_load *load, const struct elf_section *section)
{
	if (load->target && load->section == section->index)
		return load->target;
	load->section = section->index;
	if (strcmp(section->name, ".text") == 0) {
		place_text(load, section);
		load->target = load->dso;
	} else {
		// Where a module's other sections lie was not recorded.
		load->target = load->is_module ? NULL : section_dso(load, section);
	}
	return load->target;
}

static void learn_reloc(struct kernel_load *load, const struct elf_source *source)
{
	const struct sym_private *p = load->sym->private;
	struct elf_symbols table;
	struct elf_symbol symbol;

	if (load->is_module || !p->reference_name ||
	    !elf_symbols_init(&table, &source->elf, &source->symtab))
		return;
	for (uint32_t i = 0; i < table.n; i++) {
		elf_symbol(&table, i, &symbol);
		if (strcmp(symbol.name, p->reference_name))
			continue;
		load->reloc = p->reference_addr - symbol.value;
		if (load->map)
			load->map->reloc = load->reloc;
		return;
	}
}

size_t load_kernel_elf(struct kernel_load *load, const struct elf_source *source)
{
	struct sym *sym = load->sym;
	bool demangle = !sym->options.no_demangle && sym->options.demangle_kernel;
	struct table_walk walk = table_walk(source, source);
	struct elf_symbol symbol;
	size_t n = 0, dsos_before = sym->dsos.n;

	if (!source->has_symtab)
		return 0;
	learn_reloc(load, source);
	load->dso->adjust_symbols = load->adjust = source->elf.type == ET_EXEC ||
						   source->elf.type == ET_REL ||
						   source->elf.type == ET_DYN;
	if (!walk_start(&walk, &load->dso->symtab->names, &source->symtab))
		return 0;
	symtab_clear(load->dso->symtab);
	while (walk_next(&walk, &symbol)) {
		const struct elf_section *section = &walk.sections.section;
		struct dso *target = kernel_target(load, section);

		if (!target)
			continue;
		if (load->adjust)
			symbol.value -= section->addr - section->offset;
		keep_symbol(target->symtab, &walk, &symbol, demangle);
		n++;
	}
	symtab_fix(load->dso->symtab, SYMTAB_FILE);
	for (size_t i = dsos_before; i < sym->dsos.n; i++) {
		symtab_fix(sym->dsos.v[i]->symtab, SYMTAB_FILE);
		symtab_ready(sym->dsos.v[i]->symtab);
	}
	return n;
}
