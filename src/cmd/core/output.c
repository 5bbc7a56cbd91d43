// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/output.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "sys/signals.h"

bool output_is_pipe(const char *output)
{
	struct stat st;

	if (output)
		return !strcmp(output, "-");
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

bool output_is_fifo(const char *output)
{
	struct stat st;

	return output && stat(output, &st) == 0 && S_ISFIFO(st.st_mode);
}

int output_open_fifo(const char *path)
{
	enum { LOOK_AGAIN_US = 20000 };
	int fd;

	while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
		if (signals_end_waits())
			return fail(EINTR, "ended before anybody read %s", path);
		usleep(LOOK_AGAIN_US);
	}
	if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
		return fail(errno, "can't open %s: %s", path, strerror(errno));
	return fd;
}

const char *output_path(const char *output)
{
	if (output_is_pipe(output) && isatty(STDOUT_FILENO))
		fail(EINVAL, "a recording is not for a terminal: give -o FILE, or pipe it");
	else if (output && !*output)
		fail(EINVAL, "-o needs the name of a file; '' is none (- is a pipe)");
	else
		return output ? output : "perf.data";
	return NULL;
}

void output_remove_folder(const char *folder)
{
	static const char *const names[] = {"data", "kcore_dir/kallsyms", "kcore_dir/modules",
					    "kcore_dir/kcore"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", folder, names[i]);
		unlink(path);
	}
	for (size_t i = 0;; i++) {
		auto_free char *path = text_dup_fmt("%s/data.%zu", folder, i);
		if (unlink(path) < 0)
			break;
	}
	auto_free char *dir = text_dup_fmt("%s/kcore_dir", folder);
	rmdir(dir);
	rmdir(folder);
}

int output_keep_old(const char *path)
{
	auto_free char *old = text_dup_fmt("%s.old", path);
	auto_free char *data = text_dup_fmt("%s/data", path);
	struct stat st, older;

	if (stat(path, &st) != 0 || !(S_ISREG(st.st_mode) ? st.st_size : access(data, F_OK) == 0))
		return 0;
	if (lstat(old, &older) == 0) {
		if (S_ISDIR(older.st_mode))
			output_remove_folder(old);
		else if (S_ISDIR(st.st_mode))
			unlink(old); // rename puts a folder in the place of none but a folder
	}
	if (rename(path, old) < 0)
		return fail(errno,
			    "can't keep the older recording %s as %s: %s; move one of them away, or "
			    "give another -o FILE",
			    path, old, strerror(errno));
	return 1;
}

int output_check_input(const char *output, const char *input)
{
	auto_free char *data = text_dup_fmt("%s/data", input);
	struct stat from, to;
	int err = !strcmp(input, "-") ? fstat(STDIN_FILENO, &from) : stat(input, &from);

	if (err == 0 && S_ISDIR(from.st_mode))
		err = stat(data, &from);
	if (err < 0 || stat(output, &to) < 0 || !S_ISREG(to.st_mode) || from.st_dev != to.st_dev ||
	    from.st_ino != to.st_ino)
		return 0;
	return fail(EINVAL, "%s would be overwritten while it is read: give another file than %s",
		    strcmp(input, "-") ? input : "standard input", output);
}

int output_file_open(struct replacing *file, const char *path)
{
	if (!output_is_fifo(path))
		return replacing_open(file, path, 0600);
	*file = (struct replacing){.fd = output_open_fifo(path)};
	return MIN(file->fd, 0);
}
