// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/unpack.h"
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

RUN_TESTS(TEST(gzip_and_zstd), TEST(refuses_others))
