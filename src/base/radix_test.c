// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/radix.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/test.h"

static void check(size_t n, uint64_t mask)
{
	struct keyed *v = xcalloc(n + 1, sizeof(*v));
	uint64_t key_sum = 0, value_sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		v[i] = (struct keyed){hash_u64(i + 1) & mask, i};
		key_sum += v[i].key;
	}
	radix_sort(v, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(v[i].key, hash_u64(v[i].value + 1) & mask);
		if (i)
			assert_true(v[i - 1].key < v[i].key ||
				    (v[i - 1].key == v[i].key && v[i - 1].value < v[i].value));
		key_sum -= v[i].key;
		value_sum += v[i].value;
	}
	assert_int_equal(key_sum, 0);
	assert_int_equal(value_sum, n * (n - !!n) / 2);
	free(v);
}

static void test_sorts(void **state)
{
	(void)state;
	for (size_t n = 0; n < 70; n++)
		check(n, 0xf);
	check(5000, UINT64_MAX);
	check(5000, 0xff00000000ull);
	check(5000, 0);
	check(5001, 0x3ff);
}

RUN_TESTS(TEST(test_sorts))
