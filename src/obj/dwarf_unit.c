// SPDX-License-Identifier: GPL-2.0-or-later
// The units of .debug_info and where their code lies.
#include <dwarf.h>
#include "base/search.h"
#include "obj/dwarf.h"
#include "obj/line.h"

enum {
	MOST_OVERLAPPING = 256, // ranges before an address that are looked at
	DW_UT_compile_ = 1,
	DW_UT_type_ = 2,
	DW_UT_skeleton_ = 4,
	DW_UT_split_compile_ = 5,
	DW_UT_split_type_ = 6,
	// What compilers wrote before DWARF 5.
	DW_AT_dwo_name_gnu = 0x2130,
	DW_AT_dwo_id_gnu = 0x2131,
	DW_AT_ranges_base_gnu = 0x2132,
	DW_AT_addr_base_gnu = 0x2133,
};

static bool read_header(struct dwarf *dwarf, struct dwarf_reader *r, struct dwarf_unit *ret)
{
	const uint8_t *start = (const uint8_t *)dwarf_section(dwarf, DWARF_INFO).p;
	struct dwarf_unit unit = {.dwarf = dwarf,
				  .at = (uint64_t)(r->p - start),
				  .line_at = UINT64_MAX};
	struct dwarf_reader in = *r;

	dwarf_length(&in, &unit.offset_size);
	if (in.bad) {
		// A cut section: its last unit is read as far as it goes.
		if (dwarf_left(r) < 32)
			return false;
		in = *r;
		dwarf_skip(&in, unit.offset_size == 8 ? 12 : 4);
	}
	unit.end = (uint64_t)(in.end - start);
	r->p = in.end;
	unit.version = dwarf_u16(&in);
	if (unit.version >= 5) {
		unit.type = dwarf_u8(&in);
		unit.address_size = dwarf_u8(&in);
		unit.abbrev_at = dwarf_uint(&in, unit.offset_size);
		if (unit.type == DW_UT_skeleton_ || unit.type == DW_UT_split_compile_)
			unit.dwo_id = dwarf_u64(&in);
		else if (unit.type == DW_UT_type_ || unit.type == DW_UT_split_type_) {
			unit.signature = dwarf_u64(&in);
			unit.type_at = unit.at + dwarf_uint(&in, unit.offset_size);
		}
	} else {
		unit.type = DW_UT_compile_;
		unit.abbrev_at = dwarf_uint(&in, unit.offset_size);
		unit.address_size = dwarf_u8(&in);
	}
	unit.dies = (uint64_t)(in.p - start);
	if (in.bad || unit.dies > unit.end || unit.version < 2 || unit.version > 5 ||
	    (unit.address_size != 4 && unit.address_size != 8))
		unit.version = 0; // not to be read
	*ret = unit;
	return true;
}

void dwarf_read_units(struct dwarf *dwarf)
{
	struct dwarf_unit unit;
	struct dwarf_reader r;

	if (dwarf->has_units)
		return;
	dwarf->has_units = true;
	dwarf->abbrev_budget = 64 + dwarf_section(dwarf, DWARF_ABBREV).n * 4;
	dwarf->line_budget = 64 + dwarf_section(dwarf, DWARF_LINE).n * 2;
	dwarf->range_budget =
		(1 << 16) +
		(dwarf_section(dwarf, DWARF_RANGES).n + dwarf_section(dwarf, DWARF_RNGLISTS).n) * 8;
	r = dwarf_reader_at(dwarf_section(dwarf, DWARF_INFO), 0, dwarf->elf.swap);
	while (dwarf_left(&r) && dwarf->units.n < UINT32_MAX && read_header(dwarf, &r, &unit))
		vec_push(&dwarf->units, unit);
}

struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t at)
{
	size_t low;

	dwarf_read_units(dwarf);
	low = SEARCH(dwarf->units.n, i, dwarf->units.v[i].end <= at);
	if (low >= dwarf->units.n || at < dwarf->units.v[low].dies || !dwarf->units.v[low].version)
		return NULL;
	return &dwarf->units.v[low];
}

// What a unit's first entry says; texts are looked up when all bases are known.
struct root {
	struct dwarf_value name, comp_dir, dwo_name;
	struct dwarf_pcs pcs;
	bool has_str_offsets, has_rnglists, has_loclists;
};

static void take_root_attr(struct dwarf_unit *unit, struct root *root, uint16_t name,
			   const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_name:
		root->name = *value;
		break;
	case DW_AT_comp_dir:
		root->comp_dir = *value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_dwo_name_gnu:
		root->dwo_name = *value;
		break;
	case DW_AT_dwo_id_gnu:
		unit->dwo_id = value->u;
		break;
	case DW_AT_stmt_list:
		unit->line_at = value->u;
		break;
	case DW_AT_str_offsets_base:
		root->has_str_offsets = true;
		unit->str_offsets_base = value->u;
		break;
	case DW_AT_addr_base:
	case DW_AT_addr_base_gnu:
		unit->addr_base = value->u;
		break;
	case DW_AT_rnglists_base:
		root->has_rnglists = true;
		unit->rnglists_base = value->u;
		break;
	case DW_AT_loclists_base:
		root->has_loclists = true;
		unit->loclists_base = value->u;
		break;
	case DW_AT_ranges_base_gnu:
		unit->ranges_base = value->u;
		break;
	case DW_AT_low_pc:
		root->pcs.low = *value;
		break;
	case DW_AT_high_pc:
		root->pcs.high = *value;
		break;
	case DW_AT_ranges:
		root->pcs.ranges = *value;
		break;
	}
}

static bool read_root_attrs(struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs,
			    const struct dwarf_abbrev *abbrev, struct root *root)
{
	struct dwarf_reader r = dwarf_unit_reader(unit, unit->dies);

	dwarf_uleb(&r);
	for (uint32_t i = 0; i < abbrev->n; i++) {
		const struct dwarf_attr *attr = &abbrevs->attrs.v[abbrev->first + i];
		struct dwarf_value value;

		dwarf_read_value(&r, unit, attr, &value);
		if (r.bad)
			return false;
		take_root_attr(unit, root, attr->name, &value);
	}
	unit->is_partial = abbrev->tag == DW_TAG_partial_unit || abbrev->tag == DW_TAG_type_unit;
	return true;
}

// One abbreviation is enough, which mostly stands near the beginning of the table.
static bool read_root_entry(struct dwarf_unit *unit, struct root *root)
{
	struct dwarf_reader r = dwarf_unit_reader(unit, unit->dies);
	uint64_t code = dwarf_uleb(&r);
	struct dwarf_abbrevs one = {0};
	const struct dwarf_abbrevs *abbrevs = unit->abbrevs;
	const struct dwarf_abbrev *abbrev = NULL;
	bool good = false;

	if (!abbrevs && dwarf_one_abbrev(unit, code, &one)) {
		good = read_root_attrs(unit, &one, &one.v.v[0], root);
	} else {
		abbrevs = dwarf_abbrevs_of(unit);
		if (abbrevs)
			abbrev = dwarf_abbrev_find(abbrevs, code);
		if (abbrev)
			good = read_root_attrs(unit, abbrevs, abbrev, root);
	}
	vec_done(&one.v);
	vec_done(&one.attrs);
	return good;
}

static bool read_root(struct dwarf_unit *unit, struct root *root)
{
	*root = (struct root){0};
	if (!unit->version || !read_root_entry(unit, root))
		return false;
	// Where nothing says where a table begins, it is behind the header of the section's first.
	if (!root->has_str_offsets && unit->version >= 5)
		unit->str_offsets_base = unit->offset_size == 8 ? 16 : 8;
	if (!root->has_rnglists && unit->version >= 5)
		unit->rnglists_base = unit->offset_size == 8 ? 20 : 12;
	if (!root->has_loclists && unit->version >= 5)
		unit->loclists_base = unit->offset_size == 8 ? 20 : 12;
	return true;
}

static bool read_unit_root(struct dwarf_unit *unit, struct root *root)
{
	unit->root_read = true;
	unit->root_good = read_root(unit, root);
	if (!unit->root_good)
		return false;
	unit->name = dwarf_text(unit, &root->name);
	unit->comp_dir = dwarf_text(unit, &root->comp_dir);
	unit->dwo_name = dwarf_text(unit, &root->dwo_name);
	if (!dwarf_address(unit, &root->pcs.low, &unit->low_pc))
		unit->low_pc = 0;
	return true;
}

bool dwarf_unit_root(struct dwarf_unit *unit)
{
	struct root root;

	return unit->root_read ? unit->root_good : read_unit_root(unit, &root);
}

// ---- which unit an address belongs to

struct adding {
	struct dwarf *dwarf;
	uint32_t unit;
	bool any;
};

static void add_range(void *arg, uint64_t low, uint64_t high)
{
	struct adding *adding = arg;

	adding->any = true;
	vec_push(&adding->dwarf->ranges,
		 (struct dwarf_unit_range){.low = low, .high = high, .unit = adding->unit});
}

static int by_low(const void *a, const void *b)
{
	const struct dwarf_unit_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

// .debug_aranges, for the units whose first entry doesn't tell all.
static void read_aranges(struct dwarf *dwarf)
{
	struct dwarf_reader r =
		dwarf_reader_at(dwarf_section(dwarf, DWARF_ARANGES), 0, dwarf->elf.swap);

	while (dwarf_left(&r)) {
		const uint8_t *start = r.p;
		struct dwarf_reader in = r;
		struct dwarf_unit *unit;
		struct adding adding = {.dwarf = dwarf};
		uint8_t offset_size, address_size, segment_size;
		uint64_t at;

		dwarf_length(&in, &offset_size);
		if (in.bad)
			return;
		r.p = in.end;
		dwarf_u16(&in);
		at = dwarf_uint(&in, offset_size);
		address_size = dwarf_u8(&in);
		segment_size = dwarf_u8(&in);
		unit = dwarf_unit_of(dwarf, at + 11);
		if (in.bad || segment_size || (address_size != 4 && address_size != 8) || !unit ||
		    unit->at != at || !unit->is_unplaced)
			continue;
		unit->has_aranges = true;
		adding.unit = (uint32_t)(unit - dwarf->units.v);
		dwarf_skip(&in, (uint64_t)(-(in.p - start)) & (2u * address_size - 1));
		while (dwarf_left(&in) >= 2u * address_size) {
			uint64_t low = dwarf_uint(&in, address_size);
			uint64_t n = dwarf_uint(&in, address_size);

			if (!low && !n)
				break;
			if (n && low + n > low)
				add_range(&adding, low, low + n);
		}
	}
}

// DWARF 2 has no lists of ranges: of code in several sections the first entry has only that of one.
static bool may_lie_elsewhere(const struct dwarf_unit *unit, const struct root *root)
{
	return unit->version == 2 && root->pcs.ranges.kind == DWARF_NONE &&
	       unit->line_at != UINT64_MAX;
}

static void add_ranges_of_lines(struct dwarf *dwarf)
{
	for (size_t i = 0; i < dwarf->units.n; i++) {
		struct adding adding = {dwarf, (uint32_t)i, false};
		struct dwarf_unit *unit = &dwarf->units.v[i];
		const struct lines *lines;

		if (unit->version != 2 || !unit->is_unplaced || unit->has_aranges)
			continue;
		lines = lines_of(unit);
		// Made up units can all name one table.
		for (size_t k = 0; lines && k < lines->sequences.n && dwarf->range_budget; k++) {
			dwarf->range_budget--;
			add_range(&adding, lines->sequences.v[k].low, lines->sequences.v[k].high);
		}
	}
}

static void find_ranges(struct dwarf *dwarf)
{
	bool any_unplaced = false;
	uint64_t reach = 0;

	dwarf->has_ranges = true;
	dwarf_read_units(dwarf);
	for (size_t i = 0; i < dwarf->units.n; i++) {
		struct adding adding = {dwarf, (uint32_t)i, false};
		struct dwarf_unit *unit = &dwarf->units.v[i];
		struct root root;

		if (unit->type == DW_UT_type_ || unit->type == DW_UT_split_type_ ||
		    !read_unit_root(unit, &root) || unit->is_partial)
			continue;
		dwarf_each_range(unit, &root.pcs, add_range, &adding);
		if ((!adding.any && root.pcs.low.kind == DWARF_NONE &&
		     root.pcs.ranges.kind == DWARF_NONE) ||
		    may_lie_elsewhere(unit, &root))
			unit->is_unplaced = any_unplaced = true;
	}
	if (any_unplaced) {
		read_aranges(dwarf);
		add_ranges_of_lines(dwarf);
	}
	if (dwarf->ranges.n)
		qsort(dwarf->ranges.v, dwarf->ranges.n, sizeof(*dwarf->ranges.v), by_low);
	for (size_t i = 0; i < dwarf->ranges.n; i++) {
		reach = MAX(reach, dwarf->ranges.v[i].high);
		dwarf->ranges.v[i].reach = reach;
	}
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t addr)
{
	size_t low;

	if (!dwarf->has_ranges)
		find_ranges(dwarf);
	low = SEARCH(dwarf->ranges.n, i, dwarf->ranges.v[i].low <= addr);
	for (size_t n = 0; low-- > 0 && n < MOST_OVERLAPPING; n++) {
		const struct dwarf_unit_range *range = &dwarf->ranges.v[low];

		if (addr < range->high)
			return &dwarf->units.v[range->unit];
		if (addr >= range->reach)
			return NULL;
	}
	return NULL;
}

// ---- split units

// The offsets and sizes that a .dwp has for a unit: which of its sections are that unit's.
struct piece {
	uint64_t at[DWARF_SECTIONS], n[DWARF_SECTIONS];
	bool has[DWARF_SECTIONS];
};

static unsigned column_section(uint32_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 4:
		return DWARF_LINE;
	case 5:
		return version >= 5 ? DWARF_LOCLISTS : DWARF_LOC;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version >= 5 ? DWARF_RNGLISTS : DWARF_SECTIONS;
	default:
		return DWARF_SECTIONS;
	}
}

static bool find_piece(struct dwarf *dwp, uint64_t id, struct piece *ret)
{
	enum { MOST_COLUMNS = 16 };
	struct str index = dwarf_section(dwp, DWARF_CU_INDEX);
	struct dwarf_reader r = dwarf_reader_at(index, 0, dwp->elf.swap);
	uint32_t version = dwarf_u32(&r), columns, units, slots, row = 0;
	uint64_t rows_at, sizes_at;

	// DWARF 5 has 2 bytes and 2 of nothing.
	if (version != 2) {
		version = r.swap ? version >> 16 : version & 0xffff;
		if ((version & 0xffff) != 5 && version != 5)
			return false;
		version = 5;
	}
	columns = dwarf_u32(&r);
	units = dwarf_u32(&r);
	slots = dwarf_u32(&r);
	if (r.bad || !columns || columns > MOST_COLUMNS || (slots & (slots - 1)) ||
	    (uint64_t)slots * 12 > dwarf_left(&r))
		return false;
	rows_at = 16 + (uint64_t)slots * 12;
	for (uint32_t n = 0, slot = (uint32_t)id & (slots - 1); n < slots; n++) {
		struct dwarf_reader at = dwarf_reader_at(index, 16 + slot * 8ull, dwp->elf.swap);
		struct dwarf_reader of =
			dwarf_reader_at(index, 16 + slots * 8ull + slot * 4ull, dwp->elf.swap);
		uint64_t found = dwarf_u64(&at);

		row = dwarf_u32(&of);
		if (!row || found == id)
			break;
		row = 0;
		slot = (slot + ((uint32_t)(id >> 32) | 1)) & (slots - 1);
	}
	if (!row || row > units)
		return false;
	sizes_at = rows_at + 4ull * columns * (units + 1ull);
	*ret = (struct piece){0};
	for (uint32_t i = 0; i < columns; i++) {
		struct dwarf_reader column = dwarf_reader_at(index, rows_at + i * 4, dwp->elf.swap);
		struct dwarf_reader at =
			dwarf_reader_at(index, rows_at + 4ull * ((uint64_t)row * columns + i),
					dwp->elf.swap);
		struct dwarf_reader size =
			dwarf_reader_at(index, sizes_at + 4ull * ((row - 1ull) * columns + i),
					dwp->elf.swap);
		unsigned section = column_section(version, dwarf_u32(&column));

		if (section == DWARF_SECTIONS)
			continue;
		ret->at[section] = dwarf_u32(&at);
		ret->n[section] = dwarf_u32(&size);
		ret->has[section] = true;
		if (column.bad || at.bad || size.bad)
			return false;
	}
	return ret->has[DWARF_INFO] && ret->has[DWARF_ABBREV];
}

static struct dwarf *piece_of(struct dwarf *dwp, uint64_t id)
{
	struct piece piece;
	struct dwarf *dwarf;

	if (!find_piece(dwp, id, &piece))
		return NULL;
	dwarf = NEW(struct dwarf);
	dwarf->elf = dwp->elf;
	dwarf->is_split = true;
	for (unsigned i = 0; i < DWARF_SECTIONS; i++) {
		struct str content = dwarf_section(dwp, i);

		if (piece.has[i]) {
			if (piece.at[i] > content.n || piece.n[i] > content.n - piece.at[i])
				content = (struct str){NULL, 0};
			else
				content = (struct str){content.p + piece.at[i], piece.n[i]};
		}
		if (i != DWARF_CU_INDEX)
			dwarf->sections[i].content = content;
	}
	vec_push(&dwp->pieces, dwarf);
	return dwarf;
}

static struct dwarf_unit *open_split(struct dwarf_unit *skeleton)
{
	struct dwarf *main = skeleton->dwarf, *dwarf;

	if (!main->files.split)
		return NULL;
	dwarf = main->files.split(main->files.arg, skeleton);
	if (dwarf && dwarf_section(dwarf, DWARF_CU_INDEX).n)
		dwarf = piece_of(dwarf, skeleton->dwo_id);
	if (!dwarf)
		return NULL;
	dwarf_read_units(dwarf);
	for (size_t i = 0; i < dwarf->units.n; i++) {
		struct dwarf_unit *unit = &dwarf->units.v[i];

		if (unit->skeleton || unit->type == DW_UT_split_type_ ||
		    unit->type == DW_UT_type_ || unit->version != skeleton->version ||
		    !dwarf_unit_root(unit) || unit->dwo_id != skeleton->dwo_id)
			continue;
		unit->skeleton = skeleton;
		unit->low_pc = skeleton->low_pc;
		return unit;
	}
	return NULL;
}

struct dwarf_unit *dwarf_unit_whole(struct dwarf_unit *unit)
{
	if (!dwarf_unit_root(unit))
		return NULL;
	if (!unit->dwo_name || unit->skeleton)
		return unit;
	if (!unit->asked_split) {
		unit->asked_split = true;
		unit->split = open_split(unit);
	}
	return unit->split;
}
