// SPDX-License-Identifier: GPL-2.0-or-later
// Where the kernel's tracefs is. When nothing is mounted and we may, a mount of our own that no one else
// sees and that ends with us, however we end: nothing stays behind.
#pragma once
#include "base/str.h"
#include <stddef.h>
#include <stdint.h>

struct tracefs {
	char *path; // "/sys/kernel/tracing"; a private mount: "/proc/self/fd/N"
	int fd;	    // of the private mount, close-on-exec; -1: it was there already
};

// Finds it below root (NULL or "": the real one; below another root nothing is mounted). Looks at the
// usual places, then at the list of mounts, then (as root) mounts privately: by fsmount(2) since
// Linux 5.2, else with the help of a child in a mount namespace of its own. -ENOENT: the kernel has none or it is not mounted and may
// not be; -EACCES: it is there and can't be read; both with a sentence that names the command that helps.
int tracefs_enter(struct tracefs **ret, const char *root);
// Takes the given directory as it is.
void tracefs_enter_at(struct tracefs **ret, const char *path);
// Closes a private mount (which unmounts it). NULL is allowed.
void tracefs_leave(struct tracefs *tracefs);

// Reads a file ("events/sched/sched_switch/format"); as file_read_at: no sentence.
int tracefs_read(const struct tracefs *tracefs, const char *file, char **ret_text, size_t *ret_size);
// The number of a tracepoint or probe, as in perf_event_attr.config. No sentence.
int tracefs_read_id(const struct tracefs *tracefs, const char *system, const char *name,
		    uint64_t *ret);
// Gives the kernel a line, as one write, beside what the file has ("uprobe_events"). 0 or -errno, no sentence.
int tracefs_append(const struct tracefs *tracefs, const char *file, const char *line);
