// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as an event spec, on the fake machine of test/root/x86 (where that isn't below the current
// folder: on one without /sys). Nothing is opened, searched or mounted.
#include "base/alloc.h"
#include "event/core/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct event_context ctx = {
		.root = "test/root/x86",
		.tracefs = "test/root/x86/sys/kernel/tracing",
		.no_search = true,
	};
	// Kept, since reading the PMUs anew takes longer than parsing.
	static struct event_specs specs;
	auto_free char *text = str_dup((struct str){(const char *)data, size});

	if (event_parse(&specs, text, &ctx) >= 0)
		event_filter(&specs, "a");
	vec_clear(&specs.events);
	arena_reset(&specs.arena);
	return 0;
}
