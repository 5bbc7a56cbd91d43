// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/archive.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/cache.h"
#include "base/err.h"
#include "sys/signals.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/num.h"
#include "base/unpack_limit.h"
#include "data/tar.h"

// How far a packed archive is unpacked, and why not further.
struct limit {
	uint64_t bytes;
	const char *reason;
};

static void lower(struct limit *limit, uint64_t bytes, const char *reason)
{
	if (bytes < limit->bytes)
		*limit = (struct limit){bytes, reason};
}

static struct limit limit_of(uint64_t packed_bytes, bool for_cache, int fd)
{
	struct limit limit = {UINT64_MAX, ""};

	lower(&limit, MAX((uint64_t)UNPACK_NO_MATTER, packed_bytes * UNPACK_MOST_RATIO),
	      "many times its size, as no archive of a recording does");
	// The unpacked tar and what is in it lie beside each other for a while.
	lower(&limit, unpack_room_bytes(fd) / 2, "for which the disk has no room");
	if (for_cache)
		lower(&limit, cache_limit_bytes(),
		      "more than the cache may hold: raise SONDE_CACHE_SIZE, or put it into the cache of build-ids "
		      "with: sonde unpack");
	return limit;
}

static int too_large(const char *path, const struct limit *limit)
{
	char size[NUM_SIZE_TEXT];

	return fail(EFBIG, "%s unpacks to more than %s, %s", path,
		    num_size_text(limit->bytes, size), limit->reason);
}

static int unpack_zstd(const struct mapped *file, const struct limit *limit, int to)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t room = ZSTD_DStreamOutSize();
	auto_free char *chunk = xmalloc(room);
	ZSTD_inBuffer in = {file->p, file->n, 0};
	uint64_t total = 0;
	size_t left = 1;
	int err = 0;

	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
	while (err >= 0 && in.pos < in.size) {
		ZSTD_outBuffer out = {chunk, room, 0};

		left = ZSTD_decompressStream(context, &out, &in);
		if (ZSTD_isError(left))
			err = -EINVAL;
		else if ((total += out.pos) > limit->bytes)
			err = -EFBIG;
		else
			err = write_all(to, chunk, out.pos);
	}
	ZSTD_freeDCtx(context);
	return err >= 0 && left ? -EINVAL : err;
}

static int unpack_with(const char *program, const char *path, const struct limit *most, int to)
{
	const struct rlimit limit = {most->bytes, most->bytes};
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int in = open(path, O_RDONLY);
		int null = open("/dev/null", O_WRONLY);

		signals_of_child();
		setrlimit(RLIMIT_FSIZE, &limit);
		if (in < 0 || dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		execlp(program, program, "-dc", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fail(errno, "can't run %s: %s", program, strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return fail(ENOENT, "%s needs %s to be unpacked, which is not installed", path,
			    program);
	struct stat st;
	if (status && fstat(to, &st) == 0 && (uint64_t)st.st_size >= most->bytes)
		return -EFBIG;
	return status ? fail(EINVAL, "%s is damaged: %s can't unpack it", path, program) : 0;
}

// The tar, mapped; of a packed one from a nameless file in the folder, which is open as `root`.
static int open_tar(const char *path, int root, bool for_cache, struct mapped *ret)
{
	static const struct {
		struct str magic;
		const char *program; // NULL: zstd, which is built in
	} kinds[] = {
		{{"\x28\xb5\x2f\xfd", 4}, NULL},
		{{"BZh", 3}, "bzip2"},
		{{"\x1f\x8b", 2}, "gzip"},
		{{"\xfd"
		  "7zXZ",
		  5},
		 "xz"},
	};
	int err = file_map(ret, path); // what is given to unpack may be a pipe

	if (err < 0)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_close int fd = -1;
		auto_free char *part = NULL;

		if (ret->n < kinds[i].magic.n || memcmp(ret->p, kinds[i].magic.p, kinds[i].magic.n))
			continue;
		part = text_dup_fmt(".unpack-%d", (int)getpid());
		fd = openat(root, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0) {
			err = fail(errno, "can't create a file to unpack %s: %s", path,
				   strerror(errno));
		} else {
			struct limit limit = limit_of(ret->n, for_cache, fd);

			unlinkat(root, part, 0);
			err = kinds[i].program ? unpack_with(kinds[i].program, path, &limit, fd)
					       : unpack_zstd(ret, &limit, fd);
			if (err == -EFBIG)
				err = too_large(path, &limit);
			else if (err < 0 && !kinds[i].program)
				fail(-err, "can't unpack %s: %s", path,
				     err == -EINVAL ? "it is damaged" : strerror(-err));
		}
		file_unmap(ret);
		return err < 0 ? err : file_map_fd(ret, fd, path);
	}
	struct limit limit = limit_of(UINT64_MAX / UNPACK_MOST_RATIO, for_cache, root);
	if (ret->n > limit.bytes) {
		file_unmap(ret);
		return too_large(path, &limit);
	}
	return 0;
}

// The folder that holds a name, made part by part without following links; *ret_last is the name in it.
static int open_parent(int root, const char *name, const char **ret_last)
{
	int at = dup(root);

	for (const char *slash; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		auto_free char *part = str_dup((struct str){name, (size_t)(slash - name)});
		int next;

		mkdirat(at, part, 0700);
		next = openat(at, part, O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC);
		close(at);
		at = next;
	}
	*ret_last = name;
	return at;
}

static int put_file(int parent, const char *name, struct str content)
{
	int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	err = write_all(fd, content.p, content.n);
	if (close(fd) < 0 && err >= 0)
		err = -errno;
	if (err < 0)
		unlinkat(parent, name, 0);
	return err;
}

// The only links there are: .build-id/xx/yyyy to ../../NAME/ID.
static bool link_is_safe(const struct tar_entry *entry)
{
	return text_starts(entry->name, ".build-id/") && text_starts(entry->link, "../../") &&
	       strlen(entry->name) > 13 && entry->name[12] == '/' &&
	       !strchr(entry->name + 13, '/') && tar_name_is_safe(entry->link + 6);
}

static int put_hardlink(int root, int parent, const char *name, const struct tar_entry *entry)
{
	const char *last;
	auto_close int from = open_parent(root, entry->link, &last);

	if (from < 0 || (linkat(from, last, parent, name, 0) < 0 && errno != EEXIST))
		return -errno;
	return 0;
}

// 1: refused.
static int put_entry(int root, const struct tar_entry *entry, bool all)
{
	auto_close int parent = -1;
	const char *last;

	if (entry->kind == TAR_FOLDER)
		return 0;
	if (!tar_name_is_safe(entry->name) || entry->kind == TAR_OTHER ||
	    (entry->kind == TAR_SYMLINK && !link_is_safe(entry)) ||
	    (entry->kind == TAR_HARDLINK && !tar_name_is_safe(entry->link)))
		return 1;
	if (!all && text_starts(entry->name, "files/"))
		return 0;
	parent = open_parent(root, entry->name, &last);
	if (parent < 0)
		return errno == ELOOP || errno == ENOTDIR ? 1 : -errno;
	if (!*last)
		return 1;
	switch (entry->kind) {
	case TAR_FILE:
		return put_file(parent, last, entry->content);
	case TAR_SYMLINK:
		return symlinkat(entry->link, parent, last) < 0 && errno != EEXIST ? -errno : 0;
	default:
		return put_hardlink(root, parent, last, entry);
	}
}

int archive_unpack(const char *path, const char *folder, bool all, struct archive_counts *ret)
{
	auto_free struct tar_entry *entry = xmalloc(sizeof(*entry));
	auto_close int root = -1;
	struct mapped tar;
	struct str rest;
	int err = mkdirs(folder), state = 0;

	if (err < 0)
		return fail(-err, "can't make the folder %s: %s", folder, strerror(-err));
	root = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (root < 0)
		return fail(errno, "can't open %s: %s", folder, strerror(errno));
	err = open_tar(path, root, all, &tar);
	if (err < 0)
		return err;
	rest = (struct str){(const char *)tar.p, tar.n};
	while (err >= 0 && (state = tar_next(&rest, entry)) > 0) {
		err = put_entry(root, entry, all);
		ret->refused += err == 1;
		ret->files += err == 0 && entry->kind == TAR_FILE;
		if (err < 0)
			fail(-err, "can't unpack %s to %s: %s", entry->name, folder, strerror(-err));
	}
	file_unmap(&tar);
	if (err >= 0 && state < 0)
		err = fail(EINVAL, "%s is no tar archive, or damaged", path);
	return err < 0 ? err : 0;
}

static int unpack_whole(const char *path, const char *folder)
{
	struct archive_counts counts = {0};
	int err = archive_unpack(path, folder, true, &counts);

	if (err >= 0 && counts.refused)
		warn("%s: %u entr%s lead%s elsewhere and %s left out", path, counts.refused,
		     counts.refused == 1 ? "y" : "ies", counts.refused == 1 ? "s" : "",
		     counts.refused == 1 ? "was" : "were");
	return err;
}

static int unpack_into_cache(const char *path, const char *folder)
{
	auto_free char *part = text_dup_fmt("%s.%d", folder, (int)getpid());
	int err = unpack_whole(path, part);

	if (err < 0) {
		remove_tree(part);
		return err;
	}
	// Another process may have been faster.
	if (rename(part, folder) < 0) {
		err = -errno;
		remove_tree(part);
		if (err != -EEXIST && err != -ENOTEMPTY)
			return fail(-err, "can't make the folder %s: %s", folder, strerror(-err));
	}
	return 0;
}

// ---- where the cache can't be written: a folder for the time of this process

static const char temporary_start[] = "sonde-archive-";

static const char *temporary_root(void)
{
	const char *root = getenv("TMPDIR");

	return root && *root == '/' ? root : "/tmp";
}

// The lock is held as long as the folder is used, across all namespaces of processes. -1: somebody has it, or it is no
// folder of ours.
static int lock_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

// What processes left that were killed.
static void sweep(const char *root)
{
	enum { NEW_SECONDS = 10 }; // one that is just being made is not locked yet
	struct dirent *found;
	DIR *dir = opendir(root);
	struct stat st;

	while (dir && (found = readdir(dir))) {
		auto_free char *path = NULL;
		int lock;

		if (!text_starts(found->d_name, temporary_start))
			continue;
		path = text_dup_fmt("%s/%s", root, found->d_name);
		if (lstat(path, &st) < 0 || st.st_mtime > time(NULL) - NEW_SECONDS)
			continue;
		lock = lock_folder(path);
		if (lock < 0)
			continue;
		remove_tree(path);
		close(lock);
	}
	if (dir)
		closedir(dir);
}

static int unpack_for_now(const char *path, struct archive_beside *ret)
{
	const char *root = temporary_root();
	char *folder = text_dup_fmt("%s/%sXXXXXX", root, temporary_start);
	int err;

	sweep(root);
	if (!mkdtemp(folder)) {
		err = fail(errno, "can't make a folder in %s to unpack %s: %s", root, path,
			   strerror(errno));
		free(folder);
		return err;
	}
	*ret = (struct archive_beside){folder, true, lock_folder(folder)};
	err = unpack_whole(path, folder);
	if (err < 0)
		archive_beside_done(ret);
	return err;
}

void archive_beside_done(struct archive_beside *beside)
{
	if (beside->goes) {
		remove_tree(beside->folder);
		if (beside->lock >= 0)
			close(beside->lock);
	}
	free(beside->folder);
	*beside = (struct archive_beside){0};
}

static bool cannot_write(int err)
{
	return err == -EROFS || err == -EACCES || err == -EPERM || err == -ENOSPC || err == -EDQUOT;
}

void archive_beside_find(const char *recording, struct archive_beside *ret)
{
	auto_free char *path = text_dup_fmt("%s.archive", recording), *full = NULL;
	char name[64], folder[PATH_MAX];
	struct stat st;
	uint64_t key;
	int err;

	*ret = (struct archive_beside){0};
	if (strcmp(recording, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	full = realpath(path, NULL);
	key = hash_bytes(full ? full : path, strlen(full ? full : path));
	key = hash_mix(key, (uint64_t)st.st_size);
	key = hash_mix(key, (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
	snprintf(name, sizeof(name), "archive-%016llx", (unsigned long long)key);
	if (cache_file(name, folder, sizeof(folder)) < 0) {
		err = unpack_for_now(path, ret);
	} else {
		err = access(folder, X_OK) < 0 ? unpack_into_cache(path, folder) : 0;
		if (err >= 0)
			ret->folder = xstrdup(folder);
		else if (cannot_write(err))
			err = unpack_for_now(path, ret);
		cache_trim();
	}
	if (err < 0)
		warn("%s", err_sentence());
	err_clear();
}
