// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/xml.h"
#include "base/alloc.h"

// Bytes of the well-formed UTF-8 character at p that XML allows (https://www.w3.org/TR/xml/#charsets), or 0.
static size_t character_size(const unsigned char *p, size_t n)
{
	uint32_t c = p[0];
	size_t size = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	if (size <= 1 || size > n)
		return size <= 1 ? size : 0;
	c &= 0xff >> (size + 1);
	for (size_t i = 1; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	bool allowed = c >= least[size] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) &&
		       c != 0xfffe && c != 0xffff;
	// C1 controls and those of direction are allowed, but browsers show nothing useful, or another text.
	return allowed && out_shown_bytes((struct str){(const char *)p, n}) ? size : 0;
}

static const char *reference(unsigned char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"' && c != '\'';
}

void xml_str_cut(struct out *out, struct str s, size_t characters)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n && characters) {
		size_t from = i;

		while (i < s.n && is_plain(p[i]) && characters) {
			i++;
			characters--;
		}
		out_bytes(out, p + from, i - from);
		if (i == s.n || !characters)
			break;
		size_t size = character_size(p + i, s.n - i);
		const char *escaped = reference(p[i]);
		if (escaped) {
			out_text(out, escaped);
			characters--;
		} else if (size == 1) { // a control character
			char text[4] = {'\\', 'x', digits[p[i] >> 4], digits[p[i] & 15]};

			out_bytes(out, text, MIN(sizeof(text), characters));
			characters -= MIN(sizeof(text), characters);
		} else {
			if (size)
				out_bytes(out, p + i, size);
			else
				out_text(out, "\xef\xbf\xbd");
			characters--;
		}
		i += size ? size : 1;
	}
}

void xml_str(struct out *out, struct str s)
{
	xml_str_cut(out, s, SIZE_MAX);
}

size_t xml_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t length = 0;

	for (size_t i = 0; i < s.n;) {
		if (is_plain(p[i]) || reference(p[i])) {
			i++;
			length++;
			continue;
		}
		size_t size = character_size(p + i, s.n - i);
		length += size == 1 ? 4 : 1;
		i += size ? size : 1;
	}
	return length;
}
