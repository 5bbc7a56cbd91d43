// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash.h"
#include "base/test.h"

// Whatever one argument is, the other one is not forgotten.
static void test_both_arguments_count(void **state)
{
	static const uint64_t special[] = {
		0,
		1,
		UINT64_MAX,
		0x9e3779b97f4a7c15ull,
		0xe7037ed1a0b428dbull,
		0x8ebc6af09c88c6e3ull,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		for (uint64_t k = 2; k < 100; k++) {
			assert_true(hash_mix(k, special[i]) != hash_mix(k + 1, special[i]));
			assert_true(hash_mix(special[i], k) != hash_mix(special[i], k + 1));
		}
	}
}

static void test_no_word_hides_those_before(void **state)
{
	static const uint64_t last[] = {0x9e3779b97f4a7c15ull, 0xe7037ed1a0b428dbull};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const uint64_t one[] = {17, last[i]}, other[] = {18, last[i]};
		const uint64_t odd_one[] = {17, 4, last[i]}, odd_other[] = {17, 5, last[i]};

		assert_true(hash_bytes(one, sizeof(one)) != hash_bytes(other, sizeof(other)));
		assert_true(hash_bytes(odd_one, sizeof(odd_one)) !=
			    hash_bytes(odd_other, sizeof(odd_other)));
	}
}

RUN_TESTS(TEST(test_both_arguments_count), TEST(test_no_word_hides_those_before))
