// SPDX-License-Identifier: GPL-2.0-or-later
// Protocol Buffers, written field by field. A message within a message is written into an `out` of its own first, as its length
// comes before it. Wire format: https://protobuf.dev/programming-guides/encoding/
#pragma once
#include "base/json.h"

static inline void proto_varint(struct out *out, uint64_t v)
{
	char *p = out_room(out, 10);
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (char)(v | 0x80);
	p[n++] = (char)v;
	out->n += n;
}
// Zero is what a field that isn't there means, so it is left out.
static inline void proto_u64(struct out *out, unsigned field, uint64_t v)
{
	if (!v)
		return;
	proto_varint(out, (uint64_t)field << 3);
	proto_varint(out, v);
}
// Likewise, but written when it is 0, too.
static inline void proto_u64_always(struct out *out, unsigned field, uint64_t v)
{
	proto_varint(out, (uint64_t)field << 3);
	proto_varint(out, v);
}
static inline void proto_bytes(struct out *out, unsigned field, struct str bytes)
{
	proto_varint(out, (uint64_t)field << 3 | 2);
	proto_varint(out, bytes.n);
	out_str(out, bytes);
}
// The message that was written to `message`, which is empty afterwards.
static inline void proto_message(struct out *out, unsigned field, struct out *message)
{
	proto_bytes(out, field, (struct str){message->buf, message->n});
	message->n = 0;
}
// A field of type string, which has to be UTF-8: what is not, and what a terminal would obey, becomes '?'.
static inline void proto_text(struct out *out, unsigned field, struct str text)
{
	char *at;

	proto_bytes(out, field, text);
	at = out->buf + out->n - text.n;
	for (size_t i = 0; i < text.n;) {
		size_t n = out_shown_bytes((struct str){at + i, text.n - i});

		if (!n && at[i] != '\n' && at[i] != '\t')
			at[i] = '?';
		i += n ? n : 1;
	}
}
