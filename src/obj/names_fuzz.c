// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names names;
	struct elf elf;
	uint64_t offset, next;

	if (elf_init(&elf, data, size) < 0)
		return 0;
	names_init(&names, &elf, &elf);
	for (size_t i = 0; i < names.all.n && i < 64; i++) {
		names_find(&names, names.all.v[i].addr + 1, &offset);
		names_next(&names, names.all.v[i].addr, 1, &next);
		names_function(&names, names.all.v[i].addr);
	}
	for (size_t i = 0; i < names.relocations.n && i < 64; i++)
		names_find(&names, names.relocations.v[i].addr, &offset);
	names_done(&names);
	return 0;
}
