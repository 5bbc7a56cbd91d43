// SPDX-License-Identifier: GPL-2.0-or-later
// The checksum is put right, so that what it guards is reached.
#include "base/alloc.h"
#include "base/hash.h"
#include "sym/symtab_file.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CHECK_AT = 8, KEY_AT = 16 };
	const uint64_t magic = 0x31736d79736b6e73ull;
	struct symtab_file_key key;
	struct symtab symtab = {0};
	struct symtab_file file;
	uint64_t check, sum = 0;
	uint8_t *copy;

	if (size < KEY_AT + sizeof(key))
		return 0;
	copy = xmemdup(data, size);
	memcpy(&key, copy + KEY_AT, sizeof(key));
	check = hash_bytes(copy + KEY_AT, size - KEY_AT);
	memcpy(copy, &magic, 8);
	memcpy(copy + CHECK_AT, &check, 8);
	if (symtab_file_parse((struct str){(char *)copy, size}, &key, &file)) {
		file.rows.apart = copy[KEY_AT] & 1;
		symtab_set_rows(&symtab, &file.rows);
		symtab_ready(&symtab);
		for (size_t i = 0; i < symtab.symbols.n; i += 3) {
			const struct symbol *symbol = symtab_find(&symtab, file.rows.v[i].start);

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
