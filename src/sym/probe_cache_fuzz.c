// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/probe_cache.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What was read and written is read as the same again.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_cache first = {0}, second = {0};
	struct out one, two;

	out_init_memory(&one);
	out_init_memory(&two);
	probe_cache_parse(&first, (struct str){(const char *)data, size});
	probe_cache_put(&first, &one);
	probe_cache_parse(&second, (struct str){one.buf, one.n});
	probe_cache_put(&second, &two);
	if (one.n != two.n || (one.n && memcmp(one.buf, two.buf, one.n)))
		abort();
	out_done(&one);
	out_done(&two);
	probe_cache_done(&first);
	probe_cache_done(&second);
	return 0;
}
