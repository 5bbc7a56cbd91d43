// SPDX-License-Identifier: GPL-2.0-or-later
// The checksum is put right, so that what it guards is reached.
#include "base/alloc.h"
#include "base/hash.h"
#include "sym/kernel_cache.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CHECK_AT = 48, KERNEL_N_AT = 60, HEAD = 64 };
	struct kernel_cache_key key;
	struct symtab symtab = {0};
	struct kernel_copy kept;
	uint64_t check, sum = 0;
	uint32_t kernel_n;
	uint8_t *copy;

	if (size < HEAD)
		return 0;
	copy = xmemdup(data, size);
	memcpy(&key, copy + 8, sizeof(key));
	memcpy(&kernel_n, copy + KERNEL_N_AT, 4);
	check = hash_mix(hash_bytes(copy + HEAD, size - HEAD), kernel_n);
	memcpy(copy + CHECK_AT, &check, 8);
	if (kernel_cache_parse((struct str){(char *)copy, size}, &key, &kept)) {
		symtab_set_rows(&symtab, &kept.rows);
		symtab_ready(&symtab);
		for (size_t i = 0; i < symtab.symbols.n; i += 3) {
			const struct symbol *symbol = symtab_find(&symtab, kept.rows.v[i].start);

			sum += symbol ? strlen(symbol->name) : 0;
		}
		symtab_fill(&symtab);
		vec_each(const struct symbol, symbol, &symtab.symbols) {
			size_t n = strlen(symbol->name);

			sum += n;
			if (symbol->hidden_width)
				sum += strlen(symbol->name + n + 1);
		}
		if (sum > 3 * (uint64_t)size * symtab.symbols.n)
			__builtin_trap();
	}
	symtab_done(&symtab);
	free(copy);
	return 0;
}
