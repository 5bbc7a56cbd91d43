// SPDX-License-Identifier: GPL-2.0-or-later
// JSON, written as it goes: json_object(j); json_key(j, "a"); json_u64(j, 1); json_end(j).
// Commas and escapes are its business. Text that is not UTF-8 is written as U+FFFD for each bad byte.
#pragma once
#include "base/out.h"

struct json {
	struct out *out;
	bool comma; // the next value needs one
	bool after_key;
	unsigned depth;
	uint64_t arrays; // bit per level: is it an array
};

static inline void json_init(struct json *j, struct out *out)
{
	*j = (struct json){.out = out};
}
void json_object(struct json *j);
void json_array(struct json *j);
void json_end(struct json *j); // the innermost object or array
void json_key(struct json *j, const char *key);
void json_text(struct json *j, const char *text); // NULL is null
void json_str(struct json *j, struct str s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v); // not finite is null
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_hex(struct json *j, uint64_t v); // as the string "0x..."
// A line's end between top-level values (one object a line).
void json_line(struct json *j);
// Bytes of the valid UTF-8 sequence at p, of which n bytes may be read; 0: it is none.
size_t utf8_length(const unsigned char *p, size_t n);
// The quoted string alone, for writers of other forms.
void json_quote(struct out *out, struct str s);

#define json_field_text(j, key, v) (json_key(j, key), json_text(j, v))
#define json_field_u64(j, key, v) (json_key(j, key), json_u64(j, v))
#define json_field_i64(j, key, v) (json_key(j, key), json_i64(j, v))
#define json_field_bool(j, key, v) (json_key(j, key), json_bool(j, v))
