// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/heat.h"
#include "base/err.h"
#include "base/test.h"
#include <math.h>

static double cell(const struct heat *heat, unsigned column, unsigned row)
{
	return heat->cells[row * heat->columns + column];
}

static void fills_cells(void **state)
{
	struct heat heat;

	heat_init(&heat);
	heat_add(&heat, 10, 5, 1);
	heat_add(&heat, 10.5, 5, 1);
	heat_add(&heat, 19.99, 95, 1);
	heat_add(&heat, 12, NAN, 1);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){.rows = 10,
								   .step_time = 1,
								   .has_max_value = true,
								   .max_value = 100}),
			 0);
	assert_int_equal(heat.columns, 10);
	assert_true(cell(&heat, 0, 0) == 2);
	assert_true(cell(&heat, 9, 9) == 1);
	assert_true(heat.sum == 3 && heat.cell_max == 2);
	heat_done(&heat);
}

static void counts_what_is_beyond(void **state)
{
	for (int drop = 0; drop < 2; drop++) {
		struct heat heat;

		heat_init(&heat);
		heat_add(&heat, 0, 1, 1);
		heat_add(&heat, 0, 15, 1);
		heat_add(&heat, 0, 20, 1); // on the edge: inside
		heat_add(&heat, 1, 21, 1);
		assert_int_equal(heat_finish(&heat, &(struct heat_options){.rows = 10,
									   .columns = 2,
									   .has_min_value = true,
									   .min_value = 10,
									   .has_max_value = true,
									   .max_value = 20,
									   .drop_beyond = drop}),
				 0);
		assert_true(heat.below == 1 && heat.above == 1);
		assert_true(heat.sum == (drop ? 2 : 4));
		assert_true(cell(&heat, 0, 9) == 1);
		assert_true(cell(&heat, 0, 5) == 1);
		heat_done(&heat);
	}
}

static void whole_seconds(void **state)
{
	struct heat heat;

	heat_init(&heat);
	heat_add(&heat, 3.9, 900, 1);
	heat_add(&heat, 4.1, 100, 1);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){.step_time = 1,
								   .align_columns = true,
								   .has_max_value = true,
								   .max_value = 1000}),
			 0);
	assert_true(heat.start_time == 3 && heat.columns == 2 && heat.rows == 50);
	assert_true(cell(&heat, 0, 45) == 1 && cell(&heat, 1, 5) == 1);
	heat_done(&heat);
}

static void logarithmic_rows(void **state)
{
	struct heat heat;

	heat_init(&heat);
	for (int i = 0; i < 6; i++)
		heat_add(&heat, 0, pow(10, i) * 1.5, 1);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){.rows = 6,
								   .scale = HEAT_LOG,
								   .has_min_value = true,
								   .min_value = 1,
								   .has_max_value = true,
								   .max_value = 1e6}),
			 0);
	for (unsigned row = 0; row < 6; row++)
		assert_true(cell(&heat, 0, row) == 1);
	assert_true(fabs(heat_row_edge(&heat, 3) - 1000) < 1e-6);
	heat_done(&heat);
}

static void refusals(void **state)
{
	struct heat heat;

	heat_init(&heat);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){0}), -ENODATA);
	heat_add(&heat, 0, 1, 1);
	heat_add(&heat, 1e9, 2, 1);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){.step_time = 1}), -E2BIG);
	assert_int_equal(heat_finish(&heat,
				     &(struct heat_options){.has_max_value = true, .max_value = -1}),
			 -EINVAL);
	heat_done(&heat);
}

RUN_TESTS(TEST(fills_cells), TEST(counts_what_is_beyond), TEST(whole_seconds),
	  TEST(logarithmic_rows), TEST(refusals))
