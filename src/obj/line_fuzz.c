// SPDX-License-Identifier: GPL-2.0-or-later
// .debug_line alone.
#include "obj/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char texts[] = "one\0two\0three";
	struct dwarf dwarf = {0};
	struct dwarf_unit unit = {
		.dwarf = &dwarf,
		.version = 5,
		.address_size = 8,
		.offset_size = 4,
		.root_read = true,
		.root_good = true,
		.comp_dir = "/folder",
		.name = "unit.c",
	};
	struct lines *lines;

	dwarf.sections[DWARF_LINE].content = (struct str){(const char *)data, size};
	dwarf.sections[DWARF_STR].content = (struct str){texts, sizeof(texts)};
	dwarf.sections[DWARF_LINE_STR].content = (struct str){texts, sizeof(texts)};
	dwarf_read_units(&dwarf);
	lines = lines_of(&unit);
	for (uint32_t i = 0; lines && i < lines->files.n && i < 64; i++)
		(void)lines_path(lines, i);
	for (size_t i = 0; lines && i < lines->rows.n && i < 256; i++) {
		const struct line_row *row = lines_find(lines, lines->rows.v[i].addr);

		if (row && row->addr > lines->rows.v[i].addr)
			__builtin_trap();
	}
	dwarf_done(&dwarf);
	return 0;
}
