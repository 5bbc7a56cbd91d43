// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of a unit, a function or an inlined call, by perf's rules of what counts as a line of it.
#include "probe/find.h"
#include <dwarf.h>
#include "obj/line.h"

struct walk {
	probe_line_call *call;
	void *arg;
	int result;
	uint64_t addr;	// of the inlined call seen last
	bool recursive; // also in inlined calls inside of inlined ones
};

static enum die_walk visit_calls(void *arg, const struct die *die)
{
	struct walk *walk = arg;
	const char *file;
	uint32_t line;

	if (die_tag(die) == DW_TAG_inlined_subroutine) {
		file = die_call_file(die);
		line = die_call_line(die);
		if (file && line && die_entry_pc(die, &walk->addr)) {
			walk->result = walk->call(walk->arg, file, line, walk->addr);
			if (walk->result)
				return DIE_STOP;
		}
		if (!walk->recursive)
			return DIE_NEXT;
	}
	if (walk->addr) {
		file = die_decl_file(die);
		line = die_decl_line(die);
		if (file && line) {
			walk->result = walk->call(walk->arg, file, line, walk->addr);
			if (walk->result)
				return DIE_STOP;
		}
	}
	return DIE_INSIDE;
}

// The line of a function's declaration, and those where functions were inlined.
static int walk_function(const struct die *die, bool recursive, probe_line_call *call, void *arg)
{
	struct walk walk = {.call = call, .arg = arg, .recursive = recursive};
	const char *file = die_decl_file(die);
	uint32_t line = die_decl_line(die);
	uint64_t addr;

	if (file && line && die_entry_pc(die, &addr)) {
		int result = call(arg, file, line, addr);

		if (result)
			return result;
	}
	die_walk(die, visit_calls, &walk);
	return walk.result;
}

static enum die_walk visit_function(void *arg, const struct die *die)
{
	struct walk *walk = arg;

	// What is inlined into inlined functions may be of the same file.
	walk->result = walk_function(die, true, walk->call, walk->arg);
	return walk->result ? DIE_STOP : DIE_INSIDE;
}

// Does an address inside of a function belong to a line of the function itself?
static bool is_own(const struct die *die, uint64_t addr, uint32_t line)
{
	const char *file = die_decl_file(die), *other;
	struct die inlined;

	if (!probe_top_inlined(die, addr, &inlined))
		return true;
	while (probe_top_inlined(&inlined, addr, &inlined)) // the innermost of them
		;
	other = die_call_file(&inlined);
	if (file && other && !strcmp(other, file) && die_call_line(&inlined) == line)
		return true;
	// Of the same function: it was inlined into itself.
	other = die_decl_file(&inlined);
	return die_decl_line(&inlined) == die_decl_line(die) && file && other && !strcmp(file, other);
}

int probe_walk_lines(struct probe_target *target, const struct die *die, probe_line_call *call,
		     void *arg)
{
	bool is_unit = die->at == die->unit->dies;
	struct lines *lines = lines_of(die->unit);
	struct walk walk = {.call = call, .arg = arg};
	const struct line_marks *marks = probe_marks(target, die->unit);
	int result = 0;

	for (size_t i = 0; lines && i < marks->n && !result; i++) {
		const struct line_mark *mark = &marks->v[i];
		const char *file;

		if (!mark->is_stmt || (!is_unit && (!die_has_pc(die, mark->addr) ||
						    !is_own(die, mark->addr, mark->line))))
			continue;
		file = lines_path(lines, mark->file);
		if (file)
			result = call(arg, file, mark->line, mark->addr);
	}
	if (result)
		return result;
	if (!is_unit)
		return walk_function(die, false, call, arg);
	die_walk_functions(die, visit_function, &walk);
	return walk.result;
}

struct instances {
	struct die origin;
	int (*call)(void *arg, const struct die *at);
	void *arg;
	int result;
};

static enum die_walk visit_instance(void *arg, const struct die *die)
{
	struct instances *instances = arg;
	struct dwarf_value value;
	struct die origin;

	if (!die_attr(die, DW_AT_abstract_origin, &value))
		return DIE_INSIDE;
	origin = die_origin(die);
	if (!die_same(&origin, &instances->origin) ||
	    (die_tag(die) != DW_TAG_subprogram && die_tag(die) != DW_TAG_inlined_subroutine))
		return DIE_INSIDE;
	// Called from its own declaration: compilers write such for copies that they made of a function.
	if (die_tag(die) == DW_TAG_inlined_subroutine &&
	    die_call_line(die) == die_decl_line(&origin)) {
		const char *call = die_call_file(die), *decl = die_decl_file(&origin);

		if (call && decl && !strcmp(call, decl))
			return DIE_INSIDE;
	}
	instances->result = instances->call(instances->arg, die);
	return instances->result ? DIE_STOP : DIE_INSIDE;
}

int probe_walk_instances(const struct die *origin, int (*call)(void *arg, const struct die *at),
			 void *arg)
{
	struct instances instances = {.origin = *origin, .call = call, .arg = arg};
	struct die root;

	if (die_root(origin->unit, &root))
		die_walk(&root, visit_instance, &instances);
	return instances.result;
}
