// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/flamegraph/flamegraph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stack_options options = {.side = FLAME_AFTER,
					.all_events = size % 2,
					.per_tid = size % 3 == 0};
	struct stack_counts counts = {0};
	struct flame flame;

	flame_init(&flame);
	(void)stack_format_of((struct str){(const char *)data, size});
	stacks_from_script(&flame, (struct str){(const char *)data, size}, &options, &counts);
	stacks_from_tracer(&flame, (struct str){(const char *)data, size}, &options, &counts);
	flame_finish(&flame, true);
	flame_done(&flame);
	stack_counts_done(&counts);
	return 0;
}
