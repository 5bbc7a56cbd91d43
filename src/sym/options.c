// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/options.h"
#include "base/err.h"
#include <unistd.h>

int sym_options_check(const struct sym_options *options)
{
	const char *const paths[] = {options->vmlinux, options->kallsyms};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (paths[i] && access(paths[i], R_OK) < 0) {
			int err = errno;

			return fail(err, "can't read '%s', which --%s names: %s", paths[i],
				    i ? "kallsyms" : "vmlinux", strerror(err));
		}
	}
	return 0;
}
