// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/unpack.h"
#include <elf.h>
#include <zlib.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"

static void check(const void *packed, size_t n)
{
	uint8_t *got;
	size_t got_n;

	assert_int_equal(unpack((struct str){packed, n}, &got, &got_n), 0);
	assert_int_equal(got_n, 100000);
	assert_int_equal(got[99999], 'x');
	free(got);
	// Cut off: refused, not read over.
	assert_true(unpack((struct str){packed, n - 5}, &got, &got_n) < 0);
}

static void gzip_and_zstd(void **state)
{
	char *plain = xmalloc(100000), packed[4096];
	z_stream stream = {0};

	memset(plain, 'x', 100000);
	check(packed, ZSTD_compress(packed, sizeof(packed), plain, 100000, 1));
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)plain;
	stream.avail_in = 100000;
	stream.next_out = (Bytef *)packed;
	stream.avail_out = sizeof(packed);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	check(packed, sizeof(packed) - stream.avail_out);
	deflateEnd(&stream);
	free(plain);
}

static void refuses_others(void **state)
{
	uint8_t *got;
	size_t n;

	assert_int_equal(unpack(STR("\177ELF"), &got, &n), -EINVAL);
	assert_int_equal(unpack(STR(""), &got, &n), -EINVAL);
	assert_true(unpack(STR("\xfd"
			       "7zXZ\0rubbish"),
			   &got, &n) < 0);
}

// A section that is the whole image: a header as the case has it, then zlib data of "text ".
static void packed_sections(void **state)
{
	static const struct {
		const char *name;
		uint8_t header[24];
		uint8_t header_n;
		bool is_64bit, swap, compressed, good;
	} cases[] = {
		{".debug_frame", {1, 0, 0, 0, 0, 0, 0, 0, 5}, 24, true, false, true, true},
		{".debug_frame", {1, 0, 0, 0, 5}, 12, false, false, true, true},
		{".debug_frame", {0, 0, 0, 1, 0, 0, 0, 5}, 12, false, true, true, true},
		{".zdebug_frame", "ZLIB\0\0\0\0\0\0\0\5", 12, false, false, false, true},
		{".zdebug_frame", "ZLID\0\0\0\0\0\0\0\5", 12, true, false, false, false},
		{".debug_frame", {9, 0, 0, 0, 0, 0, 0, 0, 5}, 24, true, false, true, false}, // another kind
		{".debug_frame", {1, 0, 0, 0, 0, 0, 0, 0, 4}, 24, true, false, true, false}, // more than said
		{".debug_frame", {1, 0, 0, 0, 0, 0, 0, 0, 6}, 24, true, false, true, false}, // less
		{".debug_frame", {1}, 24, true, false, true, false}, // nothing
		{".debug_frame", {1, 0, 0, 0, 0, 0, 0, 0, 0, 2}, 24, true, false, true, false}, // too much
	};
	uint8_t image[128], packed[64], *unpacked;
	uLongf n = sizeof(packed);

	assert_int_equal(compress(packed, &n, (const Bytef *)"text ", 5), Z_OK);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t header = cases[i].header_n;
		struct elf elf = {.p = image,
				  .n = header + n,
				  .is_64bit = cases[i].is_64bit,
				  .swap = cases[i].swap};
		struct elf_section section = {.name = cases[i].name,
					      .type = SHT_PROGBITS,
					      .size = header + n,
					      .flags = cases[i].compressed ? SHF_COMPRESSED : 0};
		struct str got;

		memcpy(image, cases[i].header, header);
		memcpy(image + header, packed, n);
		got = unpack_section(&elf, &section, 256, &unpacked);
		assert_int_equal(got.n, cases[i].good ? 5 : 0);
		assert_true(!cases[i].good || (str_is(got, "text ") && unpacked));
		free(unpacked);
		// Cut within its header or soon behind.
		for (section.size = 0; section.size < header + 4; section.size++) {
			assert_int_equal(unpack_section(&elf, &section, 256, &unpacked).n, 0);
			assert_null(unpacked);
		}
	}
	struct elf elf = {.p = packed, .n = n, .is_64bit = true};
	struct elf_section plain = {.name = ".debug_frame", .type = SHT_PROGBITS, .size = n};
	assert_ptr_equal(unpack_section(&elf, &plain, 256, &unpacked).p, packed);
	assert_null(unpacked);
}

RUN_TESTS(TEST(gzip_and_zstd), TEST(refuses_others), TEST(packed_sections))
