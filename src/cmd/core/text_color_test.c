// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/text_color.h"
#include "base/err.h"
#include "base/test.h"
#include <stdlib.h>

static void modes(void **state)
{
	bool on = false;

	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_int_equal(text_colors("always", false, &on), 0);
	assert_true(on);
	assert_int_equal(text_colors("never", true, &on), 0);
	assert_false(on);
	assert_int_equal(text_colors(NULL, true, &on), 0);
	assert_true(on);
	assert_int_equal(text_colors("auto", false, &on), 0);
	assert_false(on);
	setenv("TERM", "dumb", 1);
	assert_int_equal(text_colors("auto", true, &on), 0);
	assert_false(on);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	assert_int_equal(text_colors(NULL, true, &on), 0);
	assert_false(on);
	assert_int_equal(text_colors("always", true, &on), 0); // what is typed wins
	assert_true(on);
	setenv("NO_COLOR", "", 1); // no-color.org: when it is not empty
	assert_int_equal(text_colors(NULL, true, &on), 0);
	assert_true(on);
	assert_true(text_colors("sometimes", true, &on) < 0);
	assert_non_null(strstr(err_sentence(), "'sometimes'"));
	err_clear();
}

static void percentages(void **state)
{
	assert_string_equal(text_color_of(5.0), TEXT_RED);
	assert_string_equal(text_color_of(4.999), TEXT_GREEN);
	assert_string_equal(text_color_of(0.5), "");
	assert_string_equal(text_color_of(0.51), TEXT_GREEN);
	assert_string_equal(text_color_of(-7), TEXT_RED);
}

static void cuts(void **state)
{
	static const char text[] = TEXT_RED " 12%" TEXT_PLAIN " name";

	assert_int_equal(text_color_cut(str_of(text), 100), strlen(text));
	assert_int_equal(text_color_cut(str_of(text), 4), strlen(TEXT_RED " 12%" TEXT_PLAIN));
	assert_int_equal(text_color_cut(str_of(text), 6), strlen(TEXT_RED " 12%" TEXT_PLAIN " n"));
	assert_int_equal(text_color_cut(str_of("\033[3"), 6), 3);
	assert_int_equal(text_color_cut(str_of(""), 0), 0);
}

RUN_TESTS(TEST(modes), TEST(percentages), TEST(cuts))
