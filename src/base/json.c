// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"
#include <math.h>

static void before_value(struct json *j)
{
	if (j->comma && !j->after_key)
		out_char(j->out, ',');
	j->comma = true;
	j->after_key = false;
}

static void open_level(struct json *j, bool array)
{
	before_value(j);
	out_char(j->out, array ? '[' : '{');
	j->depth++;
	if (j->depth < 64)
		j->arrays = (j->arrays & ~(1ull << j->depth)) | (uint64_t)array << j->depth;
	j->comma = false;
}

void json_object(struct json *j)
{
	open_level(j, false);
}

void json_array(struct json *j)
{
	open_level(j, true);
}

void json_end(struct json *j)
{
	out_char(j->out, j->arrays >> j->depth & 1 ? ']' : '}');
	j->depth--;
	j->comma = true;
	j->after_key = false;
}

void json_line(struct json *j)
{
	out_char(j->out, '\n');
	j->comma = false;
}

size_t utf8_length(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80		   ? 1
		     : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		     : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		     : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
						   : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

void json_quote(struct out *out, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	out_char(out, '"');
	for (size_t i = 0; i < s.n;) {
		size_t start = i;

		while (i < s.n && p[i] >= 32 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
			i++;
		out_bytes(out, s.p + start, i - start);
		if (i == s.n)
			break;
		if (p[i] == '"' || p[i] == '\\') {
			out_char(out, '\\');
			out_char(out, (char)p[i++]);
		} else if (p[i] < 32 || p[i] == 0x7f) {
			out_text(out, "\\u");
			out_hex_zeros(out, p[i++], 4);
		} else {
			size_t n = utf8_length(p + i, s.n - i);
			struct str rest = {s.p + i, s.n - i};

			if (!n) {
				out_text(out, "\\ufffd");
			} else if (out_shown_bytes(rest)) {
				out_bytes(out, p + i, n);
			} else { // C1, direction: of two or three bytes
				out_text(out, "\\u");
				out_hex_zeros(out,
					      n == 2 ? (p[i] & 0x1fu) << 6 | (p[i + 1] & 0x3f)
						     : (p[i] & 0xfu) << 12 | (p[i + 1] & 0x3fu) << 6 |
							       (p[i + 2] & 0x3f),
					      4);
			}
			i += n ? n : 1;
		}
	}
	out_char(out, '"');
}

void json_key(struct json *j, const char *key)
{
	before_value(j);
	json_quote(j->out, str_of(key));
	out_char(j->out, ':');
	j->after_key = true;
}

void json_str(struct json *j, struct str s)
{
	before_value(j);
	json_quote(j->out, s);
}

void json_text(struct json *j, const char *text)
{
	if (text)
		json_str(j, str_of(text));
	else
		json_null(j);
}

void json_u64(struct json *j, uint64_t v)
{
	before_value(j);
	out_u64(j->out, v);
}

void json_i64(struct json *j, int64_t v)
{
	before_value(j);
	out_i64(j->out, v);
}

void json_double(struct json *j, double v)
{
	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	before_value(j);
	out_printf(j->out, "%.17g", v);
}

void json_bool(struct json *j, bool v)
{
	before_value(j);
	out_text(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
	before_value(j);
	out_text(j->out, "null");
}

void json_hex(struct json *j, uint64_t v)
{
	before_value(j);
	out_text(j->out, "\"0x");
	out_hex(j->out, v);
	out_char(j->out, '"');
}
