// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/debuginfod.h"
#include <dlfcn.h>
#include <stdio.h>
#include "base/log.h"
#include "sym/load.h"

struct client;
typedef int find_file(struct client *client, const unsigned char *id, int id_size, char **ret_path);
typedef int progress(struct client *client, long a, long b);

// Declared in elfutils/debuginfod.h, whose package the build does not need.
struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *client);
	find_file *find_debug, *find_program;
	void (*set_progress)(struct client *client, progress *progress);
	void (*set_data)(struct client *client, void *data);
	void *(*get_data)(struct client *client);
};

static bool open_library(struct library *ret)
{
	static const char *const names[] = {
		"debuginfod_begin",	     "debuginfod_end",
		"debuginfod_find_debuginfo", "debuginfod_find_executable",
		"debuginfod_set_progressfn", "debuginfod_set_user_data",
		"debuginfod_get_user_data",
	};
	void *symbols[ARRAY_SIZE(names)];
	// It stays: the client's threads and the network library behind it don't like to be unloaded.
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);

	if (!library) {
		inform("DEBUGINFOD_URLS is set, but libdebuginfod1 is not installed");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		symbols[i] = dlsym(library, names[i]);
		if (!symbols[i])
			return false;
	}
	_Static_assert(sizeof(*ret) == sizeof(symbols), "one pointer a name");
	memcpy(ret, symbols, sizeof(symbols));
	return true;
}

// What the client hands back while it works.
struct wanted {
	struct library library;
	const char *name;
	bool was_shown;
};

static struct wanted *wanted_of(struct client *client)
{
	void *(*get_data)(struct client * client) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");

	memcpy(&get_data, &found, sizeof(found));
	return get_data ? get_data(client) : NULL;
}

static int show_progress(struct client *client, long done, long all)
{
	struct wanted *wanted = wanted_of(client);

	if (!wanted)
		return 0;
	wanted->was_shown = true;
	if (all > 0)
		fprintf(stderr, "\rdebuginfod: %s %ld of %ld KB\033[K", wanted->name, done / 1024,
			all / 1024);
	else
		fprintf(stderr, "\rdebuginfod: %s\033[K", wanted->name);
	return 0;
}

bool debuginfod_fetch(const struct build_id *id, enum fetched kind, const char *name, char *ret)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct wanted wanted = {.name = name};
	struct library *library = &wanted.library;
	struct client *client;
	char hex[41], *path = NULL;
	int fd;

	if (!urls || !*urls || !id->n || !open_library(library))
		return false;
	client = library->begin();
	if (!client)
		return false;
	library->set_data(client, &wanted);
	if (isatty(STDERR_FILENO) && log_get_level() >= LOG_WARN)
		library->set_progress(client, show_progress);
	build_id_text(id, hex);
	fd = (kind == FETCH_DEBUG
		      ? library->find_debug
		      : library->find_program)(client, (const unsigned char *)hex, 0, &path);
	if (wanted.was_shown)
		fprintf(stderr, "\r\033[K");
	inform("debuginfod: %s %s: %s", name, hex, fd >= 0 ? path : strerror(-fd));
	if (fd >= 0)
		close(fd);
	library->end(client);
	if (fd < 0 || !path || snprintf(ret, PATH_MAX, "%s", path) >= PATH_MAX) {
		free(path);
		return false;
	}
	free(path);
	return true;
}
