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
// The commonest three; AT(field) is the file's: offsetof() of its options.
#define FLAG(c, n, field, text) OPT(OPT_FLAG, c, n, AT(field), NULL, text)
#define TEXT(c, n, field, a, text) OPT(OPT_TEXT, c, n, AT(field), a, text)
#define CALL(c, n, fn, a, text) OPT(OPT_CALL, c, n, 0, a, text, .call = (fn), .no_negation = true)
