// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/synthesize.h"
#include "abi/record.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "base/time.h"
#include "flow/moved_text.h"
#include "sys/files_limit.h"
#include "sys/modules.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LARGEST_PROC_FILE = 64 << 20 };

#define ALIGN8(n) (((n) + 7) & ~(size_t)7)

// A record under construction; text fields are padded to 8 bytes with zeros, the trailer follows.
struct draft {
	union {
		struct perf_event_header header;
		struct record_mmap mmap;
		struct record_mmap2 mmap2;
		struct record_comm comm;
		struct record_task task;
		struct record_namespaces namespaces;
		struct record_cgroup cgroup;
		char bytes[sizeof(struct record_mmap2) + PATH_MAX + 64];
	};
};

static int emit(const struct synth *synth, struct draft *draft, uint32_t type, size_t size)
{
	draft->header.type = type;
	draft->header.size = (uint16_t)(size + synth->trailer_bytes);
	return synth->emit(synth->arg, &draft->header);
}

// Copies text, cut to PATH_MAX; returns the record's size with it.
static size_t put_text(struct draft *draft, size_t offset, struct str text)
{
	size_t n = MIN(text.n, (size_t)PATH_MAX - 1);

	memcpy(draft->bytes + offset, text.p, n);
	return offset + ALIGN8(n + 1);
}

struct status {
	pid_t tgid, ppid;
	char comm[64];
};

static int read_status(const char *root, pid_t tid, struct status *ret)
{
	char path[64];
	auto_free char *text = NULL;
	struct str rest;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	err = file_read_at(root, path, &text, NULL);
	if (err)
		return err;
	*ret = (struct status){-1, -1, ""};
	rest = str_of(text);
	while (rest.p) {
		struct str value = str_cut(&rest, '\n'), key = str_cut(&value, ':');
		uint64_t n = 0;

		value = str_trim(value);
		if (str_is(key, "Name"))
			snprintf(ret->comm, sizeof(ret->comm), "%.*s", STR_FMT(value));
		else if (str_is(key, "Tgid") && !num_parse_u64(value, &n))
			ret->tgid = (pid_t)n;
		else if (str_is(key, "PPid") && !num_parse_u64(value, &n))
			ret->ppid = (pid_t)n;
	}
	return ret->tgid < 0 ? -EINVAL : 0;
}

pid_t synth_process_of(pid_t tid)
{
	struct status status;
	int err = read_status("", tid, &status);

	return err ? tid : status.tgid;
}

static int emit_fork(const struct synth *synth, pid_t tid, const struct status *status)
{
	bool leader = tid == status->tgid;
	struct draft draft;

	memset(&draft, 0, sizeof(struct record_task) + synth->trailer_bytes);
	draft.header.misc = PERF_RECORD_MISC_FORK_EXEC;
	draft.task.pid = (uint32_t)status->tgid;
	draft.task.tid = (uint32_t)tid;
	draft.task.ppid = draft.task.ptid = (uint32_t)(leader ? status->ppid : status->tgid);
	return emit(synth, &draft, PERF_RECORD_FORK, sizeof(struct record_task));
}

static int emit_comm(const struct synth *synth, pid_t tid, const struct status *status)
{
	struct draft draft;

	memset(&draft, 0, sizeof(struct record_comm) + 80 + synth->trailer_bytes);
	draft.comm.pid = (uint32_t)status->tgid;
	draft.comm.tid = (uint32_t)tid;
	return emit(synth, &draft, PERF_RECORD_COMM,
		    put_text(&draft, offsetof(struct record_comm, comm), str_of(status->comm)));
}

// include/uapi/linux/perf_event.h: NET_NS_INDEX .. CGROUP_NS_INDEX.
static int emit_namespaces(const struct synth *synth, pid_t tid, const struct status *status)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	struct draft draft;
	size_t size = sizeof(struct record_namespaces) + sizeof(names) / sizeof(*names) * 16;

	memset(&draft, 0, size + synth->trailer_bytes);
	draft.namespaces.pid = (uint32_t)status->tgid;
	draft.namespaces.tid = (uint32_t)tid;
	draft.namespaces.nr = ARRAY_SIZE(names);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/proc/%d/ns/%s", synth->root, (int)status->tgid,
			 names[i]);
		if (stat(path, &st) == 0) {
			draft.namespaces.link[i].dev = st.st_dev;
			draft.namespaces.link[i].ino = st.st_ino;
		}
	}
	return emit(synth, &draft, PERF_RECORD_NAMESPACES, size);
}

// "start-end perms pgoff maj:min ino   path" of proc(5); false when the line is not one.
struct maps_line {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min, prot, flags;
	struct str path;
};

static bool parse_maps_line(struct str line, struct maps_line *ret)
{
	struct str end = str_cut(&line, ' '), start = str_cut(&end, '-');
	struct str perms = str_cut(&line, ' '), pgoff = str_cut(&line, ' ');
	struct str min = str_cut(&line, ' '), maj = str_cut(&min, ':'), ino = str_cut(&line, ' ');
	uint64_t major, minor;

	if (num_parse_hex(start, &ret->start) || num_parse_hex(end, &ret->end) || perms.n < 4 ||
	    num_parse_hex(pgoff, &ret->pgoff) || num_parse_hex(maj, &major) ||
	    num_parse_hex(min, &minor) || num_parse_u64(ino, &ret->ino))
		return false;
	ret->maj = (uint32_t)major;
	ret->min = (uint32_t)minor;
	ret->prot = (perms.p[0] == 'r' ? PROT_READ : 0) | (perms.p[1] == 'w' ? PROT_WRITE : 0) |
		    (perms.p[2] == 'x' ? PROT_EXEC : 0);
	ret->flags = perms.p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	while (line.n && line.p[0] == ' ')
		line = (struct str){line.p + 1, line.n - 1};
	ret->path = line;
	return true;
}

static int emit_map(const struct synth *synth, pid_t pid, const struct maps_line *line)
{
	bool data = !(line->prot & PROT_EXEC);
	struct str path = line->path.n ? line->path : STR("//anon");
	struct draft draft;

	if (data && (!synth->mmap_data || !(line->prot & PROT_READ)))
		return 0;
	memset(&draft, 0,
	       sizeof(struct record_mmap2) + MIN(path.n, (size_t)PATH_MAX) + 16 +
		       synth->trailer_bytes);
	draft.header.misc = PERF_RECORD_MISC_USER | (data ? PERF_RECORD_MISC_MMAP_DATA : 0);
	draft.mmap2.pid = draft.mmap2.tid = (uint32_t)pid;
	draft.mmap2.start = line->start;
	draft.mmap2.len = line->end - line->start;
	draft.mmap2.pgoff = line->pgoff;
	draft.mmap2.maj = line->maj;
	draft.mmap2.min = line->min;
	draft.mmap2.ino = line->ino;
	draft.mmap2.prot = line->prot;
	draft.mmap2.flags = line->flags;
	return emit(synth, &draft, PERF_RECORD_MMAP2,
		    put_text(&draft, offsetof(struct record_mmap2, filename), path));
}

static bool is_anonymous_code(const struct maps_line *line)
{
	return line->prot & PROT_EXEC && (!line->path.n || str_starts(line->path, "[anon") ||
					  str_starts(line->path, "/anon_hugepage"));
}

// Where code is a file's in spite of its lying in anonymous memory, the line says so.
static void name_moved_text(pid_t pid, const struct maps_line *file, struct maps_line *line)
{
	auto_free char *path = str_dup(file->path);
	const struct moved_text text = {
		.pid = pid,
		.path = path,
		.start = line->start,
		.end = line->end,
		.beside = file->start,
		.beside_pgoff = file->pgoff,
	};
	uint64_t pgoff;

	if (!moved_text_find(&text, &pgoff))
		return;
	line->path = file->path;
	line->pgoff = pgoff;
	line->maj = file->maj;
	line->min = file->min;
	line->ino = file->ino;
}

// The file that is mapped just before an address, or just behind it.
static const struct maps_line *file_beside(const struct maps_line *before,
					   const struct maps_line *line, struct str rest,
					   struct maps_line *room)
{
	if (before->ino && before->end == line->start)
		return before;
	return parse_maps_line(str_cut(&rest, '\n'), room) && room->ino && room->start == line->end
		       ? room
		       : NULL;
}

// `moved`: only the map that has that address, if it is one of a file's code that was moved; NULL: all.
static int emit_maps(const struct synth *synth, pid_t pid, const uint64_t *moved)
{
	char path[64];
	auto_free char *text = NULL;
	struct maps_line line = {0}, before = {0}, behind;
	struct str rest;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (file_read_at(synth->root, path, &text, NULL) < 0)
		return 0; // gone, or not ours to see
	rest = str_of(text);
	while (!err && rest.p) {
		const struct maps_line *file;

		if (!parse_maps_line(str_cut(&rest, '\n'), &line))
			continue;
		file = is_anonymous_code(&line) ? file_beside(&before, &line, rest, &behind) : NULL;
		if (file && !*synth->root)
			name_moved_text(pid, file, &line);
		if (!moved || (file && line.ino && *moved >= line.start && *moved < line.end))
			err = emit_map(synth, pid, &line);
		before = line;
	}
	return err;
}

static int emit_task(const struct synth *synth, pid_t tid)
{
	struct status status;
	int err = 0;

	if (read_status(synth->root, tid, &status) < 0)
		return 0;
	if (!synth->no_tasks) {
		err = emit_fork(synth, tid, &status);
		if (!err && synth->namespaces)
			err = emit_namespaces(synth, tid, &status);
		if (!err)
			err = emit_comm(synth, tid, &status);
	}
	if (!err && tid == status.tgid && !synth->no_mmaps)
		err = emit_maps(synth, tid, NULL);
	return err;
}

// Calls for each numbered entry of a directory, in ascending order.
static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return x < y ? -1 : x > y;
}

static int each_pid(const struct synth *synth, const char *path,
		    int (*call)(const struct synth *synth, pid_t pid))
{
	auto_free char *full = text_dup_fmt("%s%s", synth->root, path);
	auto_free pid_t *pids = NULL;
	size_t n = 0, capacity = 0;
	struct dirent *entry;
	DIR *dir = opendir(full);
	int err = 0;

	if (!dir)
		return errno == EMFILE ? files_limit_fail(path) : 0;
	while ((entry = readdir(dir))) {
		uint64_t pid;

		if (num_parse_u64(str_of(entry->d_name), &pid) || pid > INT_MAX)
			continue;
		if (n == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			pids = xreallocarray(pids, capacity, sizeof(*pids));
		}
		pids[n++] = (pid_t)pid;
	}
	closedir(dir);
	if (n)
		qsort(pids, n, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < n && !err; i++)
		err = call(synth, pids[i]);
	return err;
}

int synth_process(const struct synth *synth, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return each_pid(synth, path, emit_task);
}

int synth_moved_text(const struct synth *synth, pid_t pid, uint64_t addr)
{
	return emit_maps(synth, pid, &addr);
}

int synth_all_processes(const struct synth *synth)
{
	return each_pid(synth, "/proc", synth_process);
}

// Reading all of kallsyms costs the kernel some 100 ms; what names the text's start stands in its first lines.
#if defined(__x86_64__)
enum { KALLSYMS_BYTES = 1 << 16 };
// The kernel's image has one GiB, modules follow: Documentation/arch/x86/x86_64/mm.rst.
static uint64_t end_of_text(uint64_t start)
{
	return (start | ((1ull << 30) - 1)) + 1;
}
#else
enum { KALLSYMS_BYTES = LARGEST_PROC_FILE };
static uint64_t end_of_text(uint64_t start)
{
	return 0;
}
#endif

// -errno; 0 bytes: it can't be read.
static ssize_t read_start(const char *root, const char *path, char *text, size_t size)
{
	auto_free char *full = text_dup_fmt("%s%s", root, path);
	auto_close int fd = open(full, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0 && errno == EMFILE)
		return files_limit_fail(full);
	while (fd >= 0 && n < size && (got = read(fd, text + n, size - n)) > 0)
		n += (size_t)got;
	return (ssize_t)n;
}

// The kernel's map: from its first text symbol to its end, named after the symbol that tells by how much it was moved.
static int emit_kernel(const struct synth *synth, bool *ret_hidden)
{
	size_t size = synth->exact_end ? LARGEST_PROC_FILE : KALLSYMS_BYTES;
	auto_free char *text = xmalloc(size);
	uint64_t ref = 0, end = 0;
	const char *ref_name = NULL;
	ssize_t n = read_start(synth->root, "/proc/kallsyms", text, size);
	struct str rest = {text, (size_t)n};
	struct draft draft;
	char name[64];

	*ret_hidden = n >= 0;
	if (n < 0)
		return (int)n;
	while (rest.p && !(ref_name && !strcmp(ref_name, "_text") && end)) {
		struct str line = str_cut(&rest, '\n'), address = str_cut(&line, ' ');
		uint64_t addr;

		str_cut(&line, ' ');
		if (num_parse_hex(address, &addr) || !addr)
			continue;
		if (str_is(line, "_text") || (!ref && str_is(line, "_stext"))) {
			ref = addr;
			ref_name = str_is(line, "_text") ? "_text" : "_stext";
			end = synth->exact_end ? 0 : end_of_text(ref);
		} else if (str_is(line, "_etext")) {
			end = addr;
		}
	}
	if (!ref)
		return 0;
	*ret_hidden = false;
	memset(&draft, 0, sizeof(struct record_mmap) + 80 + synth->trailer_bytes);
	draft.header.misc = PERF_RECORD_MISC_KERNEL;
	draft.mmap.pid = UINT32_MAX;
	draft.mmap.start = ref;
	draft.mmap.len = end > ref ? end - ref : UINT64_MAX - ref;
	draft.mmap.pgoff = ref;
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", ref_name);
	return emit(synth, &draft, PERF_RECORD_MMAP,
		    put_text(&draft, offsetof(struct record_mmap, filename), str_of(name)));
}

static int emit_module(const struct synth *synth, const char *path, uint64_t start, uint64_t bytes)
{
	struct draft draft;

	memset(&draft, 0, sizeof(struct record_mmap) + strlen(path) + 16 + synth->trailer_bytes);
	draft.header.misc = PERF_RECORD_MISC_KERNEL;
	draft.mmap.pid = UINT32_MAX;
	draft.mmap.start = start;
	draft.mmap.len = bytes;
	return emit(synth, &draft, PERF_RECORD_MMAP,
		    put_text(&draft, offsetof(struct record_mmap, filename), str_of(path)));
}

static int emit_modules(const struct synth *synth)
{
	auto_free char *text = NULL;
	struct module_files files;
	struct str rest;
	int err = 0;

	if (file_read_at(synth->root, "/proc/modules", &text, NULL) < 0)
		return 0;
	module_files_init(&files, synth->root);
	rest = str_of(text);
	while (!err && rest.p) {
		struct str line = str_cut(&rest, '\n'), name = str_cut(&line, ' ');
		struct str size = str_cut(&line, ' ');
		const char *at = line.n ? memmem(line.p, line.n, " 0x", 3) : NULL;
		struct str address =
			at ? (struct str){at + 1, line.n - (size_t)(at + 1 - line.p)} : line;
		uint64_t start, bytes;

		if (!at || num_parse_hex(str_cut(&address, ' '), &start) || !start ||
		    num_parse_u64(size, &bytes))
			continue;
		auto_free char *path = module_files_find(&files, name);
		if (!path || strlen(path) >= PATH_MAX) {
			free(path);
			path = text_dup_fmt("[%.*s]", STR_FMT(name));
		}
		err = emit_module(synth, path, start, bytes);
	}
	module_files_done(&files);
	return err;
}

int synth_kernel(const struct synth *synth, bool *ret_hidden)
{
	int err = emit_kernel(synth, ret_hidden);

	return err || *ret_hidden ? err : emit_modules(synth);
}

struct cgroup_walk {
	const struct synth *synth;
	size_t mount_length;
	unsigned depth;
};

static int walk_cgroups(struct cgroup_walk *walk, char path[PATH_MAX])
{
	const char *shown = path[walk->mount_length] ? path + walk->mount_length : "/";
	size_t length = strlen(path);
	struct {
		struct file_handle handle;
		uint64_t id;
	} handle = {.handle = {.handle_bytes = sizeof(uint64_t)}};
	struct dirent *entry;
	struct draft draft;
	int mount_id, err;
	DIR *dir;

	// The cgroup id is the file handle (kernfs); include/linux/exportfs.h, FILEID_KERNFS.
	if (name_to_handle_at(AT_FDCWD, path, &handle.handle, &mount_id, 0) < 0)
		return 0;
	memset(&draft, 0,
	       sizeof(struct record_cgroup) + strlen(shown) + 16 + walk->synth->trailer_bytes);
	memcpy(&draft.cgroup.id, handle.handle.f_handle, sizeof(uint64_t));
	err = emit(walk->synth, &draft, PERF_RECORD_CGROUP,
		   put_text(&draft, offsetof(struct record_cgroup, path), str_of(shown)));
	dir = err || walk->depth > 64 ? NULL : opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + strlen(entry->d_name) + 2 > PATH_MAX)
			continue;
		snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
		walk->depth++;
		err = walk_cgroups(walk, path);
		walk->depth--;
		path[length] = 0;
	}
	if (dir)
		closedir(dir);
	return err;
}

int synth_cgroups(const struct synth *synth, const char *mount)
{
	struct cgroup_walk walk = {.synth = synth, .mount_length = strlen(mount)};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", mount);
	return walk_cgroups(&walk, path);
}
