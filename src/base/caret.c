// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/caret.h"
#include "base/alloc.h"
#include <stdio.h>

void caret_put(char *buf, size_t size, struct str text, struct str where)
{
	enum { BEFORE = 40, WIDTH = 72 };
	size_t at = (size_t)(where.p - text.p), from = at > BEFORE ? at - BEFORE : 0;
	size_t shown = MIN(text.n - from, (size_t)WIDTH), length = MAX(where.n, (size_t)1);
	size_t dots = from ? 2 : 0, used;

	length = MIN(length, shown > at - from ? shown - (at - from) : 1);
	used = (size_t)snprintf(buf, size, "\n  %s", from ? ".." : "");
	for (size_t i = 0; i < shown && used + 1 < size; i++) {
		unsigned char c = (unsigned char)text.p[from + i];
		buf[used++] = c < ' ' || c == 127 ? '?' : (char)c;
	}
	if (used + 1 < size)
		used += (size_t)snprintf(buf + used, size - used, "%s\n  %*s",
					 from + shown < text.n ? ".." : "", (int)(at - from + dots),
					 "");
	for (size_t i = 0; i < length && used + 1 < size; i++)
		buf[used++] = '^';
	buf[MIN(used, size - 1)] = 0;
}
