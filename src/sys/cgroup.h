// SPDX-License-Identifier: GPL-2.0-or-later
// Control groups as perf_event_open(2) takes them: by a descriptor of their directory in the perf_event
// hierarchy (version 1) or the unified one (version 2).
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct cgroup_mount {
	char *path;   // "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup"; the caller frees it
	bool unified; // version 2
};

// Where the hierarchy that counts for perf is mounted: perf_event of version 1, else version 2. root: of
// /proc/self/mounts; paths found are below root. -ENOENT with a sentence that says how to mount it.
int cgroup_find_mount(struct cgroup_mount *ret, const char *root);

// Opens NAME below the mount ("/" and "" are the root group); close-on-exec. -ENOENT with a sentence
// (nearest names among its siblings), or -errno.
int cgroup_open(const struct cgroup_mount *mount, const char *name);
// As cgroup_find_mount, the hierarchy whose ids samples have (PERF_SAMPLE_CGROUP): no version 2 where the kernel has perf_event in a version 1 that isn't
// mounted. -ENOENT with a sentence that says how to mount it.
int cgroup_find_ids(struct cgroup_mount *ret, const char *root);
// The path below the mount ("/", "/user.slice") of a group that is there; -errno without a sentence. Needs CAP_DAC_READ_SEARCH.
int cgroup_path(const struct cgroup_mount *mount, uint64_t id, char **ret);

// Groups that a list names, as perf has it: "a,b/c" are these; what has one of {}[]()|*+?^$ is a regular expression that is looked for
// anywhere in the names of all groups, parents first, without the slash before; an empty word is the root group, "/". None twice.
// A pattern that fits none is warned of; -ENOENT with a sentence when all of them do. Ended by cgroup_names_done.
struct cgroup_names {
	VEC(char *) v;
};
int cgroup_select(const struct cgroup_mount *mount, const char *list, struct cgroup_names *ret);
// Without those that lie below another one of them.
void cgroup_names_drop_below(struct cgroup_names *names);
void cgroup_names_done(struct cgroup_names *names);

// The threads that are in a group or in one below it now, as keys of `threads`, and the ids (cgroup_id) of these groups as keys of `ids`.
// 0, or -errno with a sentence.
int cgroup_members(const struct cgroup_mount *mount, const char *name, struct map *threads,
		   struct map *ids);
// The number that the hierarchy has in the kernel's events (cgroup:cgroup_attach_task, dst_root): /proc/self/cgroup of root; -ENOENT.
int cgroup_hierarchy(const struct cgroup_mount *mount, const char *root);
