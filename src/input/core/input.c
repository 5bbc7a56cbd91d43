// SPDX-License-Identifier: GPL-2.0-or-later
#include "input/core/input.h"

const struct input *input_by_name(const char *name)
{
	for (size_t i = 0; inputs[i]; i++) {
		if (!strcmp(inputs[i]->name, name))
			return inputs[i];
	}
	return NULL;
}
