// SPDX-License-Identifier: GPL-2.0-or-later
// From a request to addresses, by debug information.
#include "probe/find.h"
#include "base/err.h"
#include <dwarf.h>
#include "base/log.h"
#include "obj/demangle.h"
#include "obj/line.h"

struct search {
	struct probe_target *target;
	const struct probe_point *point;
	probe_site_call *call;
	void *arg;
	unsigned n;
	int err; // 0: go on

	struct dwarf_unit *unit;
	const char *file; // that lines are looked for in
	uint32_t line;
	VEC(bool) lazy; // by line of lazy_file, of a unit: does it look like the pattern?
	const char *lazy_file;
	const struct dwarf_unit *lazy_unit;
	VEC(struct die) done; // functions that were dealt with
	VEC(uint64_t) given;  // addresses: several lines and calls may lead to one
};

bool probe_same_file(const char *path, const char *wanted)
{
	size_t n, wanted_n;

	if (!path)
		return false;
	while (text_starts(wanted, "./"))
		wanted += 2;
	n = strlen(path);
	wanted_n = strlen(wanted);
	return n >= wanted_n && !strcmp(path + n - wanted_n, wanted) &&
	       (n == wanted_n || *wanted == '/' || path[n - wanted_n - 1] == '/');
}

// Behind the arguments of a template that begin here; NULL when they don't end.
static const char *behind_arguments(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		depth += *at == '<';
		if (*at == '>' && at[-1] != '-' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

// "biggest<long>" is one of the functions biggest, "bank::box<int>::get<long>" of bank::box::get and of bank::box<int>::get.
static bool is_instance(const char *name, const char *wanted)
{
	const char *start = name;
	bool any = false;

	while (*name) {
		size_t n = (size_t)(name - start);
		bool is_operator = n >= 8 && !strncmp(name - 8, "operator", 8);

		if (*name == ' ' && name[1] == '<' && *wanted != ' ')
			name++; // "operator<< <long>"
		if (*name == '<' && *wanted != '<' && !is_operator) {
			name = behind_arguments(name);
			any = true;
			if (!name)
				return false;
		} else if (*name++ != *wanted++) {
			return false;
		}
	}
	return any && !*wanted;
}

bool probe_name_matches(const struct die *die, const char *wanted)
{
	const char *name = die_name(die), *linkage;
	bool same;

	if (name && (text_glob(name, wanted) || is_instance(name, wanted)))
		return true;
	linkage = die_linkage_name(die);
	if (!linkage)
		return false;
	if (text_glob(linkage, wanted))
		return true;
	if (!strstr(wanted, "::") || !demangle_maybe(linkage))
		return false;
	auto_free char *plain = demangle(linkage, false);
	same = plain && (text_glob(plain, wanted) || is_instance(plain, wanted));
	return same;
}

// The best scope of a line: by the function's name, else the one whose declaration is the nearest above.
struct scope_search {
	const struct search *search;
	uint64_t addr;
	struct die found;
	uint32_t distance;
	bool any;
};

static enum die_walk visit_scope(void *arg, const struct die *die)
{
	struct scope_search *s = arg;
	const struct search *search = s->search;
	const char *file;
	uint32_t line;

	if (die_tag(die) != DW_TAG_subprogram && die_tag(die) != DW_TAG_inlined_subroutine)
		return DIE_INSIDE;
	if (!die_has_pc(die, s->addr))
		return DIE_INSIDE;
	file = die_decl_file(die);
	if (search->file && (!file || strcmp(search->file, file)))
		return DIE_INSIDE;
	if (search->point->function) {
		if (!probe_name_matches(die, search->point->function))
			return DIE_INSIDE;
		s->found = *die;
		s->any = true;
		return DIE_STOP;
	}
	line = die_decl_line(die);
	if (line < search->line && search->line - line < s->distance) {
		s->distance = search->line - line;
		s->found = *die;
		s->any = true;
	}
	return DIE_INSIDE;
}

// ---- a place was found

static int too_many(const struct search *search)
{
	return fail(ERANGE, "more than %u places; --max-probes allows more",
		    search->target->options->max_probes);
}

static int give(struct search *search, const struct die *scope, uint64_t addr)
{
	struct probe_site site = {.addr = addr, .scope = *scope, .is_return = search->point->is_return};
	uint64_t high;
	const char *name;

	for (size_t i = 0; i < search->given.n; i++)
		if (search->given.v[i] == addr)
			return 0;
	if (search->n >= search->target->options->max_probes)
		return too_many(search);
	if (die_tag(scope) == DW_TAG_subprogram)
		site.function = *scope;
	else if (!probe_real_function(search->target, scope->unit, addr, &site.function))
		return fail(ENOENT, "0x%llx is in no function", (unsigned long long)addr);
	name = die_name(&site.function);
	name = name ? name : "??";
	if (!die_entry_pc(&site.function, &site.entry) || !die_high_pc(&site.function, &high))
		return fail(ENOENT, "it isn't known where %s begins and ends", name);
	if (addr > high)
		return fail(EINVAL, "%s has only %llu bytes", name,
			    (unsigned long long)(high - site.entry));
	if (site.is_return && site.entry != addr)
		return fail(EINVAL,
			    "%s was inlined into %s; there is no return of its own to be probed",
			    search->point->function, name);
	search->n++;
	vec_push(&search->given, addr);
	return search->call(search->arg, &site);
}

// ---- by line

// An address may belong to several lines; what is shown for it later is the first. Another one would be confusing.
static int check_line(struct search *search, const char *file, uint32_t line, uint64_t addr)
{
	struct scope_search scope = {.search = search, .addr = addr, .distance = UINT32_MAX};
	struct probe_spot first;
	struct die root;

	if (!probe_first_line(search->target, search->unit, addr, &first) ||
	    strcmp(first.file, file) || first.line == line)
		return 0;
	if (search->point->function && die_root(search->unit, &root)) {
		die_walk(&root, visit_scope, &scope);
		if (scope.any && first.line >= die_decl_line(&scope.found)) {
			first.file = die_name(&scope.found);
			first.line -= die_decl_line(&scope.found);
		}
	}
	return fail(ENOENT, "this line shares its address with others; try %s:%u instead",
		    first.file, first.line);
}

static int give_line(struct search *search, uint64_t addr)
{
	struct scope_search scope = {.search = search, .addr = addr, .distance = UINT32_MAX};
	struct die root;

	if (die_root(search->unit, &root))
		die_walk(&root, visit_scope, &scope);
	// The line that declares a function is in that one.
	if (!scope.any && !search->point->function)
		scope.any = probe_real_function(search->target, search->unit, addr, &scope.found);
	if (!scope.any)
		return fail(ENOENT, "line %u of %s is in no function that is known", search->line,
			    search->file);
	return give(search, &scope.found, addr);
}

static int visit_line(void *arg, const char *file, uint32_t line, uint64_t addr)
{
	struct search *search = arg;
	int err;

	if (line != search->line || strcmp(file, search->file))
		return 0;
	err = check_line(search, file, line, addr);
	return err < 0 ? err : give_line(search, addr);
}

static int visit_lazy(void *arg, const char *file, uint32_t line, uint64_t addr)
{
	struct search *search = arg;

	if (line >= search->lazy.n || !search->lazy.v[line] || strcmp(file, search->file))
		return 0;
	search->line = line;
	return give_line(search, addr);
}

// As a glob, but blanks don't count on either side.
static bool looks_like(struct str line, const char *pattern)
{
	auto_free char *bare = xmalloc(line.n + 1), *glob = xstrdup(pattern);
	size_t n = 0, k = 0;

	for (size_t i = 0; i < line.n; i++)
		if (!strchr(" \t\r", line.p[i]))
			bare[n++] = line.p[i];
	bare[n] = '\0';
	for (size_t i = 0; pattern[i]; i++)
		if (!strchr(" \t\r", pattern[i]))
			glob[k++] = pattern[i];
	glob[k] = '\0';
	return text_glob(bare, glob);
}

static int read_lazy(struct search *search)
{
	enum { LARGEST = 64 << 20 };
	auto_free char *path = NULL, *text = NULL;
	struct str rest;
	size_t n;
	int err;

	// Functions that match a glob are of few files.
	if (search->lazy_unit == search->unit && !strcmp(search->lazy_file, search->file))
		return 0;
	path = probe_source_path(search->target, search->file, search->unit->comp_dir);
	err = path ? file_read(path, LARGEST, &text, &n) : -ENOENT;
	if (err < 0)
		return fail(-err, "the source file %s can't be read: %s", search->file,
			    strerror(-err));
	search->lazy_file = search->file;
	search->lazy_unit = search->unit;
	vec_clear(&search->lazy);
	vec_push(&search->lazy, false);
	for (rest = (struct str){text, n}; rest.p;)
		vec_push(&search->lazy, looks_like(str_cut(&rest, '\n'), search->point->lazy));
	return 0;
}

// ---- by function

static bool is_optimized(const struct die *function);

// The second line of a function that was built without optimization: in front of it parameters aren't in their places yet.
static uint64_t behind_prologue(struct search *search, const struct die *die, uint64_t entry)
{
	const struct line_marks *marks = probe_marks(search->target, die->unit);
	uint64_t addr = entry, high = 0;
	uint32_t line = 0;

	// Assembly has no parameters that would need it.
	if (search->point->is_return || search->point->is_start || search->target->is_kernel ||
	    !die->abbrev->children || is_optimized(die) || !die_high_pc(die, &high))
		return entry;
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->v[i].addr < entry || marks->v[i].addr >= high || !marks->v[i].line)
			continue;
		if (marks->v[i].addr == entry && !line)
			line = marks->v[i].line;
		if (marks->v[i].addr > entry && marks->v[i].line != line) {
			addr = marks->v[i].addr;
			break;
		}
	}
	if (addr != entry)
		inform("built without optimization, so the probe is behind the start; probe 0x%llx to "
		       "have it there",
		       (unsigned long long)entry);
	return addr;
}

// Optimized code has lists of places for its parameters.
static enum die_walk visit_parameter(void *arg, const struct die *die)
{
	struct dwarf_value value;
	bool *optimized = arg;

	if (die_tag(die) == DW_TAG_formal_parameter && die_attr(die, DW_AT_location, &value) &&
	    value.kind != DWARF_BLOCK) {
		*optimized = true;
		return DIE_STOP;
	}
	return die_tag(die) == DW_TAG_subprogram || die_tag(die) == DW_TAG_namespace ? DIE_INSIDE
										     : DIE_NEXT;
}

static bool is_optimized(const struct die *function)
{
	bool optimized = false;
	struct die root;

	if (die_root(function->unit, &root))
		die_walk(&root, visit_parameter, &optimized);
	return optimized;
}

static int give_function(struct search *search, const struct die *die)
{
	uint64_t addr;

	if (!die_entry_pc(die, &addr))
		return 0; // nothing is left of it here
	if (die_tag(die) == DW_TAG_subprogram)
		addr = behind_prologue(search, die, addr);
	return give(search, die, addr + search->point->offset);
}

static int give_instance(void *arg, const struct die *die)
{
	struct search *search = arg;

	return search->point->lazy ? probe_walk_lines(search->target, die, visit_lazy, search)
				   : give_function(search, die);
}

static bool is_done(const struct search *search, const struct die *die)
{
	struct die origin = die_origin(die);

	for (size_t i = 0; i < search->done.n; i++)
		if (die_same(&search->done.v[i], &origin))
			return true;
	return false;
}

static enum die_walk visit_named(void *arg, const struct die *die)
{
	struct search *search = arg;
	const struct probe_point *point = search->point;
	bool is_glob = probe_is_glob(point->function);
	struct die root;
	uint64_t addr;

	if (die_flag(die, DW_AT_declaration) || !probe_name_matches(die, point->function) ||
	    (point->file && !probe_same_file(die_decl_file(die), point->file)) ||
	    is_done(search, die))
		return DIE_INSIDE;
	vec_push(&search->done, die_origin(die));
	search->file = die_decl_file(die);
	if (point->line) {
		search->line = die_decl_line(die) + point->line;
		if (search->file && die_root(search->unit, &root))
			search->err = probe_walk_lines(search->target, &root, visit_line, search);
	} else if (point->lazy) {
		search->err = search->file ? read_lazy(search) : 0;
		if (search->err == 0)
			search->err = die_entry_pc(die, &addr)
					      ? give_instance(search, die)
					      : probe_walk_instances(die, give_instance, search);
	} else if (die_entry_pc(die, &addr)) {
		search->err = give_function(search, die);
	} else if (!search->target->options->no_inlines) {
		search->err = probe_walk_instances(die, give_instance, search);
	}
	if (is_glob && search->err == -ENOENT)
		search->err = 0;
	return search->err ? DIE_STOP : DIE_INSIDE;
}

// ---- the search

const char *probe_file_in_unit(struct dwarf_unit *unit, const char *wanted)
{
	struct lines *lines = lines_of(unit);

	for (uint32_t i = 0; lines && i < lines->files.n; i++) {
		const char *name = lines->files.v[i].name, *end = strrchr(wanted, '/');

		// Cheap first: paths are made on demand.
		if (!name || !text_ends(name, end ? end + 1 : wanted))
			continue;
		name = lines_path(lines, i);
		if (probe_same_file(name, wanted))
			return name;
	}
	return NULL;
}

static void search_unit(struct search *search)
{
	const struct probe_point *point = search->point;
	struct die root;

	if (!die_root(search->unit, &root))
		return;
	search->file = point->file ? probe_file_in_unit(search->unit, point->file) : NULL;
	if (point->file && !search->file)
		return;
	if (point->function) {
		vec_clear(&search->done);
		die_walk_functions(&root, visit_named, search);
	} else if (point->lazy) {
		search->err = read_lazy(search);
		if (search->err == 0)
			search->err = probe_walk_lines(search->target, &root, visit_lazy, search);
	} else {
		search->line = point->line;
		search->err = probe_walk_lines(search->target, &root, visit_line, search);
	}
}

static int search_address(struct search *search, uint64_t addr)
{
	struct dwarf_unit *unit = dwarf_unit_at(search->target->debug, addr);
	struct die function;

	unit = unit ? dwarf_unit_whole(unit) : NULL;
	if (!unit || !probe_real_function(search->target, unit, addr, &function) ||
	    (search->point->file && !probe_same_file(die_decl_file(&function), search->point->file)))
		return 0;
	return give(search, &function, addr);
}

int probe_find(struct probe_target *target, const struct probe_point *point, probe_site_call *call,
	       void *arg)
{
	struct search search = {.target = target, .point = point, .call = call, .arg = arg};
	struct dwarf *dwarf = target->debug;
	uint64_t addr;

	if (point->is_address) {
		search.err = search_address(&search, point->address + point->offset);
		return search.err < 0 ? search.err : (int)search.n;
	}
	dwarf_read_units(dwarf);
	for (size_t i = 0; i < dwarf->units.n && !search.err; i++) {
		search.unit = dwarf_unit_whole(&dwarf->units.v[i]);
		if (search.unit)
			search_unit(&search);
	}
	// A name that only the symbol table has: an alias, a version.
	if (!search.err && !search.n && point->function && !probe_is_glob(point->function) &&
	    !point->line && !point->lazy && probe_symbol(target, point->function, &addr))
		search.err = search_address(&search, addr + point->offset);
	vec_done(&search.lazy);
	vec_done(&search.done);
	vec_done(&search.given);
	return search.err < 0 ? search.err : (int)search.n;
}

struct place_context probe_context(struct probe_target *target, const struct probe_site *site)
{
	return (struct place_context){
		.function = &site->function,
		.pc = site->addr,
		.at_entry = site->addr == site->entry,
		.cfa = probe_cfa,
		.arg = target,
	};
}
