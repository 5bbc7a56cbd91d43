// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as an event spec, on a machine without /sys: nothing is opened, searched or mounted.
#include "base/alloc.h"
#include "event/core/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct event_context ctx = {.root = "/nonexistent", .no_search = true};
	struct event_specs specs;
	auto_free char *text = str_dup((struct str){(const char *)data, size});

	event_specs_init(&specs);
	if (event_parse(&specs, text, &ctx) >= 0)
		event_filter(&specs, "a");
	event_specs_done(&specs);
	return 0;
}
