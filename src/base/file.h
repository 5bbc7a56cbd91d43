// SPDX-License-Identifier: GPL-2.0-or-later
// Whole files: mapped, read, written, looked for below a root.
#pragma once
#include "base/str.h"
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

// A file mapped read-only, or its content read where it can't be mapped.
struct mapped {
	const uint8_t *p;
	size_t n;
	bool on_heap;
};

int file_map(struct mapped *ret, const char *path); // -errno with a sentence
int file_map_fd(struct mapped *ret, int fd, const char *name_for_errors);

// Opens a plain file for reading and nothing else: a FIFO would wait for a writer, a device may act when it is opened. For
// files that sonde looks for by itself, in folders where others may have put anything; what a user names may be a pipe.
// ret_st may be NULL. -EISDIR or -EINVAL when it is something else; -errno with a sentence, which says what it is.
int file_open_plain(const char *path, struct stat *ret_st);
int file_map_plain(struct mapped *ret, const char *path); // likewise
void file_unmap(struct mapped *mapped);

// The file that a name leads to, by links also when it is not there yet; heap.
char *file_follow_links(const char *path);
// Whether two names lead to one plain file or FIFO, or would make one file where neither is there yet.
bool file_is_same(const char *a, const char *b);

// Reads all of a small file (also /proc, /sys), NUL-terminated on the heap. ret_size may be NULL.
// -EFBIG above `limit` bytes. No sentence: absence is often normal.
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_size);
// Likewise, of an open one.
int file_read_fd(int fd, size_t limit, char **ret_text, size_t *ret_size);
// Likewise of a plain file only, with a sentence.
int file_read_plain(const char *path, size_t limit, char **ret_text, size_t *ret_size);
// Same with a path made of `root` + `path` (fake /proc and /sys trees in tests), of what the kernel shows: at most FILE_KERNEL_MOST
// bytes. root may be "" or NULL.
enum { FILE_KERNEL_MOST = 256 << 20 };
int file_read_at(const char *root, const char *path, char **ret_text, size_t *ret_size);
// First line of a small file as a number; -EINVAL if it is not one.
int file_read_i64(const char *root, const char *path, int64_t *ret);

// Creates or replaces a file, 0600, through a temporary name beside it, so that readers never see
// half of it. -errno with a sentence.
int file_write(const char *path, const void *data, size_t size);
// Likewise, with another mode, whatever the umask is.
int file_write_mode(const char *path, mode_t mode, const void *data, size_t size);
// write(2) until done; -errno, no sentence.
int write_all(int fd, const void *data, size_t size);
// Removes a file or a folder with all that is in it; links are removed, not followed. Goes on behind what can't be removed;
// -errno of the first of them.
int remove_tree(const char *path);
// mkdir -p, 0700.
int mkdirs(const char *path);
