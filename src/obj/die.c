// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/die.h"
#include <dwarf.h>
#include "obj/line.h"

enum { MOST_REFERENCES = 16 };

bool die_at(struct dwarf_unit *unit, uint64_t at, struct die *ret)
{
	struct dwarf_reader r;
	const struct dwarf_abbrevs *abbrevs;
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	if (at < unit->dies || at >= unit->end || !dwarf_unit_root(unit))
		return false;
	abbrevs = dwarf_abbrevs_of(unit);
	if (!abbrevs)
		return false;
	r = dwarf_unit_reader(unit, at);
	code = dwarf_uleb(&r);
	abbrev = code && !r.bad ? dwarf_abbrev_find(abbrevs, code) : NULL;
	if (!abbrev)
		return false;
	*ret = (struct die){unit, at, abbrev, r.p};
	return true;
}

bool die_root(struct dwarf_unit *unit, struct die *ret)
{
	return die_at(unit, unit->dies, ret);
}

static struct dwarf_reader attrs_reader(const struct die *die)
{
	struct str info = dwarf_section(die->unit->dwarf, DWARF_INFO);

	return dwarf_unit_reader(die->unit, (uint64_t)(die->attrs - (const uint8_t *)info.p));
}

static uint64_t offset_of(const struct die *die, const uint8_t *p)
{
	return (uint64_t)(p - (const uint8_t *)dwarf_section(die->unit->dwarf, DWARF_INFO).p);
}

// Behind its attributes; where its sibling is, or 0.
static struct dwarf_reader behind(const struct die *die, uint64_t *ret_sibling)
{
	struct dwarf_reader r = attrs_reader(die);

	*ret_sibling = dwarf_skip_entry(&r, die->unit, die->abbrev);
	return r;
}

bool die_child(const struct die *die, struct die *ret)
{
	struct dwarf_reader r;
	uint64_t sibling;

	if (!die->abbrev->children)
		return false;
	r = behind(die, &sibling);
	return !r.bad && die_at(die->unit, offset_of(die, r.p), ret);
}

bool die_sibling(const struct die *die, struct die *ret)
{
	uint64_t at, sibling;
	struct dwarf_reader r = behind(die, &sibling);
	size_t depth = 1;

	at = offset_of(die, r.p);
	if (r.bad)
		return false;
	if (!die->abbrev->children)
		return die_at(die->unit, at, ret);
	if (sibling > at && sibling < die->unit->end)
		return die_at(die->unit, sibling, ret);
	while (depth && !r.bad) {
		uint64_t code = dwarf_uleb(&r);
		const struct dwarf_abbrev *abbrev;
		const uint8_t *start = r.p;

		if (!code) {
			depth--;
			continue;
		}
		abbrev = dwarf_abbrev_find(die->unit->abbrevs, code);
		if (!abbrev)
			return false;
		sibling = dwarf_skip_entry(&r, die->unit, abbrev);
		if (!abbrev->children)
			continue;
		if (sibling > offset_of(die, r.p) && sibling < die->unit->end)
			r.p = start + (sibling - offset_of(die, start));
		else
			depth++;
	}
	return !r.bad && die_at(die->unit, offset_of(die, r.p), ret);
}

bool die_attr(const struct die *die, uint16_t name, struct dwarf_value *ret)
{
	const struct dwarf_attr *attr = die->unit->abbrevs->attrs.v + die->abbrev->first;
	struct dwarf_reader r;
	uint32_t at;

	for (at = 0; at < die->abbrev->n && attr[at].name != name; at++)
		;
	if (at == die->abbrev->n)
		return false;
	r = attrs_reader(die);
	for (uint32_t i = 0; i <= at; i++)
		dwarf_read_value(&r, die->unit, &attr[i], ret);
	return !r.bad;
}

static bool follow(const struct die *die, const struct dwarf_value *value, struct die *ret)
{
	struct dwarf_unit *unit;
	uint64_t at;

	return dwarf_follow(die->unit, value, &unit, &at) && die_at(unit, at, ret);
}

bool die_reference(const struct die *die, uint16_t name, struct die *ret)
{
	struct dwarf_value value;

	return die_attr(die, name, &value) && follow(die, &value, ret);
}

bool die_attr_through(const struct die *die, uint16_t name, struct dwarf_value *ret,
		      struct die *ret_of)
{
	struct die at = *die, next;

	for (int i = 0; i < MOST_REFERENCES; i++) {
		if (die_attr(&at, name, ret)) {
			if (ret_of)
				*ret_of = at;
			return true;
		}
		if (!die_reference(&at, DW_AT_abstract_origin, &next) &&
		    !die_reference(&at, DW_AT_specification, &next))
			return false;
		at = next;
	}
	return false;
}

struct die die_origin(const struct die *die)
{
	struct die at = *die, next;

	for (int i = 0; i < MOST_REFERENCES && die_reference(&at, DW_AT_abstract_origin, &next); i++)
		at = next;
	return at;
}

bool die_flag(const struct die *die, uint16_t name)
{
	struct dwarf_value value;

	return die_attr(die, name, &value) && value.u;
}

bool die_number(const struct die *die, uint16_t name, uint64_t *ret)
{
	struct dwarf_value value;

	// Before DWARF 4 numbers of 4 and 8 bytes look like offsets.
	if (!die_attr_through(die, name, &value, NULL) ||
	    (value.kind != DWARF_CONST && value.kind != DWARF_OFFSET))
		return false;
	*ret = value.u;
	return true;
}

static const char *text(const struct die *die, uint16_t name)
{
	struct dwarf_value value;
	struct die of;

	return die_attr_through(die, name, &value, &of) ? dwarf_text(of.unit, &value) : NULL;
}

const char *die_name(const struct die *die)
{
	return text(die, DW_AT_name);
}

const char *die_linkage_name(const struct die *die)
{
	const char *name = text(die, DW_AT_linkage_name);

	return name ? name : text(die, DW_AT_MIPS_linkage_name);
}

static const char *file_of(const struct die *die, uint16_t name)
{
	struct dwarf_value value;
	struct lines *lines;
	struct die of;

	if (!die_attr_through(die, name, &value, &of) || value.u > UINT32_MAX)
		return NULL;
	lines = lines_of(of.unit);
	return lines ? lines_path(lines, (uint32_t)value.u) : NULL;
}

static uint32_t line_of(const struct die *die, uint16_t name)
{
	uint64_t line;

	return die_number(die, name, &line) && line <= INT32_MAX ? (uint32_t)line : 0;
}

const char *die_decl_file(const struct die *die)
{
	return file_of(die, DW_AT_decl_file);
}

uint32_t die_decl_line(const struct die *die)
{
	return line_of(die, DW_AT_decl_line);
}

const char *die_call_file(const struct die *die)
{
	return file_of(die, DW_AT_call_file);
}

uint32_t die_call_line(const struct die *die)
{
	return line_of(die, DW_AT_call_line);
}

void die_each_range(const struct die *die, dwarf_range *call, void *arg)
{
	struct dwarf_pcs pcs = {0};

	die_attr(die, DW_AT_low_pc, &pcs.low);
	die_attr(die, DW_AT_high_pc, &pcs.high);
	die_attr(die, DW_AT_ranges, &pcs.ranges);
	dwarf_each_range(die->unit, &pcs, call, arg);
}

struct extent {
	uint64_t pc, first, high;
	bool has_pc, any;
};

static void look(void *arg, uint64_t low, uint64_t high)
{
	struct extent *extent = arg;

	extent->has_pc |= extent->pc >= low && extent->pc < high;
	if (!extent->any)
		extent->first = low;
	extent->any = true;
	extent->high = MAX(extent->high, high);
}

bool die_has_pc(const struct die *die, uint64_t pc)
{
	struct extent extent = {.pc = pc};

	die_each_range(die, look, &extent);
	return extent.has_pc;
}

bool die_entry_pc(const struct die *die, uint64_t *ret)
{
	struct extent extent = {0};
	struct dwarf_value value;
	bool is_offset;

	is_offset = die_attr(die, DW_AT_entry_pc, &value) &&
		    (value.kind == DWARF_CONST || value.kind == DWARF_OFFSET);
	if (!is_offset && die_attr(die, DW_AT_entry_pc, &value) &&
	    dwarf_address(die->unit, &value, ret))
		return true;
	die_each_range(die, look, &extent);
	if (!extent.any)
		return false;
	*ret = extent.first + (is_offset ? value.u : 0);
	return true;
}

bool die_high_pc(const struct die *die, uint64_t *ret)
{
	struct extent extent = {0};

	die_each_range(die, look, &extent);
	*ret = extent.any ? extent.high : *ret;
	return extent.any;
}

// What is inside of an entry ends before its sibling: made up ones that overlap are not visited over and over.
struct visitor {
	die_visit *call;
	void *arg;
};

static bool walk(const struct die *die, const struct visitor *visitor, unsigned depth, uint64_t end)
{
	struct die at, next;
	bool more = depth < DIE_MOST_DEPTH && die_child(die, &at) && at.at < end;

	for (; more; at = next) {
		enum die_walk what = visitor->call(visitor->arg, &at);

		if (what == DIE_STOP)
			return false;
		more = die_sibling(&at, &next) && next.at < end;
		if (what == DIE_INSIDE && !walk(&at, visitor, depth + 1, more ? next.at : end))
			return false;
	}
	return true;
}

bool die_walk(const struct die *die, die_visit *call, void *arg)
{
	return walk(die, &(const struct visitor){call, arg}, 0, die->unit->end);
}

static enum die_walk visit_function(void *arg, const struct die *die)
{
	const struct visitor *functions = arg;

	switch (die_tag(die)) {
	case DW_TAG_subprogram:
		return functions->call(functions->arg, die);
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return DIE_INSIDE;
	default:
		return DIE_NEXT;
	}
}

bool die_walk_functions(const struct die *die, die_visit *call, void *arg)
{
	struct visitor functions = {call, arg};

	return die_walk(die, visit_function, &functions);
}
