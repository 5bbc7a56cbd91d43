// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/tar.h"
#include <errno.h>
#include <stdlib.h>
#include "base/test.h"

static void test_round(void **state)
{
	char long_name[400];
	struct tar_entry *entry = calloc(1, sizeof(*entry));
	struct str rest;
	struct out out;

	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	out_init_memory(&out);
	tar_put_file(&out, "usr/x", "hello", 5);
	tar_put_file(&out, long_name, "", 0);
	tar_put_symlink(&out, ".build-id/aa/bb", "../../usr/x");
	tar_put_end(&out);
	rest = (struct str){out.buf, out.n};
	assert_int_equal(tar_next(&rest, entry), 1);
	assert_int_equal(entry->kind, TAR_FILE);
	assert_string_equal(entry->name, "usr/x");
	assert_true(str_is(entry->content, "hello"));
	assert_int_equal(tar_next(&rest, entry), 1);
	assert_string_equal(entry->name, long_name);
	assert_int_equal(tar_next(&rest, entry), 1);
	assert_int_equal(entry->kind, TAR_SYMLINK);
	assert_string_equal(entry->link, "../../usr/x");
	assert_int_equal(tar_next(&rest, entry), 0);
	// every byte of a header counts
	for (size_t i = 0; i < 345; i++) {
		out.buf[i] ^= 1;
		rest = (struct str){out.buf, out.n};
		if (i < 148 || i >= 156)
			assert_int_equal(tar_next(&rest, entry), -EINVAL);
		out.buf[i] ^= 1;
	}
	out_done(&out);
	free(entry);
}

static void test_safe(void **state)
{
	assert_true(tar_name_is_safe("usr/bin/x"));
	assert_true(tar_name_is_safe("usr/bin/"));
	assert_true(tar_name_is_safe("..a/b..c"));
	assert_false(tar_name_is_safe(""));
	assert_false(tar_name_is_safe("/etc/passwd"));
	assert_false(tar_name_is_safe("../x"));
	assert_false(tar_name_is_safe("a/../b"));
	assert_false(tar_name_is_safe("a/.."));
	assert_false(tar_name_is_safe("a//b"));
	assert_false(tar_name_is_safe("./a"));
}

RUN_TESTS(TEST(test_round), TEST(test_safe))
