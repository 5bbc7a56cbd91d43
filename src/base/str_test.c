// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/alloc.h"
#include "base/str.h"

static void globs(void **state)
{
	static const struct {
		const char *text, *glob;
		bool match;
	} cases[] = {
		{"sched_switch", "sched_*", true},
		{"sched_switch", "*switch", true},
		{"sched_switch", "s*_s*h", true},
		{"sched_switch", "sched", false},
		{"", "", true},
		{"", "*", true},
		{"a", "", false},
		{"abc", "a?c", true},
		{"ac", "a?c", false},
		{"abc", "a[a-c]c", true},
		{"abc", "a[!a-c]c", false},
		{"a]c", "a[]]c", true},
		{"a*c", "a\\*c", true},
		{"abc", "a\\*c", false},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*c", false},
		{"x", "[", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(text_glob(cases[i].text, cases[i].glob), cases[i].match);
}

static void cutting(void **state)
{
	struct str rest = STR("a,,b"), part;

	part = str_cut(&rest, ',');
	assert_true(str_is(part, "a"));
	part = str_cut(&rest, ',');
	assert_int_equal(part.n, 0);
	part = str_cut(&rest, ',');
	assert_true(str_is(part, "b"));
	assert_null(rest.p);
	part = str_cut(&rest, ',');
	assert_null(part.p);
	assert_true(str_is(str_trim(STR(" \t x y\n")), "x y"));
	assert_true(text_ends("foo.ko.xz", ".xz"));
	assert_false(text_ends("z", ".xz"));
}

static void base_names(void **state)
{
	assert_string_equal(text_base_name("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(text_base_name("ls"), "ls");
	assert_string_equal(text_base_name("a/"), "a/");
	assert_string_equal(text_base_name(""), "");
}

RUN_TESTS(TEST(globs), TEST(cutting), TEST(base_names))
