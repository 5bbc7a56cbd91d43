// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/workload.h"
#include "base/err.h"
#include "base/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static void never_let_go(void **state)
{
	char *argv[] = {"true", NULL};
	struct workload workload;

	assert_int_equal(workload_prepare(&workload, argv, false), 0);
	workload_done(&workload, true);
	assert_true(workload.reaped);
	assert_true(WIFEXITED(workload.status));
	assert_int_equal(workload_exit_code(&workload), 0);
}

static void program_is_looked_up_first(void **state)
{
	static const struct {
		const char *name, *path;
		int err;
	} cases[] = {
		{"true", NULL, 0},
		{"true", "/nonexistent::/usr/bin:/bin", 0},
		{"true", "/nonexistent", -ENOENT},
		{"/nonexistent/true", NULL, -ENOENT},
		{"nonexistent-program", NULL, -ENOENT},
		{"", NULL, -ENOENT},
		{"/dev", NULL, -EACCES},
		{"/dev/null", NULL, -EACCES},
		{"null", "/nonexistent:/dev", -EACCES},
	};
	const char *path = getenv("PATH");
	char before[4096];

	snprintf(before, sizeof(before), "%s", path ? path : "/usr/bin:/bin");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[] = {(char *)(uintptr_t)cases[i].name, NULL};
		struct workload workload;

		setenv("PATH", cases[i].path ? cases[i].path : before, 1);
		assert_int_equal(workload_prepare(&workload, argv, false), cases[i].err);
		workload_done(&workload, true);
		err_clear();
	}
	setenv("PATH", before, 1);
}

RUN_TESTS(TEST(never_let_go), TEST(program_is_looked_up_first))
