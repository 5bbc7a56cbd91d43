// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/cgroup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/num.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>

static bool has_option(struct str options, const char *wanted)
{
	while (options.p)
		if (str_is(str_cut(&options, ','), wanted))
			return true;
	return false;
}

int cgroup_find_mount(struct cgroup_mount *ret, const char *root)
{
	auto_free char *text = NULL, *unified = NULL;
	size_t n;
	int err;

	if (!root)
		root = "";
	err = file_read_at(root, "/proc/self/mounts", &text, &n);
	if (err < 0)
		return fail(-err, "/proc/self/mounts can't be read: %s", strerror(-err));
	struct str rest = {text, n};
	while (rest.p) {
		struct str line = str_cut(&rest, '\n');

		str_cut(&line, ' ');
		struct str dir = str_cut(&line, ' '), type = str_cut(&line, ' ');
		struct str options = str_cut(&line, ' ');
		if (str_is(type, "cgroup") && has_option(options, "perf_event")) {
			ret->path = text_dup_fmt("%s%.*s", root, STR_FMT(dir));
			ret->unified = false;
			return 0;
		}
		if (str_is(type, "cgroup2") && !unified)
			unified = text_dup_fmt("%s%.*s", root, STR_FMT(dir));
	}
	if (!unified)
		return fail(ENOENT, "no cgroup hierarchy is mounted that perf events can use; try: "
				    "sudo mount -t cgroup2 none /sys/fs/cgroup");
	ret->path = unified;
	unified = NULL;
	ret->unified = true;
	return 0;
}

int cgroup_find_ids(struct cgroup_mount *ret, const char *root)
{
	auto_free char *text = NULL;
	struct str rest;
	size_t n;
	int err = cgroup_find_mount(ret, root);

	if (err < 0 || !ret->unified ||
	    file_read_at(root ? root : "", "/proc/self/cgroup", &text, &n) < 0)
		return err;
	for (rest = (struct str){text, n}; rest.n;) {
		struct str line = str_cut(&rest, '\n');

		str_cut(&line, ':');
		if (!has_option(str_cut(&line, ':'), "perf_event"))
			continue;
		free(ret->path);
		ret->path = NULL;
		return fail(ENOENT,
			    "events know control groups of the hierarchy perf_event, which is not mounted; try: "
			    "sudo mount -t cgroup -o perf_event none DIR");
	}
	return 0;
}

static int no_such_group(const struct cgroup_mount *mount, const char *name)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	auto_free char *parent =
		text_dup_fmt("%s/%.*s", mount->path, slash ? (int)(slash - name) : 0, name);
	VEC(const char *) names = {0};
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			vec_push(&names, xstrdup(entry->d_name));
	if (dir)
		closedir(dir);
	vec_push(&names, NULL);
	const char *near = *last ? nearest(last, names.v) : NULL;
	int err = fail(ENOENT, "there is no cgroup '%s' below %s%s%.*s%s%s", name, mount->path,
		       near ? "; did you mean '" : "", near && slash ? (int)(slash + 1 - name) : 0,
		       name, near ? near : "", near ? "'?" : "");
	for (size_t i = 0; i + 1 < names.n; i++)
		free((char *)names.v[i]);
	vec_done(&names);
	return err;
}

int cgroup_open(const struct cgroup_mount *mount, const char *name)
{
	auto_free char *path = text_dup_fmt("%s/%s", mount->path, name);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return no_such_group(mount, name);
	return fail(errno, "the cgroup %s can't be opened: %s", path, strerror(errno));
}

// The id in PERF_SAMPLE_CGROUP and PERF_RECORD_CGROUP (the kernfs id); -errno without a sentence.
static int id_of(int fd, uint64_t *ret)
{
	struct {
		struct file_handle handle;
		unsigned char bytes[MAX_HANDLE_SZ];
	} all = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	int mount_id;

	if (name_to_handle_at(fd, "", &all.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return -errno;
	if (all.handle.handle_bytes < sizeof(*ret))
		return -EINVAL;
	memcpy(ret, all.handle.f_handle, sizeof(*ret));
	return 0;
}

int cgroup_path(const struct cgroup_mount *mount, uint64_t id, char **ret)
{
	enum { BY_ID = 0xfe }; // include/linux/exportfs.h, FILEID_KERNFS
	struct {
		struct file_handle handle;
		uint64_t id;
	} handle = {.handle = {.handle_bytes = sizeof(id), .handle_type = BY_ID}};
	const size_t skip = strlen(mount->path);
	char link[64], path[PATH_MAX];
	ssize_t n;

	memcpy(handle.handle.f_handle, &id, sizeof(id));
	auto_close int top = open(mount->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	auto_close int fd = open_by_handle_at(top, &handle.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	if (strncmp(path, mount->path, skip))
		return -ENOENT;
	*ret = xstrdup(path[skip] ? path + skip : "/");
	return 0;
}

static void add_below(const struct cgroup_mount *mount, const char *name, struct cgroup_names *ret)
{
	auto_free char *path = text_dup_fmt("%s/%s", mount->path, name);
	DIR *dir = strlen(path) < PATH_MAX ? opendir(path) : NULL;
	struct dirent *entry;

	vec_push(&ret->v, xstrdup(*name ? name : "/"));
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		auto_free char *below = text_dup_fmt("%s%s%s", name, *name ? "/" : "", entry->d_name);
		add_below(mount, below, ret);
	}
	if (dir)
		closedir(dir);
}

static bool has(const struct cgroup_names *names, const char *name)
{
	for (size_t i = 0; i < names->v.n; i++)
		if (!strcmp(names->v.v[i], name))
			return true;
	return false;
}

// How many fit; < 0: that is no regular expression.
static int add_fitting(const char *pattern, int flags, const struct cgroup_names *all,
		       struct cgroup_names *ret)
{
	regex_t regex;
	int n = 0;

	if (regcomp(&regex, pattern, flags | REG_NOSUB))
		return -EINVAL;
	for (size_t i = 0; i < all->v.n; i++) {
		const char *name = all->v.v[i];

		if (regexec(&regex, strcmp(name, "/") ? name : "", 0, NULL, 0))
			continue;
		n++;
		if (!has(ret, name))
			vec_push(&ret->v, xstrdup(name));
	}
	regfree(&regex);
	return n;
}

static int add_pattern(const struct cgroup_mount *mount, const char *pattern,
		       const struct cgroup_names *all, struct cgroup_names *ret)
{
	// perf's are basic ones; what these don't fit may be meant as an extended one ("a|b").
	int n = add_fitting(pattern, 0, all, ret);

	if (n <= 0)
		n = MAX(n, add_fitting(pattern, REG_EXTENDED, all, ret));
	if (n < 0)
		return fail(EINVAL, "'%s' is no regular expression for names of cgroups", pattern);
	return n ? 0 : fail(ENOENT, "no cgroup below %s fits '%s'", mount->path, pattern);
}

int cgroup_select(const struct cgroup_mount *mount, const char *list, struct cgroup_names *ret)
{
	struct cgroup_names all = {0};
	struct str rest = str_of(list);
	size_t before = ret->v.n;
	int err = 0;

	while (rest.p && (!err || err == -ENOENT)) {
		auto_free char *word = str_dup(str_trim(str_cut(&rest, ',')));
		const char *name = word + (*word == '/');

		if (err)
			warn("%s", err_sentence());
		err = 0;
		if (!*name || !strpbrk(name, "{}[]()|*+?^$")) {
			name = *name ? name : "/";
			if (!has(ret, name))
				vec_push(&ret->v, xstrdup(name));
			continue;
		}
		if (!all.v.n)
			add_below(mount, "", &all);
		err = add_pattern(mount, name, &all, ret);
	}
	if (err == -ENOENT && ret->v.n > before) {
		warn("%s", err_sentence());
		err_clear();
		err = 0;
	}
	cgroup_names_done(&all);
	return err;
}

static bool is_below(const char *name, const char *above)
{
	size_t n = strlen(above);

	while (n && above[n - 1] == '/')
		n--;
	if (!n) // the root
		return strcmp(name, "/") != 0;
	return !strncmp(above, name, n) && name[n] == '/' && name[n + 1];
}

void cgroup_names_drop_below(struct cgroup_names *names)
{
	struct cgroup_names kept = {0};

	for (size_t i = 0; i < names->v.n; i++) {
		bool below = false;

		for (size_t k = 0; k < names->v.n && !below; k++)
			below = k != i && is_below(names->v.v[i], names->v.v[k]);
		if (!below)
			vec_push(&kept.v, xstrdup(names->v.v[i]));
	}
	cgroup_names_done(names);
	*names = kept;
}

void cgroup_names_done(struct cgroup_names *names)
{
	for (size_t i = 0; i < names->v.n; i++)
		free(names->v.v[i]);
	vec_done(&names->v);
	*names = (struct cgroup_names){0};
}

static void read_threads(int dir, const struct cgroup_mount *mount, struct map *threads)
{
	auto_close int fd =
		openat(dir, mount->unified ? "cgroup.threads" : "tasks", O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;
	char path[64];
	struct str rest;
	size_t n;

	// Through the descriptor, as a group of containers may have any name.
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || file_read(path, 64 << 20, &text, &n) < 0)
		return;
	for (rest = (struct str){text, n}; rest.n;) {
		uint64_t id = 0;

		if (!num_parse_u64(str_cut(&rest, '\n'), &id) && id)
			*map_at(threads, id, NULL) = 1;
	}
}

static void members_below(const struct cgroup_mount *mount, const char *name, struct map *threads,
			  struct map *ids)
{
	auto_free char *path = text_dup_fmt("%s/%s", mount->path, name);
	DIR *dir = strlen(path) < PATH_MAX ? opendir(path) : NULL;
	struct dirent *entry;
	uint64_t id = 0;

	if (!dir)
		return;
	if (id_of(dirfd(dir), &id) == 0)
		*map_at(ids, id, NULL) = 1;
	read_threads(dirfd(dir), mount, threads);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		auto_free char *below = text_dup_fmt("%s/%s", name, entry->d_name);
		members_below(mount, below, threads, ids);
	}
	closedir(dir);
}

int cgroup_members(const struct cgroup_mount *mount, const char *name, struct map *threads,
		   struct map *ids)
{
	int fd = cgroup_open(mount, name);

	if (fd < 0)
		return fd;
	close(fd);
	members_below(mount, name, threads, ids);
	return 0;
}

int cgroup_hierarchy(const struct cgroup_mount *mount, const char *root)
{
	auto_free char *text = NULL;
	struct str rest;
	size_t n;
	int err = file_read_at(root ? root : "", "/proc/self/cgroup", &text, &n);

	if (err < 0)
		return err;
	// "10:perf_event:/", "0::/user.slice"
	for (rest = (struct str){text, n}; rest.n;) {
		struct str line = str_cut(&rest, '\n'), number = str_cut(&line, ':'),
			   controllers = str_cut(&line, ':');
		uint64_t id = 0;

		if (num_parse_u64(number, &id) || id > INT_MAX)
			continue;
		if (mount->unified ? !id : has_option(controllers, "perf_event"))
			return (int)id;
	}
	return -ENOENT;
}
