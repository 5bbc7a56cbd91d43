// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/unpack.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *got;
	size_t n;

	if (unpack((struct str){(const char *)data, size}, &got, &n) == 0)
		free(got);
	return 0;
}
