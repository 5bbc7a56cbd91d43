// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/nearest.h"
#include "base/test.h"

static void test_nearest(void **state)
{
	static const char *const names[] = {"multi-trace", "trace",    "task-state", "top", "stat",
					    "percpu-stat", "syscalls", "sql",	     NULL};
	static const struct {
		const char *word, *near;
	} cases[] = {
		{"trac", "trace"},	{"tracee", "trace"},	{"multi", "multi-trace"},
		{"task", "task-state"}, {"sta", "stat"},	{"percpu", "percpu-stat"},
		{"syscal", "syscalls"}, {"stats", "stat"},	{"xyz", NULL},
		{"tpo", "top"},		{"trace-all", "trace"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *near = nearest(cases[i].word, names);

		if (!cases[i].near)
			assert_null(near);
		else
			assert_string_equal(near ? near : "nothing", cases[i].near);
	}
}

static void test_distance(void **state)
{
	assert_int_equal(edit_distance("trace", "trace", 3), 0);
	assert_int_equal(edit_distance("trcae", "trace", 3), 1);
	assert_int_equal(edit_distance("abc", "xyz", 2), 3);
}

RUN_TESTS(TEST(test_nearest), TEST(test_distance))
