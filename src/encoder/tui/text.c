// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/text.h"
#include <stdio.h>
#include <wchar.h>

struct rune {
	uint32_t code;
	unsigned bytes; // 0: no UTF-8 here
};

// Overlong forms, surrogates and what lies above U+10FFFF are no UTF-8: RFC 3629.
static struct rune decode(struct str text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text.p;
	unsigned n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 0;
	uint32_t code;

	if (!n || n > text.n || *p > 0xf4)
		return (struct rune){0};
	code = n == 1 ? *p : *p & (0xffu >> (n + 1));
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (struct rune){0};
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return (struct rune){0};
	return (struct rune){code, n};
}

// The cells of a piece that is written as it is; 0: it must be escaped.
static int width_of(uint32_t code)
{
	int width;

	if (code < 0x80)
		return code >= 32 && code != 127;
	if (code < 0xa0)
		return 0;
	width = wcwidth((wchar_t)code);
	return width > 0 ? width : 0;
}

int tui_text(struct out *out, struct str text, int columns, bool utf8)
{
	int used = 0;

	while (text.n) {
		struct rune rune = decode(text);
		const char *piece = text.p;
		char escaped[16];
		size_t n = rune.bytes;
		int width = rune.bytes ? width_of(rune.code) : 0;

		if (rune.code == '\t') {
			piece = " ";
			n = 1;
			width = 1;
		} else if (!utf8 && rune.code >= 0x80) {
			piece = "?";
			n = 1;
			width = 1;
		} else if (!width) {
			n = (size_t)snprintf(escaped, sizeof(escaped),
					     rune.code < 0x80 ? "\\x%02x" : "\\u{%04x}",
					     rune.bytes ? rune.code : (unsigned char)*text.p);
			piece = escaped;
			width = (int)n;
		}
		if (used + width > columns)
			break;
		out_bytes(out, piece, n);
		used += width;
		text.p += rune.bytes ? rune.bytes : 1;
		text.n -= rune.bytes ? rune.bytes : 1;
	}
	return used;
}
