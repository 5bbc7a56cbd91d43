// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/histogram.h"
#include "base/alloc.h"
#include "base/test.h"

static void limits(void **state)
{
	static const struct {
		unsigned row;
		uint64_t from, to;
	} cases[] = {
		{0, 0, 1},
		{1, 2, 3},
		{2, 4, 7},
		{31, 1u << 31, UINT32_MAX},
		{63, 1ull << 63, UINT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(histogram_from(cases[i].row) == cases[i].from);
		assert_true(histogram_to(cases[i].row) == cases[i].to);
	}
	for (unsigned row = 1; row < HISTOGRAM_ROWS; row++)
		assert_true(histogram_from(row) == histogram_to(row - 1) + 1);
}

static void last(void **state)
{
	struct histogram histogram = {.unit = "usecs"};

	assert_int_equal(histogram_last(&histogram), -1);
	histogram.counts[0] = 1;
	assert_int_equal(histogram_last(&histogram), 0);
	histogram.counts[HISTOGRAM_ROWS - 1] = 1;
	assert_int_equal(histogram_last(&histogram), HISTOGRAM_ROWS - 1);
}

// Rows without a count stand between those that have one, and none behind them.
static void rows(void **state)
{
	struct histogram all = {.unit = "usecs", .counts = {3, 0, 5}},
			 one = {.unit = "usecs", .of = "disk", .is = "vda", .counts = {0, 7}};
	struct table table = {0};

	histogram_columns(&table, &all);
	histogram_rows(&table, &all);
	assert_int_equal(table.columns.n, 4);
	assert_int_equal(table_rows(&table), 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct table_cell *row = &table.cells.v[i * 4];

		assert_string_equal(row[0].text, "usecs");
		assert_true(row[1].number == histogram_from(i) && row[2].number == histogram_to(i));
		assert_true(row[3].number == all.counts[i]);
	}
	table_done(&table);
	table = (struct table){0};
	histogram_columns(&table, &one);
	histogram_rows(&table, &one);
	assert_string_equal(table.columns.v[0].title, "disk");
	assert_int_equal(table_rows(&table), 2);
	assert_string_equal(table.cells.v[5].text, "vda");
	assert_true(table.cells.v[9].number == 7);
	table_done(&table);
}

RUN_TESTS(TEST(limits), TEST(last), TEST(rows))
