// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/cgroup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/test.h"
#include <stdio.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

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
	static const struct {
		const char *list;
		int err;
		const char *names; // "a b"
	} cases[] = {
		{"system.slice/ssh.service", 0, "system.slice/ssh.service"},
		{"/system.slice", 0, "system.slice"},
		{"", 0, "/"},
		{"^s", 0, "system.slice system.slice/cron.service system.slice/ssh.service"},
		{"ssh.*", 0, "system.slice/ssh.service"}, // anywhere
		{"e/ss*", 0, "system.slice/ssh.service"},
		{"^ssh", -ENOENT, NULL},
		{"ssh|cron", 0, "system.slice/cron.service system.slice/ssh.service"},
		{"ssh\\|cron", 0, "system.slice/cron.service system.slice/ssh.service"},
		{"^system.slice$,ssh*,^nosuch", 0, "system.slice system.slice/ssh.service"},
		{"[", -EINVAL, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[4096] = "";

		assert_int_equal(cgroup_select(&mount, cases[i].list, &names), cases[i].err);
		if (names.v.n > 1) // folders are in any order
			qsort(names.v.v, names.v.n, sizeof(*names.v.v), by_name);
		for (size_t k = 0; k < names.v.n; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 k ? " " : "", names.v.v[k]);
		if (cases[i].names)
			assert_string_equal(text, cases[i].names);
		cgroup_names_done(&names);
	}
	free(mount.path);
	assert_int_equal(cgroup_find_mount(&mount, "/nonexistent"), -ENOENT);
}

static void put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = text_dup_fmt("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_members(void **state)
{
	char top[] = "/tmp/cgroup_test.XXXXXX";
	struct map threads = {0}, ids = {0};

	assert_non_null(mkdtemp(top));
	auto_free char *group = text_dup_fmt("%s/a", top), *below = text_dup_fmt("%s/a/b", top),
		       *other = text_dup_fmt("%s/c", top), *proc = text_dup_fmt("%s/proc", top),
		       *self = text_dup_fmt("%s/proc/self", top);
	const char *const dirs[] = {group, below, other, proc, self};
	struct cgroup_mount mount = {.path = top};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		assert_int_equal(mkdir(dirs[i], 0700), 0);
	put(group, "tasks", "12\n7\n");
	put(group, "cgroup.threads", "13\n");
	put(below, "tasks", "99\n");
	put(other, "tasks", "5\n");
	put(self, "cgroup", "12:cpu,perf_event:/x\n3:perf_eventual:/\n0::/y\n");
	assert_int_equal(cgroup_members(&mount, "a", &threads, &ids), 0);
	assert_int_equal(threads.n, 3);
	assert_true(map_find(&threads, 12) && map_find(&threads, 7) && map_find(&threads, 99));
	map_clear(&threads);
	assert_int_equal(cgroup_hierarchy(&mount, top), 12);
	mount.unified = true;
	assert_int_equal(cgroup_members(&mount, "/a", &threads, &ids), 0);
	assert_int_equal(threads.n, 1);
	assert_int_equal(cgroup_hierarchy(&mount, top), 0);
	assert_int_equal(cgroup_members(&mount, "d", &threads, &ids), -ENOENT);
	map_done(&threads);
	map_done(&ids);
	auto_free char *clean = text_dup_fmt("rm -r %s", top);
	assert_int_equal(system(clean), 0);
}

static void test_drop_below(void **state)
{
	static const struct {
		const char *names[4], *kept;
	} cases[] = {
		{{"a/b", "a", "c"}, "a c"},
		{{"a", "a/b/c", "a/b", "ab"}, "a ab"},
		{{"a/b", "/", "c"}, "/"},
		{{"a/b", "a/bc", "a/b/"}, "a/b a/bc a/b/"},
		{{NULL}, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cgroup_names names = {0};
		char text[64] = "";

		for (size_t k = 0; k < ARRAY_SIZE(cases[i].names) && cases[i].names[k]; k++)
			vec_push(&names.v, xstrdup(cases[i].names[k]));
		cgroup_names_drop_below(&names);
		for (size_t k = 0; k < names.v.n; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 k ? " " : "", names.v.v[k]);
		assert_string_equal(text, cases[i].kept);
		cgroup_names_done(&names);
	}
}

RUN_TESTS(TEST(test_fake), TEST(test_members), TEST(test_drop_below))
