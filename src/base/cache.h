// SPDX-License-Identifier: GPL-2.0-or-later
// Where sonde keeps what it can make anew: $XDG_CACHE_HOME/sonde, else ~/.cache/sonde.
#pragma once
#include "base/file.h"

// The path of `name` in the cache; its folder is made when it is not there. -errno (no sentence) when there is no
// home, or when it belongs to somebody else (sudo keeps HOME: nobody shall find files of root's in theirs).
int cache_file(const char *name, char *ret, size_t ret_size);
// What is kept at such a path, to be unmapped; false (no sentence): nothing that can be read.
bool cache_map(const char *path, struct mapped *ret);
// Keeps it there; false (no sentence): it can't be kept. The caller trims.
bool cache_put(const char *path, const void *data, size_t size);

// $SONDE_CACHE_SIZE.
uint64_t cache_limit_bytes(void);
// Keeps the cache below $SONDE_CACHE_SIZE (1G): when what lies there is larger, removes what was used the longest ago until
// three quarters are left; what was used within the last hour stays. To be called after something was put in. Reads the folder
// and those in it; no errors: what can't be removed stays.
void cache_trim(void);
