// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include <stdio.h>

// Against a plain array as the model, with keys that collide and removals between.
static void behaves_like_an_array(void **state)
{
	enum { KEYS = 512 };
	static uint64_t model[KEYS];
	static bool there[KEYS];
	struct map map = {0};
	uint64_t random = 1;
	size_t n = 0;

	for (int step = 0; step < 100000; step++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		size_t k = (random >> 33) % KEYS;
		uint64_t key = k * 0x100000000ull;

		if ((random >> 50) % 3) {
			bool is_new;
			uint64_t *value = map_at(&map, key, &is_new);

			assert_int_equal(is_new, !there[k]);
			*value = model[k] = random;
			n += is_new;
			there[k] = true;
		} else {
			assert_int_equal(map_remove(&map, key), there[k]);
			n -= there[k];
			there[k] = false;
		}
		assert_int_equal(map.n, n);
	}
	for (size_t k = 0; k < KEYS; k++) {
		uint64_t *value = map_find(&map, k * 0x100000000ull);

		assert_int_equal(value != NULL, there[k]);
		assert_true(!value || *value == model[k]);
	}
	struct map_slot slot;
	size_t walked = 0;
	for (size_t i = 0; map_next(&map, &i, &slot);)
		walked++;
	assert_int_equal(walked, n);
	map_done(&map);
}

static void interning(void **state)
{
	struct intern intern;
	char text[32];

	intern_init(&intern);
	assert_int_equal(intern_text(&intern, ""), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "name-%u", i);
		assert_int_equal(intern_text(&intern, text), i + 1);
	}
	assert_int_equal(intern_text(&intern, "name-500"), 501);
	assert_string_equal(intern_get(&intern, 501), "name-500");
	assert_int_equal(intern_lookup(&intern, STR("nothing")), UINT32_MAX);
	intern_done(&intern);
}

static void arenas(void **state)
{
	struct arena arena = {0};
	char *first = arena_fmt(&arena, "%d", 42);
	void *large = arena_zalloc(&arena, 1 << 21);

	assert_string_equal(first, "42");
	assert_non_null(large);
	arena_reset(&arena);
	for (int i = 0; i < 1000; i++)
		assert_true(((uintptr_t)arena_alloc(&arena, 13) & 7) == 0);
	arena_done(&arena);
}

RUN_TESTS(TEST(behaves_like_an_array), TEST(interning), TEST(arenas))
