// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct kallsyms_line line;
	uint64_t addr;

	kallsyms_find(text, "_text", &addr);
	while (kallsyms_next(&text, &line)) {
		if (line.name.p < (const char *)data ||
		    line.name.p + line.name.n > (const char *)data + size || !line.name.n)
			__builtin_trap();
	}
	return 0;
}
