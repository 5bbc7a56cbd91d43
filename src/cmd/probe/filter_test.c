// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <sys/mman.h>
#include "cmd/probe/show.h"

static void test_filters(void **state)
{
	static const struct {
		const char *filter, *name;
		bool takes;
	} cases[] = {
		{"", "anything", true},
		{"w*", "work", true},
		{"w*", "main", false},
		{"!w*", "main", true},
		{"!w*", "work", false},
		{"a*|b*", "bee", true},
		{"a*&*z", "abz", true},
		{"a*&*z", "abc", false},
		{"a|b&!b", "a", true},
		{"(a|b)&!a", "a", false},
		{"!_* & !*@plt", "x@plt", false},
		{"!_* & !*@plt", "x", true},
	};
	struct probe_filter *filter = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		filter = NULL;
		assert_int_equal(probe_filter_new(&filter, cases[i].filter), 0);
		if (probe_filter_takes(filter, cases[i].name) != cases[i].takes)
			fail_msg("'%s' and '%s'", cases[i].filter, cases[i].name);
		probe_filter_free(filter);
	}
	assert_true(probe_filter_new(&filter, "(a") < 0);
	assert_true(probe_filter_new(&filter, "a&") < 0);
	assert_true(probe_filter_new(&filter, "a)") < 0);
}

// Behind the end of the text lies what can't be read.
static void test_end_of_filter(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct probe_filter *filter = NULL;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	pages[page - 2] = '(';
	assert_true(probe_filter_new(&filter, pages + page - 2) < 0);
	munmap(pages, 2 * page);
}

RUN_TESTS(TEST(test_filters), TEST(test_end_of_filter))
