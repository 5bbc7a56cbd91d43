// SPDX-License-Identifier: GPL-2.0-or-later
// .debug_info with what it refers to: the first three bytes say where abbreviations, ranges and the rest begin (in 256ths).
#include "obj/inline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum dwarf_section_id parts[4][3] = {
		{DWARF_INFO, DWARF_INFO, DWARF_INFO},
		{DWARF_ABBREV, DWARF_ABBREV, DWARF_ABBREV},
		{DWARF_RANGES, DWARF_RNGLISTS, DWARF_ARANGES},
		{DWARF_STR, DWARF_STR_OFFSETS, DWARF_ADDR},
	};
	struct dwarf_frame frames[32];
	struct dwarf dwarf = {0};
	const char *p;
	size_t at[5];

	if (size < 4)
		return 0;
	p = (const char *)data + 3;
	size -= 3;
	at[0] = 0;
	at[4] = size;
	for (int i = 0; i < 3; i++)
		at[i + 1] = MAX(at[i], size * data[i] / 256);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++)
			dwarf.sections[parts[i][k]].content =
				(struct str){p + at[i], at[i + 1] - at[i]};
	}
	while (dwarf.sections[DWARF_STR].content.n &&
	       p[at[3] + dwarf.sections[DWARF_STR].content.n - 1])
		dwarf.sections[DWARF_STR].content.n--;
	dwarf_read_units(&dwarf);
	for (size_t i = 0; i < dwarf.units.n; i++) {
		struct inlines *inlines;

		if (!dwarf_unit_root(&dwarf.units.v[i]))
			continue;
		inlines = inlines_of(&dwarf.units.v[i]);
		for (size_t k = 1; k < inlines->places.n; k++) {
			if (inlines->places.v[k].start <= inlines->places.v[k - 1].start)
				__builtin_trap();
		}
		for (size_t k = 0; k < inlines->places.n && k < 64; k++)
			(void)inlines_find(&dwarf.units.v[i], inlines->places.v[k].start);
	}
	for (uint64_t addr = 0; addr < 4096; addr += 61)
		(void)dwarf_frames(&dwarf, addr, frames, 32);
	dwarf_done(&dwarf);
	return 0;
}
