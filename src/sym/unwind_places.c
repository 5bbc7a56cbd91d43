// SPDX-License-Identifier: GPL-2.0-or-later
// What a walk up a stack knows of places in memory: the tables of files, the rule at an address, what lies in files, what can be
// returned to.
#include "base/search.h"
#include "sym/jit.h"
#include "sym/load.h"
#include "sym/unwind_cache.h"
#include "sym/unwind_join.h"
#include "sym/unwind_walk.h"

static bool has_debug_frame(const struct elf_source *source)
{
	struct elf_section section;

	return elf_find_section(&source->elf, ".debug_frame", &section);
}

static void make_table(struct unwinder *unwinder, struct dso *dso, struct unwind_dso *ret)
{
	struct elf_source debug;
	struct elf_section section;
	struct cfi_table table;
	bool has_debug = false;
	int err;

	ret->has_source = source_open_mapped(unwinder->sym, dso, &ret->source);
	// A 32-bit program's vdso is not this one's.
	if (ret->has_source && ret->source.elf.machine != unwinder->machine &&
	    (unwinder->machine != EM_X86_64 || ret->source.elf.machine != EM_386)) {
		source_done(&ret->source);
		ret->has_source = false;
	}
	if (!ret->has_source) {
		if (jit_frames(unwinder->sym, dso, &table))
			ret->table =
				unwind_tables_add(unwinder->tables, &(struct build_id){0}, &table);
		return;
	}
	ret->table = unwind_tables_find(unwinder->tables, &dso->build_id);
	if (ret->table)
		return;
	if (!elf_find_section(&ret->source.elf, ".debug_frame", &section))
		has_debug = dso_find_file(unwinder->sym, dso, has_debug_frame, &debug);
	err = cfi_build(&table, &ret->source.elf, has_debug ? &debug.elf : NULL);
	if (has_debug)
		source_done(&debug);
	if (err >= 0)
		ret->table = unwind_tables_add(unwinder->tables, &dso->build_id, &table);
}

struct unwind_dso *unwind_dso_of(struct unwinder *unwinder, struct dso *dso)
{
	while (unwinder->dsos.n <= dso->id)
		vec_push(&unwinder->dsos, NULL);
	if (!unwinder->dsos.v[dso->id]) {
		unwinder->dsos.v[dso->id] = NEW(struct unwind_dso);
		if (dso->kind == DSO_USER || dso->kind == DSO_VDSO)
			make_table(unwinder, dso, unwinder->dsos.v[dso->id]);
	}
	return unwinder->dsos.v[dso->id];
}

void walk_look_up(const struct walk *w, uint64_t pc, bool is_exact, struct unwind_known *known)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);
	const struct cfi_table *table;
	const struct cfi_row *row;

	known->rule = NULL;
	known->table = NULL;
	known->call = 0;
	if (!map)
		return;
	table = unwind_dso_of(w->unwinder, map->dso)->table;
	row = table && table->machine == w->machine->code ? cfi_find(table, mapping_addr(map, pc))
							  : NULL;
	if (row && row->rule) {
		known->rule = cfi_rule_at(table, row->rule);
		known->table = table;
	} else if (map->dso->kind != DSO_VDSO) {
		known->rule = walk_rule_of_code(w, pc + !is_exact, is_exact);
	}
}

// What lies in files: constants, code.
bool walk_read_file(const struct walk *w, uint64_t addr, void *ret, size_t size)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, addr);
	const struct unwind_dso *dso;
	uint64_t at;

	if (!map || addr + size > map->end || addr + size < addr)
		return false;
	dso = unwind_dso_of(w->unwinder, map->dso);
	at = mapping_addr(map, addr);
	if (!dso->has_source || at > dso->source.elf.n || dso->source.elf.n - at < size)
		return false;
	memcpy(ret, dso->source.elf.p + at, size);
	return true;
}

static bool read_file_word(const struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t v = 0;

	if (!walk_read_file(w, addr, &v, w->machine->word))
		return false;
	*ret = v;
	return true;
}

bool walk_read_elsewhere(struct walk *w, uint64_t addr, uint64_t *ret)
{
	// Words of 32-bit programs come here all: `readable` is 0.
	if (w->machine->word == 4) {
		uint64_t at = (uint32_t)addr - w->stack_at;
		uint32_t v;

		addr = (uint32_t)addr;
		if (at < w->stack_size && w->stack_size - at >= 4) {
			memcpy(&v, w->stack + at, 4);
			*ret = v;
			return true;
		}
	}
	// The bytes between the end of the copy and the stack's end are all that is missing.
	w->end = addr - w->stack_at < w->stack_size + WALK_FAR ? UNWIND_SHORT : UNWIND_BAD;
	if (w->end == UNWIND_SHORT && w->reads_later) {
		w->has_read_later = true;
		return unwind_read_later(w->unwinder->joins, w->task, addr, ret);
	}
	return w->end == UNWIND_BAD && read_file_word(w, addr, ret);
}

bool walk_function_of(const struct walk *w, uint64_t pc, struct walk_function *ret)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);
	struct unwind_dso *dso = map ? unwind_dso_of(w->unwinder, map->dso) : NULL;
	uint64_t at;
	size_t i;

	if (!dso || !dso->has_source)
		return false;
	if (!dso->knows_functions) {
		dso->knows_functions = true;
		if (cfi_functions(&dso->source.elf, &dso->functions, &dso->functions_n) < 0)
			return false;
	}
	at = mapping_addr(map, pc);
	i = SEARCH(dso->functions_n, k, dso->functions[k].at <= at);
	if (!i || at >= dso->functions[i - 1].end)
		return false;
	ret->start = pc - (at - dso->functions[i - 1].at);
	ret->end = pc + (dso->functions[i - 1].end - at);
	return true;
}

bool walk_is_root_rule(const struct unwind_known *known)
{
	const struct cfi_rule *rule = known->rule;

	return rule && !(rule->flags & CFI_SWITCH) && rule->saved[0].where == CFI_UNDEFINED;
}

bool walk_is_root(struct walk *w, uint64_t pc)
{
	return walk_is_root_rule(walk_known(w, pc - 1, false));
}

bool walk_is_behind_call(const struct walk *w)
{
	enum { CAN = 1, CANNOT };
	struct unwind_known *known = walk_known(w, w->regs[PC] - 1, false);

	if (!known->call)
		known->call = walk_is_no_return(w, w->regs[PC]) ? CANNOT : CAN;
	return known->call == CAN;
}

// What a frame pointer led to is believed where a call may have come from. Stacks of compilers' own may begin with a return
// that was put there, as their first frame pointer tells.
bool walk_is_return(const struct walk *w)
{
	return walk_is_behind_call(w) || w->regs[w->machine->fp] == 0;
}
