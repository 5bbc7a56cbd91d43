// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size};
	static struct tar_entry entry;
	size_t sum = 0;

	while (tar_next(&rest, &entry) > 0) {
		sum += strlen(entry.name) + strlen(entry.link) + tar_name_is_safe(entry.name);
		for (size_t i = 0; i < entry.content.n; i++)
			sum += (size_t)entry.content.p[i];
	}
	// What was read must be read.
	__asm__ volatile("" : : "r"(sum));
	return 0;
}
