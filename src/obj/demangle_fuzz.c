// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/demangle.h"
#include <stdint.h>
#include "base/alloc.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const starts[] = {"_Z", "_R", "_D", "caml", "L", ""};

	if (!size)
		return 0;
	char *name = text_dup_fmt("%s%.*s", starts[data[0] % ARRAY_SIZE(starts)], (int)size - 1,
				  (const char *)data + 1);

	free(demangle(name, data[0] & 0x80));
	free(name);
	return 0;
}
