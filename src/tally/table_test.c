// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/table.h"
#include "abi/tracepoint.h"
#include "base/err.h"
#include "base/test.h"
#include <string.h>

static const char format[] = "name: made\nID: 1\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			     "\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\tfield:int value;\toffset:12;\tsize:4;\tsigned:1;\n"
			     "\tfield:char name[8];\toffset:16;\tsize:8;\tsigned:0;\n\n"
			     "print fmt: \"%d\", REC->id\n";

struct made {
	uint64_t common;
	int32_t id, value;
	char name[8];
};

static void put_name(void *arg, size_t row, uint32_t key, struct out *out)
{
	out_printf(out, "%s<%u>", (const char *)arg, key);
}

static uint64_t number_at(const struct table *table, size_t row, size_t column)
{
	return table->cells.v[row * table->columns.n + column].number;
}

static const char *text_at(const struct table *table, size_t row, size_t column)
{
	return table->cells.v[row * table->columns.n + column].text;
}

static void test_columns_and_rows(void **state)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}, {TALLY_TEXT, .label = true}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS, TALLY_SUM};
	static const struct tally_update updates[] = {{0, NULL}, {1, "value"}};
	static const struct made hits[] = {{0, 4, -5, "four"},
					   {0, -2, 7, "minus"},
					   {0, 4, -1, "four"},
					   {0, 9, 3, "nine"}};
	static const struct tally_column columns[] = {
		{{"ID", NULL, TABLE_COUNT, 8}, 0, true},
		{{"NAME", NULL, TABLE_TEXT, .left = true}, 1, true},
		{{"HITS", NULL, TABLE_COUNT}, 0},
		{{"SUM", NULL, TABLE_US}, 1},
		{{"OTHER", NULL, TABLE_TEXT}, 1, true, put_name},
	};
	static const struct tally_order order[] = {{0, false}, {0, true}};
	static char arg[] = "arg";
	const struct tp_options options = {.long_size = 8, .page_size = 4096};
	struct tracepoints *formats = tracepoints_new(&options);
	struct expr_machine *machine = expr_machine_new(NULL);
	struct tally_view view = {columns, ARRAY_SIZE(columns), order, ARRAY_SIZE(order), 0, arg};
	struct table table = {0};
	struct tally *tally;

	assert_true(tracepoints_add(formats, "made", str_of(format)) >= 0);
	struct event event = {.name = "made", .tp = tracepoints_by_name(formats, "made", "made")};
	const struct tally_event counted = {.event = &event,
					    .keys = {"id", "name"},
					    .updates = updates,
					    .updates_n = 2};
	const struct tally_options plan = {.name = "test",
					   .not_in_kernel = "a test",
					   .machine = machine,
					   .keys = keys,
					   .keys_n = 2,
					   .cells = cells,
					   .cells_n = 2,
					   .events = &counted,
					   .events_n = 1};
	assert_int_equal(tally_open(&tally, &plan), 0);
	for (size_t i = 0; i < ARRAY_SIZE(hits); i++)
		tally_hit(tally, 0, &(struct sample){.raw = &hits[i], .raw_size = sizeof(hits[i])},
			  &(struct tally_hit){0});
	tally_table(tally, &view, &table);
	assert_int_equal(table_rows(&table), 3);
	// counts of a signed field are shown signed; what says its unit stays what it is
	assert_int_equal(table.columns.v[0].kind, TABLE_SIGNED);
	assert_int_equal(table.columns.v[0].width, 8);
	assert_int_equal(table.columns.v[2].kind, TABLE_COUNT);
	assert_int_equal(table.columns.v[3].kind, TABLE_US);
	// most hits first, then by the key, the negative one first
	assert_int_equal(number_at(&table, 0, 0), 4);
	assert_string_equal(text_at(&table, 0, 1), "four");
	assert_int_equal(number_at(&table, 0, 2), 2);
	assert_int_equal((int64_t)number_at(&table, 0, 3), -6);
	assert_string_equal(text_at(&table, 0, 4), "arg<1>");
	assert_int_equal((int64_t)number_at(&table, 1, 0), -2);
	assert_string_equal(text_at(&table, 1, 1), "minus");
	assert_int_equal(number_at(&table, 2, 0), 9);
	table_done(&table);

	view.most = 1;
	table = (struct table){0};
	tally_table(tally, &view, &table);
	assert_int_equal(table_rows(&table), 1);
	assert_int_equal(number_at(&table, 0, 0), 4);
	table_done(&table);

	tally_clear(tally);
	table = (struct table){0};
	tally_table(tally, &view, &table);
	assert_int_equal(table.columns.n, 5);
	assert_int_equal(table_rows(&table), 0);
	table_done(&table);
	tally_close(tally);
	expr_machine_free(machine);
	tracepoints_free(formats);
}

RUN_TESTS(TEST(test_columns_and_rows))
