// SPDX-License-Identifier: GPL-2.0-or-later
// Short forms for the rows of a command's option table (base/opt.h).
#pragma once
#include "base/opt.h"

#define HEADING(text)                                                                              \
	{                                                                                          \
		.kind = OPT_GROUP, .help = (text)                                                  \
	}
#define OPT(k, l, n, at, a, h, ...)                                                                 \
	{                                                                                           \
		.kind = k, .letter = l, .name = n, .offset = at, .arg = a, .help = h, ##__VA_ARGS__ \
	}
