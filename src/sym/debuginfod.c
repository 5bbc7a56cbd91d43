// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/debuginfod.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include "base/err.h"
#include "base/library.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
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

static const char library_file[] = "libdebuginfod.so.1";

static bool open_library(struct library *ret)
{
	static const char *const names[] = {
		"debuginfod_begin",	     "debuginfod_end",
		"debuginfod_find_debuginfo", "debuginfod_find_executable",
		"debuginfod_set_progressfn", "debuginfod_set_user_data",
		"debuginfod_get_user_data",
	};

	_Static_assert(sizeof(*ret) == sizeof(names), "one pointer a name");
	if (library_load(library_file, names, ARRAY_SIZE(names), ret))
		return true;
	inform("DEBUGINFOD_URLS is set, but libdebuginfod1 is not installed");
	return false;
}

// One file on its way. The thread that fetches it and who waits for it share it; the last one frees it.
struct fetch {
	struct library library;
	enum fetched kind;
	bool show;
	char hex[41], *name;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	// Below: under the lock.
	bool is_done, is_left; // nobody waits any more
	int error;
	long done, all; // bytes, for the progress
	char *path;
};

static void fetch_free(struct fetch *fetch)
{
	pthread_cond_destroy(&fetch->changed);
	pthread_mutex_destroy(&fetch->lock);
	free(fetch->name);
	free(fetch->path);
	free(fetch);
}

static struct fetch *fetch_of(struct client *client)
{
	static const char *const name = "debuginfod_get_user_data";
	void *(*get_data)(struct client * client) = NULL;

	return library_load(library_file, &name, 1, &get_data) ? get_data(client) : NULL;
}

// Other than 0 ends the transfer.
static int note_progress(struct client *client, long done, long all)
{
	struct fetch *fetch = fetch_of(client);
	bool is_left;

	if (!fetch)
		return 0;
	pthread_mutex_lock(&fetch->lock);
	fetch->done = done;
	fetch->all = all;
	is_left = fetch->is_left;
	pthread_mutex_unlock(&fetch->lock);
	return is_left;
}

static void *run_fetch(void *arg)
{
	struct fetch *fetch = arg;
	struct library *library = &fetch->library;
	struct client *client = library->begin();
	char *path = NULL;
	int fd = -ENOMEM;
	bool is_left;

	if (client) {
		library->set_data(client, fetch);
		library->set_progress(client, note_progress);
		fd = (fetch->kind == FETCH_DEBUG
			      ? library->find_debug
			      : library->find_program)(client, (const unsigned char *)fetch->hex, 0,
						       &path);
		if (fd >= 0)
			close(fd);
		library->end(client);
	}
	pthread_mutex_lock(&fetch->lock);
	fetch->is_done = true;
	fetch->error = fd < 0 ? fd : 0;
	fetch->path = path;
	is_left = fetch->is_left;
	pthread_cond_signal(&fetch->changed);
	pthread_mutex_unlock(&fetch->lock);
	if (is_left)
		fetch_free(fetch);
	return NULL;
}

static bool start_fetch(struct fetch *fetch)
{
	pthread_condattr_t clock;
	pthread_t thread;

	pthread_mutex_init(&fetch->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&fetch->changed, &clock);
	pthread_condattr_destroy(&clock);
	if (pthread_create(&thread, NULL, run_fetch, fetch))
		return false;
	pthread_detach(thread);
	return true;
}

static void show_progress(const struct fetch *fetch)
{
	if (fetch->all > 0)
		fprintf(stderr, "\rdebuginfod: %s %ld of %ld KB\033[K", fetch->name,
			fetch->done / 1024, fetch->all / 1024);
	else
		fprintf(stderr, "\rdebuginfod: %s\033[K", fetch->name);
}

// Until it is done or the time is over; under the lock.
static void wait_for(struct fetch *fetch, uint64_t wait_ns)
{
	const uint64_t step_ns = NSEC_PER_SEC / 5, start = time_now_ns(CLOCK_MONOTONIC);
	bool was_shown = false;
	uint64_t now = start;

	while (!fetch->is_done && now - start < wait_ns) {
		uint64_t until = now + MIN(step_ns, wait_ns - (now - start));
		struct timespec end = {.tv_sec = (time_t)(until / NSEC_PER_SEC),
				       .tv_nsec = (long)(until % NSEC_PER_SEC)};

		pthread_cond_timedwait(&fetch->changed, &fetch->lock, &end);
		now = time_now_ns(CLOCK_MONOTONIC);
		if (!fetch->is_done && fetch->show) {
			show_progress(fetch);
			was_shown = true;
		}
	}
	if (was_shown)
		fprintf(stderr, "\r\033[K");
}

void debuginfod_wait_init(struct debuginfod_wait *wait)
{
	const char *seconds = getenv("SONDE_DEBUGINFOD_WAIT");
	uint64_t ns;

	*wait = (struct debuginfod_wait){.left_ns = DEBUGINFOD_WAIT_SECONDS * NSEC_PER_SEC};
	if (seconds && num_parse_duration(str_of(seconds), NSEC_PER_SEC, &ns) >= 0)
		wait->left_ns = ns;
}

bool debuginfod_is_on(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

bool debuginfod_fetch(struct debuginfod_wait *wait, const struct debuginfod_file *file, char *ret)
{
	// What the client has, or knows that nobody has, needs no network.
	const uint64_t cached_ns = NSEC_PER_SEC / 2, start = time_now_ns(CLOCK_MONOTONIC);
	struct library library;
	struct fetch *fetch;
	bool is_done, good;
	uint64_t took_ns;

	if (!debuginfod_is_on() || !file->id->n || !open_library(&library))
		return false;
	fetch = NEW(struct fetch);
	fetch->library = library;
	fetch->kind = file->kind;
	fetch->name = xstrdup(file->name);
	err_tame(fetch->name);
	fetch->show = isatty(STDERR_FILENO) && log_get_level() >= LOG_WARN;
	build_id_text(file->id, fetch->hex);
	if (!start_fetch(fetch)) {
		fetch_free(fetch);
		return false;
	}
	pthread_mutex_lock(&fetch->lock);
	wait_for(fetch, MAX(wait->left_ns, cached_ns));
	is_done = fetch->is_done;
	good = is_done && !fetch->error && fetch->path &&
	       snprintf(ret, PATH_MAX, "%s", fetch->path) < PATH_MAX;
	if (is_done)
		inform("debuginfod: %s %s: %s", fetch->name, fetch->hex,
		       good ? ret : strerror(-fetch->error));
	fetch->is_left = true;
	pthread_mutex_unlock(&fetch->lock);
	took_ns = time_now_ns(CLOCK_MONOTONIC) - start;
	wait->left_ns -= MIN(wait->left_ns, took_ns);
	if (is_done) {
		fetch_free(fetch);
	} else if (!wait->told) {
		wait->told = true;
		warn("debuginfod: no answer about %s in time; what it would name stays unnamed "
		     "(SONDE_DEBUGINFOD_WAIT=SECONDS waits longer)",
		     file->name);
	}
	return good;
}
