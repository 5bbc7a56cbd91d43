// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/caret.h"
#include "base/alloc.h"
#include <stdio.h>

void caret_put(struct caret *ret, struct str text, struct str where)
{
	enum { BEFORE = 40, WIDTH = 72 };
	size_t at = (size_t)(where.p - text.p), from = at > BEFORE ? at - BEFORE : 0;
	size_t shown = MIN(text.n - from, (size_t)WIDTH), length = MAX(where.n, (size_t)1);
	size_t dots = from ? 2 : 0, used = dots;

	length = MIN(length, shown > at - from ? shown - (at - from) : 1);
	memcpy(ret->text, "..", dots);
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)text.p[from + i];
		ret->text[used++] = c < ' ' || c == 127 ? '?' : (char)c;
	}
	snprintf(ret->text + used, sizeof(ret->text) - used, "%s", from + shown < text.n ? ".." : "");
	used = at - from + dots;
	memset(ret->mark, ' ', used);
	memset(ret->mark + used, '^', length);
	ret->mark[used + length] = 0;
}
