// SPDX-License-Identifier: GPL-2.0-or-later
// Text from strangers as XML character data or attribute values.
#pragma once
#include "base/out.h"

// Escaped so that any XML 1.0 parser takes it: < > & " ' as references, control characters as \xNN, bytes that are
// not UTF-8 and characters that XML has not as U+FFFD.
void xml_str(struct out *out, struct str s);
static inline void xml_text(struct out *out, const char *text)
{
	xml_str(out, str_of(text));
}
// Characters (code points, as xml_str shows them) of s.
size_t xml_length(struct str s);
// The first `characters` of s, no more.
void xml_str_cut(struct out *out, struct str s, size_t characters);
