// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/held.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/time.h"
#include "obj/elf.h"
#include "sym/seen.h"

enum {
	MOST_OPEN = 1024,
	MOST_PERFMAPS = 64,
	MOST_TRIES = 256, // who maps it may have ended each time
};

// A sample is looked at a second after it was taken at most.
static const uint64_t ENDED_NS = 3000000000, AGE_NS = 1000000000;

struct held *held_new(void)
{
	return NEW(struct held);
}

static void free_facts(struct file_facts *facts)
{
	if (!facts)
		return;
	free((char *)facts->name);
	free((char *)facts->path);
	free(facts);
}

static void close_perfmap(struct held_perfmap *map)
{
	if (map->folder >= 0)
		close(map->folder);
	if (map->fd >= 0)
		close(map->fd);
	map->folder = map->fd = -1;
}

void held_free(struct held *held)
{
	if (!held)
		return;
	vec_each(struct held_file *, it, &held->files) {
		if ((*it)->fd >= 0)
			close((*it)->fd);
		free((char *)(*it)->facts.name);
		free((*it)->path);
		free(*it);
	}
	vec_each(struct held_perfmap, it, &held->perfmaps) {
		close_perfmap(it);
		free_facts(it->facts);
	}
	vec_done(&held->perfmaps);
	vec_done(&held->files);
	map_done(&held->by_key);
	free(held->open);
	free(held);
}

// A quarter of what may be open at all.
static size_t most_open(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 64;
	return MAX(2, MIN(MOST_OPEN, limit.rlim_cur / 4));
}

static void close_file(const struct held *held, struct held_file *file)
{
	if (held->keeps_facts)
		held_look(file);
	close(file->fd);
	file->fd = -1;
}

static void keep_open(struct held *held, struct held_file *file)
{
	struct held_file **at;

	if (!held->open) {
		held->open_n = most_open();
		held->open = xcalloc(held->open_n, sizeof(*held->open));
	}
	at = &held->open[held->open_at++ % held->open_n];
	if (*at)
		close_file(held, *at);
	*at = file;
}

// -1: it is not there, or not as like as that.
static int open_like(const struct file_id *id, const char *path, enum likeness least)
{
	int fd = file_open_plain(path, NULL);
	enum likeness likeness = fd < 0 ? LIKE_OTHER : file_likeness(id, fd, true);

	if (likeness == LIKE_SAME || likeness == least)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_mapped(const struct record_mmap2 *record, const struct file_id *id, const char *name)
{
	auto_free char *root = text_dup_fmt("/proc/%u/root%s", record->pid, name);
	auto_free char *exe = text_dup_fmt("/proc/%u/exe", record->pid);
	auto_free char *map = text_dup_fmt("/proc/%u/map_files/%llx-%llx", record->pid,
					   (unsigned long long)record->start,
					   (unsigned long long)(record->start + record->len));
	const struct {
		const char *path;
		enum likeness least;
	} places[] = {
		// Where inodes say nothing, the map itself does, and what has the name as the process sees it.
		{name, LIKE_SAME}, {root, LIKE_SAME},	 {map, LIKE_UNKNOWN},
		{exe, LIKE_SAME},  {root, LIKE_UNKNOWN}, {name, LIKE_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int fd = open_like(id, places[i].path, places[i].least);

		if (fd >= 0)
			return fd;
	}
	return -1;
}

// NULL: there is no room. What is known by its name alone has room always.
static struct held_file *file_at(struct held *held, uint64_t key, const char *name, bool is_name)
{
	struct held_file *file = map_find_ptr(&held->by_key, key);

	if (file || (!is_name && held->files.n >= HELD_MOST_FILES))
		return file;
	file = NEW(struct held_file);
	file->facts.name = xstrdup(name);
	file->fd = -1;
	map_set_ptr(&held->by_key, key, file);
	vec_push(&held->files, file);
	return file;
}

static bool has_inode(const struct record_mmap2 *record)
{
	return !(record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) && record->ino;
}

struct held_file *held_note(struct held *held, const struct record_mmap2 *record, const char *name)
{
	struct file_id id;
	struct held_file *file;

	// "//anon" is no path; devices and shared memory have inodes, but no code to read.
	if (!has_inode(record) || name[0] != '/' || name[1] == '/' || text_starts(name, "/dev/"))
		return NULL;
	memcpy(&id, &record->maj, sizeof(id));
	file = file_at(held, hash_mix(hash_bytes(name, strlen(name)), hash_bytes(&id, sizeof(id))),
		       name, false);
	if (!file)
		return NULL;
	file->facts.id = id;
	file->pid = record->pid;
	file->start = record->start;
	file->end = record->start + record->len;
	file->used_ns = time_now_ns(CLOCK_MONOTONIC);
	file->is_ended = false;
	if (file->fd >= 0 || file->tries >= MOST_TRIES)
		return file;
	file->tries++;
	file->fd = open_mapped(record, &file->facts.id, name);
	err_clear();
	if (file->fd >= 0)
		keep_open(held, file);
	return file;
}

struct held_file *held_note_name(struct held *held, const char *name)
{
	return file_at(held, hash_mix(hash_bytes(name, strlen(name)), 0), name, true);
}

static void read_build_id(int fd, const char *name, struct build_id *ret)
{
	struct mapped image = {0};
	struct elf elf;

	if (file_map_fd(&image, fd, name) < 0)
		return;
	if (elf_init(&elf, image.p, image.n) == 0)
		ret->n = (uint8_t)elf_build_id(&elf, ret->bytes);
	file_unmap(&image);
}

// Where an open file lies, as we see it; NULL when that is its name, or nowhere.
static char *path_of(const struct file_facts *facts, int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;
	int again;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	if (strcmp(path, facts->name) == 0)
		return NULL;
	again = open_like(&facts->id, path, LIKE_SAME);
	if (again < 0)
		return NULL;
	close(again);
	return xstrdup(path);
}

void held_look(struct held_file *file)
{
	struct file_facts *facts = &file->facts;
	int fd = file->fd;

	if (file->is_looked_at)
		return;
	file->is_looked_at = true;
	if (fd < 0) {
		fd = file_open_plain(facts->name, NULL);
		if (fd < 0 || file_likeness(&facts->id, fd, true) == LIKE_OTHER) {
			facts->is_lost = true;
			if (fd >= 0)
				close(fd);
			err_clear();
			return;
		}
	}
	read_build_id(fd, facts->name, &facts->build_id);
	if (!facts->build_id.n)
		file_print_read(fd, &facts->print);
	file->path = path_of(facts, fd);
	facts->path = file->path;
	if (fd != file->fd)
		close(fd);
	err_clear();
}

// Who mapped it last still does.
static bool is_mapped(const struct held_file *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", file->pid,
		 (unsigned long long)file->start, (unsigned long long)file->end);
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	return errno != ENOENT && (kill((pid_t)file->pid, 0) == 0 || errno != ESRCH);
}

static struct held_perfmap *perfmap_of(struct held *held, uint32_t pid)
{
	vec_each(struct held_perfmap, it, &held->perfmaps) {
		if (it->pid == pid)
			return it;
	}
	return NULL;
}

static void open_perfmap(struct held_perfmap *map)
{
	char name[40];
	struct stat st;

	if (map->fd >= 0 || map->folder < 0)
		return;
	snprintf(name, sizeof(name), "perf-%llu.map", (unsigned long long)map->inner);
	map->fd = openat(map->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (map->fd >= 0 && (fstat(map->fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(map->fd);
		map->fd = -1;
	}
}

// NULL: there is no room for what is nowhere else.
static struct held_perfmap *new_perfmap(struct held *held, bool is_elsewhere)
{
	struct held_perfmap *oldest;

	if (held->perfmaps.n < MOST_PERFMAPS)
		return vec_add(&held->perfmaps);
	vec_each(struct held_perfmap, it, &held->perfmaps) {
		if (it->folder < 0 && !it->facts)
			return it;
	}
	if (!is_elsewhere)
		return NULL;
	oldest = &held->perfmaps.v[held->oldest_perfmap++ % MOST_PERFMAPS];
	close_perfmap(oldest);
	free_facts(oldest->facts);
	return oldest;
}

void held_note_code(struct held *held, uint32_t pid)
{
	struct held_perfmap *map = perfmap_of(held, pid);
	char path[64];

	if (!map) {
		uint64_t inner = 0;
		bool is_elsewhere = seen_elsewhere(pid) && seen_inner_pid(pid, &inner);

		map = new_perfmap(held, is_elsewhere);
		if (!map)
			return;
		*map = (struct held_perfmap){.pid = pid, .inner = inner, .folder = -1, .fd = -1};
		if (!is_elsewhere)
			return;
		snprintf(path, sizeof(path), "/proc/%u/root/tmp", pid);
		map->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	open_perfmap(map);
}

int held_perfmap(struct held *held, uint32_t pid)
{
	struct held_perfmap *map = perfmap_of(held, pid);

	if (!map)
		return -1;
	open_perfmap(map);
	return map->fd;
}

// Of an open map, heap, with its path; NULL: it lies nowhere here.
static struct file_facts *perfmap_facts(const struct held_perfmap *map)
{
	struct file_facts *facts = NEW(struct file_facts);

	facts->name = text_dup_fmt("/tmp/perf-%u.map", map->pid);
	if (map->fd >= 0 && file_id_read(map->fd, &facts->id))
		facts->path = path_of(facts, map->fd);
	err_clear();
	if (facts->path)
		return facts;
	free_facts(facts);
	return NULL;
}

static void leave_perfmap(const struct held *held, struct held_perfmap *map)
{
	open_perfmap(map);
	if (held->keeps_facts)
		map->facts = perfmap_facts(map);
	close_perfmap(map);
}

void held_age(struct held *held, const struct held_users *users)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);

	if (held->keeps_open || now < held->next_age_ns)
		return;
	held->next_age_ns = now + AGE_NS;
	for (size_t i = 0; held->open && i < held->open_n; i++) {
		struct held_file *file = held->open[i];

		if (!file || now - file->used_ns < ENDED_NS)
			continue;
		if (is_mapped(file) || (users && users->any(users->arg, file))) {
			file->used_ns = now;
			continue;
		}
		close_file(held, file);
		file->is_ended = true;
		held->open[i] = NULL;
		held->ended_n++;
	}
	vec_each(struct held_perfmap, map, &held->perfmaps) {
		if (map->folder >= 0 && kill((pid_t)map->pid, 0) < 0 && errno == ESRCH)
			leave_perfmap(held, map);
	}
}

void held_perfmaps_each(struct held *held, void (*take)(void *arg, const struct file_facts *facts),
			void *arg)
{
	vec_each(struct held_perfmap, map, &held->perfmaps) {
		open_perfmap(map);
		if (!map->facts)
			map->facts = perfmap_facts(map);
		if (map->facts)
			take(arg, map->facts);
	}
}
