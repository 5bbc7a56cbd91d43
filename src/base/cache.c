// SPDX-License-Identifier: GPL-2.0-or-later
// What sonde can make anew lies in ~/.cache/sonde (base/cache.c): unwind tables, tables of symbols, what debug
// information said of addresses, unpacked archives. Above SONDE_CACHE_SIZE (1G) what was used the longest ago is removed.
#include "base/cache.h"
#include "base/err.h"
#include "base/num.h"
#include "base/vec.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
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

bool cache_map(const char *path, struct mapped *ret)
{
	if (access(path, R_OK) < 0)
		return false;
	if (file_map_plain(ret, path) >= 0)
		return true;
	err_clear();
	return false;
}

bool cache_put(const char *path, const void *data, size_t size)
{
	if (file_write(path, data, size) >= 0)
		return true;
	err_clear();
	return false;
}

struct entry {
	char *path;
	uint64_t bytes;
	time_t used;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

static void add_file(struct entry *entry, const struct stat *st)
{
	entry->bytes += (uint64_t)st->st_blocks * 512;
	entry->used = MAX(entry->used, MAX(st->st_atime, st->st_mtime));
}

// A file, or a folder with all that is in it.
static void measure(struct entry *entry, unsigned depth)
{
	enum { MOST_DEPTH = 32 };
	struct dirent *found;
	struct stat st;
	DIR *dir;

	if (lstat(entry->path, &st) < 0)
		return;
	// To read a folder is no use of it.
	if (S_ISDIR(st.st_mode))
		st.st_atime = st.st_mtime;
	add_file(entry, &st);
	if (!S_ISDIR(st.st_mode) || depth >= MOST_DEPTH || !(dir = opendir(entry->path)))
		return;
	while ((found = readdir(dir))) {
		struct entry inside = {0};

		if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
			continue;
		inside.path = text_dup_fmt("%s/%s", entry->path, found->d_name);
		measure(&inside, depth + 1);
		entry->bytes += inside.bytes;
		entry->used = MAX(entry->used, inside.used);
		free(inside.path);
	}
	closedir(dir);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)remove(path);
	return 0;
}

uint64_t cache_limit_bytes(void)
{
	const char *size = getenv("SONDE_CACHE_SIZE");
	uint64_t bytes;

	return size && num_parse_size(str_of(size), &bytes) >= 0 ? bytes : 1ull << 30;
}

void cache_trim(void)
{
	enum { IN_USE_SECONDS = 3600, MOST_OPEN = 16 };
	VEC(struct entry) entries = {0};
	uint64_t total = 0, limit = cache_limit_bytes();
	char folder[PATH_MAX];
	struct dirent *found;
	DIR *dir;

	if (cache_file(".", folder, sizeof(folder)) < 0 || !(dir = opendir(folder)))
		return;
	while ((found = readdir(dir))) {
		struct entry *entry;

		if (found->d_name[0] == '.' && (!found->d_name[1] || found->d_name[1] == '.'))
			continue;
		entry = vec_add(&entries);
		entry->path = text_dup_fmt("%s/%s", folder, found->d_name);
		measure(entry, 0);
		total += entry->bytes;
	}
	closedir(dir);
	if (total > limit && entries.n)
		qsort(entries.v, entries.n, sizeof(*entries.v), by_use);
	for (size_t i = 0; total > limit && i < entries.n; i++) {
		if (entries.v[i].used > time(NULL) - IN_USE_SECONDS)
			break;
		(void)nftw(entries.v[i].path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
		total -= entries.v[i].bytes;
		// Not again at the next file.
		limit = MIN(limit, cache_limit_bytes() / 4 * 3);
	}
	for (size_t i = 0; i < entries.n; i++)
		free(entries.v[i].path);
	vec_done(&entries);
}
