// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "prof/core/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = str_dup((struct str){(const char *)data, size});
	struct prof_specs specs = {0};

	prof_specs_parse(&specs, text);
	for (size_t i = 0; i < specs.list.n; i++)
		prof_spec_attr(specs.list.v[i], "key");
	prof_specs_done(&specs);
	return 0;
}
