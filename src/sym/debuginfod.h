// SPDX-License-Identifier: GPL-2.0-or-later
// Debug files and programs from debuginfod servers, by build-id, through elfutils' client (libdebuginfod.so.1, used when it
// is installed). Off unless DEBUGINFOD_URLS is set. The client keeps what it got, and what no server had, in its own
// cache (debuginfod_find_debuginfo(3), DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT).
#pragma once
#include <limits.h>
#include "sym/sym.h"

enum fetched { FETCH_DEBUG, FETCH_PROGRAM };

// How long a run still waits for servers, all files together: DEBUGINFOD_WAIT_SECONDS, or SONDE_DEBUGINFOD_WAIT (seconds, or
// with a unit).
enum { DEBUGINFOD_WAIT_SECONDS = 90 };
struct debuginfod_wait {
	uint64_t left_ns;
	bool told;
};
void debuginfod_wait_init(struct debuginfod_wait *wait);

struct debuginfod_file {
	const struct build_id *id;
	enum fetched kind;
	const char *name; // for messages
};

// Is any server to be asked?
bool debuginfod_is_on(void);

// The path of the file in the client's cache; false: no server has it, none is to be asked, or the time is over (which is told
// once). A thread asks, the caller waits for it and shows on a terminal how far it is; when it waits no longer the
// transfer ends in the background. `ret` has PATH_MAX bytes.
bool debuginfod_fetch(struct debuginfod_wait *wait, const struct debuginfod_file *file, char *ret);
