// SPDX-License-Identifier: GPL-2.0-or-later
// Whole images: sections, units, ranges, entries, lines.
#include "obj/inline.h"
#include "obj/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_frame frames[32];
	struct dwarf dwarf;
	struct elf elf;

	if (elf_init(&elf, data, size) < 0 || dwarf_init(&dwarf, &elf, NULL) < 0)
		return 0;
	dwarf_read_units(&dwarf);
	for (size_t i = 0; i < dwarf.units.n; i++) {
		struct dwarf_unit *unit = &dwarf.units.v[i];
		struct inlines *inlines;
		struct lines *lines;

		if (!dwarf_unit_root(unit))
			continue;
		lines = lines_of(unit);
		for (uint32_t k = 0; lines && k < lines->files.n && k < 16; k++)
			(void)lines_path(lines, k);
		inlines = inlines_of(unit);
		for (size_t k = 0; k < inlines->places.n && k < 64; k++)
			(void)dwarf_frames(&dwarf, inlines->places.v[k].start, frames, 32);
	}
	for (uint64_t addr = 0; addr < 1 << 16; addr += 251)
		(void)dwarf_frames(&dwarf, addr, frames, 32);
	dwarf_done(&dwarf);
	return 0;
}
