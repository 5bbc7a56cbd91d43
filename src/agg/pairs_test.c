// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/pairs.h"
#include "base/map.h"
#include "base/test.h"

static void test_put_find_remove(void **state)
{
	struct pairs pairs = {0};
	struct pair_slot *slot;
	bool replaced;

	assert_null(pairs_find(&pairs, 0));
	slot = pairs_put(&pairs, 0, &replaced);
	assert_false(replaced);
	slot->time_ns = 5;
	assert_int_equal(pairs_find(&pairs, 0)->time_ns, 5);
	pairs_put(&pairs, 0, &replaced);
	assert_true(replaced);
	assert_int_equal(pairs.n, 1);
	pairs_remove(&pairs, pairs_find(&pairs, 0));
	assert_null(pairs_find(&pairs, 0));
	pairs_done(&pairs);
}

// Against a map, in random order.
static void test_like_a_map(void **state)
{
	struct pairs pairs = {0};
	struct map map = {0};
	uint64_t seed = 1;

	for (int i = 0; i < 200000; i++) {
		uint64_t key;
		struct pair_slot *slot;
		bool replaced;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		key = (seed >> 33) % 3000;
		slot = pairs_find(&pairs, key);
		assert_int_equal(slot != NULL, map_find(&map, key) != NULL);
		if (slot) {
			assert_int_equal(slot->data, *map_find(&map, key));
			pairs_remove(&pairs, slot);
			map_remove(&map, key);
		} else {
			slot = pairs_put(&pairs, key, &replaced);
			slot->data = (uint64_t)i;
			*map_at(&map, key, NULL) = (uint64_t)i;
		}
	}
	assert_int_equal(pairs.n, map.n);
	pairs_done(&pairs);
	map_done(&map);
}

static void test_limit(void **state)
{
	struct pairs pairs = {.limit = 100};
	bool replaced;

	for (uint64_t i = 0; i < 1000; i++)
		pairs_put(&pairs, i, &replaced)->time_ns = i;
	assert_true(pairs.n <= 100);
	assert_int_equal(pairs.n + pairs.aged_out_n, 1000);
	assert_null(pairs_find(&pairs, 0));	  // the oldest went
	assert_non_null(pairs_find(&pairs, 999)); // the newest is there
	pairs_done(&pairs);
}

RUN_TESTS(TEST(test_put_find_remove), TEST(test_like_a_map), TEST(test_limit))
