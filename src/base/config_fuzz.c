// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/config.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = {0};

	config_parse(&config, (struct str){(const char *)data, size}, "fuzz", false);
	config_find(&config, "report.children");
	config_done(&config);
	return 0;
}
