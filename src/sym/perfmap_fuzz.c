// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct perfmap_line line;

	while (perfmap_next(&text, &line)) {
		if (line.name.p < (const char *)data ||
		    line.name.p + line.name.n > (const char *)data + size || !line.name.n)
			__builtin_trap();
	}
	return 0;
}
