// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of .debug_info: abbreviations, attribute values, names.
#include <dwarf.h>
#include "base/search.h"
#include "obj/dwarf.h"

enum {
	// Real ones have twenty; made up ones of no size would be read for each byte of the section.
	MOST_ATTRS = 256,
	MOST_REFERENCES = 16,
	DW_FORM_addrx_gnu = 0x1f01,
	DW_FORM_strx_gnu = 0x1f02,
	DW_FORM_ref_alt = 0x1f20,
	DW_FORM_strp_alt = 0x1f21,
};

static const int8_t form_sizes[0x30] = {
	[0] = -1,
	[DW_FORM_addr] = -2,
	[DW_FORM_block2] = -1,
	[DW_FORM_block4] = -1,
	[DW_FORM_data2] = 2,
	[DW_FORM_data4] = 4,
	[DW_FORM_data8] = 8,
	[DW_FORM_string] = -1,
	[DW_FORM_block] = -1,
	[DW_FORM_block1] = -1,
	[DW_FORM_data1] = 1,
	[DW_FORM_flag] = 1,
	[DW_FORM_sdata] = -1,
	[DW_FORM_strp] = -3,
	[DW_FORM_udata] = -1,
	[DW_FORM_ref_addr] = -4,
	[DW_FORM_ref1] = 1,
	[DW_FORM_ref2] = 2,
	[DW_FORM_ref4] = 4,
	[DW_FORM_ref8] = 8,
	[DW_FORM_ref_udata] = -1,
	[DW_FORM_indirect] = -1,
	[DW_FORM_sec_offset] = -3,
	[DW_FORM_exprloc] = -1,
	[DW_FORM_flag_present] = 0,
	[DW_FORM_strx] = -1,
	[DW_FORM_addrx] = -1,
	[DW_FORM_ref_sup4] = 4,
	[DW_FORM_strp_sup] = -3,
	[DW_FORM_data16] = 16,
	[DW_FORM_line_strp] = -3,
	[DW_FORM_ref_sig8] = 8,
	[DW_FORM_implicit_const] = 0,
	[DW_FORM_loclistx] = -1,
	[DW_FORM_rnglistx] = -1,
	[DW_FORM_ref_sup8] = 8,
	[DW_FORM_strx1] = 1,
	[DW_FORM_strx2] = 2,
	[DW_FORM_strx3] = 3,
	[DW_FORM_strx4] = 4,
	[DW_FORM_addrx1] = 1,
	[DW_FORM_addrx2] = 2,
	[DW_FORM_addrx3] = 3,
	[DW_FORM_addrx4] = 4,
};

// Bytes of a value, -1: they vary.
static int form_size(const struct dwarf_unit *unit, uint16_t form)
{
	int size;

	if (form == DW_FORM_ref_alt || form == DW_FORM_strp_alt)
		return unit->offset_size;
	size = form < ARRAY_SIZE(form_sizes) ? form_sizes[form] : -1;
	switch (size) {
	case -2:
		return unit->address_size;
	case -3:
		return unit->offset_size;
	case -4:
		return unit->version <= 2 ? unit->address_size : unit->offset_size;
	default:
		return size;
	}
}

static bool read_abbrev(struct dwarf_reader *r, const struct dwarf_unit *unit,
			struct dwarf_abbrevs *to)
{
	struct dwarf_abbrev abbrev = {.code = dwarf_uleb(r),
				      .first = (uint32_t)to->attrs.n,
				      .sibling = -1};

	if (!abbrev.code)
		return false;
	abbrev.tag = (uint16_t)dwarf_uleb(r);
	abbrev.children = dwarf_u8(r) != 0;
	for (;;) {
		struct dwarf_attr attr = {.name = (uint16_t)dwarf_uleb(r)};
		int size;

		attr.form = (uint16_t)dwarf_uleb(r);
		if (attr.form == DW_FORM_implicit_const)
			attr.implicit = dwarf_sleb(r);
		if (r->bad || (!attr.name && !attr.form))
			break;
		if (++abbrev.n > MOST_ATTRS)
			return false;
		vec_push(&to->attrs, attr);
		if (attr.name == DW_AT_sibling && attr.form == DW_FORM_ref4)
			abbrev.sibling = abbrev.fixed_size;
		size = form_size(unit, attr.form);
		abbrev.fixed_size = size < 0 || abbrev.fixed_size < 0 ? -1 : abbrev.fixed_size + size;
	}
	if (r->bad)
		return false;
	vec_push(&to->v, abbrev);
	return true;
}

static int by_code(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

bool dwarf_one_abbrev(struct dwarf_unit *unit, uint64_t code, struct dwarf_abbrevs *ret)
{
	enum { NEAR = 2048 }; // bytes
	struct dwarf_reader r = dwarf_reader_at(dwarf_section(unit->dwarf, DWARF_ABBREV),
						unit->abbrev_at, unit->dwarf->elf.swap);

	if (r.end - r.p > NEAR)
		r.end = r.p + NEAR;
	do {
		vec_clear(&ret->v);
		vec_clear(&ret->attrs);
	} while (read_abbrev(&r, unit, ret) && ret->v.v[0].code != code);
	return ret->v.n && ret->v.v[0].code == code;
}

static struct dwarf_abbrevs *read_abbrevs(struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->dwarf;
	struct dwarf_reader r = dwarf_reader_at(dwarf_section(dwarf, DWARF_ABBREV), unit->abbrev_at,
						dwarf->elf.swap);
	const uint8_t *start = r.p;
	struct dwarf_abbrevs *abbrevs = NEW(struct dwarf_abbrevs);

	// Tables may be shared, so that together they can't be longer than the section. Made up ones overlap.
	if ((uint64_t)(r.end - r.p) > dwarf->abbrev_budget)
		r.end = r.p + dwarf->abbrev_budget;
	while (read_abbrev(&r, unit, abbrevs))
		;
	dwarf->abbrev_budget -= (uint64_t)(r.p - start);
	abbrevs->is_dense = true;
	for (size_t i = 0; i < abbrevs->v.n; i++)
		abbrevs->is_dense &= abbrevs->v.v[i].code == i + 1;
	if (!abbrevs->is_dense)
		qsort(abbrevs->v.v, abbrevs->v.n, sizeof(*abbrevs->v.v), by_code);
	return abbrevs;
}

const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_unit *unit)
{
	uint64_t key = unit->abbrev_at << 8 | (uint64_t)unit->address_size << 4 |
		       (unit->offset_size == 8) << 1 | (unit->version <= 2);
	struct dwarf_abbrevs *abbrevs;

	if (unit->abbrevs || !unit->version)
		return unit->abbrevs;
	abbrevs = map_find_ptr(&unit->dwarf->abbrevs, key);
	if (!abbrevs) {
		abbrevs = read_abbrevs(unit);
		map_set_ptr(&unit->dwarf->abbrevs, key, abbrevs);
	}
	return unit->abbrevs = abbrevs->v.n ? abbrevs : NULL;
}

const struct dwarf_abbrev *dwarf_abbrev_find_slow(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	size_t low = SEARCH(abbrevs->v.n, i, abbrevs->v.v[i].code < code);

	return low < abbrevs->v.n && abbrevs->v.v[low].code == code ? &abbrevs->v.v[low] : NULL;
}

struct dwarf_reader dwarf_unit_reader(const struct dwarf_unit *unit, uint64_t at)
{
	struct str info = dwarf_section(unit->dwarf, DWARF_INFO);

	info.n = unit->end;
	return dwarf_reader_at(info, at, unit->dwarf->elf.swap);
}

static void skip_value(struct dwarf_reader *r, const struct dwarf_unit *unit, uint16_t form)
{
	int size = form_size(unit, form);

	if (size >= 0) {
		dwarf_skip(r, (uint64_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_block1:
		dwarf_skip(r, dwarf_u8(r));
		return;
	case DW_FORM_block2:
		dwarf_skip(r, dwarf_u16(r));
		return;
	case DW_FORM_block4:
		dwarf_skip(r, dwarf_u32(r));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		dwarf_skip(r, dwarf_uleb(r));
		return;
	case DW_FORM_string:
		dwarf_cstr(r);
		return;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_addrx_gnu:
	case DW_FORM_strx_gnu:
		dwarf_uleb(r);
		return;
	case DW_FORM_indirect:
		form = (uint16_t)dwarf_uleb(r);
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const) {
			skip_value(r, unit, form);
			return;
		}
		break;
	}
	r->bad = true;
}

uint64_t dwarf_skip_entry(struct dwarf_reader *r, const struct dwarf_unit *unit,
			  const struct dwarf_abbrev *abbrev)
{
	const struct dwarf_abbrevs *abbrevs = unit->abbrevs;
	uint64_t sibling = 0;

	if (abbrev->sibling >= 0) {
		struct dwarf_reader at = *r;

		dwarf_skip(&at, (uint64_t)abbrev->sibling);
		sibling = unit->at + dwarf_u32(&at);
	}
	if (abbrev->fixed_size >= 0) {
		dwarf_skip(r, (uint64_t)abbrev->fixed_size);
		return sibling;
	}
	for (uint32_t i = 0; i < abbrev->n; i++)
		skip_value(r, unit, abbrevs->attrs.v[abbrev->first + i].form);
	return sibling;
}

static struct dwarf_value text_at(enum dwarf_section_id section, uint64_t at)
{
	return (struct dwarf_value){.kind = DWARF_TEXT_AT, .section = section, .u = at};
}

static struct dwarf_value of_kind(enum dwarf_kind kind, uint64_t u)
{
	return (struct dwarf_value){.kind = kind, .u = u};
}

static struct dwarf_value block(struct dwarf_reader *r, uint64_t n)
{
	struct dwarf_value value = {.kind = DWARF_BLOCK, .text = (const char *)r->p, .u = n};

	dwarf_skip(r, n);
	return r->bad ? of_kind(DWARF_NONE, 0) : value;
}

static struct dwarf_value read_form(struct dwarf_reader *r, const struct dwarf_unit *unit,
				    uint16_t form, int64_t implicit)
{
	switch (form) {
	case DW_FORM_addr:
		return of_kind(DWARF_ADDRESS, dwarf_uint(r, unit->address_size));
	case DW_FORM_addrx:
	case DW_FORM_addrx_gnu:
		return of_kind(DWARF_ADDRESS_INDEX, dwarf_uleb(r));
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx4:
		return of_kind(DWARF_ADDRESS_INDEX, dwarf_uint(r, (unsigned)form_sizes[form]));
	case DW_FORM_addrx3:
		return of_kind(DWARF_ADDRESS_INDEX, dwarf_u24(r));
	case DW_FORM_data1:
	case DW_FORM_flag:
		return of_kind(DWARF_CONST, dwarf_u8(r));
	case DW_FORM_data2:
		return of_kind(DWARF_CONST, dwarf_u16(r));
	case DW_FORM_data4: // before DWARF 4 offsets as well
		return of_kind(unit->version < 4 ? DWARF_OFFSET : DWARF_CONST, dwarf_u32(r));
	case DW_FORM_data8:
		return of_kind(unit->version < 4 ? DWARF_OFFSET : DWARF_CONST, dwarf_u64(r));
	case DW_FORM_udata:
		return of_kind(DWARF_CONST, dwarf_uleb(r));
	case DW_FORM_sdata:
		return of_kind(DWARF_CONST, (uint64_t)dwarf_sleb(r));
	case DW_FORM_implicit_const:
		return of_kind(DWARF_CONST, (uint64_t)implicit);
	case DW_FORM_flag_present:
		return of_kind(DWARF_CONST, 1);
	case DW_FORM_sec_offset:
		return of_kind(DWARF_OFFSET, dwarf_uint(r, unit->offset_size));
	case DW_FORM_rnglistx:
		return of_kind(DWARF_RANGES_INDEX, dwarf_uleb(r));
	case DW_FORM_string:
		return (struct dwarf_value){.kind = DWARF_TEXT, .text = dwarf_cstr(r)};
	case DW_FORM_strp:
		return text_at(DWARF_STR, dwarf_uint(r, unit->offset_size));
	case DW_FORM_line_strp:
		return text_at(DWARF_LINE_STR, dwarf_uint(r, unit->offset_size));
	case DW_FORM_strx:
	case DW_FORM_strx_gnu:
		return of_kind(DWARF_TEXT_INDEX, dwarf_uleb(r));
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx4:
		return of_kind(DWARF_TEXT_INDEX, dwarf_uint(r, (unsigned)form_sizes[form]));
	case DW_FORM_strx3:
		return of_kind(DWARF_TEXT_INDEX, dwarf_u24(r));
	case DW_FORM_strp_sup:
	case DW_FORM_strp_alt:
		return of_kind(DWARF_TEXT_SUPPLEMENT, dwarf_uint(r, unit->offset_size));
	case DW_FORM_ref_addr:
		return of_kind(DWARF_REF, dwarf_uint(r, unit->version <= 2 ? unit->address_size
									   : unit->offset_size));
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		return of_kind(DWARF_REF, unit->at + dwarf_uint(r, (unsigned)form_sizes[form]));
	case DW_FORM_ref_udata:
		return of_kind(DWARF_REF, unit->at + dwarf_uleb(r));
	case DW_FORM_ref_sig8:
		return of_kind(DWARF_SIGNATURE, dwarf_u64(r));
	case DW_FORM_loclistx:
		return of_kind(DWARF_LOCATIONS_INDEX, dwarf_uleb(r));
	case DW_FORM_block1:
		return block(r, dwarf_u8(r));
	case DW_FORM_block2:
		return block(r, dwarf_u16(r));
	case DW_FORM_block4:
		return block(r, dwarf_u32(r));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return block(r, dwarf_uleb(r));
	case DW_FORM_ref_alt:
		return of_kind(DWARF_REF_SUPPLEMENT, dwarf_uint(r, unit->offset_size));
	case DW_FORM_ref_sup4:
		return of_kind(DWARF_REF_SUPPLEMENT, dwarf_u32(r));
	case DW_FORM_ref_sup8:
		return of_kind(DWARF_REF_SUPPLEMENT, dwarf_u64(r));
	case DW_FORM_indirect:
		form = (uint16_t)dwarf_uleb(r);
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const)
			return read_form(r, unit, form, 0);
		r->bad = true;
		break;
	default:
		skip_value(r, unit, form);
	}
	return of_kind(DWARF_NONE, 0);
}

void dwarf_read_value(struct dwarf_reader *r, const struct dwarf_unit *unit,
		      const struct dwarf_attr *attr, struct dwarf_value *ret)
{
	*ret = read_form(r, unit, attr->form, attr->implicit);
}

static struct dwarf *supplement_of(struct dwarf *dwarf)
{
	struct str build_id;
	const char *name;

	if (dwarf->asked_supplement)
		return dwarf->supplement;
	dwarf->asked_supplement = true;
	name = dwarf_altlink(&dwarf->elf, &build_id);
	if (name && dwarf->files.supplement)
		dwarf->supplement = dwarf->files.supplement(dwarf->files.arg, name, build_id);
	return dwarf->supplement;
}

static const char *text_in(struct dwarf *dwarf, enum dwarf_section_id id, uint64_t at)
{
	struct str content = dwarf_section(dwarf, id);

	return at < content.n ? content.p + at : NULL;
}

const char *dwarf_text(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	struct dwarf_reader r;
	struct dwarf *dwarf = unit->dwarf;
	uint64_t at;

	switch (value->kind) {
	case DWARF_TEXT:
		return value->text;
	case DWARF_TEXT_AT:
		return text_in(dwarf, value->section, value->u);
	case DWARF_TEXT_SUPPLEMENT:
		dwarf = supplement_of(dwarf);
		return dwarf ? text_in(dwarf, DWARF_STR, value->u) : NULL;
	case DWARF_TEXT_INDEX:
		if (value->u > UINT32_MAX)
			return NULL;
		r = dwarf_reader_at(dwarf_section(dwarf, DWARF_STR_OFFSETS),
				    unit->str_offsets_base + value->u * unit->offset_size,
				    dwarf->elf.swap);
		at = dwarf_uint(&r, unit->offset_size);
		return r.bad ? NULL : text_in(dwarf, DWARF_STR, at);
	default:
		return NULL;
	}
}

bool dwarf_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *ret)
{
	// The addresses of a split unit stay in the program's file.
	const struct dwarf_unit *holder = unit->skeleton ? unit->skeleton : unit;
	struct dwarf_reader r;
	uint64_t addr;

	if (value->kind == DWARF_ADDRESS) {
		*ret = value->u;
		return true;
	}
	if (value->kind != DWARF_ADDRESS_INDEX || value->u > UINT32_MAX)
		return false;
	r = dwarf_reader_at(dwarf_section(holder->dwarf, DWARF_ADDR),
			    holder->addr_base + value->u * unit->address_size,
			    holder->dwarf->elf.swap);
	addr = dwarf_uint(&r, unit->address_size);
	if (r.bad)
		return false;
	*ret = addr;
	return true;
}

// The type of a type unit of the same file.
static bool follow_signature(struct dwarf *dwarf, uint64_t signature, struct dwarf_unit **ret_unit,
			     uint64_t *ret_at)
{
	dwarf_read_units(dwarf);
	for (size_t i = 0; i < dwarf->units.n; i++) {
		struct dwarf_unit *unit = &dwarf->units.v[i];

		if (unit->signature != signature || !unit->type_at || unit->type_at < unit->dies ||
		    unit->type_at >= unit->end)
			continue;
		*ret_unit = unit;
		*ret_at = unit->type_at;
		return dwarf_abbrevs_of(unit) != NULL;
	}
	return false;
}

bool dwarf_follow(const struct dwarf_unit *unit, const struct dwarf_value *reference,
		  struct dwarf_unit **ret_unit, uint64_t *ret_at)
{
	struct dwarf *dwarf = unit->dwarf;

	if (reference->kind == DWARF_SIGNATURE)
		return follow_signature(dwarf, reference->u, ret_unit, ret_at);
	if (reference->kind == DWARF_REF_SUPPLEMENT)
		dwarf = supplement_of(dwarf);
	else if (reference->kind != DWARF_REF)
		return false;
	if (!dwarf)
		return false;
	if (dwarf == unit->dwarf && reference->u >= unit->dies && reference->u < unit->end)
		*ret_unit = (struct dwarf_unit *)unit;
	else
		*ret_unit = dwarf_unit_of(dwarf, reference->u);
	*ret_at = reference->u;
	return *ret_unit && dwarf_abbrevs_of(*ret_unit);
}

// The names and references of a function's entry.
struct naming {
	const char *name, *linkage;
	struct dwarf_value next;
};

static void read_naming(struct dwarf_unit *unit, uint64_t at, struct naming *ret)
{
	struct dwarf_reader r = dwarf_unit_reader(unit, at);
	const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(dwarf_abbrevs_of(unit), dwarf_uleb(&r));

	*ret = (struct naming){0};
	if (!abbrev)
		return;
	for (uint32_t i = 0; i < abbrev->n && !r.bad; i++) {
		const struct dwarf_attr *attr = &unit->abbrevs->attrs.v[abbrev->first + i];
		struct dwarf_value value;

		dwarf_read_value(&r, unit, attr, &value);
		switch (attr->name) {
		case DW_AT_name:
			ret->name = dwarf_text(unit, &value);
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			ret->linkage = dwarf_text(unit, &value);
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			ret->next = value;
			break;
		}
	}
}

const char *dwarf_function_name(const struct dwarf_unit *unit, const struct dwarf_value *reference)
{
	struct dwarf_value next = *reference;
	const char *name = NULL;

	for (int i = 0; i < MOST_REFERENCES; i++) {
		struct dwarf_unit *other;
		struct naming naming;
		uint64_t at;

		if (!dwarf_follow(unit, &next, &other, &at) || !dwarf_unit_root(other))
			break;
		read_naming(other, at, &naming);
		if (naming.linkage && *naming.linkage)
			return naming.linkage;
		if (!name && naming.name && *naming.name)
			name = naming.name;
		unit = other;
		next = naming.next;
	}
	return name;
}
