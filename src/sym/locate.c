// SPDX-License-Identifier: GPL-2.0-or-later
// From (task, cpumode, address) to (map, dso, symbol).
//
// sym_resolve answers (task, cpumode, address) with (map, dso, symbol). What was found is remembered by (dso, address in it),
// not by address space: short processes start with the same files at other addresses each time. The running kernel's symbols
// come from a ready copy in the cache (sym/kernel_cache.c), good for one boot and one set of modules; the kernel needs 40 ms to
// write /proc/kallsyms.
#include "base/hash.h"
#include "sym/load.h"
#include <elf.h>

// The space that addresses of that mode lie in, or NULL when nobody knows (hypervisor, guests).
static struct space *space_of(struct sym *sym, struct task *task, uint8_t cpumode, char *ret_level)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		*ret_level = 'k';
		return sym->kernel;
	case PERF_RECORD_MISC_USER:
		*ret_level = '.';
		return task ? task->space : NULL;
	default:
		*ret_level = 'H';
		return NULL;
	}
}

static void put_map(struct location *location, const struct mapping *map)
{
	location->map = map;
	if (map) {
		location->dso = map->dso;
		location->addr = mapping_addr(map, location->ip);
	}
}

struct location sym_resolve_map(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip)
{
	struct location at = {.addr = ip, .ip = ip, .cpumode = cpumode};
	struct space *space = space_of(sym, task, cpumode, &at.level);

	if (space)
		put_map(&at, space == sym->kernel ? space_find(space, ip)
						  : space_find_near(sym, space, ip));
	return at;
}

static const struct symbol *named(struct dso *dso, struct symbol *symbol)
{
	if (symbol && symbol->mangled)
		symtab_name(dso->symtab, symbol);
	return symbol;
}

const struct symbol *dso_find_symbol(struct sym *sym, struct dso *dso, uint64_t addr)
{
	if (dso->state == DSO_NOT_LOADED)
		dso_load(sym, dso, NULL);
	return named(dso, symtab_find(dso->symtab, addr));
}

// The map of an address whose symbols are loaded, NULL: none.
static const struct mapping *loaded_map(struct sym *sym, struct space *space, uint64_t ip)
{
	const struct mapping *map = space_find_near(sym, space, ip);
	struct mapping *kept;

	if (map && map->may_be_jit && map->dso->state == DSO_NO_SYMBOLS)
		map = perfmap_take_over(sym, space, map);
	if (!map || map->dso->state != DSO_NOT_LOADED)
		return map;
	kept = (struct mapping *)map;
	// Loading the kernel's symbols may move its map.
	kept->refs++;
	dso_load(sym, map->dso, map);
	if (--kept->refs) {
		return map->may_be_jit && map->dso->state == DSO_NO_SYMBOLS
			       ? perfmap_take_over(sym, space, map)
			       : map;
	}
	free(kept);
	return space_find(space, ip);
}

static const struct symbol *user_symbol(struct sym *sym, struct dso *dso, uint64_t addr)
{
	struct known_symbol *known;

	const struct perfmap_state *perfmap = &dso_private_of(dso)->perfmap;
	bool follows = perfmap->follows || perfmap->refused_n;

	if (!dso->symtab->symbols.n && !dso->symtab->late.n && !follows)
		return NULL;
	known = &sym->private->known_user[hash_mix(addr, (uintptr_t)dso) % KNOWN_USER];
	if (known->dso == dso && known->addr == addr && !dso->symtab->late.n &&
	    (known->sym || !follows))
		return known->sym;
	*known = (struct known_symbol){dso, addr, named(dso, symtab_find(dso->symtab, addr))};
	if (!known->sym && follows && perfmap_follow(sym, dso))
		known->sym = symtab_find(dso->symtab, addr);
	return known->sym;
}

static void resolve_kernel(struct sym *sym, struct location *location)
{
	struct known_kernel *known =
		&sym->private->known_kernel[hash_u64(location->ip) % KNOWN_KERNEL];

	if (known->ip != location->ip || known->generation != sym->kernel->generation) {
		const struct mapping *map = loaded_map(sym, sym->kernel, location->ip);

		*known = (struct known_kernel){.ip = location->ip,
					       .map = map,
					       .generation = sym->kernel->generation};
		if (map)
			known->sym = named(map->dso, symtab_find(map->dso->symtab,
								 mapping_addr(map, location->ip)));
	}
	put_map(location, known->map);
	location->sym = known->sym;
}

struct location sym_resolve(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip)
{
	struct location at = {.addr = ip, .ip = ip, .cpumode = cpumode};
	struct space *space = space_of(sym, task, cpumode, &at.level);

	if (!space)
		return at;
	if (space == sym->kernel) {
		resolve_kernel(sym, &at);
		return at;
	}
	put_map(&at, loaded_map(sym, space, ip));
	if (at.map)
		at.sym = user_symbol(sym, at.dso, at.addr);
	return at;
}

// The kernel's padding in front of functions, which never runs.
static bool is_padding(const struct location *location)
{
	return location->cpumode == PERF_RECORD_MISC_KERNEL && location->sym &&
	       text_starts(location->sym->name, "__pfx_");
}

struct location sym_resolve_return(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip)
{
	struct location there = sym_resolve(sym, task, cpumode, ip), call;

	if ((cpumode != PERF_RECORD_MISC_USER && !is_padding(&there)) ||
	    (there.sym && there.sym->start != there.addr))
		return there;
	call = sym_resolve(sym, task, cpumode, ip - 1);
	// A label in a file's assembly (_dl_start_user of ld.so): code goes on there.
	if (!call.sym || (call.sym->type == STT_NOTYPE && call.dso->kind == DSO_USER))
		return there;
	call.ip++;
	call.addr++;
	return call;
}

struct location sym_resolve_guess(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip)
{
	struct location at = sym_resolve(sym, task, cpumode, ip);
	uint8_t other = sym_cpumode_of(sym, ip);

	if (!at.map && other != cpumode &&
	    (cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_USER))
		at = sym_resolve(sym, task, other, ip);
	return at;
}

struct location sym_resolve_any(struct sym *sym, struct task *task, uint64_t ip)
{
	struct location at = sym_resolve(sym, task, PERF_RECORD_MISC_USER, ip);

	if (!at.dso)
		at = sym_resolve(sym, task, PERF_RECORD_MISC_KERNEL, ip);
	if (!at.dso)
		at.level = 'H';
	return at;
}

const struct symbol *dso_find_symbol_by_name(struct sym *sym, struct dso *dso, const char *name)
{
	const struct symbol *symbols;
	size_t n = dso_symbols(sym, dso, &symbols);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(symbols[i].name, name) == 0)
			return &symbols[i];
	}
	return NULL;
}

size_t dso_symbols(struct sym *sym, struct dso *dso, const struct symbol **ret)
{
	struct symtab *symtab = dso->symtab;

	if (dso->state == DSO_NOT_LOADED)
		dso_load(sym, dso, NULL);
	symtab_fill(symtab);
	for (size_t i = 0; i < symtab->symbols.n; i++) {
		if (symtab->symbols.v[i].mangled)
			symtab_name(symtab, &symtab->symbols.v[i]);
	}
	*ret = symtab->symbols.v;
	return symtab->symbols.n;
}
