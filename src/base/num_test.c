// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/alloc.h"
#include "base/num.h"
#include "base/time.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"010", 0, 8},
		{"0x1F", 0, 31},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"12x", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"0x", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t v = 0;

		assert_int_equal(num_parse_u64(str_of(cases[i].text), &v), cases[i].err);
		assert_true(v == cases[i].value);
	}
	int64_t i;
	assert_int_equal(num_parse_i64(STR("-9223372036854775808"), &i), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(num_parse_i64(STR("9223372036854775808"), &i), -ERANGE);
}

static void sizes_and_times(void **state)
{
	uint64_t v;

	assert_int_equal(num_parse_size(STR("4K"), &v), 0);
	assert_true(v == 4096);
	assert_int_equal(num_parse_size(STR("2M"), &v), 0);
	assert_true(v == 2u << 20);
	assert_int_equal(num_parse_size(STR("16GB"), &v), 0);
	assert_true(v == 16ull << 30);
	assert_int_equal(num_parse_size(STR("16X"), &v), -EINVAL);
	assert_int_equal(num_parse_size(STR("17179869184T"), &v), -ERANGE);
	assert_int_equal(num_parse_duration(STR("1.5ms"), 1, &v), 0);
	assert_true(v == 1500000);
	assert_int_equal(num_parse_duration(STR("3"), 1000, &v), 0);
	assert_true(v == 3000);
	assert_int_equal(num_parse_duration(STR("10xyz"), 1, &v), -EINVAL);
	assert_int_equal(time_parse_sec(STR("1234.000001"), &v), 0);
	assert_true(v == 1234000001000ull);
	assert_int_equal(time_parse_sec(STR("007"), &v), 0);
	assert_true(v == 7000000000ull);
	assert_int_equal(time_parse_sec(STR("1.0000000001"), &v), -EINVAL);
}

static void add(void *arg, uint32_t n)
{
	*(uint64_t *)arg |= 1ull << n;
}

static void lists(void **state)
{
	uint64_t set = 0;

	assert_int_equal(num_parse_list(STR("0-2,5"), 63, add, &set), 0);
	assert_true(set == 0x27);
	assert_int_equal(num_parse_list(STR("3-1"), 63, add, &set), -EINVAL);
	assert_int_equal(num_parse_list(STR("64"), 63, add, &set), -ERANGE);
	assert_int_equal(num_parse_list(STR("1,"), 63, add, &set), -EINVAL);
}

static void digits(void **state)
{
	static const uint64_t values[] = {0, 9, 10, 99, 100, 12345, 4294967296ull, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char want[32], got[32];

		snprintf(want, sizeof(want), "%" PRIu64, values[i]);
		got[num_put_u64(got, values[i])] = 0;
		assert_string_equal(got, want);
		snprintf(want, sizeof(want), "%" PRIx64, values[i]);
		got[num_put_hex(got, values[i])] = 0;
		assert_string_equal(got, want);
	}
}

static void bytes(void **state)
{
	char got[8] = "xxxxxxx";

	num_put_bytes(got, (const uint8_t *)"\x00\x9f\xff", 3);
	assert_string_equal(got, "009fff");
	num_put_bytes(got, NULL, 0);
	assert_string_equal(got, "");
}

static void size_texts(void **state)
{
	char text[NUM_SIZE_TEXT];

	assert_string_equal(num_size_text(0, text), "0 bytes");
	assert_string_equal(num_size_text(1, text), "1 byte");
	assert_string_equal(num_size_text(1023, text), "1023 bytes");
	assert_string_equal(num_size_text(1 << 10, text), "1 KB");
	assert_string_equal(num_size_text((1 << 20) - 1, text), "1023 KB");
	assert_string_equal(num_size_text(1 << 20, text), "1 MB");
	assert_string_equal(num_size_text(UINT64_MAX, text), "17592186044415 MB");
}

RUN_TESTS(TEST(numbers), TEST(sizes_and_times), TEST(lists), TEST(digits), TEST(bytes),
	  TEST(size_texts))
