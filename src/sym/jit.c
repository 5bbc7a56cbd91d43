// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/jit.h"
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/err.h"
#include "sym/jitdump.h"
#include "sym/load.h"
#include "sym/seen.h"

struct jit {
	struct jit *next;
	struct task *task;
	struct dso *dso;
	struct mapped file;
	struct jitdump dump;
	size_t at; // the next code to appear
};

static void put_symbols(struct jit *jit)
{
	struct symtab *symtab = jit->dso->symtab;

	vec_each(const struct jit_code, code, &jit->dump.codes) {
		if (code->kind == JIT_LOAD && code->size)
			symtab_add(symtab, &(struct symbol){.start = code->offset,
							    .end = code->offset + code->size,
							    .name = code->name,
							    .binding = STB_GLOBAL,
							    .type = STT_FUNC});
	}
	symtab_sort(symtab);
}

static void put_code(struct sym *sym, struct jit *jit, const struct jit_code *code)
{
	struct mapping *map;

	if (!code->size)
		return;
	map = NEW(struct mapping);
	*map = (struct mapping){.start = code->addr,
				.end = code->addr + code->size,
				.pgoff = code->offset,
				.dso = jit->dso,
				.prot = PROT_READ | PROT_EXEC,
				.flags = MAP_PRIVATE,
				.refs = 1};
	space_insert(sym, jit->task->space, map);
}

static void find_next(struct sym *sym)
{
	sym->next_jit_ns = UINT64_MAX;
	for (struct jit *jit = sym->private->jits; jit; jit = jit->next) {
		if (jit->at < jit->dump.codes.n)
			sym->next_jit_ns = MIN(sym->next_jit_ns, jit->dump.codes.v[jit->at].time);
	}
}

void sym_advance(struct sym *sym, uint64_t time)
{
	for (struct jit *jit = sym->private->jits; jit; jit = jit->next) {
		while (jit->at < jit->dump.codes.n && jit->dump.codes.v[jit->at].time <= time)
			put_code(sym, jit, &jit->dump.codes.v[jit->at++]);
	}
	find_next(sym);
}

static int by_time(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool open_dump(const struct sym *sym, const struct dso *dso, struct mapped *ret)
{
	const char *symfs = sym->options.symfs ? sym->options.symfs : "";
	char path[PATH_MAX];

	if (!archived_file(sym, dso->long_name, path) &&
	    (dso->long_name[0] != '/' ||
	     snprintf(path, sizeof(path), "%s%s", symfs, dso->long_name) >= (int)sizeof(path)))
		return false;
	return file_map_plain(ret, path) == 0;
}

struct str jit_bytes(const struct sym *sym, const struct dso *dso, uint64_t at)
{
	for (const struct jit *jit = sym->private->jits; jit; jit = jit->next) {
		if (jit->dso == dso && at < jit->file.n)
			return (struct str){(const char *)jit->file.p + at, jit->file.n - at};
	}
	return (struct str){0};
}

bool jit_frames(const struct sym *sym, const struct dso *dso, struct cfi_table *ret)
{
	VEC(struct cfi_piece) pieces = {0};
	const struct jit *jit = sym->private->jits;
	bool good = false;

	while (jit && jit->dso != dso)
		jit = jit->next;
	if (!jit || jit->dump.swap)
		return false;
	vec_each(const struct jit_code, code, &jit->dump.codes) {
		if (code->eh_frame.n)
			vec_push(&pieces,
				 ((struct cfi_piece){code->eh_frame, code->offset, code->size}));
	}
	if (pieces.n)
		good = cfi_build_pieces(ret, (uint16_t)jit->dump.machine, pieces.v, pieces.n) == 0;
	vec_done(&pieces);
	return good;
}

bool jit_has(const struct sym *sym, uint32_t pid)
{
	for (const struct jit *jit = sym->private->jits; jit; jit = jit->next) {
		if (jit->task->pid == pid)
			return true;
	}
	return false;
}

// Compilers protect their pages and open them again all the time: then nothing is new.
static bool is_known(const struct sym *sym, const struct space *space, const struct mapping *map)
{
	for (uint64_t at = map->start; at < map->end;) {
		const struct mapping *there = space_find(space, at);

		if (!there || !(jit_bytes(sym, there->dso, 0).n ||
				(there->dso == map->dso && there->identity &&
				 there->prot == map->prot && there->flags == map->flags)))
			return false;
		at = there->end;
	}
	return true;
}

void jit_insert_around(struct sym *sym, struct space *space, struct mapping *map)
{
	VEC(struct mapping *) codes = {0};

	if (is_known(sym, space, map)) {
		free(map);
		return;
	}
	vec_each(struct mapping *, it, &space->maps) {
		if ((*it)->start < map->end && (*it)->end > map->start &&
		    jit_bytes(sym, (*it)->dso, 0).n) {
			(*it)->refs++;
			vec_push(&codes, *it);
		}
	}
	space_insert(sym, space, map);
	vec_each(struct mapping *, it, &codes)
		space_insert(sym, space, *it);
	vec_done(&codes);
}

void jit_open(struct sym *sym, struct task *task, struct dso *dso)
{
	struct jit *jit;
	uint32_t pid;

	// Compilers map the dump once; a second time nothing new is learned.
	if (dso->state != DSO_NOT_LOADED || !jitdump_is_path(dso->long_name, &pid))
		return;
	jit = NEW(struct jit);
	jit->task = task;
	jit->dso = dso;
	dso->state = DSO_NO_SYMBOLS;
	if (!open_dump(sym, dso, &jit->file)) {
		load_failed(sym, dso, "%s is not here or can't be read", dso->long_name);
		err_clear();
		free(jit);
		return;
	}
	if (jitdump_read(&jit->dump, jit->file.p, jit->file.n) < 0 || jit->dump.pid != pid) {
		load_failed(sym, dso, "%s is no jitdump of process %u", dso->long_name, pid);
		jitdump_done(&jit->dump);
		file_unmap(&jit->file);
		free(jit);
		return;
	}
	jit->next = sym->private->jits;
	sym->private->jits = jit;
	put_symbols(jit);
	load_done(sym, dso, 'j', dso->long_name);
	if (!sym->clock_is_monotonic || jit->dump.own_clock) {
		// When is not known then: all at once, what was made last wins.
		sym_advance(sym, UINT64_MAX);
		return;
	}
	if (jit->dump.codes.n)
		qsort(jit->dump.codes.v, jit->dump.codes.n, sizeof(*jit->dump.codes.v), by_time);
	find_next(sym);
}

void jit_free(struct sym *sym)
{
	struct jit *jit = sym->private->jits, *next;

	for (; jit; jit = next) {
		next = jit->next;
		jitdump_done(&jit->dump);
		file_unmap(&jit->file);
		free(jit);
	}
}
