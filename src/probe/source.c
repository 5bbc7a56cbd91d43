// SPDX-License-Identifier: GPL-2.0-or-later
// The other way: from an address to function and line, as -l shows probes.
#include "probe/find.h"
#include <dwarf.h>
#include "base/search.h"
#include "obj/line.h"

const struct line_marks *probe_marks(struct probe_target *target, struct dwarf_unit *unit)
{
	if (target->marks_unit == unit)
		return &target->marks;
	vec_clear(&target->marks);
	lines_read_marks(unit, &target->marks);
	target->marks_unit = unit;
	return &target->marks;
}

struct listing {
	struct probe_functions *functions;
	const struct die *die;
};

static void add_range(void *arg, uint64_t low, uint64_t high)
{
	struct listing *listing = arg;

	vec_push(listing->functions, (struct probe_function){low, high, high, *listing->die});
}

static enum die_walk add_function(void *arg, const struct die *die)
{
	die_each_range(die, add_range, &(struct listing){arg, die});
	return DIE_INSIDE;
}

static int by_address(const void *a, const void *b)
{
	const struct probe_function *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static const struct probe_functions *functions_of(struct probe_target *target, struct dwarf_unit *unit)
{
	struct probe_functions *functions = &target->functions;
	struct die root;

	if (target->functions_unit == unit)
		return functions;
	vec_clear(functions);
	target->functions_unit = unit;
	if (die_root(unit, &root))
		die_walk_functions(&root, add_function, functions);
	if (functions->n)
		qsort(functions->v, functions->n, sizeof(*functions->v), by_address);
	for (size_t i = 1; i < functions->n; i++)
		functions->v[i].reach = MAX(functions->v[i].high, functions->v[i - 1].reach);
	return functions;
}

bool probe_real_function(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
			 struct die *ret)
{
	const struct probe_functions *functions = functions_of(target, unit);
	size_t at = SEARCH(functions->n, i, functions->v[i].low <= addr);
	const struct die *found = NULL;

	// Of those that share an address the first one of the unit.
	for (; at > 0 && functions->v[at - 1].reach > addr; at--) {
		const struct probe_function *function = &functions->v[at - 1];

		if (function->high > addr && (!found || function->die.at < found->at))
			found = &function->die;
	}
	if (found)
		*ret = *found;
	return found;
}

// The first row of an address at which a statement begins; else the first.
static size_t first_row(const struct line_marks *marks, uint64_t addr)
{
	size_t first = SEARCH(marks->n, i, marks->v[i].addr < addr), at = first;

	while (at < marks->n && marks->v[at].addr == addr && !marks->v[at].is_stmt)
		at++;
	return at < marks->n && marks->v[at].addr == addr ? at : first;
}

bool probe_first_line(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
		      struct probe_spot *ret)
{
	const struct line_marks *marks = probe_marks(target, unit);
	struct lines *lines = lines_of(unit);
	struct probe_spot spot = {0};
	struct die function;
	uint64_t entry;
	size_t at;

	if (probe_real_function(target, unit, addr, &function) && die_entry_pc(&function, &entry) &&
	    entry == addr) {
		spot.file = die_decl_file(&function);
		spot.line = die_decl_line(&function);
	} else {
		at = SEARCH(marks->n, i, marks->v[i].addr <= addr);
		if (!at || !lines)
			return false;
		at = first_row(marks, marks->v[at - 1].addr);
		spot.file = lines_path(lines, marks->v[at].file);
		spot.line = marks->v[at].line;
	}
	*ret = spot;
	return spot.file && spot.line;
}

struct topmost {
	uint64_t addr;
	struct die found;
	bool any;
};

static enum die_walk visit(void *arg, const struct die *die)
{
	struct topmost *topmost = arg;

	if (die_tag(die) == DW_TAG_subprogram)
		return DIE_NEXT;
	if (die_tag(die) != DW_TAG_inlined_subroutine || !die_has_pc(die, topmost->addr))
		return DIE_INSIDE;
	topmost->found = *die;
	topmost->any = true;
	return DIE_STOP;
}

bool probe_top_inlined(const struct die *function, uint64_t addr, struct die *ret)
{
	struct topmost topmost = {.addr = addr};

	die_walk(function, visit, &topmost);
	if (topmost.any)
		*ret = topmost.found;
	return topmost.any;
}

// Follows the inlined calls around an address. `spot` becomes a line of *function, which becomes the innermost one.
static void follow_calls(struct die *function, uint64_t addr, uint32_t *base, struct probe_spot *spot)
{
	struct die inlined;
	const char *file;
	uint64_t entry;

	while (probe_top_inlined(function, addr, &inlined)) {
		if (die_entry_pc(&inlined, &entry) && entry == addr) {
			// At its start: the line is that of the call.
			spot->line = die_call_line(&inlined);
			spot->file = die_call_file(&inlined);
			break;
		}
		if (!die_name(&inlined) || !die_decl_line(&inlined))
			break;
		*base = die_decl_line(&inlined);
		*function = inlined;
	}
	file = die_decl_file(function);
	if (!file || (spot->file && strcmp(file, spot->file)))
		spot->line = 0;
}

bool probe_find_source(struct probe_target *target, uint64_t addr, struct probe_point *ret)
{
	struct dwarf_unit *unit = target->debug ? dwarf_unit_at(target->debug, addr) : NULL;
	struct probe_point point = {0};
	struct die function;
	struct probe_spot spot = {0};
	const char *base_name = NULL;
	uint64_t entry = 0;
	uint32_t base = 0;

	unit = unit ? dwarf_unit_whole(unit) : NULL;
	if (!unit)
		return false;
	(void)probe_first_line(target, unit, addr, &spot);
	if (probe_real_function(target, unit, addr, &function)) {
		base_name = die_linkage_name(&function);
		if (!base_name)
			base_name = die_name(&function);
		point.function = base_name;
		base = die_decl_line(&function);
		if (!base_name || !die_entry_pc(&function, &entry) || !base) {
			spot.line = 0;
		} else {
			spot.file = die_decl_file(&function);
			if (addr == entry)
				spot.line = base;
			else
				follow_calls(&function, addr, &base, &spot);
			if (die_tag(&function) == DW_TAG_inlined_subroutine)
				point.function = die_name(&function);
		}
	}
	if (spot.line && spot.line >= base) {
		point.line = spot.line - base;
	} else if (base_name) {
		point.offset = addr - entry;
		point.function = base_name;
	}
	point.file = spot.file;
	if (!point.function && !point.file)
		return false;
	*ret = point;
	return true;
}

char *probe_source_path(const struct probe_target *target, const char *name, const char *comp_dir)
{
	const char *prefix = target->options->source, *rest = name;
	char *path;

	if (!prefix) {
		if (*name == '/' || !comp_dir)
			path = xstrdup(name);
		else
			path = text_dup_fmt("%s/%s", comp_dir, name);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
		return NULL;
	}
	// Leading folders are left out one by one: the source may have been moved.
	while (rest) {
		path = text_dup_fmt("%s/%s", prefix, rest);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
		rest = strchr(rest + 1, '/');
	}
	return NULL;
}
