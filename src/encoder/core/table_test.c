// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/histogram.h"
#include "base/test.h"
#include "encoder/core/encoder.h"
#include "encoder/core/table.h"

static void test_text_is_bccs(void **state)
{
	// What bcc prints for 3 times 1, 1 time 5, 12 times 130.
	static const char expected[] =
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 3        |**********                              |\n"
		"         2 -> 3          : 0        |                                        |\n"
		"         4 -> 7          : 1        |***                                     |\n"
		"         8 -> 15         : 0        |                                        |\n"
		"        16 -> 31         : 0        |                                        |\n"
		"        32 -> 63         : 0        |                                        |\n"
		"        64 -> 127        : 0        |                                        |\n"
		"       128 -> 255        : 12       |****************************************|\n";
	struct histogram histogram = {.unit = "usecs", .counts = {[0] = 3, [2] = 1, [7] = 12}};
	struct out out;

	out_init_memory(&out);
	histogram_text(&out, &histogram);
	out_char(&out, 0);
	assert_string_equal(out.buf, expected);
	out_done(&out);
}

static void test_wide_and_empty(void **state)
{
	static const char last[] =
		"\n 9223372036854775808 -> 18446744073709551615 : 5        |********************|\n";
	struct histogram histogram = {.unit = "nsecs", .counts = {[63] = 5}};
	struct out out;

	out_init_memory(&out);
	histogram_text(&out, &histogram);
	out_char(&out, 0);
	assert_non_null(
		strstr(out.buf,
		       "               nsecs                         : count     distribution\n"));
	assert_string_equal(out.buf + strlen(out.buf) - strlen(last), last);
	out.n = 0;
	histogram.counts[63] = 0;
	histogram_text(&out, &histogram);
	assert_int_equal(out.n, 0);
	out_done(&out);
}

static void test_rows_of_a_table(void **state)
{
	struct histogram histogram = {.unit = "usecs", .of = "disk", .is = "vda", .counts = {[1] = 4}};
	const struct encoder *csv = NULL;
	struct table table = {0};
	struct out out;

	assert_int_equal(table_format_find(&csv, "csv"), 0);
	histogram_columns(&table, &histogram);
	histogram_rows(&table, &histogram);
	out_init_memory(&out);
	table_print(&out, &table, csv, NULL);
	out_char(&out, 0);
	assert_string_equal(out.buf, "disk,unit,from,to,count\nvda,usecs,0,1,0\nvda,usecs,2,3,4\n");
	out_done(&out);
	table_done(&table);
}

static void print(const struct table *table, const char *format, const struct table_stamp *stamp,
		  const char *expected)
{
	const struct encoder *encoder;
	struct out out;

	assert_int_equal(table_format_find(&encoder, format), 0);
	out_init_memory(&out);
	table_print(&out, table, encoder, stamp);
	out_char(&out, 0);
	assert_string_equal(out.buf, expected);
	out_done(&out);
}

static void test_formats(void **state)
{
	const struct table_stamp first = {.streams = true},
				 next = {.streams = true, .no_titles = true};
	struct table table = {.gap = true};

	table_column(&table, (struct table_column){"name", NULL, TABLE_TEXT, .left = true});
	table_column(&table, (struct table_column){"wait", "wait_ns", TABLE_TIME, 10});
	table_text(&table, "a|b");
	table_number(&table, 1234567);
	print(&table, "text", NULL, "name       wait\n\na|b     1.23 ms\n");
	print(&table, "csv", NULL, "name,wait_ns\na|b,1234567\n");
	print(&table, "json", NULL, "{\"name\":\"a|b\",\"wait_ns\":1234567}\n");
	print(&table, "markdown", NULL, "| name | wait |\n| --- | ---: |\n| a\\|b | 1234567 |\n");
	print(&table, "tsv", NULL, "name\twait_ns\na|b\t1234567\n");
	print(&table, "tsv", &(struct table_stamp){.time = "12:00"},
	      "time\tname\twait_ns\n12:00\ta|b\t1234567\n");
	// rows one by one: the columns are as wide as they say, whatever comes
	print(&table, "text", &first, "name       wait\n\na|b     1.23 ms\n");
	table_clear(&table);
	table_text(&table, "longer than its title");
	table_number(&table, 999);
	print(&table, "text", &next, "longer than its title     999 ns\n");
	print(&table, "csv", &next, "longer than its title,999\n");
	table_clear(&table);
	table_text(&table, "a\tb\nc");
	table_none(&table);
	print(&table, "tsv", &next, "a\\x09b\\x0ac\t\n");
	table_done(&table);
	assert_true(table_format_find(&(const struct encoder *){NULL}, "svg") < 0);
}

static void test_help_names_all(void **state)
{
	for (size_t i = 0; encoders[i]; i++)
		if (encoders[i]->table)
			assert_non_null(strstr(TABLE_FORMATS, encoders[i]->name));
}

RUN_TESTS(TEST(test_formats), TEST(test_help_names_all), TEST(test_text_is_bccs),
	  TEST(test_wide_and_empty), TEST(test_rows_of_a_table))
