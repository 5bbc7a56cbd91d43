// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/target.h"
#include "base/err.h"
#include "base/test.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int probe_target_test_function(int a);

__attribute__((noinline)) int probe_target_test_function(int a)
{
	__asm__ volatile("" : "+r"(a));
	return a + 1;
}

static char own[PATH_MAX];

static void own_program(void **state)
{
	const struct probe_options options = {.exec = own};
	struct probe_target target;
	uint64_t vaddr = 0, offset = 0, back = 0;

	assert_int_equal(probe_target_open(&target, &options), 0);
	assert_false(target.is_kernel);
	assert_string_equal(target.path, own);
	assert_string_equal(target.real, own);
	assert_true(probe_symbol(&target, "probe_target_test_function", &vaddr));
	assert_false(probe_symbol(&target, "probe_target_test_nothing", &back));
	// To the file and back.
	assert_true(probe_file_offset(&target, vaddr, &offset));
	assert_true(offset < target.file.n);
	assert_memory_equal(target.file.p + offset,
			    (const void *)(uintptr_t)probe_target_test_function, 8);
	assert_true(probe_vaddr(&target, offset, &back));
	assert_true(back == vaddr);
	assert_false(probe_file_offset(&target, UINT64_MAX, &offset));
	assert_false(probe_vaddr(&target, UINT64_MAX, &back));
	assert_string_equal(probe_plain_name(&target, "main"), "main");
	assert_string_equal(probe_plain_name(&target, "_ZN3one3twoEv"), "one::two");
	assert_int_equal(probe_target_test_function(1), 2);
	probe_target_done(&target);
}

static void other_files(void **state)
{
	struct probe_options options = {.exec = "/nowhere/program"};
	struct probe_target target;
	char path[] = "text-XXXXXX";
	int fd = mkstemp(path);

	assert_int_equal(probe_target_open(&target, &options), -ENOENT);
	assert_non_null(strstr(err_sentence(), "/nowhere/program can't be opened"));
	assert_true(write(fd, "#!/bin/sh\n", 10) == 10);
	close(fd);
	options.exec = path;
	assert_int_equal(probe_target_open(&target, &options), -EINVAL);
	assert_non_null(strstr(err_sentence(), "is no program and no library"));
	unlink(path);
	options.exec = "/";
	assert_true(probe_target_open(&target, &options) < 0);
	err_clear();
}

// Below another root the name is meant there.
static void below_symfs(void **state)
{
	char folder[] = "symfs-XXXXXX";
	struct probe_options options = {.exec = "/program"};
	struct probe_target target;

	assert_non_null(mkdtemp(folder));
	auto_free char *root = realpath(folder, NULL), *copy = text_dup_fmt("%s/program", folder);
	assert_int_equal(link(own, copy), 0);
	options.symfs = root;
	assert_int_equal(probe_target_open(&target, &options), 0);
	assert_string_equal(target.path, "/program");
	assert_ptr_equal(strstr(target.real, root), target.real);
	probe_target_done(&target);
	remove_tree(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {TEST(own_program), TEST(other_files),
						  TEST(below_symfs)};

	if (!realpath("/proc/self/exe", own))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
