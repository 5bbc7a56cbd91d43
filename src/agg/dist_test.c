// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/dist.h"
#include "base/test.h"

static void test_few_are_exact(void **state)
{
	struct dist dist = {0};

	assert_int_equal(dist_quantile(&dist, 0.5), 0);
	dist_add(&dist, 7540);
	dist_add(&dist, 7324);
	assert_int_equal(dist.n, 2);
	assert_int_equal(dist.sum, 14864);
	assert_int_equal(dist.min, 7324);
	assert_int_equal(dist.max, 7540);
	assert_int_equal(dist_quantile(&dist, 0.5), 7540);
	assert_int_equal(dist_quantile(&dist, 0), 7324);
	assert_int_equal(dist_quantile(&dist, 1), 7540);
	dist_done(&dist);
}

static void near(uint64_t is, uint64_t wanted)
{
	uint64_t off = is > wanted ? is - wanted : wanted - is;

	assert_true(off <= wanted / 128 + 1);
}

static void test_many(void **state)
{
	struct dist dist = {0}, half = {0}, rest = {0};

	for (uint64_t i = 1; i <= 100000; i++) {
		dist_add(&dist, i * 1000);
		dist_add(i % 2 ? &half : &rest, i * 1000);
	}
	assert_int_equal(dist.n, 100000);
	assert_int_equal(dist.min, 1000);
	assert_int_equal(dist.max, 100000000);
	near(dist_quantile(&dist, 0.5), 50000000);
	near(dist_quantile(&dist, 0.95), 95000000);
	near(dist_quantile(&dist, 0.99), 99000000);
	assert_int_equal(dist_quantile(&dist, 1), 100000000);
	dist_merge(&half, &rest);
	assert_int_equal(half.n, dist.n);
	assert_int_equal(half.sum, dist.sum);
	assert_int_equal(half.min, dist.min);
	for (double f = 0; f <= 1; f += 0.01)
		assert_int_equal(dist_quantile(&half, f), dist_quantile(&dist, f));
	dist_done(&dist);
	dist_done(&half);
	dist_done(&rest);
}

// Every number's bucket gives back a number at most 1/128 away, and quantiles never fall.
static void test_all_sizes(void **state)
{
	for (int shift = 0; shift < 64; shift++) {
		for (int k = 0; k < 3; k++) {
			uint64_t v = (1ull << shift) + (k == 1	 ? (1ull << shift) / 3
							: k == 2 ? (1ull << shift) - 1
								 : 0);
			struct dist dist = {0};

			for (int i = 0; i < 100; i++)
				dist_add(&dist, v);
			dist_add(&dist, 0);
			dist_add(&dist, UINT64_MAX);
			near(dist_quantile(&dist, 0.5), v);
			dist_done(&dist);
		}
	}
}

static void test_clear(void **state)
{
	struct dist dist = {0};

	for (int i = 0; i < 1000; i++)
		dist_add(&dist, 5);
	dist_clear(&dist);
	assert_int_equal(dist.n, 0);
	dist_add(&dist, 9);
	assert_int_equal(dist.min, 9);
	assert_int_equal(dist_quantile(&dist, 0.5), 9);
	dist_done(&dist);
}

// As the kernel counts: by buckets.
static void test_parts(void **state)
{
	struct dist dist = {0}, parts = {0};

	dist_add_part(&parts, &(struct dist_part){2, 1003, 501, 502});
	dist_add(&dist, 501);
	dist_add(&dist, 502);
	for (uint64_t i = 0; i < 200; i++) {
		dist_add_part(&parts, &(struct dist_part){i, i * (1000 * i + 500), 1000 * i,
							  1000 * i + 1000});
		for (uint64_t k = 0; k < i; k++)
			dist_add(&dist, 1000 * i + (k ? 500 : 0));
	}
	assert_int_equal(parts.n, dist.n);
	assert_int_equal(parts.min, 501);
	assert_int_equal(parts.max, 200000);
	for (double f = 0.01; f < 1; f += 0.01)
		assert_true(dist_quantile(&parts, f) + 2000 > dist_quantile(&dist, f) &&
			    dist_quantile(&parts, f) < dist_quantile(&dist, f) + 2000);
	dist_done(&dist);
	dist_done(&parts);
}

RUN_TESTS(TEST(test_parts), TEST(test_few_are_exact), TEST(test_many), TEST(test_all_sizes),
	  TEST(test_clear))
