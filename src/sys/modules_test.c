// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/modules.h"
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/test.h"

static const char *const folders[] =
	{"proc",	 "proc/sys",	      "proc/sys/kernel",	  "lib",
	 "lib/modules",	 "lib/modules/1.2-x", "lib/modules/1.2-x/kernel", "lib/modules/1.2-x/extra",
	 "lib/modules/9"};
static const struct {
	const char *path, *text;
} files[] = {
	{"proc/sys/kernel/osrelease", "1.2-x\n"},
	{"lib/modules/1.2-x/modules.dep",
	 "kernel/snd-hda.ko.xz: kernel/snd.ko.xz\nkernel/snd.ko.xz:\n"},
	{"lib/modules/1.2-x/kernel/snd.ko.xz", ""},
	{"lib/modules/1.2-x/extra/own-work.ko", ""},
	{"lib/modules/1.2-x/extra/notes.kotext", ""},
	{"lib/modules/9/other.ko", ""},
};

static const struct {
	const char *name, *path; // NULL: not there
} cases[] = {
	{"snd_hda", "/lib/modules/1.2-x/kernel/snd-hda.ko.xz"},
	{"snd", "/lib/modules/1.2-x/kernel/snd.ko.xz"},
	{"own_work", "/lib/modules/1.2-x/extra/own-work.ko"},
	{"own", NULL},
	{"own_work_more", NULL},
	{"notes", NULL},
	{"other", NULL}, // of another kernel; likewise behind a link
	{"", NULL},
};

static void finds_files(void **state)
{
	char root[] = "/tmp/modules_test.XXXXXX";
	struct module_files found;

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", root, files[i].path);
		assert_int_equal(file_write(path, files[i].text, strlen(files[i].text)), 0);
	}
	auto_free char *link = text_dup_fmt("%s/lib/modules/1.2-x/build", root);
	assert_int_equal(symlink("../9", link), 0);

	module_files_init(&found, root);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *path = module_files_find(&found, str_of(cases[i].name));

		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
		else
			assert_null(path);
	}
	module_files_done(&found);

	unlink(link);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", root, files[i].path);
		unlink(path);
	}
	for (size_t i = ARRAY_SIZE(folders); i--;) {
		auto_free char *path = text_dup_fmt("%s/%s", root, folders[i]);
		rmdir(path);
	}
	// Where there is nothing, nothing is found.
	module_files_init(&found, root);
	assert_null(module_files_find(&found, str_of("snd")));
	module_files_done(&found);
	assert_int_equal(rmdir(root), 0);
}

static void names(void **state)
{
	static const char *const texts[][2] = {{"/lib/modules/1/snd-hda.ko.xz", "snd_hda"},
					       {"x.ko", "x"},
					       {"ext4", "ext4"}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_free char *name = module_name_of(texts[i][0]);
		assert_string_equal(name, texts[i][1]);
	}
}

RUN_TESTS(TEST(finds_files), TEST(names))
