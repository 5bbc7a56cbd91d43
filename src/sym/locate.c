// SPDX-License-Identifier: GPL-2.0-or-later
// From (task, cpumode, address) to (map, dso, symbol).
#include "sym/private.h"

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

static void start_location(struct location *location, uint8_t cpumode, uint64_t ip)
{
	*location = (struct location){.addr = ip, .ip = ip, .cpumode = cpumode};
}

static void put_map(struct location *location, const struct mapping *map)
{
	location->map = map;
	if (map) {
		location->dso = map->dso;
		location->addr = mapping_addr(map, location->ip);
	}
}

void sym_resolve_map(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip,
		     struct location *ret)
{
	struct space *space;

	start_location(ret, cpumode, ip);
	space = space_of(sym, task, cpumode, &ret->level);
	if (space)
		put_map(ret, space_find(space, ip));
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

static void look_up(struct sym *sym, struct space *space, struct location *location)
{
	const struct mapping *map = space_find(space, location->ip);
	struct mapping *kept = (struct mapping *)map;

	if (!map)
		return;
	if (map->dso->state == DSO_NOT_LOADED) {
		// Loading the kernel's symbols may move its map.
		kept->refs++;
		dso_load(sym, map->dso, map);
		if (!--kept->refs) {
			free(kept);
			map = space_find(space, location->ip);
		}
	}
	put_map(location, map);
	if (map)
		location->sym = named(map->dso, symtab_find(map->dso->symtab, location->addr));
}

void sym_resolve(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip,
		 struct location *ret)
{
	const struct cached_location *known;
	struct space *space;

	start_location(ret, cpumode, ip);
	space = space_of(sym, task, cpumode, &ret->level);
	if (!space)
		return;
	known = ip == UINT64_MAX ? NULL : space_cached(space, ip);
	if (known) {
		put_map(ret, known->map);
		ret->sym = known->sym;
		return;
	}
	look_up(sym, space, ret);
	space_cache(space, ip, ret->map, ret->sym);
}

void sym_resolve_guess(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip,
		       struct location *ret)
{
	uint8_t other = sym_cpumode_of(sym, ip);

	sym_resolve(sym, task, cpumode, ip, ret);
	if (!ret->map && other != cpumode &&
	    (cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_USER))
		sym_resolve(sym, task, other, ip, ret);
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
	for (size_t i = 0; i < symtab->symbols.n; i++) {
		if (symtab->symbols.v[i].mangled)
			symtab_name(symtab, &symtab->symbols.v[i]);
	}
	*ret = symtab->symbols.v;
	return symtab->symbols.n;
}
