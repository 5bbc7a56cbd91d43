// SPDX-License-Identifier: GPL-2.0-or-later
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
	const struct dwarf_attr *attr = &unit->abbrevs->attrs.v[abbrev->first];
	struct dwarf_value value;

	*ret = (struct entry_facts){0};
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

static void walk_entries(struct walk *walk)
{
	struct dwarf_unit *unit = walk->unit;
	const struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_of(unit);
	struct dwarf_reader r = dwarf_unit_reader(unit, unit->dies);
	const uint8_t *start = r.p;

	vec_push(&walk->around, INLINE_NONE);
	while (abbrevs && r.p < r.end && !r.bad) {
		uint64_t at = unit->dies + (uint64_t)(r.p - start), code = dwarf_uleb(&r);
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

static int by_start(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void add_piece(struct inlines *inlines, uint64_t start, uint32_t scope)
{
	if (inlines->pieces.n) {
		struct inline_piece *last = &vec_last(&inlines->pieces);

		if (last->start == start) {
			last->scope = scope;
			return;
		}
		if (last->scope == scope)
			return;
	}
	vec_push(&inlines->pieces, (struct inline_piece){start, scope});
}

// Nested stretches become pieces side by side: outer ones come first, what is inside covers them up to its end.
static void flatten(struct walk *walk)
{
	struct inlines *inlines = walk->inlines;
	VEC(uint32_t) open = {0}; // indices of stretches, innermost last

	if (walk->stretches.n)
		qsort(walk->stretches.v, walk->stretches.n, sizeof(*walk->stretches.v), by_start);
	for (size_t i = 0; i <= walk->stretches.n; i++) {
		uint64_t now = i < walk->stretches.n ? walk->stretches.v[i].low : UINT64_MAX;

		while (open.n && walk->stretches.v[vec_last(&open)].high <= now) {
			uint64_t end = walk->stretches.v[vec_pop(&open)].high;

			// What ended below it already is over as well.
			while (open.n && walk->stretches.v[vec_last(&open)].high <= end)
				(void)vec_pop(&open);
			add_piece(inlines, end,
				  open.n ? walk->stretches.v[vec_last(&open)].scope : INLINE_NONE);
		}
		if (i < walk->stretches.n) {
			add_piece(inlines, now, walk->stretches.v[i].scope);
			vec_push(&open, (uint32_t)i);
		}
	}
	vec_done(&open);
}

const struct inlines *inlines_of(struct dwarf_unit *unit)
{
	struct walk walk = {.unit = unit};

	if (unit->inlines)
		return unit->inlines;
	unit->inlines = walk.inlines = NEW(struct inlines);
	walk_entries(&walk);
	flatten(&walk);
	vec_done(&walk.stretches);
	vec_done(&walk.around);
	return unit->inlines;
}

void inlines_free(struct inlines *inlines)
{
	if (!inlines)
		return;
	vec_done(&inlines->scopes);
	vec_done(&inlines->pieces);
	free(inlines);
}

uint32_t inlines_find(const struct inlines *inlines, uint64_t addr)
{
	size_t low = SEARCH(inlines->pieces.n, i, inlines->pieces.v[i].start <= addr);

	return low ? inlines->pieces.v[low - 1].scope : INLINE_NONE;
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
	struct inlines *inlines;
	bool has_line;
	uint32_t at;
	size_t n = 0;

	if (!unit || !most)
		return 0;
	has_line = line_in(unit, addr, &here);
	whole = dwarf_unit_whole(unit);
	inlines = whole ? (struct inlines *)inlines_of(whole) : NULL;
	at = inlines ? inlines_find(inlines, addr) : INLINE_NONE;
	if (at == INLINE_NONE) {
		*ret = here;
		return has_line;
	}
	while (at != INLINE_NONE && n < most) {
		struct inline_scope *scope = &inlines->scopes.v[at];
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
