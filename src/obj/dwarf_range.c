// SPDX-License-Identifier: GPL-2.0-or-later
// The ranges of code of an entry: low and high address, .debug_ranges or .debug_rnglists.
#include <dwarf.h>
#include "obj/dwarf.h"

struct ranges {
	const struct dwarf_unit *unit;
	dwarf_range *call;
	void *arg;
	uint64_t base, last; // last: the highest address there is
};

static void give(const struct ranges *ranges, uint64_t low, uint64_t high)
{
	// Linkers mark what they left out with 0, 1 or the highest addresses.
	if (high <= low || low >= ranges->last - 1 ||
	    (low <= 1 && !ranges->unit->dwarf->zero_is_code &&
	     !(ranges->unit->skeleton && ranges->unit->skeleton->dwarf->zero_is_code)))
		return;
	ranges->call(ranges->arg, low, high);
}

// Counts what is read: made up entries can all name one endless list.
static bool spend(const struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->dwarf;

	if (!dwarf->range_budget)
		return false;
	dwarf->range_budget--;
	return true;
}

static void read_ranges(struct ranges *ranges, struct dwarf *dwarf, uint64_t at)
{
	const struct dwarf_unit *unit = ranges->unit;
	struct dwarf_reader r =
		dwarf_reader_at(dwarf_section(dwarf, DWARF_RANGES), at, dwarf->elf.swap);

	while (!r.bad && spend(unit)) {
		uint64_t low = dwarf_uint(&r, unit->address_size);
		uint64_t high = dwarf_uint(&r, unit->address_size);

		if (r.bad || (!low && !high))
			return;
		if (low == ranges->last)
			ranges->base = high;
		else if (low < ranges->last - 1)
			give(ranges, low + ranges->base, high + ranges->base);
	}
}

static uint64_t indexed(const struct dwarf_unit *unit, uint64_t index, bool *good)
{
	struct dwarf_value value = {.kind = DWARF_ADDRESS_INDEX, .u = index};
	uint64_t addr = 0;

	*good &= dwarf_address(unit, &value, &addr);
	return addr;
}

static void read_rnglist(struct ranges *ranges, struct dwarf *dwarf, uint64_t at)
{
	const struct dwarf_unit *unit = ranges->unit;
	struct dwarf_reader r =
		dwarf_reader_at(dwarf_section(dwarf, DWARF_RNGLISTS), at, dwarf->elf.swap);
	bool good = true;

	while (!r.bad && spend(unit)) {
		uint8_t kind = dwarf_u8(&r);
		uint64_t low = 0, high = 0;

		switch (kind) {
		case DW_RLE_end_of_list:
			return;
		case DW_RLE_base_addressx:
			ranges->base = indexed(unit, dwarf_uleb(&r), &good);
			continue;
		case DW_RLE_base_address:
			ranges->base = dwarf_uint(&r, unit->address_size);
			continue;
		case DW_RLE_startx_endx:
			low = indexed(unit, dwarf_uleb(&r), &good);
			high = indexed(unit, dwarf_uleb(&r), &good);
			break;
		case DW_RLE_startx_length:
			low = indexed(unit, dwarf_uleb(&r), &good);
			high = low + dwarf_uleb(&r);
			break;
		case DW_RLE_offset_pair:
			low = ranges->base + dwarf_uleb(&r);
			high = ranges->base + dwarf_uleb(&r);
			// The base of a function that was left out.
			if (ranges->base >= ranges->last - 1)
				continue;
			break;
		case DW_RLE_start_end:
			low = dwarf_uint(&r, unit->address_size);
			high = dwarf_uint(&r, unit->address_size);
			break;
		case DW_RLE_start_length:
			low = dwarf_uint(&r, unit->address_size);
			high = low + dwarf_uleb(&r);
			break;
		default:
			return;
		}
		if (!r.bad && good)
			give(ranges, low, high);
		good = true;
	}
}

static void listed(struct ranges *ranges, const struct dwarf_value *value)
{
	const struct dwarf_unit *unit = ranges->unit, *skeleton = unit->skeleton;
	struct dwarf *dwarf = unit->dwarf;
	uint64_t at = value->u;

	if (unit->version < 5) {
		// The ranges of split units before DWARF 5 stay in the program's file.
		if (skeleton)
			at += skeleton->ranges_base;
		read_ranges(ranges, skeleton ? skeleton->dwarf : dwarf, at);
		return;
	}
	if (value->kind == DWARF_RANGES_INDEX) {
		uint64_t base = unit->rnglists_base;
		struct dwarf_reader r;

		if (at > UINT32_MAX)
			return;
		r = dwarf_reader_at(dwarf_section(dwarf, DWARF_RNGLISTS),
				    base + at * unit->offset_size, dwarf->elf.swap);
		at = base + dwarf_uint(&r, unit->offset_size);
		if (r.bad)
			return;
	}
	read_rnglist(ranges, dwarf, at);
}

void dwarf_each_range(const struct dwarf_unit *unit, const struct dwarf_pcs *pcs, dwarf_range *call,
		      void *arg)
{
	struct ranges ranges = {
		.unit = unit,
		.call = call,
		.arg = arg,
		.base = unit->low_pc,
		.last = unit->address_size == 4 ? UINT32_MAX : UINT64_MAX,
	};
	uint64_t low, high;

	if (pcs->ranges.kind != DWARF_NONE) {
		listed(&ranges, &pcs->ranges);
		return;
	}
	if (!dwarf_address(unit, &pcs->low, &low))
		return;
	if (pcs->high.kind == DWARF_CONST || pcs->high.kind == DWARF_OFFSET)
		high = low + pcs->high.u;
	else if (!dwarf_address(unit, &pcs->high, &high))
		return;
	give(&ranges, low, high);
}
