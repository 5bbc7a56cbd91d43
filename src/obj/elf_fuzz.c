// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section section;
	struct elf_segment segment;
	struct elf_symbol symbol;
	struct elf_symbols table;
	struct elf_plt plt;
	struct elf elf;
	uint8_t id[20];
	size_t sum = 0;

	if (elf_init(&elf, data, size) < 0)
		return 0;
	for (uint32_t i = 0; elf_section(&elf, i, &section); i++) {
		sum += elf_content(&elf, &section).n + strlen(section.name);
		if (!elf_symbols_init(&table, &elf, &section))
			continue;
		for (uint32_t k = 0; k < table.n && k < 1000; k++) {
			elf_symbol(&table, k, &symbol);
			sum += strlen(symbol.name) + elf_segment_of(&elf, symbol.value, &segment);
		}
	}
	if (elf_plt_init(&plt, &elf)) {
		for (uint32_t i = 0; i < plt.n && i < 1000; i++)
			sum += strlen(elf_plt_name(&plt, i));
	}
	sum += elf_build_id(&elf, id);
	sum += elf_debuglink(&elf, &(uint32_t){0}) != NULL;
	return sum == SIZE_MAX;
}
