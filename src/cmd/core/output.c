// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/output.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/str.h"

void output_remove_folder(const char *folder)
{
	static const char *const names[] = {"data", "kcore_dir/kallsyms", "kcore_dir/modules",
					    "kcore_dir/kcore"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", folder, names[i]);
		unlink(path);
	}
	auto_free char *dir = text_dup_fmt("%s/kcore_dir", folder);
	rmdir(dir);
	rmdir(folder);
}

bool output_keep_old(const char *path)
{
	auto_free char *old = text_dup_fmt("%s.old", path);
	auto_free char *data = text_dup_fmt("%s/data", path);
	struct stat st;

	if (stat(path, &st) != 0 || !(S_ISREG(st.st_mode) ? st.st_size : access(data, F_OK) == 0))
		return false;
	if (stat(old, &st) == 0 && S_ISDIR(st.st_mode))
		output_remove_folder(old);
	return rename(path, old) == 0;
}
