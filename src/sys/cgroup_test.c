// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/cgroup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/test.h"

static void test_fake(void **state)
{
	const char *top = getenv("T");
	auto_free char *root = text_dup_fmt("%s/root/x86", top ? top : "test");
	struct cgroup_names names = {0};
	struct cgroup_mount mount;

	assert_int_equal(cgroup_find_mount(&mount, root), 0);
	assert_false(mount.unified);
	int fd = cgroup_open(&mount, "system.slice/ssh.service");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(cgroup_open(&mount, "system.slice/shh.service"), -ENOENT);
	assert_non_null(strstr(err_sentence(), "did you mean 'system.slice/ssh.service'?"));
	assert_int_equal(cgroup_match(&mount, "/system.slice/*", &names), 0);
	assert_int_equal(names.v.n, 2);
	assert_int_equal(cgroup_match(&mount, "/", &names), 0);
	assert_int_equal(names.v.n, 3);
	assert_int_equal(cgroup_match(&mount, "nosuch*", &names), -ENOENT);
	cgroup_names_done(&names);
	free(mount.path);
	assert_int_equal(cgroup_find_mount(&mount, "/nonexistent"), -ENOENT);
}

RUN_TESTS(TEST(test_fake))
