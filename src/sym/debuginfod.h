// SPDX-License-Identifier: GPL-2.0-or-later
// Debug files and programs from debuginfod servers, by build-id, through elfutils' client (libdebuginfod.so.1, used when it
// is installed). Off unless DEBUGINFOD_URLS is set. The client keeps what it got, and what no server had, in its own
// cache (debuginfod_find_debuginfo(3), DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT).
#pragma once
#include <limits.h>
#include "sym/sym.h"

enum fetched { FETCH_DEBUG, FETCH_PROGRAM };

// The path of the file in the client's cache; false: no server has it, or none is to be asked. Waits for the network, tells how
// far it is on a terminal. `ret` has PATH_MAX bytes.
bool debuginfod_fetch(const struct build_id *id, enum fetched kind, const char *name, char *ret);
