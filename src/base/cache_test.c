// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cache.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "base/str.h"
#include "base/test.h"

enum { BYTES = 100000 };

// A file of the cache that was last used so many hours ago.
static void put(const char *name, unsigned hours)
{
	static const char bytes[BYTES] = {1};
	time_t when = time(NULL) - (time_t)hours * 3600 - 60;
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
	char path[4096];

	assert_int_equal(cache_file(name, path, sizeof(path)), 0);
	assert_int_equal(file_write(path, bytes, sizeof(bytes)), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
	char path[4096];

	assert_int_equal(cache_file(name, path, sizeof(path)), 0);
	return access(path, F_OK) == 0;
}

static void oldest_go_first(void **state)
{
	char folder[] = "/tmp/sonde-cache-XXXXXX", path[4096], command[64];
	struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("SONDE_CACHE_SIZE", "450K", 1);
	put("new", 0);
	put("three", 3);
	put("two", 2);
	cache_trim();
	assert_true(is_there("new") && is_there("two") && is_there("three"));
	// A folder counts with what is in it, and goes as a whole.
	assert_int_equal(cache_file("archive", path, sizeof(path)), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	put("archive/file", 4);
	put("four", 5);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	cache_trim();
	// 500 KB of 450: three quarters, 337 KB, stay.
	assert_false(is_there("four"));
	assert_false(is_there("archive"));
	assert_true(is_there("three") && is_there("two") && is_there("new"));
	// What is in use stays, whatever the limit.
	setenv("SONDE_CACHE_SIZE", "1K", 1);
	cache_trim();
	assert_false(is_there("two") || is_there("three"));
	assert_true(is_there("new"));
	// Nothing to read there is no error.
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	cache_trim();
	assert_int_equal(system(command), 0);
}

RUN_TESTS(TEST(oldest_go_first))
