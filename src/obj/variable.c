// SPDX-License-Identifier: GPL-2.0-or-later
// Location lists, and which variables there are.
#include "obj/variable.h"
#include <dwarf.h>
#include <errno.h>

enum { MOST_ENTRIES = 1 << 16 };

struct list {
	const struct dwarf_unit *unit;
	location_entry *call;
	void *arg;
	uint64_t base, last; // last: the highest address there is
	struct dwarf_reader r;
};

static struct str block(struct dwarf_reader *r, uint64_t n)
{
	struct str bytes = {(const char *)r->p, n};

	dwarf_skip(r, n);
	return r->bad ? (struct str){NULL, 0} : bytes;
}

static bool indexed(const struct list *list, uint64_t index, uint64_t *ret)
{
	struct dwarf_value value = {.kind = DWARF_ADDRESS_INDEX, .u = index};

	return dwarf_address(list->unit, &value, ret);
}

static void give(struct list *list, uint64_t low, uint64_t high, struct str expression)
{
	if (!list->r.bad && low <= high)
		list->call(list->arg, low, high, expression);
}

// .debug_loclists. False at its end.
static bool next_of_5(struct list *list)
{
	struct dwarf_reader *r = &list->r;
	uint64_t low = 0, high = 0;
	bool good = true;

	switch (dwarf_u8(r)) {
	case DW_LLE_base_addressx:
		return indexed(list, dwarf_uleb(r), &list->base);
	case DW_LLE_base_address:
		list->base = dwarf_uint(r, list->unit->address_size);
		return true;
	case DW_LLE_startx_endx:
		good = indexed(list, dwarf_uleb(r), &low);
		good = indexed(list, dwarf_uleb(r), &high) && good;
		break;
	case DW_LLE_startx_length:
		good = indexed(list, dwarf_uleb(r), &low);
		high = low + dwarf_uleb(r);
		break;
	case DW_LLE_offset_pair:
		low = list->base + dwarf_uleb(r);
		high = list->base + dwarf_uleb(r);
		break;
	case DW_LLE_default_location:
		high = UINT64_MAX;
		break;
	case DW_LLE_start_end:
		low = dwarf_uint(r, list->unit->address_size);
		high = dwarf_uint(r, list->unit->address_size);
		break;
	case DW_LLE_start_length:
		low = dwarf_uint(r, list->unit->address_size);
		high = low + dwarf_uleb(r);
		break;
	case 9: // DW_LLE_GNU_view_pair
		dwarf_uleb(r);
		dwarf_uleb(r);
		return true;
	default:
		return false;
	}
	struct str expression = block(r, dwarf_uleb(r));

	if (good)
		give(list, low, high, expression);
	return true;
}

// .debug_loc.dwo before DWARF 5 (GCC's DebugFission).
static bool next_of_split(struct list *list)
{
	struct dwarf_reader *r = &list->r;
	uint64_t low = 0, high = 0;
	bool good = true;

	switch (dwarf_u8(r)) {
	case 1:
		return indexed(list, dwarf_uleb(r), &list->base);
	case 2:
		good = indexed(list, dwarf_uleb(r), &low);
		good = indexed(list, dwarf_uleb(r), &high) && good;
		break;
	case 3:
		good = indexed(list, dwarf_uleb(r), &low);
		high = low + dwarf_u32(r);
		break;
	case 4:
		low = list->base + dwarf_u32(r);
		high = list->base + dwarf_u32(r);
		break;
	default:
		return false;
	}
	struct str expression = block(r, dwarf_u16(r));

	if (good)
		give(list, low, high, expression);
	return true;
}

static bool next_of_4(struct list *list)
{
	struct dwarf_reader *r = &list->r;
	uint64_t low = dwarf_uint(r, list->unit->address_size);
	uint64_t high = dwarf_uint(r, list->unit->address_size);

	if (!low && !high)
		return false;
	if (low == list->last) {
		list->base = high;
		return true;
	}
	give(list, low + list->base, high + list->base, block(r, dwarf_u16(r)));
	return true;
}

static void read_list(struct list *list, const struct dwarf_value *value)
{
	const struct dwarf_unit *unit = list->unit;
	struct dwarf *dwarf = unit->dwarf;
	bool is_5 = unit->version >= 5;
	struct str section = dwarf_section(dwarf, is_5 ? DWARF_LOCLISTS : DWARF_LOC);
	uint64_t at = value->u;
	bool (*next)(struct list *) = is_5 ? next_of_5 : unit->skeleton ? next_of_split : next_of_4;

	if (value->kind == DWARF_LOCATIONS_INDEX) {
		if (at > UINT32_MAX)
			return;
		list->r = dwarf_reader_at(section, unit->loclists_base + at * unit->offset_size,
					  dwarf->elf.swap);
		at = unit->loclists_base + dwarf_uint(&list->r, unit->offset_size);
		if (list->r.bad)
			return;
	}
	list->r = dwarf_reader_at(section, at, dwarf->elf.swap);
	for (unsigned i = 0; i < MOST_ENTRIES && !list->r.bad && next(list); i++)
		;
}

bool variable_locations(const struct die *die, uint16_t attr, location_entry *call, void *arg)
{
	struct dwarf_value value;
	struct list list = {
		.unit = die->unit,
		.call = call,
		.arg = arg,
		.base = die->unit->low_pc,
		.last = die->unit->address_size == 4 ? UINT32_MAX : UINT64_MAX,
	};

	if (!die_attr(die, attr, &value))
		return false;
	if (value.kind == DWARF_BLOCK)
		call(arg, 0, UINT64_MAX, (struct str){value.text, value.u});
	else if (value.kind == DWARF_OFFSET || value.kind == DWARF_LOCATIONS_INDEX)
		read_list(&list, &value);
	return true;
}

// ---- the place of a variable

struct choice {
	uint64_t pc, first; // first: where the earliest one starts
	struct str expression, earliest;
	bool found;
};

static void choose(void *arg, uint64_t low, uint64_t high, struct str expression)
{
	struct choice *choice = arg;

	if (!choice->found && choice->pc >= low && choice->pc < high) {
		choice->found = true;
		choice->expression = expression;
	}
	if (low > choice->pc && low < choice->first && low < high) {
		choice->first = low;
		choice->earliest = expression;
	}
}

int variable_places(const struct die *variable, const struct place_context *context,
		    struct places *ret)
{
	// A function for ftrace begins with a call or a no-op, which parameters have no place at.
	enum { LONGEST_CALL = 16 };
	struct choice choice = {.pc = context->pc, .first = UINT64_MAX};
	struct dwarf_value value;

	if (die_attr(variable, DW_AT_const_value, &value)) {
		if (value.kind != DWARF_CONST && value.kind != DWARF_OFFSET)
			return -ENOTSUP;
		*ret = (struct places){.n = 1};
		ret->v[0] = (struct place){.base = PLACE_CONSTANT, .number = value.u};
		return 0;
	}
	if (!variable_locations(variable, DW_AT_location, choose, &choice))
		return -ENOENT;
	if (!choice.found && context->at_entry && die_tag(variable) == DW_TAG_formal_parameter &&
	    choice.first - choice.pc <= LONGEST_CALL) {
		choice.found = true;
		choice.expression = choice.earliest;
	}
	if (!choice.found || !choice.expression.n)
		return -ENOENT;
	return places_of(variable->unit, choice.expression, context, ret);
}

int variable_later_places(const struct die *variable, const struct place_context *context,
			  struct places *ret)
{
	struct choice choice = {.pc = context->pc, .first = UINT64_MAX};
	struct place_context there = *context;
	uint64_t high;

	if (!variable_locations(variable, DW_AT_location, choose, &choice) || !choice.earliest.n ||
	    !die_high_pc(context->function, &high) || choice.first > high)
		return -ENOENT;
	there.pc = choice.first;
	there.at_entry = false;
	return places_of(variable->unit, choice.earliest, &there, ret);
}

// ---- which variables there are

struct visit {
	uint64_t pc;
	variable_visit *call;
	void *arg;
	unsigned depth;
	bool inlined;
};

// tag 0: variables; else inner scopes of that kind.
static bool visit(const struct visit *v, const struct die *scope, uint16_t tag, uint64_t end);

static bool visit_scope(const struct visit *v, const struct die *scope, uint64_t end)
{
	return visit(v, scope, 0, end) && visit(v, scope, DW_TAG_lexical_block, end) &&
	       visit(v, scope, DW_TAG_inlined_subroutine, end);
}

static bool visit(const struct visit *v, const struct die *scope, uint16_t tag, uint64_t end)
{
	struct visit inner = *v;
	struct die at, next;
	bool more = v->depth < DIE_MOST_DEPTH && die_child(scope, &at) && at.at < end;

	inner.depth++;
	inner.inlined |= tag == DW_TAG_inlined_subroutine;
	for (; more; at = next) {
		uint16_t its = die_tag(&at);

		more = die_sibling(&at, &next) && next.at < end;
		if (!tag && (its == DW_TAG_formal_parameter || its == DW_TAG_variable)) {
			if (!v->call(v->arg, &at, scope, v->inlined))
				return false;
		} else if (tag && its == tag && die_has_pc(&at, v->pc)) {
			if (!visit_scope(&inner, &at, more ? next.at : end))
				return false;
		}
	}
	return true;
}

void variables_at(const struct die *scope, uint64_t pc, variable_visit *call, void *arg)
{
	const struct visit v = {.pc = pc, .call = call, .arg = arg};

	visit_scope(&v, scope, scope->unit->end);
}
