// SPDX-License-Identifier: GPL-2.0-or-later
// A file that takes its name when it is whole: until then what was there stays.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

// Only a plain file of ours is replaced; a link stays, and what it leads to is replaced or made. What is no plain file (a device,
// /dev/stdout), belongs to others or has other names is written into as it is, from its beginning.
struct replacing {
	int fd;		     // to write to; owned
	char *target, *part; // NULL: it is written into
	bool nameless; // part is the name that it gets before it is moved to target, no file yet
};
// With `mode`, less the umask; a file that is there keeps its own. -errno with a sentence; nothing is to be closed then.
int replacing_open(struct replacing *file, const char *path, mode_t mode);
// err: what went wrong with writing, -errno or 0; then the file is thrown away. -errno without a sentence.
int replacing_close(struct replacing *file, int err);
