// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/sdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sdt_notes notes;
	struct sdt_note note;
	struct elf elf;
	char text[64];

	sdt_argument(EM_X86_64, (struct str){(const char *)data, size}, text, sizeof(text));
	sdt_argument(EM_AARCH64, (struct str){(const char *)data, size}, text, sizeof(text));
	if (elf_init(&elf, data, size) < 0 || !sdt_notes_init(&notes, &elf))
		return 0;
	while (sdt_notes_next(&notes, &note)) {
		struct str arguments = str_of(note.arguments);

		while (arguments.p)
			sdt_argument(elf.machine, str_cut(&arguments, ' '), text, sizeof(text));
	}
	return 0;
}
