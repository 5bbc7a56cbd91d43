// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/trace/files.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
	NAMES_BYTES_MAX = 8 << 20,
	DESCRIPTORS_MAX = 1 << 18, // of all processes
	INHERITED_MAX = 4096,	   // more are asked for again
	CWD = -100,		   // AT_FDCWD: a descriptor of ours for the working directory
};

// A map's value.
#define NAME(value) ((uint32_t)(value))
#define IS_KIND (1ull << 32) // the name is how that of /proc begins
#define IS_CLOSED_AT_EXEC (1ull << 33)

struct process {
	struct map descriptors;
	bool is_gone;  // /proc has it no more
	bool is_whole; // every file with a path that it has is known
};

struct files {
	const char *root;
	bool follows;
	struct intern names;
	size_t names_bytes, descriptors_n;
	struct map processes; // -> struct process *
	uint32_t last_pid;    // 0: none
	struct process *last;
	char text[2 * PATH_MAX];
};

// ---- processes

static void forget_process(struct files *files, struct process *process)
{
	files->descriptors_n -= process->descriptors.n;
	map_done(&process->descriptors);
	free(process);
}

void files_forget(struct files *files)
{
	struct map_slot slot;

	for (size_t i = 0; map_next(&files->processes, &i, &slot);)
		forget_process(files, (struct process *)(uintptr_t)slot.value);
	map_clear(&files->processes);
	intern_done(&files->names);
	intern_init(&files->names);
	files->names_bytes = 0;
	files->last_pid = 0;
}

static struct process *process_of(struct files *files, uint32_t pid)
{
	struct process *process;

	if (pid == files->last_pid && pid)
		return files->last;
	process = map_find_ptr(&files->processes, pid);
	if (!process) {
		process = NEW(struct process);
		map_set_ptr(&files->processes, pid, process);
	}
	files->last_pid = pid;
	files->last = process;
	return process;
}

struct files *files_new(const char *root, bool follows)
{
	struct files *files = NEW(struct files);

	files->root = root;
	files->follows = follows;
	intern_init(&files->names);
	return files;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	files_forget(files);
	intern_done(&files->names);
	map_done(&files->processes);
	free(files);
}

void files_ended(struct files *files, uint32_t pid)
{
	struct process *process = map_find_ptr(&files->processes, pid);

	if (!process)
		return;
	forget_process(files, process);
	map_remove(&files->processes, pid);
	files->last_pid = 0;
}

void files_forked(struct files *files, uint32_t parent, uint32_t child)
{
	struct process *from = map_find_ptr(&files->processes, parent), *to;
	struct map_slot slot;

	files_ended(files, child); // another one that had its number
	if (!from || !from->descriptors.n || from->descriptors.n > INHERITED_MAX)
		return;
	to = process_of(files, child);
	for (size_t i = 0; map_next(&from->descriptors, &i, &slot);)
		*map_at(&to->descriptors, slot.key, NULL) = slot.value;
	files->descriptors_n += to->descriptors.n;
	to->is_whole = from->is_whole;
}

static void forget(struct files *files, struct process *process, int32_t fd)
{
	files->descriptors_n -= map_remove(&process->descriptors, (uint32_t)fd);
}

void files_execed(struct files *files, uint32_t pid)
{
	struct process *process = map_find_ptr(&files->processes, pid);
	struct map kept = {0};
	struct map_slot slot;

	if (!process)
		return;
	for (size_t i = 0; map_next(&process->descriptors, &i, &slot);) {
		if (!(slot.value & IS_CLOSED_AT_EXEC))
			*map_at(&kept, slot.key, NULL) = slot.value;
	}
	files->descriptors_n -= process->descriptors.n - kept.n;
	map_done(&process->descriptors);
	process->descriptors = kept;
}

// ---- names

static void set_value(struct files *files, struct process *process, int32_t fd, uint64_t value)
{
	bool is_new;

	*map_at(&process->descriptors, (uint32_t)fd, &is_new) = value;
	files->descriptors_n += is_new;
}

// Before a name is given out, as that would end its life.
static void keep_bound(struct files *files)
{
	if (files->names_bytes > NAMES_BYTES_MAX || files->descriptors_n > DESCRIPTORS_MAX)
		files_forget(files);
}

static uint32_t keep_name(struct files *files, const char *name)
{
	size_t before = files->names.strings.n;
	uint32_t id = intern_text(&files->names, name);

	if (files->names.strings.n > before)
		files->names_bytes += strlen(name) + 1;
	return id;
}

// What /proc says of it now, in files->text.
static bool ask(struct files *files, struct process *process, uint32_t pid, int32_t fd)
{
	char path[PATH_MAX];
	ssize_t n;

	if (process->is_gone)
		return false;
	if (fd == CWD)
		snprintf(path, sizeof(path), "%s/proc/%u/cwd", files->root, pid);
	else
		snprintf(path, sizeof(path), "%s/proc/%u/fd/%d", files->root, pid, fd);
	n = readlink(path, files->text, PATH_MAX - 1);
	if (n <= 0) {
		snprintf(path, sizeof(path), "%s/proc/%u", files->root, pid);
		process->is_gone = access(path, F_OK) < 0;
		return false;
	}
	files->text[n] = '\0';
	return true;
}

// That it has a path is no news.
static uint32_t kind_shown(const struct files *files, uint32_t id)
{
	return strcmp(intern_get(&files->names, id), "/") ? id : 0;
}

// The name's id; 0: not known.
static uint32_t name_of(struct files *files, struct process *process, uint32_t pid, int32_t fd)
{
	uint64_t *value = map_find(&process->descriptors, (uint32_t)fd);

	if (value && !(*value & IS_KIND))
		return NAME(*value);
	// Or another kind of file has that number by now.
	if (!ask(files, process, pid, fd) ||
	    (value && !text_starts(files->text, intern_get(&files->names, NAME(*value)))))
		return value ? kind_shown(files, NAME(*value)) : 0;
	// It was a pipe's or the like, and a file has that number by now.
	if (!value && process->is_whole && fd != CWD && files->text[0] == '/')
		return 0;
	set_value(files, process, fd,
		  keep_name(files, files->text) | (value ? *value & IS_CLOSED_AT_EXEC : 0));
	return NAME(*map_find(&process->descriptors, (uint32_t)fd));
}

const char *files_name(struct files *files, uint32_t pid, int32_t fd)
{
	struct process *process;
	uint32_t id;

	if (fd < 0 || !pid)
		return NULL;
	keep_bound(files);
	process = process_of(files, pid);
	if (!files->follows)
		return ask(files, process, pid, fd) ? files->text : NULL;
	id = name_of(files, process, pid, fd);
	return id ? intern_get(&files->names, id) : NULL;
}

const char *files_known_name(struct files *files, uint32_t pid, int32_t fd)
{
	struct process *process;
	const uint64_t *value;
	uint32_t id;

	if (fd < 0 || !pid || !files->follows)
		return NULL;
	keep_bound(files);
	process = process_of(files, pid);
	value = map_find(&process->descriptors, (uint32_t)fd);
	id = !value ? 0 : *value & IS_KIND ? kind_shown(files, NAME(*value)) : NAME(*value);
	return id ? intern_get(&files->names, id) : NULL;
}

static bool closes_at_exec(const struct files *files, uint32_t pid, const char *fd)
{
	char path[PATH_MAX];
	auto_free char *text = NULL;
	const char *flags;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%s", pid, fd);
	if (file_read_at(files->root, path, &text, NULL) < 0) {
		err_clear();
		return false;
	}
	flags = strstr(text, "flags:");
	return flags && strtoull(flags + strlen("flags:"), NULL, 8) & O_CLOEXEC;
}

void files_look(struct files *files, uint32_t pid)
{
	struct process *process = process_of(files, pid);
	const struct dirent *entry;
	char path[PATH_MAX];
	uint64_t fd;
	DIR *dir;

	if (ask(files, process, pid, CWD))
		set_value(files, process, CWD, keep_name(files, files->text));
	snprintf(path, sizeof(path), "%s/proc/%u/fd", files->root, pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (num_parse_u64(str_of(entry->d_name), &fd) || fd > INT32_MAX ||
		    !ask(files, process, pid, (int32_t)fd))
			continue;
		set_value(files, process, (int32_t)fd,
			  keep_name(files, files->text) |
				  (closes_at_exec(files, pid, entry->d_name) ? IS_CLOSED_AT_EXEC : 0));
	}
	process->is_whole = dir && files->follows;
	if (dir)
		closedir(dir);
}

// ---- calls

// A call, what it does, and which bit of which argument says that the new descriptor is closed at exec.
struct files_about {
	const char *name;
	void (*take)(struct files *files, struct process *process, const struct files_call *call,
		     const struct files_about *about);
	const char *name_made; // of the new file in /proc
	bool is_kind;	       // it begins with that
	int8_t flags_arg;      // -1: none
	uint32_t closed_at_exec;
};

static uint64_t flags_of(const struct files_call *call, const struct files_about *about)
{
	bool is_closed = about->flags_arg < 0 ? about->closed_at_exec
					      : call->args[about->flags_arg] & about->closed_at_exec;

	return is_closed ? IS_CLOSED_AT_EXEC : 0;
}

// The path from the root directory, or as it was given where the directory is not known; in files->text.
static void resolve(struct files *files, struct process *process, const struct files_call *call,
		    int32_t dir)
{
	const char *path = call->path, *base = "";

	if (*path != '/') {
		base = intern_get(&files->names, name_of(files, process, call->pid, dir));
		while (text_starts(path, "./"))
			path += 2;
	}
	snprintf(files->text, sizeof(files->text), "%s%s%s", base,
		 *base && !text_ends(base, "/") ? "/" : "", path);
}

static void opened(struct files *files, struct process *process, const struct files_call *call,
		   const struct files_about *about)
{
	bool is_at = text_starts(about->name, "openat");
	uint64_t flags = flags_of(call, about), how = 0;

	if (about->flags_arg >= 0)
		how = call->args[about->flags_arg];
	if (call->how) {
		memcpy(&how, call->how, sizeof(how));
		flags = how & O_CLOEXEC ? IS_CLOSED_AT_EXEC : 0;
	}
	// A file without a name, whose directory is the path.
	if (!call->path || !*call->path || (how & O_TMPFILE) == O_TMPFILE) {
		set_value(files, process, (int32_t)call->ret,
			  keep_name(files, "/") | IS_KIND | flags);
		return;
	}
	resolve(files, process, call, is_at ? (int32_t)call->args[0] : CWD);
	set_value(files, process, (int32_t)call->ret, keep_name(files, files->text) | flags);
}

static void made(struct files *files, struct process *process, const struct files_call *call,
		 const struct files_about *about)
{
	uint64_t flags = flags_of(call, about) | (about->is_kind ? IS_KIND : 0);

	set_value(files, process, (int32_t)call->ret, keep_name(files, about->name_made) | flags);
}

static void made_memory(struct files *files, struct process *process, const struct files_call *call,
			const struct files_about *about)
{
	if (!call->path) {
		made(files, process, call, about);
		return;
	}
	snprintf(files->text, sizeof(files->text), "%s%s (deleted)", about->name_made, call->path);
	set_value(files, process, (int32_t)call->ret,
		  keep_name(files, files->text) | flags_of(call, about));
}

static void changed_directory(struct files *files, struct process *process,
			      const struct files_call *call, const struct files_about *about)
{
	if (!call->path || !*call->path) {
		forget(files, process, CWD);
		return;
	}
	resolve(files, process, call, CWD);
	set_value(files, process, CWD, keep_name(files, files->text));
}

static void copy(struct files *files, struct process *process, const struct files_call *call,
		 int32_t to)
{
	uint32_t id = name_of(files, process, call->pid, (int32_t)call->args[0]);
	uint64_t *value = map_find(&process->descriptors, (uint32_t)call->args[0]);

	if (id)
		set_value(files, process, to, id);
	else if (value)
		set_value(files, process, to, *value & ~IS_CLOSED_AT_EXEC);
	else
		forget(files, process, to);
}

static void changed_directory_to(struct files *files, struct process *process,
				 const struct files_call *call, const struct files_about *about)
{
	copy(files, process, call, CWD);
}

static void set_closed_at_exec(struct process *process, int32_t fd, bool yes)
{
	uint64_t *value = map_find(&process->descriptors, (uint32_t)fd);

	if (value)
		*value = yes ? *value | IS_CLOSED_AT_EXEC : *value & ~IS_CLOSED_AT_EXEC;
}

static void copied(struct files *files, struct process *process, const struct files_call *call,
		   const struct files_about *about)
{
	if (call->ret == (int32_t)call->args[0])
		return; // dup2 of a descriptor to itself
	copy(files, process, call, (int32_t)call->ret);
	set_closed_at_exec(process, (int32_t)call->ret, flags_of(call, about));
}

static void controlled(struct files *files, struct process *process, const struct files_call *call,
		       const struct files_about *about)
{
	switch ((uint32_t)call->args[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		copy(files, process, call, (int32_t)call->ret);
		set_closed_at_exec(process, (int32_t)call->ret, call->args[1] == F_DUPFD_CLOEXEC);
		return;
	case F_SETFD:
		set_closed_at_exec(process, (int32_t)call->args[0], call->args[2] & FD_CLOEXEC);
	}
}

static void closed(struct files *files, struct process *process, const struct files_call *call,
		   const struct files_about *about)
{
	forget(files, process, (int32_t)call->args[0]);
}

// include/uapi/linux/close_range.h
static void closed_range(struct files *files, struct process *process,
			 const struct files_call *call, const struct files_about *about)
{
	enum { SET_AT_EXEC = 4 };
	VEC(uint32_t) within = {0};
	struct map_slot slot;

	for (size_t i = 0; map_next(&process->descriptors, &i, &slot);) {
		if (slot.key != (uint32_t)CWD && slot.key >= (uint32_t)call->args[0] &&
		    slot.key <= (uint32_t)call->args[1])
			vec_push(&within, (uint32_t)slot.key);
	}
	for (size_t i = 0; i < within.n; i++) {
		if (call->args[2] & SET_AT_EXEC)
			set_closed_at_exec(process, (int32_t)within.v[i], true);
		else
			forget(files, process, (int32_t)within.v[i]);
	}
	vec_done(&within);
}

enum { ALWAYS = -1 };

#define OPENS .take = opened
#define COPIES .take = copied
#define MAKES(what) .take = made, .name_made = what
#define AT_EXEC(arg, bit) .flags_arg = arg, .closed_at_exec = bit

static const struct files_about abouts[] = {
	{"accept", MAKES("socket"), .is_kind = true, AT_EXEC(ALWAYS, 0)},
	{"accept4", MAKES("socket"), .is_kind = true, AT_EXEC(3, O_CLOEXEC)},
	{"chdir", changed_directory},
	{"close", closed},
	{"close_range", closed_range},
	{"creat", OPENS, AT_EXEC(ALWAYS, 0)},
	{"dup", COPIES, AT_EXEC(ALWAYS, 0)},
	{"dup2", COPIES, AT_EXEC(ALWAYS, 0)},
	{"dup3", COPIES, AT_EXEC(2, O_CLOEXEC)},
	{"epoll_create", MAKES("anon_inode:[eventpoll]"), AT_EXEC(ALWAYS, 0)},
	{"epoll_create1", MAKES("anon_inode:[eventpoll]"), AT_EXEC(0, O_CLOEXEC)},
	{"eventfd", MAKES("anon_inode:[eventfd]"), AT_EXEC(ALWAYS, 0)},
	{"eventfd2", MAKES("anon_inode:[eventfd]"), AT_EXEC(1, O_CLOEXEC)},
	{"fchdir", changed_directory_to},
	{"fcntl", controlled},
	{"fcntl64", controlled},
	{"inotify_init", MAKES("anon_inode:inotify"), AT_EXEC(ALWAYS, 0)},
	{"inotify_init1", MAKES("anon_inode:inotify"), AT_EXEC(0, O_CLOEXEC)},
	{"io_uring_setup", MAKES("anon_inode:[io_uring]"), AT_EXEC(ALWAYS, 1)},
	{"memfd_create", made_memory, "/memfd:", .is_kind = true, AT_EXEC(1, 1)},
	{"open", OPENS, AT_EXEC(1, O_CLOEXEC)},
	{"openat", OPENS, AT_EXEC(2, O_CLOEXEC)},
	{"openat2", OPENS, AT_EXEC(ALWAYS, 0)},
	{"perf_event_open", MAKES("anon_inode:[perf_event]"), AT_EXEC(4, 8)},
	{"socket", MAKES("socket"), .is_kind = true, AT_EXEC(1, O_CLOEXEC)},
	{"timerfd_create", MAKES("anon_inode:[timerfd]"), AT_EXEC(1, O_CLOEXEC)},
};

static void made_unknown(struct files *files, struct process *process,
			 const struct files_call *call, const struct files_about *about)
{
	forget(files, process, (int32_t)call->ret);
}

static const struct files_about unknown = {"", made_unknown};

const struct files_about *files_about(const struct syscall_def *def)
{
	for (size_t i = 0; i < ARRAY_SIZE(abouts); i++) {
		if (!strcmp(abouts[i].name, def->name))
			return &abouts[i];
	}
	return def->ret == SYSCALL_RET_FD ? &unknown : NULL;
}

void files_called(struct files *files, const struct files_call *call)
{
	bool is_close = call->about->take == closed; // closes also when it fails

	if ((call->ret < 0 && !is_close) || call->ret > INT32_MAX || !call->pid)
		return;
	keep_bound(files);
	call->about->take(files, process_of(files, call->pid), call, call->about);
}
