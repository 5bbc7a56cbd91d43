// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/config.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = {0}, again = {0};
	struct out out;

	int err = config_parse(&config, (struct str){(const char *)data, size}, "fuzz", false);
	config_find(&config, "report.children");
	// Changed, it is still read, with what was set. A NUL ends texts in the entries, not in the file.
	if (err >= 0 && size && !memchr(data, 0, size)) {
		out_init_memory(&out);
		if (config_edit(&out, (struct str){(const char *)data, size}, "report.children",
				" #1") < 0 ||
		    config_parse(&again, (struct str){out.buf, out.n}, "edited", false) < 0 ||
		    !config_find(&again, "report.children") ||
		    strcmp(config_find(&again, "report.children")->value, " #1") != 0)
			abort();
		out_done(&out);
		config_done(&again);
	}
	config_done(&config);
	return 0;
}
