// SPDX-License-Identifier: GPL-2.0-or-later
// Symbols of the kernel and its modules: kallsyms of the running kernel or saved, vmlinux, .ko files.
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include "sym/kallsyms.h"
#include "sym/load.h"

enum { MOST_KALLSYMS = 1 << 28 };

static bool running_kernel_id(const struct sym *sym, struct build_id *ret)
{
	char *notes;
	size_t n;

	if (file_read_at(sym->options.root, "/sys/kernel/notes", 1 << 20, &notes, &n) < 0)
		return false;
	ret->n = (uint8_t)notes_build_id((struct str){notes, n}, false, ret->bytes);
	free(notes);
	return ret->n;
}

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
	symbol->hidden_width = (uint8_t)MIN(strlen(module) + 1, UINT8_MAX);
	symbol->start = mapping_addr(split->map, symbol->start);
	symbol->end = mapping_addr(split->map, symbol->end);
	symtab_add(split->map->dso->symtab, symbol);
}

// Symbols in address order. Names are cut at the tab.
static void put_symbol(struct split *split, struct symbol *symbol)
{
	char *tab = strchr(symbol->name, '\t');

	if (tab) {
		*tab = '\0';
		put_module_symbol(split, symbol, tab + 1);
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
	const struct symtab *symtab = dso->symtab;

	if (!map || !symtab->symbols.n)
		return;
	map->start = symtab->symbols.v[0].start;
	map->end = vec_last(&symtab->symbols).end;
	space_sort(sym->kernel);
}

// Takes over the text: symbols' names lie in it.
static bool load_kallsyms(struct sym *sym, struct dso *dso, const char *path, char *text, size_t n)
{
	const struct sym_private *p = sym->private;
	struct split split = {.sym = sym, .kernel = dso};
	struct symtab all = {0};
	uint64_t addr;
	bool hidden;

	vec_push(&sym->private->texts, text);
	if (p->reference_name && *p->reference_name) {
		if (!kallsyms_find((struct str){text, n}, p->reference_name, &addr)) {
			load_failed(sym, dso, "%s lacks %s, which the recording refers to", path,
				    p->reference_name);
			return false;
		}
		split.delta = addr - p->reference_addr;
	}
	read_symbols(&all, text, n, &hidden);
	if (hidden || !all.symbols.n) {
		load_failed(sym, dso,
			    hidden && n ? "%s hides its addresses: sysctl kernel.kptr_restrict=0, or run as root"
					: "%s has no symbols",
			    path);
		symtab_done(&all);
		return false;
	}
	symtab_fix(&all, SYMTAB_KALLSYMS);
	split.all = &all;
	for (size_t i = 0; i < all.symbols.n; i++)
		put_symbol(&split, &all.symbols.v[i]);
	all.symbols.n = split.kernel_n;
	vec_done(&dso->symtab->symbols);
	memcpy(&dso->symtab->symbols, &all.symbols, sizeof(all.symbols));
	dso_set_long_name(sym, dso, "[kernel.kallsyms]");
	load_done(sym, dso, 'k', path);
	fit_kernel_map(sym, dso);
	return dso->state == DSO_LOADED;
}

static bool load_kallsyms_file(struct sym *sym, struct dso *dso, const char *path)
{
	char *text;
	size_t n;

	if (file_read(path, MOST_KALLSYMS, &text, &n) < 0)
		return false;
	return load_kallsyms(sym, dso, path, text, n);
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
	char *text;
	size_t n;

	if (file_read_at(sym->options.root, "/proc/kallsyms", MOST_KALLSYMS, &text, &n) < 0) {
		load_failed(sym, dso, "/proc/kallsyms can't be read");
		return;
	}
	load_kallsyms(sym, dso, "/proc/kallsyms", text, n);
}

void load_kernel(struct sym *sym, struct dso *dso)
{
	const struct sym_options *options = &sym->options;
	struct build_id running = {0};
	char path[PATH_MAX];

	if (options->kallsyms || (options->vmlinux && !options->ignore_vmlinux)) {
		load_given(sym, dso);
		return;
	}
	if (!options->ignore_vmlinux) {
		if (cache_path(sym, dso, "elf", path, sizeof(path)) &&
		    load_vmlinux(sym, dso, path) == SOURCE_OK)
			return;
		if (load_vmlinux_path(sym, dso))
			return;
	}
	if (options->symfs && *options->symfs) {
		load_failed(sym, dso, "no vmlinux below %s", options->symfs);
		return;
	}
	if (dso->build_id.n && running_kernel_id(sym, &running) &&
	    same_build_id(&dso->build_id, running.bytes, running.n)) {
		load_running(sym, dso);
		return;
	}
	if (!dso->build_id.n) {
		if (options->other_machine) {
			load_failed(sym, dso,
				    "the recording is of another kernel and has no build-id of it: "
				    "give its symbols with --kallsyms or --vmlinux");
			return;
		}
		load_running(sym, dso);
		return;
	}
	if (cache_path(sym, dso, "kallsyms", path, sizeof(path)) && load_kallsyms_file(sym, dso, path))
		return;
	if (!dso->note) {
		char id[41];

		build_id_text(&dso->build_id, id);
		load_failed(sym, dso, "no kallsyms or vmlinux with build-id %s was found", id);
	}
}

static struct mapping *map_of(struct sym *sym, const struct dso *dso)
{
	for (size_t i = 0; i < sym->kernel->maps.n; i++) {
		if (sym->kernel->maps.v[i]->dso == dso)
			return sym->kernel->maps.v[i];
	}
	return NULL;
}

static bool load_ko(struct sym *sym, struct dso *dso, const char *path,
		    const struct kernel_load *with, char origin)
{
	struct kernel_load load = *with;
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
	if (cache_path(sym, dso, "elf", path, sizeof(path)) && load_ko(sym, dso, path, &with, 'B'))
		return;
	if (dso->long_name[0] == '/') {
		module_name_parse(&name, dso->long_name);
		snprintf(path, sizeof(path), "%s%s", sym->options.symfs ? sym->options.symfs : "",
			 dso->long_name);
		if (load_ko(sym, dso, path, &with, name.is_compressed ? 'm' : 'K'))
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
