// SPDX-License-Identifier: GPL-2.0-or-later
// Reads numbers of DWARF one after the other. Behind the end everything is 0 and `bad` is set, so that a parser looks at
// it once at its end.
#pragma once
#include <byteswap.h>
#include "base/str.h"
#include <stdint.h>

struct dwarf_reader {
	const uint8_t *p, *end;
	bool swap, bad;
};

// From `at` to the end of the bytes; bad when that lies outside.
static inline struct dwarf_reader dwarf_reader_at(struct str bytes, uint64_t at, bool swap)
{
	static const uint8_t none[1];
	const uint8_t *start = bytes.p ? (const uint8_t *)bytes.p : none;

	if (at > bytes.n)
		return (struct dwarf_reader){start, start, swap, true};
	return (struct dwarf_reader){start + at, start + bytes.n, swap, false};
}
static inline uint64_t dwarf_left(const struct dwarf_reader *r)
{
	return (uint64_t)(r->end - r->p);
}
static inline bool dwarf_need(struct dwarf_reader *r, uint64_t n)
{
	if (n <= dwarf_left(r))
		return true;
	r->bad = true;
	r->p = r->end;
	return false;
}
static inline void dwarf_skip(struct dwarf_reader *r, uint64_t n)
{
	if (dwarf_need(r, n))
		r->p += n;
}
static inline uint8_t dwarf_u8(struct dwarf_reader *r)
{
	return dwarf_need(r, 1) ? *r->p++ : 0;
}
static inline uint16_t dwarf_u16(struct dwarf_reader *r)
{
	uint16_t v;

	if (!dwarf_need(r, 2))
		return 0;
	memcpy(&v, r->p, 2);
	r->p += 2;
	return r->swap ? bswap_16(v) : v;
}
static inline uint32_t dwarf_u24(struct dwarf_reader *r)
{
	const bool big = r->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint32_t a = dwarf_u8(r), b = dwarf_u8(r), c = dwarf_u8(r);

	return big ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
}
static inline uint32_t dwarf_u32(struct dwarf_reader *r)
{
	uint32_t v;

	if (!dwarf_need(r, 4))
		return 0;
	memcpy(&v, r->p, 4);
	r->p += 4;
	return r->swap ? bswap_32(v) : v;
}
static inline uint64_t dwarf_u64(struct dwarf_reader *r)
{
	uint64_t v;

	if (!dwarf_need(r, 8))
		return 0;
	memcpy(&v, r->p, 8);
	r->p += 8;
	return r->swap ? bswap_64(v) : v;
}
// 1, 2, 4 or 8 bytes.
static inline uint64_t dwarf_uint(struct dwarf_reader *r, unsigned size)
{
	switch (size) {
	case 1:
		return dwarf_u8(r);
	case 2:
		return dwarf_u16(r);
	case 4:
		return dwarf_u32(r);
	case 8:
		return dwarf_u64(r);
	default:
		r->bad = true;
		return 0;
	}
}
static inline uint64_t dwarf_uleb(struct dwarf_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; r->p < r->end; shift += 7) {
		uint8_t byte = *r->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
	r->bad = true;
	return 0;
}
static inline int64_t dwarf_sleb(struct dwarf_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; r->p < r->end;) {
		uint8_t byte = *r->p++;

		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
		if (!(byte & 128)) {
			if (shift < 64 && (byte & 64))
				v |= ~0ull << shift;
			return (int64_t)v;
		}
	}
	r->bad = true;
	return 0;
}
// Text that ends with NUL; "" when it doesn't end.
static inline const char *dwarf_cstr(struct dwarf_reader *r)
{
	const char *text = (const char *)r->p;
	const uint8_t *nul = r->p < r->end ? memchr(r->p, 0, (size_t)(r->end - r->p)) : NULL;

	if (!nul) {
		r->bad = true;
		r->p = r->end;
		return "";
	}
	r->p = nul + 1;
	return text;
}
// The length at the start of a unit or table: 4 bytes, or 0xffffffff and 8; cuts the reader to it. Sets the size
// of offsets inside, 4 or 8.
static inline void dwarf_length(struct dwarf_reader *r, uint8_t *ret_offset_size)
{
	uint64_t n = dwarf_u32(r);

	*ret_offset_size = 4;
	if (n == 0xffffffff) {
		*ret_offset_size = 8;
		n = dwarf_u64(r);
	} else if (n >= 0xfffffff0) {
		r->bad = true;
	}
	if (dwarf_need(r, n))
		r->end = r->p + n;
}
