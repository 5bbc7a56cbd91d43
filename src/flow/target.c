// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/target.h"
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "sys/files_limit.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

struct numbers {
	VEC(uint32_t) list;
};

static void add_number(void *arg, uint32_t n)
{
	struct numbers *numbers = arg;

	for (size_t i = 0; i < numbers->list.n; i++) {
		if (numbers->list.v[i] == n)
			return;
	}
	vec_push(&numbers->list, n);
}

static int online_cpus(struct numbers *ret)
{
	auto_free char *text = NULL;
	struct str rest;

	int err = file_read("/sys/devices/system/cpu/online", 1 << 16, &text, NULL);
	if (err == -EMFILE && files_limit_raise())
		err = file_read("/sys/devices/system/cpu/online", 1 << 16, &text, NULL);
	if (err == -EMFILE)
		return files_limit_fail("the list of CPUs");
	if (err < 0)
		return fail(ENOENT,
			    "can't read which CPUs there are (/sys/devices/system/cpu/online)");
	rest = str_trim(str_of(text));
	if (num_parse_list(rest, 1 << 16, add_number, ret))
		return fail(EINVAL, "can't understand the list of CPUs '%s'", text);
	return 0;
}

static int choose_cpus(struct target *target, const char *wanted)
{
	struct numbers online = {0}, chosen = {0};
	int err = online_cpus(&online);

	if (!err && wanted) {
		if (num_parse_list(str_of(wanted), 1 << 16, add_number, &chosen))
			err = fail(EINVAL, "'%s' is no list of CPUs such as 0,2-3", wanted);
	}
	for (size_t i = 0; !err && i < chosen.list.n; i++) {
		bool there = false;

		for (size_t k = 0; k < online.list.n; k++)
			there |= online.list.v[k] == chosen.list.v[i];
		if (!there)
			err = fail(ENODEV, "there is no CPU %u online here (-C %s); CPUs are 0 to %u",
				   chosen.list.v[i], wanted, online.list.v[online.list.n - 1]);
	}
	const struct numbers *from = wanted ? &chosen : &online;
	for (size_t i = 0; !err && i < from->list.n; i++)
		vec_push(&target->cpus, (int)from->list.v[i]);
	vec_done(&online.list);
	vec_done(&chosen.list);
	return err;
}

static int add_threads_of(struct target *target, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	size_t before = target->threads.n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint64_t tid;

		if (!num_parse_u64(str_of(entry->d_name), &tid))
			vec_push(&target->threads, (pid_t)tid);
	}
	if (dir)
		closedir(dir);
	return target->threads.n > before ? 0 : -ESRCH;
}

static int add_listed(struct target *target, const char *text, bool processes)
{
	struct str rest = str_of(text);

	while (rest.p) {
		struct str word = str_trim(str_cut(&rest, ','));
		uint64_t id;
		char path[64];

		if (num_parse_u64(word, &id) || !id || id > INT_MAX)
			return fail(EINVAL, "'%.*s' is no %s id (in '%s')", STR_FMT(word),
				    processes ? "process" : "thread", text);
		snprintf(path, sizeof(path), "/proc/%d", (int)id);
		if (processes ? add_threads_of(target, (pid_t)id) < 0 : access(path, F_OK) < 0)
			return fail(ESRCH, "there is no %s %d", processes ? "process" : "thread",
				    (int)id);
		if (!processes)
			vec_push(&target->threads, (pid_t)id);
	}
	return 0;
}

// Of all processes, or of those of a user.
static void add_processes(struct target *target, const uint64_t *uid)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		char path[300];
		struct stat st;
		uint64_t pid;

		snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
		if (!num_parse_u64(str_of(entry->d_name), &pid) &&
		    (!uid || (stat(path, &st) == 0 && st.st_uid == *uid)))
			add_threads_of(target, (pid_t)pid);
	}
	if (dir)
		closedir(dir);
}

static int add_users(struct target *target, const char *text)
{
	struct passwd *user = getpwnam(text);
	uint64_t uid;

	if (user)
		uid = user->pw_uid;
	else if (num_parse_u64(str_of(text), &uid))
		return fail(EINVAL, "there is no user '%s'", text);
	add_processes(target, &uid);
	return target->threads.n ? 0 : fail(ESRCH, "user %s has no process", text);
}

int target_init(struct target *target, const struct target_options *options)
{
	int err = 0;

	*target = (struct target){.per_thread = options->per_thread,
				  .has_cpus = options->all_cpus || options->cpus,
				  .has_tasks = options->pids || options->tids || options->users,
				  .processes = options->pids || options->users};
	if (options->pids)
		err = add_listed(target, options->pids, true);
	if (!err && options->tids)
		err = add_listed(target, options->tids, false);
	if (!err && options->users)
		err = add_users(target, options->users);
	if (options->each_thread)
		add_processes(target, NULL);
	if (!err && !options->each_thread && !target->has_tasks && options->workload &&
	    !target->has_cpus) {
		target->has_workload = true;
		vec_push(&target->threads, options->workload);
	}
	if (!err && !target->threads.n) {
		target->system_wide = true;
		vec_push(&target->threads, -1);
	}
	if (!err && options->per_thread && target->system_wide)
		err = fail(EINVAL, "--per-thread needs a command or -p or -t, not the whole system");
	if (!err && options->per_thread)
		vec_push(&target->cpus, -1);
	else if (!err)
		err = choose_cpus(target, options->cpus);
	if (err)
		target_done(target);
	return err;
}

void target_done(struct target *target)
{
	vec_done(&target->cpus);
	vec_done(&target->threads);
}

// Not one that has ended and only waits for its parent. path: its folder in /proc.
static bool runs(const char *path)
{
	auto_free char *stat = NULL, *file = text_dup_fmt("%s/stat", path);
	const char *state;

	// What can't be looked at (hidepid, too many open files) may still be there.
	if (file_read(file, 4096, &stat, NULL) < 0)
		return access(path, F_OK) == 0;
	state = strrchr(stat, ')'); // a name may have one, too
	return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

// Its first thread may have ended before the others.
static bool process_runs(const char *path)
{
	auto_free char *folder = text_dup_fmt("%s/task", path);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool any = !dir && access(path, F_OK) == 0;

	while (!any && dir && (entry = readdir(dir))) {
		auto_free char *thread = text_dup_fmt("%s/%s", folder, entry->d_name);

		any = entry->d_name[0] != '.' && runs(thread);
	}
	if (dir)
		closedir(dir);
	return any;
}

bool target_alive(const struct target *target)
{
	for (size_t i = 0; i < target->threads.n; i++) {
		char path[64];

		if (target->threads.v[i] < 0)
			return true;
		snprintf(path, sizeof(path), "/proc/%d", (int)target->threads.v[i]);
		if (target->processes ? process_runs(path) : runs(path))
			return true;
	}
	return false;
}
