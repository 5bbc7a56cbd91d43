// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/tasks.h"
#include "base/err.h"
#include "prof/core/cgroups.h"

enum { MOST_IN_FILTER = 64 };

static void add_numbers(struct map *set, const char *text)
{
	struct str rest = str_of(text ? text : "");

	while (rest.n) {
		uint64_t id;

		if (!num_parse_u64(str_trim(str_cut(&rest, ',')), &id))
			*map_at(set, id, NULL) = 1;
	}
}

// Of a recording the same as when it was made, or who is asked for now.
static int of_recording(struct prof_tasks *tasks, struct prof *prof)
{
	const struct prof_options *options = prof->options;
	const struct feed *feed = prof->feed;
	bool asked = options->target.pids || options->target.tids;

	tasks->by_set = true;
	add_numbers(&tasks->set, options->target.pids);
	add_numbers(&tasks->set, options->target.tids);
	for (size_t i = 0; !asked && i < feed->recorded_tasks_n; i++)
		*map_at(&tasks->set, feed->recorded_tasks[i], NULL) = 1;
	tasks->processes = options->target.pids != NULL;
	tasks->follows = options->inherit_given ? options->inherit
			 : asked		? !options->target.tids
						: feed->recorded_children;
	return 0;
}

int prof_tasks_init(struct prof_tasks *tasks, struct prof *prof, const char *comms)
{
	const struct prof_options *options = prof->options;
	struct target_options wanted = {.pids = options->target.pids, .tids = options->target.tids};
	struct target target;
	int err;

	tasks->comms = comms;
	tasks->by_set = tasks->by_group = options->cgroups && prof->feed->is_live;
	prof->everywhere = true;
	if (comms || tasks->by_group)
		return 0;
	if (!feed_has_tasks(prof->feed)) {
		tasks->all = true;
		return 0;
	}
	if (!prof->feed->is_live)
		return of_recording(tasks, prof);
	// With -p and -t the kernel's filters do, which can't follow.
	tasks->follows =
		options->inherit_given ? options->inherit : prof->feed->options->workload != NULL;
	tasks->by_set = prof->feed->options->workload || tasks->follows;
	prof->follows = tasks->follows;
	if (!wanted.pids && !wanted.tids)
		return 0;
	wanted.per_thread = true;
	err = target_init(&target, &wanted);
	for (size_t i = 0; !err && i < target.threads.n; i++)
		*map_at(&tasks->set, (uint64_t)target.threads.v[i], NULL) = 1;
	if (!err)
		target_done(&target);
	// The kernel takes a page of filter text.
	tasks->by_set |= tasks->set.n > MOST_IN_FILTER;
	return err;
}

void prof_tasks_done(struct prof_tasks *tasks)
{
	map_done(&tasks->set);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// "pid==7 || (pid>=9&&pid<=12)"
static const char *pid_filter(const struct prof_tasks *tasks, struct prof *prof, const char *field)
{
	VEC(uint64_t) ids = {0};
	struct map_slot slot;
	struct out text;
	const char *ret;

	for (size_t i = 0; map_next(&tasks->set, &i, &slot);)
		vec_push(&ids, slot.key);
	if (ids.n)
		qsort(ids.v, ids.n, sizeof(*ids.v), ascending);
	out_init_memory(&text);
	for (size_t i = 0; i < ids.n;) {
		size_t last = i;

		while (last + 1 < ids.n && ids.v[last + 1] == ids.v[last] + 1)
			last++;
		if (i)
			out_text(&text, " || ");
		if (last == i)
			out_printf(&text, "%s==%llu", field, (unsigned long long)ids.v[i]);
		else
			out_printf(&text, "(%s>=%llu&&%s<=%llu)", field, (unsigned long long)ids.v[i],
				   field, (unsigned long long)ids.v[last]);
		i = last + 1;
	}
	out_char(&text, 0);
	ret = arena_strdup(&prof->arena, str_of(text.buf));
	out_done(&text);
	vec_done(&ids);
	return ret;
}

static const char *comm_filter(const struct prof_tasks *tasks, struct prof *prof, const char *field)
{
	struct str rest = str_of(tasks->comms);
	struct out text;
	const char *ret;

	out_init_memory(&text);
	while (rest.n) {
		struct str word = str_trim(str_cut(&rest, ','));
		bool glob = false;

		for (size_t i = 0; i < word.n; i++)
			glob |= strchr("*?[", word.p[i]) != NULL;
		out_printf(&text, "%s%s%s\"%.*s\"", text.n ? " || " : "", field,
			   glob ? "~" : "==", STR_FMT(word));
	}
	out_char(&text, 0);
	ret = arena_strdup(&prof->arena, str_of(text.buf));
	out_done(&text);
	return ret;
}

const char *prof_tasks_filter(const struct prof_tasks *tasks, struct prof *prof, const char *pid,
			      const char *comm)
{
	if (tasks->comms)
		return comm_filter(tasks, prof, comm);
	if (tasks->all || tasks->by_set)
		return NULL;
	return pid_filter(tasks, prof, pid);
}

static void start(struct prof_tasks *tasks, struct prof *prof)
{
	const struct target *target = prof->feed->target;

	tasks->started = true;
	// The command is there since the run began.
	for (size_t i = 0; target && prof->feed->options->workload && i < target->threads.n; i++) {
		if (target->threads.v[i] > 0)
			*map_at(&tasks->set, (uint64_t)target->threads.v[i], NULL) = 1;
	}
	if (prof->feed->workload_pid)
		*map_at(&tasks->set, (uint64_t)prof->feed->workload_pid, NULL) = 1;
}

void prof_tasks_record(struct prof_tasks *tasks, struct prof *prof,
		       const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;

	if (!tasks->follows || header->type != PERF_RECORD_FORK || !record_is_whole(header))
		return;
	if (!tasks->started)
		start(tasks, prof);
	if (map_find(&tasks->set, task->ptid) || map_find(&tasks->set, task->ppid))
		*map_at(&tasks->set, task->tid, NULL) = 1;
}

bool prof_tasks_slow(struct prof_tasks *tasks, struct prof *prof, uint32_t tid)
{
	const struct task *task;

	if (tasks->by_group)
		return prof_cgroups_has(prof, tid);
	if (!tasks->started)
		start(tasks, prof);
	if (map_find(&tasks->set, tid))
		return true;
	if (!tasks->processes)
		return false;
	// Of a recording -p means all threads of the process.
	task = sym_find_task(prof->feed->sym, tid);
	return task && task->pid != tid && map_find(&tasks->set, task->pid);
}
