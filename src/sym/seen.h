// SPDX-License-Identifier: GPL-2.0-or-later
// Files as the process saw them that mapped them: in another mount namespace (a container), or deleted since.
#pragma once
#include <limits.h>
#include "sym/private.h"

// The file that was mapped: as the process saw it, or the file of that name (below --symfs), or where the recording notes that it lay, unless
// something speaks against its being the one that ran. Then false, and `dso` has the reason. Costs some stat(2) calls; the first time
// also a read of up to 1 MB of a file that has no build-id. `ret` has PATH_MAX bytes.
bool seen_own_path(const struct sym *sym, const struct dso *dso, char *ret);
// Likewise the perf-PID.map of a process, from an archive or when that is in another pid or mount namespace; false: it is where it always is.
bool seen_perfmap(const struct sym *sym, uint32_t pid, char *ret);
// "/usr/bin/x (deleted)", as the kernel names what was replaced or removed.
// A file that an archive carries under its name: perf maps, jitdumps, files without a build-id.
bool archived_file(const struct sym *sym, const char *name, char *ret);
bool is_deleted_name(const char *name);
// Takes in a NAMESPACES record.
void seen_namespaces(struct sym *sym, const struct record_namespaces *record);
// When the process that has the number now was started, by the wall clock. 0: it is gone.
int64_t seen_start_ns(uint32_t pid);
// Has the process a /tmp or a number of its own, by its mount and pid namespaces?
bool seen_elsewhere(uint32_t pid);
// Its number in its own pid namespace. False: it is gone.
bool seen_inner_pid(uint32_t pid, uint64_t *ret);
