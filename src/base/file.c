// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_fd(int fd, size_t limit, char **ret_text, size_t *ret_size)
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
	err = file_read_fd(fd, SIZE_MAX / 2, &text, &n);
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

char *file_follow_links(const char *path)
{
	enum { LINKS_MAX = 40 }; // as the kernel has it
	char *at = realpath(path, NULL);
	char to[PATH_MAX];
	ssize_t n;

	if (at)
		return at;
	at = xstrdup(path);
	for (int i = 0; i < LINKS_MAX && (n = readlink(at, to, sizeof(to) - 1)) > 0; i++) {
		const char *slash = strrchr(at, '/');
		to[n] = '\0';
		char *next = to[0] == '/' || !slash
				     ? xstrdup(to)
				     : text_dup_fmt("%.*s/%s", (int)(slash - at), at, to);
		free(at);
		at = next;
	}
	return at;
}

bool file_is_same(const char *a, const char *b)
{
	struct stat at_a, at_b;
	bool has_a = stat(a, &at_a) == 0, has_b = stat(b, &at_b) == 0;

	if (has_a != has_b)
		return false;
	if (!has_a) {
		auto_free char *to_a = file_follow_links(a), *to_b = file_follow_links(b);
		const char *name_a = text_base_name(to_a), *name_b = text_base_name(to_b);
		auto_free char *in_a = text_dup_fmt("%.*s.", (int)(name_a - to_a), to_a);
		auto_free char *in_b = text_dup_fmt("%.*s.", (int)(name_b - to_b), to_b);

		return !strcmp(name_a, name_b) && stat(in_a, &at_a) == 0 && stat(in_b, &at_b) == 0 &&
		       at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
	}
	return (S_ISREG(at_a.st_mode) || S_ISFIFO(at_a.st_mode)) && at_a.st_dev == at_b.st_dev &&
	       at_a.st_ino == at_b.st_ino;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int check_plain(const char *path, const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return fail(S_ISDIR(st->st_mode) ? EISDIR : EINVAL, "%s is %s, not a file", path,
		    kind_of(st->st_mode));
}

int file_open_plain(const char *path, struct stat *ret_st)
{
	struct stat st;
	int fd, err;

	// Looked at before, as opening a device may act, and after, as it may be another one by then.
	if (stat(path, &st) < 0)
		return fail(errno, "can't open %s: %s", path, strerror(errno));
	err = check_plain(path, &st);
	if (err < 0)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(errno, "can't open %s: %s", path, strerror(errno));
	err = fstat(fd, &st) < 0 ? fail(errno, "can't look at %s: %s", path, strerror(errno))
				 : check_plain(path, &st);
	if (err < 0) {
		close(fd);
		return err;
	}
	if (ret_st)
		*ret_st = st;
	return fd;
}

int file_map_plain(struct mapped *ret, const char *path)
{
	auto_close int fd = file_open_plain(path, NULL);

	return fd < 0 ? fd : file_map_fd(ret, fd, path);
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
	return file_read_fd(fd, limit, ret_text, ret_size);
}

int file_read_plain(const char *path, size_t limit, char **ret_text, size_t *ret_size)
{
	struct stat st;
	auto_close int fd = file_open_plain(path, &st);
	int err;

	if (fd < 0)
		return fd;
	err = (uint64_t)st.st_size > limit ? -EFBIG : file_read_fd(fd, limit, ret_text, ret_size);
	if (err == -EFBIG)
		return fail(EFBIG, "%s is larger than %zu MiB", path, limit >> 20);
	return err < 0 ? fail(-err, "can't read %s: %s", path, strerror(-err)) : 0;
}

int file_read_at(const char *root, const char *path, char **ret_text, size_t *ret_size)
{
	auto_free char *full = text_dup_fmt("%s%s", root ? root : "", path);
	return file_read(full, FILE_KERNEL_MOST, ret_text, ret_size);
}

int file_read_i64(const char *root, const char *path, int64_t *ret)
{
	auto_free char *text = NULL;
	struct str s, line;
	int err = file_read_at(root, path, &text, NULL);

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
	return file_write_mode(path, 0600, data, size);
}

int file_write_mode(const char *path, mode_t mode, const void *data, size_t size)
{
	auto_free char *temporary = text_dup_fmt("%s.%d.new", path, (int)getpid());
	auto_close int fd = -1;
	int err;

	// What an ended process of this number left, or others put there to be written to.
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	err = write_all(fd, data, size);
	if (!err && mode != 0600 && fchmod(fd, mode) < 0)
		err = -errno;
	if (!err && rename(temporary, path) < 0)
		err = -errno;
	if (err) {
		unlink(temporary);
		return fail(-err, "can't write %s: %s", path, strerror(-err));
	}
	return 0;
}

int remove_tree(const char *path)
{
	char *roots[] = {(char *)path, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;
	int err = 0;

	if (!tree)
		return -errno;
	while ((entry = fts_read(tree))) {
		int now = 0;

		if (entry->fts_info == FTS_D)
			continue;
		if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
			now = -entry->fts_errno;
		else if (remove(entry->fts_path) < 0)
			now = -errno;
		err = err ? err : now;
	}
	fts_close(tree);
	return err;
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
