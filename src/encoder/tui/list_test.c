// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/list.h"
#include "base/alloc.h"
#include "base/test.h"
#include "encoder/tui/screen.h"

static void test_keys(void **state)
{
	static const struct {
		int key;
		size_t at, top;
	} steps[] = {
		{SCREEN_UP, 0, 0},	    {SCREEN_DOWN, 1, 0},	{SCREEN_PAGE_DOWN, 11, 10},
		{SCREEN_PAGE_DOWN, 21, 15}, {SCREEN_PAGE_DOWN, 24, 15}, {SCREEN_DOWN, 24, 15},
		{SCREEN_WHEEL_UP, 21, 15},  {SCREEN_PAGE_UP, 11, 5},	{SCREEN_HOME, 0, 0},
		{SCREEN_WHEEL_DOWN, 3, 0},  {SCREEN_END, 24, 15},	{' ', 24, 15},
		{SCREEN_PAGE_UP, 14, 5},    {SCREEN_PAGE_UP, 4, 0},	{SCREEN_PAGE_UP, 0, 0},
	};
	struct list list = {0};

	list_resize(&list, 25, 10);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		assert_true(list_key(&list, steps[i].key));
		assert_int_equal(list.at, steps[i].at);
		assert_int_equal(list.top, steps[i].top);
	}
	assert_false(list_key(&list, 'q'));
}

static void test_sizes(void **state)
{
	struct list list = {0};

	list_resize(&list, 100, 20);
	list_choose(&list, 50);
	assert_int_equal(list.top, 31);
	list_resize(&list, 100, 5); // a smaller window still shows it
	assert_int_equal(list.top, 46);
	list_resize(&list, 100, 80); // a larger one leaves no gap
	assert_int_equal(list.top, 20);
	list_resize(&list, 3, 80); // rows went away
	assert_int_equal(list.at, 2);
	assert_int_equal(list.top, 0);
	list_resize(&list, 0, 0);
	assert_int_equal(list.at, 0);
	assert_true(list_key(&list, SCREEN_DOWN));
	assert_int_equal(list.at, 0);
}

RUN_TESTS(TEST(test_keys), TEST(test_sizes))
