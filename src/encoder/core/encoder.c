// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/encoder.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/nearest.h"

int encoder_find(const struct encoder **ret, const char *name)
{
	const char *names[64] = {NULL};

	for (size_t i = 0; encoders[i]; i++) {
		if (strcmp(encoders[i]->name, name) == 0) {
			*ret = encoders[i];
			return 0;
		}
		if (i + 1 < ARRAY_SIZE(names))
			names[i] = encoders[i]->name;
	}
	const char *near = nearest(name, names);
	return near ? fail(EINVAL, "there is no output format '%s'; did you mean '%s'?", name, near)
		    : fail(EINVAL, "there is no output format '%s'", name);
}
