// SPDX-License-Identifier: GPL-2.0-or-later
// Packed sections are unpacked by libdeflate, in one call and about twice as fast as by zlib (which stays for what comes as a
// stream); a report on a machine with debug packages spends more on that than on anything else before its first line.
#include "obj/unpack.h"
#include <elf.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/unpack_limit.h"
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

enum { MOST_BYTES = 1 << 28, MOST_MEMORY = 256 << 20 };

struct growing {
	uint8_t *p;
	size_t n, capacity;
	size_t packed_bytes;
};

// Room for more output; false when it would be too large.
static bool grow(struct growing *to)
{
	if (to->capacity >= MOST_BYTES || unpack_is_absurd(to->packed_bytes, to->capacity))
		return false;
	to->capacity = to->capacity ? to->capacity * 2 : 1 << 16;
	to->p = xrealloc(to->p, to->capacity);
	return true;
}

static int unpack_gzip(struct str packed, struct growing *to)
{
	z_stream stream = {.next_in = (Bytef *)packed.p, .avail_in = (uInt)packed.n};
	int state;

	if (inflateInit2(&stream, 15 + 16) != Z_OK)
		return -ENOMEM;
	do {
		if (to->n == to->capacity && !grow(to)) {
			inflateEnd(&stream);
			return -EFBIG;
		}
		stream.next_out = to->p + to->n;
		stream.avail_out = (uInt)(to->capacity - to->n);
		state = inflate(&stream, Z_NO_FLUSH);
		to->n = (size_t)(stream.next_out - to->p);
	} while (state == Z_OK && (stream.avail_in || !stream.avail_out));
	inflateEnd(&stream);
	return state == Z_STREAM_END ? 0 : -EINVAL;
}

static int unpack_zstd(struct str packed, struct growing *to)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {packed.p, packed.n, 0};
	size_t state = 1;
	int err = 0;

	while (!err && state) {
		ZSTD_outBuffer out;
		size_t before = in.pos;

		if (to->n == to->capacity && !grow(to)) {
			err = -EFBIG;
			break;
		}
		out = (ZSTD_outBuffer){to->p, to->capacity, to->n};
		state = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(state) || (state && in.pos == before && out.pos == to->n))
			err = -EINVAL;
		to->n = out.pos;
	}
	ZSTD_freeDStream(stream);
	return err;
}

#ifdef HAVE_LZMA
static int unpack_xz(struct str packed, struct growing *to)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret state;

	if (lzma_stream_decoder(&stream, MOST_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = (const uint8_t *)packed.p;
	stream.avail_in = packed.n;
	do {
		if (to->n == to->capacity && !grow(to)) {
			lzma_end(&stream);
			return -EFBIG;
		}
		stream.next_out = to->p + to->n;
		stream.avail_out = to->capacity - to->n;
		state = lzma_code(&stream, LZMA_FINISH);
		to->n = (size_t)(stream.next_out - to->p);
	} while (state == LZMA_OK);
	lzma_end(&stream);
	return state == LZMA_STREAM_END ? 0 : -EINVAL;
}
#else
static int unpack_xz(struct str packed, struct growing *to)
{
	return -ENOTSUP;
}
#endif

bool unpack_knows_xz(void)
{
#ifdef HAVE_LZMA
	return true;
#else
	return false;
#endif
}

int unpack(struct str packed, uint8_t **ret, size_t *ret_size)
{
	static const struct {
		const char *magic;
		size_t n;
		int (*run)(struct str packed, struct growing *to);
	} kinds[] = {
		{"\x1f\x8b", 2, unpack_gzip},
		{"\xfd"
		 "7zXZ",
		 6, unpack_xz},
		{"\x28\xb5\x2f\xfd", 4, unpack_zstd},
	};

	if (packed.n > UINT32_MAX)
		return -EFBIG;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct growing to = {.packed_bytes = packed.n};
		int err;

		if (packed.n < kinds[i].n || memcmp(packed.p, kinds[i].magic, kinds[i].n))
			continue;
		err = kinds[i].run(packed, &to);
		if (err) {
			free(to.p);
			return err;
		}
		*ret = to.p ? to.p : xmalloc(1);
		*ret_size = to.n;
		return 0;
	}
	return -EINVAL;
}

// zlib data (RFC 1950) of known size n into `to`; false when it is anything else. The checksum is not looked at: what reads
// the bytes checks them anyway. About 1 GB/s.
static bool unpack_zlib_stream(struct str packed, uint8_t *to, size_t n)
{
	enum { HEADER = 2, METHOD = 15, DEFLATE = 8, DICTIONARY = 32 };
	struct libdeflate_decompressor *unpacker;
	enum libdeflate_result result;

	if (packed.n < HEADER || (packed.p[0] & METHOD) != DEFLATE || (packed.p[1] & DICTIONARY))
		return false;
	unpacker = libdeflate_alloc_decompressor();
	if (!unpacker)
		alloc_failed();
	result = libdeflate_deflate_decompress(unpacker, packed.p + HEADER, packed.n - HEADER, to,
					       n, NULL);
	libdeflate_free_decompressor(unpacker);
	return result == LIBDEFLATE_SUCCESS;
}

static bool is_zdebug(const struct elf_section *section)
{
	return text_starts(section->name, ".zdebug_");
}

bool unpack_section_is_packed(const struct elf_section *section)
{
	return is_zdebug(section) || section->flags & SHF_COMPRESSED;
}

static uint64_t number_at(const char *p, size_t n, bool big)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | (uint8_t)p[big ? i : n - 1 - i];
	return v;
}

// What stands before the packed bytes, which are what is left: how they are packed (0: unknown) and how many there were.
static uint32_t cut_header(const struct elf *elf, bool is_old, struct str *packed, uint64_t *ret_n)
{
	bool is_64bit = is_old || elf->is_64bit;
	bool big = is_old || elf->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	size_t size = is_old ? 12 : is_64bit ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	uint32_t type = ELFCOMPRESS_ZLIB;

	if (packed->n < size)
		return 0;
	if (!is_old)
		type = (uint32_t)number_at(packed->p, 4, big);
	else if (memcmp(packed->p, "ZLIB", 4))
		return 0;
	*ret_n = number_at(packed->p + (is_64bit && !is_old ? 8 : 4), is_64bit ? 8 : 4, big);
	*packed = (struct str){packed->p + size, packed->n - size};
	return type;
}

struct str unpack_section(const struct elf *elf, const struct elf_section *section, uint64_t most,
			  uint8_t **ret_unpacked)
{
	enum {
		ZSTD = 2, // ELFCOMPRESS_ZSTD, younger than Debian 12's elf.h
		// zlib packs no better than 1032 to 1; more was made up.
		MOST_PACKED = 1100,
	};
	struct str packed = elf_content(elf, section);
	uint64_t n = 0;
	uint32_t type;
	uint8_t *to;
	bool good;

	*ret_unpacked = NULL;
	if (!unpack_section_is_packed(section))
		return packed;
	type = cut_header(elf, is_zdebug(section), &packed, &n);
	if ((type != ELFCOMPRESS_ZLIB && type != ZSTD) || !n || n > most ||
	    n / MOST_PACKED > packed.n)
		return (struct str){0};
	to = xmalloc(n);
	if (type == ZSTD)
		good = ZSTD_decompress(to, n, packed.p, packed.n) == n;
	else
		good = unpack_zlib_stream(packed, to, n);
	if (!good) {
		free(to);
		return (struct str){0};
	}
	*ret_unpacked = to;
	return (struct str){(const char *)to, n};
}
