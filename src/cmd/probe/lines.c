// SPDX-License-Identifier: GPL-2.0-or-later
// -L: the source of a function, with numbers at the lines that can be probed.
#include "base/err.h"
#include <dwarf.h>
#include "cmd/probe/show.h"
#include "obj/line.h"

enum { LINES_BEHIND = 2, LARGEST_SOURCE = 64 << 20 };

struct listing {
	struct probe_target *target;
	struct probe_lines wanted;
	struct dwarf_unit *unit;
	const char *file; // where the lines are looked for
	const char *path; // as the first line found names it
	uint32_t base;	  // the function's line
	uint32_t first, last;
	VEC(uint32_t) lines;
	bool found;
};

static int take_line(void *arg, const char *file, uint32_t line, uint64_t addr)
{
	struct listing *listing = arg;

	struct probe_spot first;

	if (strcmp(file, listing->file) || line < listing->first || line > listing->last)
		return 0;
	// A probe there would be shown as one of another line.
	if (probe_first_line(listing->target, listing->unit, addr, &first) &&
	    (first.line != line || strcmp(first.file, file)))
		return 0;
	if (!listing->path)
		listing->path = file;
	vec_push(&listing->lines, line);
	return 0;
}

static int take_instance(void *arg, const struct die *die)
{
	struct listing *listing = arg;

	return probe_walk_lines(listing->target, die, take_line, listing);
}

static uint32_t plus(uint32_t a, uint32_t b)
{
	return a > INT32_MAX - MIN(b, INT32_MAX) ? INT32_MAX : a + b;
}

static enum die_walk visit_function(void *arg, const struct die *die)
{
	struct listing *listing = arg;
	const struct probe_lines *wanted = &listing->wanted;
	uint64_t addr;

	if (die_flag(die, DW_AT_declaration) || !probe_name_matches(die, wanted->function) ||
	    (wanted->file && !probe_same_file(die_decl_file(die), wanted->file)))
		return DIE_INSIDE;
	listing->file = die_decl_file(die);
	if (!listing->file)
		return DIE_INSIDE;
	listing->base = die_decl_line(die);
	listing->first = plus(listing->base, wanted->start);
	listing->last = plus(listing->base, wanted->end);
	if (die_entry_pc(die, &addr))
		probe_walk_lines(listing->target, die, take_line, listing);
	else
		probe_walk_instances(die, take_instance, listing);
	return DIE_STOP;
}

static void search(struct listing *listing)
{
	struct dwarf *dwarf = listing->target->debug;
	const struct probe_lines *wanted = &listing->wanted;
	struct die root;

	dwarf_read_units(dwarf);
	for (size_t i = 0; i < dwarf->units.n && !listing->lines.n; i++) {
		listing->unit = dwarf_unit_whole(&dwarf->units.v[i]);
		if (!listing->unit || !die_root(listing->unit, &root))
			continue;
		if (wanted->function) {
			die_walk_functions(&root, visit_function, listing);
			continue;
		}
		listing->file = probe_file_in_unit(listing->unit, wanted->file);
		if (!listing->file)
			continue;
		listing->first = wanted->start;
		listing->last = MIN(wanted->end, INT32_MAX);
		probe_walk_lines(listing->target, &root, take_line, listing);
	}
}

// A name that only the symbol table has: the function at its address.
static bool search_symbol(struct listing *listing)
{
	struct probe_target *target = listing->target;
	struct dwarf_unit *unit;
	struct die function;
	uint64_t addr;
	const char *name;

	if (!listing->wanted.function || !probe_symbol(target, listing->wanted.function, &addr))
		return false;
	unit = dwarf_unit_at(target->debug, addr);
	unit = unit ? dwarf_unit_whole(unit) : NULL;
	if (!unit || !probe_real_function(target, unit, addr, &function))
		return false;
	name = die_name(&function);
	if (!name)
		return false;
	listing->wanted.function = name;
	search(listing);
	return listing->lines.n != 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void print(const struct listing *listing, struct str text, struct out *out)
{
	uint32_t end = listing->last, at = 1;
	size_t next = 0;

	while (next < listing->lines.n && listing->lines.v[next] < listing->first)
		next++;
	if (end >= INT32_MAX)
		end = vec_last(&listing->lines) + 1 + LINES_BEHIND;
	for (; text.n && at <= end; at++) {
		struct str line = str_cut(&text, '\n');

		if (at < listing->first)
			continue;
		if (next < listing->lines.n && listing->lines.v[next] == at) {
			out_printf(out, "%7u  ", at - listing->base);
			while (next < listing->lines.n && listing->lines.v[next] == at)
				next++;
		} else {
			out_text(out, "         ");
		}
		out_safe_line(out, line);
	}
}

static int show(struct listing *listing, const char *text, struct out *out)
{
	auto_free char *path = NULL, *content = NULL;
	const struct probe_lines *wanted = &listing->wanted;
	size_t n;
	int err;

	search(listing);
	if (!listing->lines.n && !search_symbol(listing))
		return fail(ENOENT, "there is no line of '%s' that can be probed in %s", text,
			    listing->target->path);
	path = probe_source_path(listing->target, listing->path, listing->unit->comp_dir);
	if (!path)
		return fail(ENOENT, "the source file %s isn't here; -s FOLDER says where sources are",
			    listing->path);
	err = file_read(path, LARGEST_SOURCE, &content, &n);
	if (err < 0)
		return fail(-err, "%s can't be read: %s", path, strerror(-err));
	out_char(out, '<');
	if (wanted->function) {
		out_safe(out, wanted->function);
		out_char(out, '@');
	}
	out_safe(out, path);
	out_printf(out, ":%u>\n", wanted->function ? listing->first - listing->base : listing->first);
	qsort(listing->lines.v, listing->lines.n, sizeof(uint32_t), by_number);
	print(listing, (struct str){content, n}, out);
	return 0;
}

int probe_show_lines(struct probe_target *target, const char *text, struct out *out)
{
	struct listing listing = {.target = target};
	int err = probe_parse_lines(&target->arena, text, &listing.wanted);

	if (err < 0)
		return err;
	if (!target->debug)
		return probe_no_debug(target);
	err = show(&listing, text, out);
	vec_done(&listing.lines);
	return err;
}
