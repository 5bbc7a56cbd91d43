// SPDX-License-Identifier: GPL-2.0-or-later
// Symbols of the kernel and its modules: kallsyms of the running kernel or saved, vmlinux, .ko files.
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include "sym/idcache.h"
#include "sym/kallsyms.h"
#include "sym/kcore.h"
#include "sym/kernel_cache.h"
#include "sym/load.h"

enum { MOST_KALLSYMS = 1 << 28 };

// Symbols that perf takes: text, weak, data and bss.
static bool is_wanted(char type)
{
	return memchr("TtWwDdBb", type, 8);
}

static uint8_t binding_of(char type)
{
	if (type == 'W')
		return STB_WEAK;
	return type >= 'A' && type <= 'Z' ? STB_GLOBAL : STB_LOCAL;
}

// Where the symbols of modules go as their runs are met.
struct split {
	struct sym *sym;
	struct dso *kernel;
	const char *module;	   // "[ext4]", NULL in the kernel's
	const struct mapping *map; // of the module, NULL: not known, its symbols are dropped
	uint64_t delta;
	struct symtab *all; // the kernel's own move to its start
	size_t kernel_n;
};

static const struct mapping *module_map(const struct sym *sym, const char *name)
{
	for (size_t i = 0; i < sym->kernel->maps.n; i++) {
		const struct mapping *map = sym->kernel->maps.v[i];

		if (strcmp(map->dso->short_name, name) == 0)
			return map;
	}
	return NULL;
}

static void put_module_symbol(struct split *split, struct symbol *symbol, const char *module)
{
	if (!split->module || strcmp(split->module, module)) {
		split->module = module;
		split->map = module_map(split->sym, module);
	}
	if (!split->map || split->map->dso == split->kernel)
		return;
	symbol->start = mapping_addr(split->map, symbol->start);
	symbol->end = mapping_addr(split->map, symbol->end);
	symtab_add(split->map->dso->symtab, symbol);
}

// Symbols in address order.
static void put_symbol(struct split *split, struct symbol *symbol)
{
	if (symbol->hidden_width) {
		put_module_symbol(split, symbol, symbol->name + strlen(symbol->name) + 1);
		return;
	}
	// Behind a module's text lies nothing of the kernel's own.
	if (split->module && split->map && split->kernel_n)
		return;
	split->module = NULL;
	symbol->start -= split->delta;
	symbol->end -= split->delta;
	split->all->symbols.v[split->kernel_n++] = *symbol;
}

static void read_symbols(struct symtab *all, char *text, size_t n, bool *ret_hidden)
{
	struct kallsyms_line line;

	enum { COMMON_LINE = 48 };

	*ret_hidden = true;
	vec_reserve(&all->symbols, n / COMMON_LINE);
	for (struct str rest = {text, n}; kallsyms_next(&rest, &line);) {
		if (line.addr)
			*ret_hidden = false;
		// Marks of ARM for code and data start with '$'.
		if (!is_wanted(line.type) || line.name.p[0] == '$')
			continue;
		((char *)line.name.p)[line.name.n] = '\0';
		symtab_add(all, &(struct symbol){
					.start = line.addr,
					.end = line.addr,
					.name = line.name.p,
					.binding = binding_of(line.type),
					.type = strchr("TtWw", line.type) ? STT_FUNC : STT_OBJECT,
				});
	}
}

static void fit_kernel_map(struct sym *sym, const struct dso *dso)
{
	struct mapping *map = sym->private->kernel_map;
	struct symtab *symtab = dso->symtab;

	if (!map || !symtab->symbols.n)
		return;
	map->start = symtab_at(symtab, 0)->start;
	map->end = symtab_at(symtab, symtab->symbols.n - 1)->end;
	space_sort(sym->kernel);
}

// "name\t[module]": the name ends at the tab, and has what the module takes of a column's width.
static void cut_modules(struct symtab *symtab)
{
	vec_each(struct symbol, symbol, &symtab->symbols) {
		char *tab = strchr(symbol->name, '\t');

		if (!tab)
			continue;
		*tab = '\0';
		symbol->hidden_width = (uint8_t)MIN(strlen(tab + 1) + 1, UINT8_MAX);
	}
}

// What a recording may tell the address of: how far the kernel lay elsewhere then.
static const char *const references[] = {"_text", "_stext"};

struct kernel_symbols {
	struct symtab all;
	const char *path;
	size_t kernel_n;	// so many of the first rows are the kernel's own
	uint64_t references[2]; // 0: none
	bool hidden;
};

// Takes over the text: symbols' names lie in it.
static void parse_kallsyms(struct sym *sym, struct kernel_symbols *ret, char *text, size_t n)
{
	vec_push(&sym->private->texts, text);
	for (size_t i = 0; i < ARRAY_SIZE(references); i++)
		kallsyms_find((struct str){text, n}, references[i], &ret->references[i]);
	read_symbols(&ret->all, text, n, &ret->hidden);
	symtab_fix(&ret->all, SYMTAB_KALLSYMS);
	cut_modules(&ret->all);
}

// Where the recording's kernel lay, beside where these symbols say.
static bool find_delta(const struct sym *sym, struct kernel_symbols *symbols, uint64_t *ret)
{
	const struct sym_private *p = sym->private;

	*ret = 0;
	if (!p->reference_name || !*p->reference_name)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		if (strcmp(p->reference_name, references[i]) == 0 && symbols->references[i]) {
			*ret = symbols->references[i] - p->reference_addr;
			return true;
		}
	}
	symtab_fill(&symbols->all);
	vec_each(const struct symbol, symbol, &symbols->all.symbols) {
		if (strcmp(symbol->name, p->reference_name) == 0) {
			*ret = symbol->start - p->reference_addr;
			return true;
		}
	}
	return false;
}

// The kernel's own stay, in their order.
static void split_symbols(struct split *split, size_t kernel_n)
{
	struct symtab *all = split->all;
	size_t n = all->symbols.n;

	if (!all->rows.n)
		kernel_n = 0;
	split->kernel_n = kernel_n;
	for (size_t i = kernel_n; i < n; i++)
		put_symbol(split, symtab_at(all, i));
	all->rows.n = kernel_n;
	all->rows.delta = split->delta;
	all->symbols.n = split->kernel_n;
	// Some more stand behind those of modules.
	if (split->kernel_n > kernel_n)
		symtab_fill(all);
}

// Takes over the symbols.
static bool put_kernel_symbols(struct sym *sym, struct dso *dso, struct kernel_symbols *symbols)
{
	struct split split = {.sym = sym, .kernel = dso, .all = &symbols->all};

	if (!find_delta(sym, symbols, &split.delta)) {
		load_failed(sym, dso, "%s lacks %s, which the recording refers to", symbols->path,
			    sym->private->reference_name);
		symtab_done(&symbols->all);
		return false;
	}
	split_symbols(&split, symbols->kernel_n);
	symtab_take(dso->symtab, &symbols->all);
	dso_set_long_name(sym, dso, "[kernel.kallsyms]");
	load_done(sym, dso, 'k', symbols->path);
	fit_kernel_map(sym, dso);
	return dso->state == DSO_LOADED;
}

static bool load_kallsyms(struct sym *sym, struct dso *dso, struct kernel_symbols *symbols)
{
	if (symbols->hidden || !symbols->all.symbols.n) {
		load_failed(sym, dso,
			    symbols->hidden && symbols->all.symbols.n
				    ? "%s hides its addresses: sysctl kernel.kptr_restrict=0, or run as root"
				    : "%s has no symbols",
			    symbols->path);
		symtab_done(&symbols->all);
		return false;
	}
	return put_kernel_symbols(sym, dso, symbols);
}

static bool load_kallsyms_file(struct sym *sym, struct dso *dso, const char *path)
{
	struct kernel_symbols symbols = {.path = path};
	bool is_given = path == sym->options.kallsyms; // may be a pipe then
	char *text;
	size_t n;

	if ((is_given ? file_read : file_read_plain)(path, MOST_KALLSYMS, &text, &n) < 0)
		return false;
	parse_kallsyms(sym, &symbols, text, n);
	return load_kallsyms(sym, dso, &symbols);
}

static int load_vmlinux(struct sym *sym, struct dso *dso, const char *path)
{
	struct kernel_load load = {.sym = sym, .dso = dso, .map = sym->private->kernel_map};
	struct elf_source source;
	char full[PATH_MAX];
	int state;

	snprintf(full, sizeof(full), "%s%s", sym->options.symfs ? sym->options.symfs : "", path);
	state = source_open(sym, dso, full, &source);
	if (state != SOURCE_OK)
		return state;
	if (!load_kernel_elf(&load, &source)) {
		source_done(&source);
		return SOURCE_NOT_ELF;
	}
	dso_set_long_name(sym, dso, path);
	load_done(sym, dso, 'v', full);
	sym->kernel->generation++;
	source_done(&source);
	return SOURCE_OK;
}

static bool load_vmlinux_path(struct sym *sym, struct dso *dso)
{
	static const char *const paths[] = {
		"vmlinux",
		"/boot/vmlinux",
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
	};
	struct utsname here;

	// Any kernel would do then, which is worse than none.
	if (!dso->build_id.n && sym->options.other_machine)
		return false;
	if (uname(&here) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *hole = strstr(paths[i], "%s");
		char path[PATH_MAX];

		if (hole)
			snprintf(path, sizeof(path), "%.*s%s%s", (int)(hole - paths[i]), paths[i],
				 here.release, hole + 2);
		else
			snprintf(path, sizeof(path), "%s", paths[i]);
		if (load_vmlinux(sym, dso, path) == SOURCE_OK)
			return true;
	}
	return false;
}

// Where debug packages put what they know by its build-id.
static bool load_vmlinux_debug(struct sym *sym, struct dso *dso)
{
	char id[41], path[80];

	if (!dso->build_id.n)
		return false;
	build_id_text(&dso->build_id, id);
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	return load_vmlinux(sym, dso, path) == SOURCE_OK;
}

static void load_given(struct sym *sym, struct dso *dso)
{
	if (sym->options.kallsyms) {
		if (!load_kallsyms_file(sym, dso, sym->options.kallsyms) && !dso->note)
			load_failed(sym, dso, "%s can't be read", sym->options.kallsyms);
		return;
	}
	switch (load_vmlinux(sym, dso, sym->options.vmlinux)) {
	case SOURCE_OK:
		break;
	case SOURCE_WRONG_BUILD_ID:
		load_failed(sym, dso, "%s is not the recorded kernel: its build-id differs",
			    sym->options.vmlinux);
		break;
	default:
		load_failed(sym, dso, "%s has no symbols or can't be read", sym->options.vmlinux);
	}
}

static void load_running(struct sym *sym, struct dso *dso)
{
	struct kernel_symbols symbols = {.path = "/proc/kallsyms"};
	bool is_own = !sym->options.root || !*sym->options.root;
	struct kernel_cache_key key;
	bool may_cache = is_own && kernel_cache_key(&key);
	struct kernel_copy copy;
	struct mapped map;
	char *text;
	size_t n;

	if (may_cache && kernel_cache_load(&key, &copy, &map)) {
		vec_push(&sym->private->copies, map);
		symtab_set_rows(&symbols.all, &copy.rows);
		symbols.kernel_n = copy.kernel_n;
		memcpy(symbols.references, copy.references, sizeof(copy.references));
		put_kernel_symbols(sym, dso, &symbols);
		return;
	}
	if (file_read_at(sym->options.root, "/proc/kallsyms", &text, &n) < 0) {
		load_failed(sym, dso, "/proc/kallsyms can't be read");
		return;
	}
	parse_kallsyms(sym, &symbols, text, n);
	if (may_cache && !symbols.hidden)
		kernel_cache_save(&key, &symbols.all, symbols.references);
	load_kallsyms(sym, dso, &symbols);
}

void load_kernel(struct sym *sym, struct dso *dso)
{
	const struct sym_options *options = &sym->options;
	struct build_id running = {0};
	char path[PATH_MAX], folder[PATH_MAX], id[41];

	if (options->kallsyms || (options->vmlinux && !options->ignore_vmlinux)) {
		load_given(sym, dso);
		return;
	}
	if (!options->ignore_vmlinux) {
		if (cache_path(sym, dso, "elf", path) && load_vmlinux(sym, dso, path) == SOURCE_OK)
			return;
		if (load_vmlinux_debug(sym, dso) || load_vmlinux_path(sym, dso))
			return;
	}
	if (options->symfs && *options->symfs) {
		load_failed(sym, dso, "no vmlinux below %s", options->symfs);
		return;
	}
	if (dso->build_id.n && kernel_build_id(sym->options.root, &running) &&
	    same_build_id(&dso->build_id, running.bytes, running.n)) {
		load_running(sym, dso);
		// Another user may have kept what is hidden from this one.
		if (dso->state != DSO_LOADED && cache_path(sym, dso, "kallsyms", path) &&
		    load_kallsyms_file(sym, dso, path))
			dso->note = NULL;
		return;
	}
	if (!dso->build_id.n) {
		if (options->other_machine) {
			load_failed(sym, dso,
				    "the recording is not of this kernel, or doesn't say so, and has no build-id of it: "
				    "give its symbols with --kallsyms or --vmlinux");
			return;
		}
		load_running(sym, dso);
		return;
	}
	if (cache_path(sym, dso, "kallsyms", path) && load_kallsyms_file(sym, dso, path))
		return;
	build_id_text(&dso->build_id, id);
	cache_folder(sym, folder);
	if (!options->no_cache_dir && kcore_find_kallsyms(folder, id, path, sizeof(path)) &&
	    load_kallsyms_file(sym, dso, path))
		return;
	if (!dso->note)
		load_failed(sym, dso, "no kallsyms or vmlinux with build-id %s was found", id);
}

static struct mapping *map_of(struct sym *sym, const struct dso *dso)
{
	for (size_t i = 0; i < sym->kernel->maps.n; i++) {
		if (sym->kernel->maps.v[i]->dso == dso)
			return sym->kernel->maps.v[i];
	}
	return NULL;
}

static bool load_ko(const struct kernel_load *with, const char *path, char origin)
{
	struct kernel_load load = *with;
	struct sym *sym = load.sym;
	struct dso *dso = load.dso;
	struct elf_source source;
	int state = source_open(sym, dso, path, &source);

	if (state == SOURCE_WRONG_BUILD_ID)
		load_failed(sym, dso, "%s is not the recorded module: its build-id differs", path);
	if (state != SOURCE_OK)
		return false;
	if (!source.has_symtab || !load_kernel_elf(&load, &source)) {
		source_done(&source);
		return false;
	}
	load_done(sym, dso, origin, path);
	sym->kernel->generation++;
	source_done(&source);
	return true;
}

void load_module(struct sym *sym, struct dso *dso, const struct mapping *map)
{
	struct mapping *kernel = sym->private->kernel_map;
	const struct kernel_load with = {
		.sym = sym,
		.dso = dso,
		.map = map ? (struct mapping *)map : map_of(sym, dso),
		.is_module = true,
	};
	struct module_name name;
	char path[PATH_MAX];

	// A module that is not here as a file has its symbols in kallsyms.
	if (kernel && kernel->dso->state == DSO_NOT_LOADED)
		dso_load(sym, kernel->dso, kernel);
	dso->state = DSO_NO_SYMBOLS;
	if (cache_path(sym, dso, "elf", path) && load_ko(&with, path, 'B'))
		return;
	if (dso->long_name[0] == '/') {
		module_name_parse(&name, dso->long_name);
		snprintf(path, sizeof(path), "%s%s", sym->options.symfs ? sym->options.symfs : "",
			 dso->long_name);
		if (load_ko(&with, path, name.is_compressed ? 'm' : 'K'))
			return;
	}
	if (dso->symtab->symbols.n) {
		symtab_fix(dso->symtab, SYMTAB_FILE);
		// perf's letter tells where the module is from, not its names.
		module_name_parse(&name, dso->long_name);
		load_done(sym, dso, name.is_compressed ? 'm' : 'K',
			  kernel ? kernel->dso->symbols_path : NULL);
		dso->note = NULL;
	} else if (!dso->note) {
		load_failed(sym, dso, "%s is not here", dso->long_name);
	}
}
