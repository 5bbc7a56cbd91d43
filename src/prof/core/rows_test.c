// SPDX-License-Identifier: GPL-2.0-or-later
// The rows themselves, of events with names and fields, are test/live/prof-rows'.
#include "prof/core/rows.h"
#include "base/err.h"
#include "base/test.h"
#include "flow/foreign.h"
#include "prof/core/print.h"

struct world {
	struct prof_options options;
	struct feed_event wanted;
	struct prof_event event, *events[1];
	struct prof_print print;
	struct prof prof;
};

static void init(struct world *w, const char *format)
{
	*w = (struct world){.event = {.feed = &w->wanted}, .events = {&w->event}};
	w->prof =
		(struct prof){.options = &w->options, .print = &w->print, .events = {w->events, 1, 1}};
	if (format)
		assert_int_equal(table_format_find(&w->print.format, format), 0);
}

static void check_columns(struct world *w, bool stacks, const char *expected)
{
	struct prof_rows rows = {0};
	char titles[200] = "";

	assert_true(prof_rows_begin(&w->prof, &rows, stacks));
	assert_true(prof_rows_on(&rows));
	vec_each(struct table_column, column, &rows.table.columns) {
		strcat(titles, column->title);
		strcat(titles, " ");
	}
	assert_string_equal(titles, expected);
	// the text of the last row is none of the next one's
	out_text(prof_rows_fields(&rows), "before");
	assert_int_equal(prof_rows_fields(&rows)->n, 0);
	prof_rows_done(&rows);
}

static void test_columns(void **state)
{
	static const struct foreign foreign;
	struct world w;

	init(&w, "csv");
	check_columns(&w, false, "comm tid cpu time_ns event fields ");
	check_columns(&w, true, "comm tid cpu time_ns event fields stack ");
	w.options.flame_graph = "x"; // they are drawn
	check_columns(&w, true, "comm tid cpu time_ns event fields ");
	w.wanted.foreign = &foreign;
	check_columns(&w, true, "comm tid cpu time_ns event fields from ");
}

static void test_text_has_lines(void **state)
{
	struct prof_rows rows = {0};
	struct world w;

	init(&w, NULL);
	assert_false(prof_rows_begin(&w.prof, &rows, true));
	assert_false(prof_rows_on(&rows));
	prof_rows_done(&rows);
}

RUN_TESTS(TEST(test_columns), TEST(test_text_has_lines))
