// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/spread.h"
#include "base/test.h"

static void test_spread(void **state)
{
	struct spread spread = {0};

	// The standard error of 2, 4, 6: sqrt(8 / 2 / 3).
	spread_add(&spread, 2);
	assert_true(spread_percent(&spread) == 0);
	spread_add(&spread, 4);
	spread_add(&spread, 6);
	assert_true(spread.mean == 4);
	assert_true(spread_deviation(&spread) > 1.1547 && spread_deviation(&spread) < 1.1548);
	assert_true(spread_percent(&spread) > 28.867 && spread_percent(&spread) < 28.868);
}

RUN_TESTS(TEST(test_spread))
