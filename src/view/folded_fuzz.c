// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};

	for (unsigned reverse = 0; reverse < 2; reverse++) {
		struct folded_result result;
		struct flame flame;

		flame_init(&flame);
		folded_read(&flame, text,
			    &(struct folded_options){.side = FLAME_AFTER, .reverse = reverse},
			    &result);
		flame_finish(&flame, true);
		flame_done(&flame);
	}
	return 0;
}
