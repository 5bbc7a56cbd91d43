// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int read_fd(int fd, size_t limit, char **ret_text, size_t *ret_size)
{
	size_t n = 0, capacity = 4096;
	char *text = xmalloc(capacity);

	for (;;) {
		ssize_t got = read(fd, text + n, capacity - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (got > 0 && n + (size_t)got > limit)) {
			int err = got < 0 ? -errno : -EFBIG;
			free(text);
			return err;
		}
		if (!got)
			break;
		n += (size_t)got;
		if (n + 1 == capacity) {
			capacity *= 2;
			text = xrealloc(text, capacity);
		}
	}
	text[n] = 0;
	*ret_text = text;
	if (ret_size)
		*ret_size = n;
	return 0;
}

int file_map_fd(struct mapped *ret, int fd, const char *name)
{
	struct stat st;
	char *text;
	size_t n;
	int err;

	if (fstat(fd, &st) < 0)
		return fail(errno, "can't look at %s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail(EISDIR, "%s is a directory, not a file", name);
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (p != MAP_FAILED) {
			*ret = (struct mapped){p, (size_t)st.st_size, false};
			return 0;
		}
	}
	err = read_fd(fd, SIZE_MAX / 2, &text, &n);
	if (err)
		return fail(-err, "can't read %s: %s", name, strerror(-err));
	*ret = (struct mapped){(uint8_t *)text, n, true};
	return 0;
}

int file_map(struct mapped *ret, const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(errno, "can't open %s: %s", path, strerror(errno));
	return file_map_fd(ret, fd, path);
}

void file_unmap(struct mapped *mapped)
{
	if (mapped->on_heap)
		free((void *)mapped->p);
	else if (mapped->p)
		munmap((void *)mapped->p, mapped->n);
	*mapped = (struct mapped){0};
}

int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_size)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return read_fd(fd, limit, ret_text, ret_size);
}

int file_read_at(const char *root, const char *path, size_t limit, char **ret_text, size_t *ret_size)
{
	auto_free char *full = text_dup_fmt("%s%s", root ? root : "", path);
	return file_read(full, limit, ret_text, ret_size);
}

int file_read_i64(const char *root, const char *path, int64_t *ret)
{
	auto_free char *text = NULL;
	struct str s, line;
	int err = file_read_at(root, path, 4096, &text, NULL);

	if (err)
		return err;
	s = str_of(text);
	line = str_trim(str_cut(&s, '\n'));
	return num_parse_i64(line, ret);
}

int write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

int file_write(const char *path, const void *data, size_t size)
{
	auto_free char *temporary = text_dup_fmt("%s.%d.new", path, (int)getpid());
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	err = write_all(fd, data, size);
	if (!err && rename(temporary, path) < 0)
		err = -errno;
	if (err) {
		unlink(temporary);
		return fail(-err, "can't write %s: %s", path, strerror(-err));
	}
	return 0;
}

int mkdirs(const char *path)
{
	auto_free char *copy = xstrdup(path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(copy, 0700) < 0 && errno != EEXIST ? -errno : 0;
}
