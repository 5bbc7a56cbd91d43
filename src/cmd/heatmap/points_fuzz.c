// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/heatmap/heatmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct point_options options = {.units_a_second = 1};
	struct point_result result = {0};
	struct heat heat;

	heat_init(&heat);
	points_from_text(&heat, (struct str){(const char *)data, size}, &options, &result);
	heat_finish(&heat, &(struct heat_options){.scale = size % 2 ? HEAT_LOG : HEAT_LINEAR});
	heat_done(&heat);
	return 0;
}
