// SPDX-License-Identifier: GPL-2.0-or-later
// lines FILE [SECTION]: for each hexadecimal address on standard input the functions and lines there, innermost first, as
// llvm-symbolizer prints them (without columns). Of a relocatable file the addresses count from the section. For bench/lines and
// test/diff/lines.
#include <stdio.h>
#include "base/file.h"
#include "obj/inline.h"

int main(int argc, char **argv)
{
	enum { MOST_FRAMES = 256 };
	struct dwarf_frame frames[MOST_FRAMES];
	struct mapped file;
	struct dwarf dwarf;
	struct elf_section section;
	uint64_t base = 0;
	struct elf elf;
	char line[64];

	if (argc < 2 || argc > 3 || file_map(&file, argv[1]) < 0 ||
	    elf_init(&elf, file.p, file.n) < 0 || dwarf_init(&dwarf, &elf, NULL) < 0 ||
	    (argc == 3 && (!elf_find_section(&elf, argv[2], &section) ||
			   !relocate_address(&dwarf.relocate, &elf, section.index, &base)))) {
		fprintf(stderr,
			"usage: lines FILE [SECTION] <ADDRESSES; the file must have debug information\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		size_t n = dwarf_frames(&dwarf, base + strtoull(line, NULL, 16), frames, MOST_FRAMES);

		if (!n)
			printf("??\n??:0\n");
		for (size_t i = 0; i < n; i++)
			printf("%s\n%s:%u\n", frames[i].function ? frames[i].function : "??",
			       frames[i].file ? frames[i].file : "??", frames[i].line);
		putchar('\n');
	}
	dwarf_done(&dwarf);
	file_unmap(&file);
	return 0;
}
