// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/rooted.h"
#include "base/test.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/str.h"

static const struct {
	const char *path, *wanted; // NULL: errno
	int error;
} cases[] = {
	{"/usr/bin/x", "/usr/bin/x", 0},
	{"usr/./bin//x", "/usr/bin/x", 0},
	{"/bin/x", "/usr/bin/x", 0},		      // relative link
	{"/abs/x", "/usr/bin/x", 0},		      // absolute: below the root
	{"/../../usr/bin/../bin/x", "/usr/bin/x", 0}, // not above it
	{"/up/usr/bin/x", "/usr/bin/x", 0},
	{"/", "/", 0},
	{"/usr/none", NULL, ENOENT},
	{"/loop/x", NULL, ELOOP},
	{"/usr/bin/x/y", NULL, ENOTDIR},
};

static void names_below_a_root(void **state)
{
	char root[] = "/tmp/rooted-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(root));
	auto_free char *clean = text_dup_fmt("rm -r %s", root);
	assert_int_equal(chdir(root), 0);
	assert_int_equal(mkdir("usr", 0700), 0);
	assert_int_equal(mkdir("usr/bin", 0700), 0);
	fclose(fopen("usr/bin/x", "w"));
	assert_int_equal(symlink("usr/bin", "bin"), 0);
	assert_int_equal(symlink("/usr/bin/", "abs"), 0);
	assert_int_equal(symlink("../../../", "up"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		auto_free char *is = rooted_path_dup(root, cases[i].path);

		if (cases[i].wanted && (!is || strcmp(is, cases[i].wanted)))
			fail_msg("%s: %s", cases[i].path, is ? is : strerror(errno));
		if (!cases[i].wanted && (is || errno != cases[i].error))
			fail_msg("%s: %s", cases[i].path, is ? is : strerror(errno));
	}
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(system(clean), 0);
}

RUN_TESTS(TEST(names_below_a_root))
