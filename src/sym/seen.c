// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/seen.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "base/time.h"
#include "sym/idcache.h"
#include "sym/load.h"

static const char deleted[] = " (deleted)";

bool is_deleted_name(const char *name)
{
	return text_ends(name, deleted);
}

void seen_namespaces(struct sym *sym, const struct record_namespaces *record)
{
	enum { MOUNT = 5 }; // MNT_NS_INDEX of include/uapi/linux/perf_event.h
	size_t room = record->header.size - sizeof(*record);

	if (record->nr > MOUNT && room >= (MOUNT + 1) * sizeof(record->link[0]))
		*map_at(&sym->private->mount_spaces, record->pid, NULL) = record->link[MOUNT].ino;
}

static uint64_t namespace_of(const char *pid, const char *kind)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, kind);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static bool is_elsewhere(uint32_t pid, const char *kind)
{
	char text[16];
	uint64_t there;

	snprintf(text, sizeof(text), "%u", pid);
	there = namespace_of(text, kind);
	return there && there != namespace_of("self", kind);
}

// Is it the file that was mapped, as far as its inode tells? Numbers of processes come again, those of inodes on one
// device as good as never.
static bool is_same_inode(const struct dso_private *dso, const struct stat *st)
{
	return dso->file.words[1] && dso->file.words[1] == st->st_ino;
}

static bool can_look(const struct sym *sym, const struct dso_private *dso)
{
	return dso->pid && dso->pid != UINT32_MAX && !sym->options.other_machine &&
	       !(sym->options.symfs && *sym->options.symfs);
}

static bool stat_file(const char *path, struct stat *ret)
{
	return stat(path, ret) == 0 && S_ISREG(ret->st_mode);
}

enum seen {
	SEEN_SAME, // the name means the same here
	SEEN_PATH, // another path, in `ret`, leads to it
	SEEN_GONE, // the name is another file here, or none: only a build-id finds it
};

static enum seen seen_deleted(const struct sym *sym, const struct dso_private *dso, char *ret)
{
	const char *name = dso->dso.long_name;
	struct stat st;

	if (can_look(sym, dso)) {
		snprintf(ret, PATH_MAX, "/proc/%u/map_files/%llx-%llx", dso->pid,
			 (unsigned long long)dso->mapped_at, (unsigned long long)dso->mapped_end);
		if (stat_file(ret, &st) && (is_same_inode(dso, &st) || dso->dso.build_id.n))
			return SEEN_PATH;
	}
	// What took its place is another file, unless its build-id says otherwise.
	if (!dso->dso.build_id.n)
		return SEEN_GONE;
	if (snprintf(ret, PATH_MAX, "%s%.*s", sym->options.symfs ? sym->options.symfs : "",
		     (int)(strlen(name) - strlen(deleted)), name) >= PATH_MAX)
		return SEEN_GONE;
	return SEEN_PATH;
}

bool archived_file(const struct sym *sym, const char *name, char *ret)
{
	struct stat st;

	return sym->options.archive_dir && name[0] == '/' &&
	       snprintf(ret, PATH_MAX, "%s/files%s", sym->options.archive_dir, name) < PATH_MAX &&
	       stat_file(ret, &st);
}

// Costs some stat(2) calls. `ret` has PATH_MAX bytes. Needs the process to be there still: proc(5), root, map_files.
static enum seen file_of_map(const struct sym *sym, const struct dso *dso, char *ret)
{
	const struct dso_private *private = (const struct dso_private *)dso;
	bool is_other_space;
	struct stat st;

	if (dso->long_name[0] != '/')
		return SEEN_SAME;
	if (archived_file(sym, dso->long_name, ret))
		return SEEN_PATH;
	if (private->held && private->held->fd >= 0) {
		snprintf(ret, PATH_MAX, "/proc/self/fd/%d", private->held->fd);
		return SEEN_PATH;
	}
	if (is_deleted_name(dso->long_name))
		return seen_deleted(sym, private, ret);
	if (!can_look(sym, private))
		return SEEN_SAME;
	is_other_space = private->mount_space && private->mount_space != namespace_of("self", "mnt");
	if ((is_other_space || !private->mount_space) && is_elsewhere(private->pid, "mnt") &&
	    snprintf(ret, PATH_MAX, "/proc/%u/root%s", private->pid, dso->long_name) < PATH_MAX &&
	    stat_file(ret, &st) && (is_same_inode(private, &st) || dso->build_id.n))
		return SEEN_PATH;
	// A file of that name here is the container's only if the inode or the build-id says so.
	if (is_other_space && !dso->build_id.n &&
	    !(stat_file(dso->long_name, &st) && is_same_inode(private, &st)))
		return SEEN_GONE;
	return SEEN_SAME;
}

static bool has_its_id(const struct dso *dso, const char *path)
{
	struct build_id id;

	return file_build_id(path, &id) && same_build_id(&dso->build_id, id.bytes, id.n);
}

// Made when a recording was complete already: installed again, or copied there.
static bool is_younger(int fd, int64_t recorded_ns)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME &&
	       st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec > recorded_ns;
}

// Why a file is not, or not surely, the one that was mapped; NULL: nothing speaks against it.
static const char *contradiction(const struct sym *sym, const struct dso_private *dso, int fd,
				 const char *path)
{
	const struct file_facts *noted = dso->facts;
	bool is_by_name = dso->dso.build_id.n && dso->header_build_id;
	int64_t recorded_ns = sym->options.recorded_ns, changed_ns;
	enum likeness likeness;
	struct file_print print;
	struct stat st;

	if (noted && noted->print.size && file_print_read(fd, &print))
		return print.size == noted->print.size && print.hash == noted->print.hash
			       ? NULL
			       : "what is in it is not what was recorded";
	if ((dso->dso.build_id.n && !is_by_name) || !sym->options.same_host || fstat(fd, &st) < 0)
		return NULL;
	// A file system has another device's number when it is mounted again: with a build-id the inode is enough.
	likeness = file_likeness(&dso->file, fd, sym->options.same_boot && !is_by_name);
	// Not st_ctim: perf's cache of build-ids makes hard links, which move it.
	changed_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	// Build-ids were read at the end, by name: that of what had taken its place by then.
	if (is_by_name)
		return likeness == LIKE_OTHER && recorded_ns && changed_ns <= recorded_ns &&
				       !is_younger(fd, recorded_ns) && has_its_id(&dso->dso, path)
			       ? "it took that one's place while it was recorded"
			       : NULL;
	if (likeness == LIKE_OTHER)
		return "it has another inode than the recorded one";
	return recorded_ns && changed_ns > recorded_ns ? "it was changed after it was recorded"
						       : NULL;
}

static bool is_refused(const struct sym *sym, struct dso_private *dso, const char *path)
{
	auto_close int fd = file_open_plain(path, NULL);
	const char *why = fd < 0 ? NULL : contradiction(sym, dso, fd, path);

	if (why)
		dso->dso.note = arena_fmt(&sym->private->arena,
					  "%s is not surely the file that ran: %s", path, why);
	return why;
}

static enum verdict judge(const struct sym *sym, struct dso_private *dso, const char *path)
{
	const char *noted = dso->facts && sym->options.same_host ? dso->facts->path : NULL;
	bool is_other = is_refused(sym, dso, path), has_id = dso->dso.build_id.n;

	if (noted &&
	    (is_other || access(path, R_OK) < 0 || (has_id && !has_its_id(&dso->dso, path))) &&
	    access(noted, R_OK) == 0 && !is_refused(sym, dso, noted)) {
		dso->dso.note = NULL;
		return VERDICT_TAKE_NOTED;
	}
	dso->dso.is_other_file = is_other;
	// Nor is what the table says by that name about it.
	if (is_other && dso->header_build_id)
		dso->dso.build_id.n = 0;
	return is_other ? VERDICT_REFUSE : VERDICT_TAKE;
}

bool seen_own_path(const struct sym *sym, const struct dso *dso, char *ret)
{
	struct dso_private *private =
		dso_private_of((struct dso *)(uintptr_t)dso); // to keep the verdict
	const char *symfs = sym->options.symfs ? sym->options.symfs : "";
	enum seen seen = file_of_map(sym, dso, ret);

	if (seen != SEEN_SAME)
		return seen == SEEN_PATH;
	if ((size_t)snprintf(ret, PATH_MAX, "%s%s", symfs, dso->long_name) >= PATH_MAX)
		return false;
	if (*symfs || dso->kind != DSO_USER)
		return true;
	if (!private->verdict)
	private->verdict = judge(sym, private, ret);
	if (private->verdict == VERDICT_TAKE_NOTED)
		snprintf(ret, PATH_MAX, "%s", private->facts->path);
	return private->verdict != VERDICT_REFUSE;
}

// The number that the process has in its own pid namespace: the last of "NSpid:\t123\t1".
bool seen_inner_pid(uint32_t pid, uint64_t *ret)
{
	auto_free char *path = text_dup_fmt("/proc/%u/status", pid), *text = NULL;
	size_t n;

	if (file_read(path, 1 << 16, &text, &n) < 0)
		return false;
	for (struct str rest = {text, n}; rest.n;) {
		struct str line = str_cut(&rest, '\n'), number = {0};

		if (!str_starts(line, "NSpid:"))
			continue;
		while (line.n)
			number = str_cut(&line, '\t');
		return num_parse_u64(number, ret) == 0;
	}
	return false;
}

int64_t seen_start_ns(uint32_t pid)
{
	enum { FIELDS_BETWEEN = 20 }; // starttime is field 22, the name's end that of field 2
	auto_free char *path = text_dup_fmt("/proc/%u/stat", pid), *text = NULL;
	struct str rest, word = {0};
	uint64_t ticks, hz = (uint64_t)sysconf(_SC_CLK_TCK);

	if (file_read(path, 4096, &text, NULL) < 0 || !strrchr(text, ')')) {
		err_clear();
		return 0;
	}
	rest = str_of(strrchr(text, ')') + 1);
	for (int i = 0; i <= FIELDS_BETWEEN; i++)
		word = str_cut(&rest, ' ');
	if (num_parse_u64(word, &ticks) < 0 || !hz)
		return 0;
	return (int64_t)(time_now_ns(CLOCK_REALTIME) - time_now_ns(CLOCK_BOOTTIME) +
			 ticks * (NSEC_PER_SEC / hz));
}

bool seen_elsewhere(uint32_t pid)
{
	return is_elsewhere(pid, "mnt") || is_elsewhere(pid, "pid");
}

// Of a process that had another number inside: where it lay, if it does so still.
static bool noted_perfmap(const struct sym *sym, const char *name, char *ret)
{
	const struct file_facts *noted = sym_facts(sym, name, &(struct file_id){{0}});
	auto_close int fd = noted && noted->path && sym->options.same_host
				    ? file_open_plain(noted->path, NULL)
				    : -1;

	if (fd < 0 || file_likeness(&noted->id, fd, sym->options.same_boot) != LIKE_SAME)
		return false;
	snprintf(ret, PATH_MAX, "%s", noted->path);
	return true;
}

bool seen_perfmap(const struct sym *sym, uint32_t pid, char *ret)
{
	auto_free char *name = text_dup_fmt("/tmp/perf-%d.map", (int)pid);
	int held = sym->options.held ? held_perfmap(sym->options.held, pid) : -1;
	uint64_t inner;
	struct stat st;

	if (archived_file(sym, name, ret))
		return true;
	if (held >= 0) {
		snprintf(ret, PATH_MAX, "/proc/self/fd/%d", held);
		return true;
	}
	if (noted_perfmap(sym, name, ret))
		return true;
	if (!pid || sym->options.other_machine || (sym->options.symfs && *sym->options.symfs) ||
	    !seen_elsewhere(pid) || !seen_inner_pid(pid, &inner))
		return false;
	snprintf(ret, PATH_MAX, "/proc/%u/root/tmp/perf-%llu.map", pid, (unsigned long long)inner);
	return stat_file(ret, &st);
}
