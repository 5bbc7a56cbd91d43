// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/replace.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

// Without a name a file goes when we are killed.
static void open_part(struct replacing *file, mode_t mode)
{
	const char *slash = strrchr(file->target, '/');
	auto_free char *folder =
		slash ? text_dup_fmt("%.*s/", (int)(slash - file->target), file->target)
		      : xstrdup(".");

	file->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	file->nameless = file->fd >= 0;
	if (!file->nameless)
		file->fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static bool can_be_replaced(const char *path, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1 &&
	       !text_starts(path, "/dev/") && !text_starts(path, "/proc/") &&
	       access(path, W_OK) == 0;
}

int replacing_open(struct replacing *file, const char *path, mode_t mode)
{
	struct stat st;
	bool there = stat(path, &st) == 0;

	*file = (struct replacing){.fd = -1};
	if (!there && errno != ENOENT)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	if (!there || can_be_replaced(path, &st)) {
		file->target = file_follow_links(path);
		file->part = text_dup_fmt("%s.%d", file->target, (int)getpid());
		open_part(file, mode);
		if (file->fd >= 0 && there)
			(void)fchmod(file->fd, st.st_mode & 0777);
	}
	if (file->fd < 0 &&
	    (there || file->part)) { // its folder may be closed to us, not the file itself
		free(file->target);
		free(file->part);
		file->target = file->part = NULL;
		file->fd = open(path, O_WRONLY | (there ? 0 : O_CREAT) | O_TRUNC | O_CLOEXEC, mode);
	}
	return file->fd < 0 ? fail(errno, "can't create %s: %s", path, strerror(errno)) : 0;
}

int replacing_close(struct replacing *file, int err)
{
	bool named = file->part && !file->nameless;

	if (!err && file->nameless) {
		char by_fd[32];

		snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", file->fd);
		named = linkat(AT_FDCWD, by_fd, AT_FDCWD, file->part, AT_SYMLINK_FOLLOW) == 0;
		err = named ? 0 : -errno;
	}
	if (close(file->fd) < 0 && !err)
		err = -errno;
	if (!err && named && rename(file->part, file->target) < 0)
		err = -errno;
	if (err && named)
		unlink(file->part);
	free(file->target);
	free(file->part);
	*file = (struct replacing){.fd = -1};
	return err;
}
