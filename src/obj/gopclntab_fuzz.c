// SPDX-License-Identifier: GPL-2.0-or-later
// A table of Go functions becomes names, and rows that make sense.
#include "base/alloc.h"
#include "obj/cfi.h"
#include "obj/gopclntab.h"
#include "obj/gopclntab_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[GO_SAMPLE_SIZE];
	struct gopclntab_function function;
	struct gopclntab_steps steps;
	struct gopclntab table;
	struct cfi_table rows;
	struct elf elf;
	size_t n = 0;

	if (!size)
		return 0;
	go_sample_elf(image, data[0] & 1 ? EM_AARCH64 : EM_X86_64, data + 1,
		      (uint32_t)MIN(size - 1, (size_t)GO_SAMPLE_TABLE_MAX));
	if (elf_init(&elf, image, sizeof(image)) < 0)
		abort();
	if (gopclntab_init(&table, &elf)) {
		for (uint32_t i = 0; i < table.functions_n; i++) {
			if (!gopclntab_function(&table, i, &function))
				continue;
			n += strlen(function.name);
			gopclntab_steps(&table, &function, &steps);
			while (gopclntab_step(&steps))
				n += (size_t)steps.bytes;
		}
	}
	if (cfi_build(&rows, &elf, NULL) < 0)
		return 0;
	if (!cfi_table_valid(&rows))
		abort();
	cfi_table_done(&rows);
	return n == 1 ? -1 : 0;
}
