// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi_code.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// 2 bytes: the place, and of which kind; then code.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_text text = {.p = data + 2, .n = size - 2};
	uint64_t words[CFI_CODE_WORDS];

	if (size < 3)
		return 0;
	text.at = data[0] % text.n;
	text.is_return = data[1] & 1;
	if (cfi_of_code(&text, words)) {
		const struct cfi_rule *rule = (const struct cfi_rule *)words;

		if (!(rule->flags & CFI_SIMPLE) || !rule->saved_n || rule->saved_n >= CFI_CODE_WORDS)
			abort();
	}
	return 0;
}
