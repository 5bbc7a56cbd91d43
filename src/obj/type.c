// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/type.h"
#include <dwarf.h>

enum { MOST_NESTED = 32, MOST_MEMBERS = 1 << 16, NESTING_COSTS = 256 };

static unsigned *spend(unsigned *budget)
{
	*budget -= MIN(*budget, NESTING_COSTS);
	return budget;
}

static bool is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_shared_type || tag == DW_TAG_atomic_type;
}

static bool direct_type(const struct die *die, struct die *ret)
{
	struct dwarf_value value;
	struct dwarf_unit *unit;
	struct die of;
	uint64_t at;

	return die_attr_through(die, DW_AT_type, &value, &of) &&
	       dwarf_follow(of.unit, &value, &unit, &at) && die_at(unit, at, ret);
}

// A declaration only, where the type itself is in another entry of the unit (-fdebug-types-section).
static void take_definition(struct die *type)
{
	struct die whole;

	if (die_flag(type, DW_AT_declaration) && die_reference(type, DW_AT_signature, &whole))
		*type = whole;
}

bool type_of(const struct die *die, bool real, struct die *ret)
{
	struct die at = *die;

	for (int i = 0; i < MOST_NESTED; i++) {
		if (!direct_type(&at, &at))
			return false;
		if (!is_qualifier(die_tag(&at)) && !(real && die_tag(&at) == DW_TAG_typedef)) {
			take_definition(&at);
			*ret = at;
			return true;
		}
	}
	return false;
}

bool type_is_struct(const struct die *type)
{
	return die_tag(type) == DW_TAG_structure_type || die_tag(type) == DW_TAG_union_type ||
	       die_tag(type) == DW_TAG_class_type;
}

bool type_is_pointer(const struct die *type)
{
	return die_tag(type) == DW_TAG_pointer_type || die_tag(type) == DW_TAG_reference_type ||
	       die_tag(type) == DW_TAG_rvalue_reference_type;
}

static bool put_name(const struct die *die, struct out *out, int depth)
{
	const char *prefix = "", *name;
	struct die type;

	if (depth > MOST_NESTED || !type_of(die, false, &type))
		return false;
	switch (die_tag(&type)) {
	case DW_TAG_array_type:
	case DW_TAG_pointer_type:
		if (!put_name(&type, out, depth + 1)) {
			if (die_tag(&type) != DW_TAG_pointer_type)
				return false;
			out_text(out, "void"); // which has no entry
		}
		out_char(out, '*');
		return true;
	case DW_TAG_subroutine_type:
		out_text(out, "(function_type)");
		return true;
	case DW_TAG_union_type:
		prefix = "union ";
		break;
	case DW_TAG_structure_type:
		prefix = "struct ";
		break;
	case DW_TAG_enumeration_type:
		prefix = "enum ";
		break;
	}
	name = die_name(&type);
	if (!name && !*prefix)
		return false;
	out_text(out, prefix);
	out_text(out, name ? name : "");
	return true;
}

bool type_name(const struct die *die, struct out *out)
{
	size_t before = out->n;

	if (put_name(die, out, 0))
		return true;
	out->n = before;
	return false;
}

// Dimensions of an array in the order of the source; the product of those before `from` is left out.
static uint64_t count_from(const struct die *array, unsigned from)
{
	uint64_t total = 1;
	unsigned dimension = 0;
	struct die at;
	bool more;

	for (more = die_child(array, &at); more; more = die_sibling(&at, &at)) {
		uint64_t n = 0, low = 0;

		if (die_tag(&at) != DW_TAG_subrange_type || dimension++ < from)
			continue;
		if (!die_number(&at, DW_AT_count, &n)) {
			(void)die_number(&at, DW_AT_lower_bound, &low);
			n = die_number(&at, DW_AT_upper_bound, &n) ? n - low + 1 : 0;
		}
		if (__builtin_mul_overflow(total, n, &total))
			return 0;
	}
	return total;
}

uint64_t type_count(const struct die *array)
{
	return count_from(array, 0);
}

static uint64_t size_of(const struct die *type, int depth)
{
	uint64_t size;
	struct die of;

	if (die_number(type, DW_AT_byte_size, &size))
		return size;
	if (depth > MOST_NESTED)
		return 0;
	switch (die_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_subroutine_type:
		return type->unit->address_size;
	case DW_TAG_array_type:
		if (!type_of(type, true, &of) ||
		    __builtin_mul_overflow(size_of(&of, depth + 1), type_count(type), &size))
			return 0;
		return size;
	default:
		return type_of(type, true, &of) ? size_of(&of, depth + 1) : 0;
	}
}

uint64_t type_size(const struct die *type)
{
	return size_of(type, 0);
}

bool type_is_signed(const struct die *type)
{
	struct die of;
	uint64_t encoding;

	if (die_tag(type) == DW_TAG_enumeration_type && type_of(type, true, &of))
		type = &of;
	return die_number(type, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_signed ||
		encoding == DW_ATE_signed_fixed);
}

bool type_is_char(const struct die *type)
{
	const char *name = die_name(type);

	return name && (!strcmp(name, "char") || !strcmp(name, "unsigned char") ||
			!strcmp(name, "signed char") || !strcmp(name, "u8"));
}

// DW_AT_data_member_location as a number or as an expression that adds one.
static bool member_at(const struct die *member, uint64_t *ret)
{
	struct dwarf_value value;
	struct dwarf_reader r;

	if (!die_attr(member, DW_AT_data_member_location, &value)) {
		*ret = 0;
		return true;
	}
	if (value.kind == DWARF_CONST || value.kind == DWARF_OFFSET) {
		*ret = value.u;
		return true;
	}
	if (value.kind != DWARF_BLOCK)
		return false;
	r = dwarf_reader_at((struct str){value.text, value.u}, 0, false);
	if (dwarf_u8(&r) != DW_OP_plus_uconst)
		return false;
	*ret = dwarf_uleb(&r);
	return !r.bad;
}

// The unit of a bit field is as large as its type and lies where the type could, so that it doesn't reach over the structure's end.
static bool take_bits(struct type_member *member)
{
	uint64_t bits, at, bytes;
	struct die type;

	if (!die_number(&member->die, DW_AT_bit_size, &bits))
		return true;
	bytes = type_of(&member->die, true, &type) ? type_size(&type) : 0;
	(void)die_number(&member->die, DW_AT_byte_size, &bytes);
	if (!bytes || bytes > 8 || bits > bytes * 8)
		return false;
	if (die_number(&member->die, DW_AT_data_bit_offset, &at)) {
		at += member->at * 8;
		member->at = at / (bytes * 8) * bytes;
		if (at + bits > (member->at + bytes) * 8)
			member->at = at / 8; // packed
		at -= member->at * 8;
	} else if (die_number(&member->die, DW_AT_bit_offset, &at)) {
		// From the most significant bit on; DWARF 2 and 3.
		if (at + bits > bytes * 8)
			return false;
		at = bytes * 8 - at - bits;
	} else {
		at = 0;
	}
	if (at + bits > bytes * 8)
		return false;
	member->bits = (uint32_t)bits;
	member->bit_at = (uint32_t)at;
	member->bytes = (uint32_t)bytes;
	return true;
}

// budget: members that may still be looked at; made up types hold each other.
static bool find_member(const struct die *type, struct str name, struct type_member *ret,
			unsigned *budget)
{
	struct die at, inner;
	bool more;

	for (more = die_child(type, &at); more && *budget; more = die_sibling(&at, &at)) {
		const char *member = die_name(&at);
		uint64_t offset;

		--*budget;
		if ((die_tag(&at) != DW_TAG_member && die_tag(&at) != DW_TAG_inheritance) ||
		    die_flag(&at, DW_AT_external) || !member_at(&at, &offset))
			continue;
		if (member && str_is(name, member)) {
			*ret = (struct type_member){.die = at, .at = offset};
			return take_bits(ret);
		}
		if (!member && type_of(&at, true, &inner) && type_is_struct(&inner) &&
		    find_member(&inner, name, ret, spend(budget))) {
			ret->at += offset;
			return true;
		}
	}
	return false;
}

bool type_member(const struct die *type, struct str name, struct type_member *ret)
{
	unsigned budget = MOST_MEMBERS;

	return find_member(type, name, ret, &budget);
}

static void each_member(const struct die *type, void (*call)(void *arg, const char *name),
			void *arg, unsigned *budget)
{
	struct die at, inner;
	bool more;

	for (more = die_child(type, &at); more && *budget; more = die_sibling(&at, &at)) {
		const char *name = die_name(&at);

		--*budget;
		if (die_tag(&at) != DW_TAG_member && die_tag(&at) != DW_TAG_inheritance)
			continue;
		if (name)
			call(arg, name);
		else if (type_of(&at, true, &inner) && type_is_struct(&inner))
			each_member(&inner, call, arg, spend(budget));
	}
}

void type_members(const struct die *type, void (*call)(void *arg, const char *name), void *arg)
{
	unsigned budget = MOST_MEMBERS;

	each_member(type, call, arg, &budget);
}
