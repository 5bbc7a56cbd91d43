// SPDX-License-Identifier: GPL-2.0-or-later
// sym/source.c finds the file with debug information as it finds symbols, and asks obj/inline.c. The units of a file are placed
// once, by the ranges of their first entries; a unit's line program becomes one array sorted by address (obj/line.c). Its
// functions are found without what is inside of them and of types, which the compiler says how to skip; a function becomes one
// array of pieces that each know their innermost inlined call (obj/inline.c) when an address of it is asked for: nested ranges
// are flattened, so an address costs three binary searches, not a walk over scopes. sym/stacks.c makes a run of frames of such
// an address, script a run of lines. A caller's address is looked up one byte before where the call returns to; in what sonde
// unwound it stands there already (sample.at_calls), sym_resolve_return is for what the kernel's frame pointers gave. Debug
// sections of kernel modules are copied and relocated when they are first read (obj/relocate.c), with .text at 0 and the other
// sections behind. Which file a running module is from, sys/modules says: by modules.dep, else by a walk.
#include "obj/inline.h"
#include "base/search.h"
#include <dwarf.h>
#include "obj/line.h"

// A stretch of a scope, as .debug_info has it.
struct stretch {
	uint64_t low, high;
	uint32_t scope;
};

struct walk {
	struct dwarf_unit *unit;
	struct inlines *inlines;
	VEC(struct stretch) stretches;
	VEC(uint32_t) around; // by depth of entries: the scope that they are in
	uint32_t scope;	      // of the entry at hand
};

static void add_stretch(void *arg, uint64_t low, uint64_t high)
{
	struct walk *walk = arg;

	vec_push(&walk->stretches, (struct stretch){low, high, walk->scope});
}

// What the attributes of a function or of an inlined call say.
struct entry_facts {
	struct dwarf_pcs pcs;
	struct dwarf_value origin;
	uint64_t call_file, call_line, sibling;
};

static void read_facts(struct dwarf_reader *r, const struct dwarf_unit *unit,
		       const struct dwarf_abbrev *abbrev, struct entry_facts *ret)
{
	const struct dwarf_attr *attr = abbrev->n ? &unit->abbrevs->attrs.v[abbrev->first] : NULL;
	struct dwarf_value value;

	// Strict DWARF 2 doesn't say where a call is. File 0 is one of DWARF 5.
	*ret = (struct entry_facts){.call_file = UINT32_MAX};
	for (uint32_t i = 0; i < abbrev->n; i++, attr++) {
		dwarf_read_value(r, unit, attr, &value);
		switch (attr->name) {
		case DW_AT_low_pc:
			ret->pcs.low = value;
			break;
		case DW_AT_high_pc:
			ret->pcs.high = value;
			break;
		case DW_AT_ranges:
			ret->pcs.ranges = value;
			break;
		case DW_AT_abstract_origin:
			ret->origin = value;
			break;
		case DW_AT_call_file:
			ret->call_file = value.u;
			break;
		case DW_AT_call_line:
			ret->call_line = value.u;
			break;
		case DW_AT_sibling:
			ret->sibling = value.kind == DWARF_REF ? value.u : 0;
			break;
		}
	}
}

// A scope of its own, if it has code.
static uint32_t add_scope(struct walk *walk, uint64_t at, bool is_call,
			  const struct entry_facts *facts)
{
	uint32_t parent = vec_last(&walk->around);
	size_t before = walk->stretches.n;

	if (walk->inlines->scopes.n >= INLINE_NONE - 1)
		return parent;
	walk->scope = (uint32_t)walk->inlines->scopes.n;
	dwarf_each_range(walk->unit, &facts->pcs, add_stretch, walk);
	if (walk->stretches.n == before)
		return is_call ? parent : INLINE_NONE;
	vec_push(&walk->inlines->scopes,
		 (struct inline_scope){
			 .parent = is_call ? parent : INLINE_NONE,
			 .call_file = (uint32_t)facts->call_file,
			 .call_line = (uint32_t)facts->call_line,
			 .origin = is_call ? facts->origin
					   : (struct dwarf_value){.kind = DWARF_REF, .u = at},
		 });
	return walk->scope;
}

// The entries between two offsets of the unit, the first one with all inside of it.
static void walk_entries(struct walk *walk, uint64_t from, uint64_t to)
{
	struct dwarf_unit *unit = walk->unit;
	const struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_of(unit);
	struct dwarf_reader r = dwarf_unit_reader(unit, from);
	const uint8_t *start = r.p, *end = r.p + MIN(dwarf_left(&r), to - from);

	vec_clear(&walk->around);
	vec_push(&walk->around, INLINE_NONE);
	while (abbrevs && r.p < end && !r.bad) {
		uint64_t at = from + (uint64_t)(r.p - start), code = dwarf_uleb(&r);
		const struct dwarf_abbrev *abbrev;
		uint32_t scope = vec_last(&walk->around);

		if (!code) {
			if (walk->around.n <= 1)
				continue; // padding
			(void)vec_pop(&walk->around);
			continue;
		}
		abbrev = dwarf_abbrev_find(abbrevs, code);
		if (!abbrev)
			return;
		if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine) {
			struct entry_facts facts;

			read_facts(&r, unit, abbrev, &facts);
			if (!r.bad)
				scope = add_scope(walk, at,
						  abbrev->tag == DW_TAG_inlined_subroutine, &facts);
		} else {
			dwarf_skip_entry(&r, unit, abbrev);
		}
		if (abbrev->children)
			vec_push(&walk->around, scope);
	}
}

static void add_function(struct walk *walk, uint64_t at, const struct dwarf_pcs *pcs)
{
	struct inlines *inlines = walk->inlines;
	size_t before = walk->stretches.n;

	if (inlines->functions.n >= INLINE_NONE - 1)
		return;
	walk->scope = (uint32_t)inlines->functions.n;
	dwarf_each_range(walk->unit, pcs, add_stretch, walk);
	if (walk->stretches.n == before)
		return;
	// Entries of one function end where those of the next begin: made up ones are not read twice either.
	if (inlines->functions.n)
		vec_last(&inlines->functions).end = at;
	vec_push(&inlines->functions, (struct inline_function){.at = at, .end = walk->unit->end});
}

static bool holds_functions(uint16_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_compile_unit ||
	       tag == DW_TAG_partial_unit || tag == DW_TAG_skeleton_unit;
}

// Finds the functions of the unit without what is inside of them.
static void walk_functions(struct walk *walk)
{
	struct dwarf_unit *unit = walk->unit;
	const struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_of(unit);
	struct dwarf_reader r = dwarf_unit_reader(unit, unit->dies);
	const uint8_t *start = r.p;
	size_t depth = 0, inside = 0; // inside: the depth of a function's own entries, 0: in none

	while (abbrevs && r.p < r.end && !r.bad) {
		uint64_t at = unit->dies + (uint64_t)(r.p - start), code = dwarf_uleb(&r), next = 0;
		const struct dwarf_abbrev *abbrev;
		bool is_function;

		if (!code) {
			depth -= depth > 0;
			if (depth < inside)
				inside = 0;
			continue;
		}
		abbrev = dwarf_abbrev_find(abbrevs, code);
		if (!abbrev)
			return;
		is_function = abbrev->tag == DW_TAG_subprogram && !inside;
		if (is_function) {
			struct entry_facts facts;

			read_facts(&r, unit, abbrev, &facts);
			if (!r.bad)
				add_function(walk, at, &facts.pcs);
			next = facts.sibling;
		} else {
			next = dwarf_skip_entry(&r, unit, abbrev);
		}
		if (!abbrev->children)
			continue;
		at = unit->dies + (uint64_t)(r.p - start);
		if (next > at && next <= unit->end && !holds_functions(abbrev->tag)) {
			r.p = start + (next - unit->dies);
			continue;
		}
		depth++;
		if (is_function)
			inside = depth;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void add_piece(struct inline_pieces *pieces, size_t first, struct inline_piece piece)
{
	if (pieces->n > first) {
		struct inline_piece *last = &vec_last(pieces);

		if (last->start == piece.start) {
			last->scope = piece.scope;
			return;
		}
		if (last->scope == piece.scope)
			return;
	}
	vec_push(pieces, piece);
}

// Nested stretches become pieces side by side: outer ones come first, what is inside covers them up to its end. Adds
// them to `pieces`.
static void flatten(struct walk *walk, struct inline_pieces *pieces)
{
	struct stretch *v = walk->stretches.v;
	size_t first = pieces->n;
	VEC(uint32_t) open = {0}; // indices of stretches, innermost last

	if (walk->stretches.n)
		qsort(v, walk->stretches.n, sizeof(*v), by_start);
	for (size_t i = 0; i <= walk->stretches.n; i++) {
		uint64_t now = i < walk->stretches.n ? v[i].low : UINT64_MAX;

		while (open.n && v[vec_last(&open)].high <= now) {
			uint64_t end = v[vec_pop(&open)].high;
			uint32_t scope = INLINE_NONE;

			// What ended below it already is over as well.
			while (open.n && v[vec_last(&open)].high <= end)
				(void)vec_pop(&open);
			if (open.n)
				scope = v[vec_last(&open)].scope;
			add_piece(pieces, first, (struct inline_piece){end, scope});
		}
		if (i < walk->stretches.n) {
			add_piece(pieces, first, (struct inline_piece){now, v[i].scope});
			vec_push(&open, (uint32_t)i);
		}
	}
	vec_done(&open);
	vec_clear(&walk->stretches);
}

static void walk_done(struct walk *walk)
{
	vec_done(&walk->stretches);
	vec_done(&walk->around);
}

struct inlines *inlines_of(struct dwarf_unit *unit)
{
	struct walk walk = {.unit = unit};

	if (unit->inlines)
		return unit->inlines;
	unit->inlines = walk.inlines = NEW(struct inlines);
	unit->inlines->all = (struct inline_function){.at = unit->dies, .end = unit->end};
	walk_functions(&walk);
	flatten(&walk, &walk.inlines->places);
	walk_done(&walk);
	return unit->inlines;
}

void inlines_free(struct inlines *inlines)
{
	if (!inlines)
		return;
	vec_done(&inlines->scopes);
	vec_done(&inlines->pieces);
	vec_done(&inlines->functions);
	vec_done(&inlines->places);
	free(inlines);
}

static uint32_t find_piece(const struct inline_piece *pieces, size_t n, uint64_t addr)
{
	size_t low = SEARCH(n, i, pieces[i].start <= addr);

	return low ? pieces[low - 1].scope : INLINE_NONE;
}

static uint32_t find_in(struct dwarf_unit *unit, struct inline_function *function, uint64_t addr)
{
	struct inlines *inlines = unit->inlines;

	if (!function->is_read) {
		struct walk walk = {.unit = unit, .inlines = inlines};

		function->is_read = true;
		function->first = (uint32_t)inlines->pieces.n;
		walk_entries(&walk, function->at, function->end);
		if (inlines->pieces.n + 2 * walk.stretches.n < UINT32_MAX)
			flatten(&walk, &inlines->pieces);
		function->n = (uint32_t)(inlines->pieces.n - function->first);
		walk_done(&walk);
	}
	if (!function->n)
		return INLINE_NONE;
	return find_piece(&inlines->pieces.v[function->first], function->n, addr);
}

uint32_t inlines_find(struct dwarf_unit *unit, uint64_t addr)
{
	struct inlines *inlines = inlines_of(unit);
	uint32_t at = find_piece(inlines->places.v, inlines->places.n, addr), scope = INLINE_NONE;

	// DWARF 2 has no lists of ranges: the second section of a function is another one, and what was inlined there is inside of the
	// first one's entry.
	if (at != INLINE_NONE && unit->version > 2)
		scope = find_in(unit, &inlines->functions.v[at], addr);
	return scope != INLINE_NONE ? scope : find_in(unit, &inlines->all, addr);
}

static const char *scope_name(struct dwarf_unit *unit, struct inline_scope *scope)
{
	if (!scope->has_name) {
		scope->has_name = true;
		scope->name = dwarf_function_name(unit, &scope->origin);
	}
	return scope->name;
}

static bool line_in(struct dwarf_unit *unit, uint64_t addr, struct dwarf_frame *ret)
{
	struct lines *lines = lines_of(unit);
	const struct line_row *row = lines ? lines_find(lines, addr) : NULL;

	*ret = (struct dwarf_frame){0};
	if (!row)
		return false;
	ret->file = lines_path(lines, row->file);
	ret->line = row->line;
	return ret->file || ret->line;
}

bool dwarf_line(struct dwarf *dwarf, uint64_t addr, struct dwarf_frame *ret)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, addr);

	return unit && line_in(unit, addr, ret);
}

size_t dwarf_frames(struct dwarf *dwarf, uint64_t addr, struct dwarf_frame *ret, size_t most)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, addr), *whole;
	struct dwarf_frame here;
	bool has_line;
	uint32_t at;
	size_t n = 0;

	if (!unit || !most)
		return 0;
	has_line = line_in(unit, addr, &here);
	whole = dwarf_unit_whole(unit);
	at = whole ? inlines_find(whole, addr) : INLINE_NONE;
	if (at == INLINE_NONE) {
		*ret = here;
		return has_line;
	}
	while (at != INLINE_NONE && n < most) {
		struct inline_scope *scope = &whole->inlines->scopes.v[at];
		struct lines *lines = lines_of(unit);

		ret[n] = here;
		ret[n++].function = scope_name(whole, scope);
		here = (struct dwarf_frame){
			.file = lines ? lines_path(lines, scope->call_file) : NULL,
			.line = scope->call_line,
		};
		at = scope->parent;
	}
	return n;
}
