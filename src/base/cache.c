// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cache.h"
#include "base/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

int cache_file(const char *name, char *ret, size_t ret_size)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char folder[4096];
	int n, err;

	if (base && *base == '/')
		n = snprintf(folder, sizeof(folder), "%s/sonde", base);
	else if (home && *home == '/' && is_ours(home))
		n = snprintf(folder, sizeof(folder), "%s/.cache/sonde", home);
	else
		return -ENOENT;
	if (n >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	if (!is_ours(folder)) {
		err = mkdirs(folder);
		if (err < 0)
			return err;
		if (!is_ours(folder))
			return -EPERM;
	}
	n = snprintf(ret, ret_size, "%s/%s", folder, name);
	return n < (int)ret_size ? 0 : -ENAMETOOLONG;
}
