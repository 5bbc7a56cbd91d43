// SPDX-License-Identifier: GPL-2.0-or-later
// From the bytes of an ELF file to looked up symbols.
#include "sym/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_source source = {.unpacked = (uint8_t *)data, .file = {.n = size}};
	const struct sym_options options = {.no_cache_dir = true};
	struct sym *sym;
	struct dso *dso;

	sym_new(&sym, &options);
	dso = dso_get(sym, "/made/up", NULL);
	dso->state = DSO_LOADED;
	if (source_of_bytes(sym, dso, &source) == SOURCE_OK) {
		struct kernel_load load = {.sym = sym,
					   .dso = dso_get(sym, "[kernel.kallsyms]", NULL)};
		const struct symbol *symbols;

		load.dso->state = DSO_LOADED;
		load_elf(sym, dso, &source, &source);
		load_go(sym, dso, &source);
		load_plt(sym, dso, &source);
		symtab_ready(dso->symtab);
		dso_symbols(sym, dso, &symbols);
		for (uint64_t addr = 0; addr < 256; addr++)
			dso_find_symbol(sym, dso, addr * 64);
		load_kernel_elf(&load, &source);
	}
	sym_free(sym);
	return 0;
}
