// SPDX-License-Identifier: GPL-2.0-or-later
// --cgroups of the scheduler's events is decided in user space. A record that nobody wants costs sonde 55 ns, but who switches
// pays for writing it: a switch took 1.0 us longer with oncpu --cgroups (2.7 us without anything, at 200,000 switches a
// second), two events of rundelay 1.8 us; counted by eBPF (top) it is 0.3 us. So a program could save two thirds. It can't drop
// a record, as it decides for all users of the tracepoint; it would have to write records of its own, where the common fields
// (interrupts, preemption) are not known to it, and know the groups of threads that a move tells of by their process alone. A
// filter of numbers of tasks is exact only until one is moved or started, before user space hears of it. Both would be wrong
// without a word now and then; the slower way is not.
#include "prof/core/cgroups.h"
#include "base/err.h"
#include "base/log.h"
#include <unistd.h>

struct prof_cgroups {
	struct map threads; // tid -> 1
	struct map ids;	    // of the groups and those below: id -> 1
	struct prof_event attach, start;
	const struct tp_field *started_pid; // of `start`
	const struct tp_field *pid, *root, *id;
	int hierarchy;
	bool started;
};

void prof_cgroups_event(struct prof *prof, struct prof_event *event, const char *key)
{
	static const char *const names[] = {"pid", "prev_pid", "next_pid", "parent_pid", "child_pid"};
	const struct feed_event *feed = event->feed;

	// What is only counted is so in the context where it happens.
	if (!prof->options->cgroups || !prof->feed->is_live || feed->foreign || feed->counts ||
	    !feed->event->tp || !feed->system || strcmp(feed->system, "sched") ||
	    (!key && prof->profiler->in_context))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct tp_field *field = tracepoint_field(feed->event->tp, names[i]);

		if (!field)
			continue;
		if (key && !strcmp(key, names[i]))
			event->about_n = 0;
		if (event->about_n < ARRAY_SIZE(event->about))
			event->about[event->about_n++] = field;
		if (key && !strcmp(key, names[i]))
			break;
	}
	if (!event->about_n)
		return;
	event->feed->everywhere = true;
	prof->ordered = prof->needs_tasks = prof->follows_cgroups = true;
}

// clone3(2) may start a task in a group that is not its parent's (CLONE_INTO_CGROUP, version 2), and nothing attaches it then.
static int found_start(void *arg, struct event *event, const char *system, const char *name)
{
	struct prof *prof = arg;
	struct prof_cgroups *cgroups = prof->cgroups;
	const struct tp_field *flags = tracepoint_field(event->tp, "clone_flags");

	cgroups->started_pid = tracepoint_field(event->tp, "pid");
	if (!cgroups->started_pid || !flags || flags->size != 8)
		return 0;
	cgroups->start.feed = feed_add(prof->feed, event, system, name);
	cgroups->start.feed->everywhere = true;
	cgroups->start.feed->filter = "clone_flags & 0x200000000";
	cgroups->start.feed->user = &cgroups->start;
	cgroups->start.label = name;
	return 0;
}

static int found(void *arg, struct event *event, const char *system, const char *name)
{
	struct prof *prof = arg;
	struct prof_cgroups *cgroups = prof->cgroups;

	cgroups->pid = tracepoint_field(event->tp, "pid");
	cgroups->root = tracepoint_field(event->tp, "dst_root");
	cgroups->id = tracepoint_field(event->tp, "dst_id");
	// Linux 5.5 made the id what user space knows.
	if (!cgroups->pid || !cgroups->root || !cgroups->id || cgroups->id->size != 8)
		return 0;
	cgroups->attach.feed = feed_add(prof->feed, event, system, name);
	cgroups->attach.feed->everywhere = true;
	cgroups->attach.feed->user = &cgroups->attach;
	cgroups->attach.label = name;
	return 0;
}

int prof_cgroups_open(struct prof *prof)
{
	if (!prof->follows_cgroups)
		return 0;
	prof->cgroups = NEW(struct prof_cgroups);
	if (prof->find(prof->feed, "cgroup:cgroup_attach_task", found, prof) < 0)
		err_clear();
	if (prof->find(prof->feed, "task:task_newtask", found_start, prof) < 0)
		err_clear();
	if (!prof->cgroups->attach.feed)
		warn("--cgroups: this kernel does not tell when a task moves to another group; the groups are those of the beginning");
	if (prof->options->to)
		warn("--to keeps the scheduler's events of all tasks, not of those of --cgroups alone");
	return 0;
}

void prof_cgroups_close(struct prof *prof)
{
	struct prof_cgroups *cgroups = prof->cgroups;

	if (!cgroups)
		return;
	map_done(&cgroups->threads);
	map_done(&cgroups->ids);
	free(cgroups);
	prof->cgroups = NULL;
}

static void look(struct prof *prof, struct map *threads)
{
	const struct cgroup_names *names = prof->feed->cgroups;

	for (size_t i = 0; names && i < names->v.n; i++) {
		if (cgroup_members(prof->feed->cgroup_mount, names->v.v[i], threads,
				   &prof->cgroups->ids) < 0)
			err_clear(); // it has gone meanwhile
	}
}

// When the events are switched on: who comes later is told by records.
static struct prof_cgroups *started(struct prof *prof)
{
	struct prof_cgroups *cgroups = prof->cgroups;

	if (cgroups && !cgroups->started) {
		cgroups->started = true;
		if (prof->feed->cgroup_mount)
			cgroups->hierarchy = cgroup_hierarchy(prof->feed->cgroup_mount, NULL);
		look(prof, &cgroups->threads);
	}
	return cgroups;
}

static void set(struct prof_cgroups *cgroups, uint32_t tid, bool is_in)
{
	if (is_in)
		*map_at(&cgroups->threads, tid, NULL) = 1;
	else
		map_remove(&cgroups->threads, tid);
}

bool prof_cgroups_has(struct prof *prof, uint32_t tid)
{
	const struct prof_cgroups *cgroups = started(prof);

	return !cgroups || map_find(&cgroups->threads, tid);
}

static bool is_of_groups(struct prof *prof, uint64_t id)
{
	struct prof_cgroups *cgroups = prof->cgroups;
	struct map threads = {0};

	if (!map_find(&cgroups->ids, id)) { // it may have been made meanwhile
		look(prof, &threads);
		map_done(&threads);
		*map_at(&cgroups->ids, id, NULL) |= 0;
	}
	return *map_find(&cgroups->ids, id) != 0;
}

// The kernel tells of a process by its first thread.
static void move(struct prof *prof, uint32_t pid, bool is_in)
{
	set(prof->cgroups, pid, is_in);
	vec_each(struct task *, task, &prof->feed->sym->tasks)
		if ((*task)->pid == pid && !(*task)->exited)
			set(prof->cgroups, (*task)->tid, is_in);
}

static void place_started(struct prof *prof, uint32_t tid)
{
	auto_free char *path = text_dup_fmt("/proc/%u", tid);
	struct map threads = {0};
	bool is_there = access(path, F_OK) == 0;

	look(prof, &threads);
	if (is_there || map_find(&threads, tid))
		set(prof->cgroups, tid, map_find(&threads, tid) != NULL);
	map_done(&threads);
}

bool prof_cgroups_take(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	struct prof_cgroups *cgroups = prof->cgroups;
	const void *raw = sample->raw;
	uint32_t size = sample->raw_size;

	if (!cgroups || (event != &cgroups->attach && event != &cgroups->start))
		return false;
	started(prof);
	if (event == &cgroups->start) {
		place_started(prof, (uint32_t)tp_number(cgroups->started_pid, raw, size));
		return true;
	}
	if ((int)tp_number(cgroups->root, raw, size) == cgroups->hierarchy)
		move(prof, (uint32_t)tp_number(cgroups->pid, raw, size),
		     is_of_groups(prof, tp_number(cgroups->id, raw, size)));
	return true;
}

bool prof_cgroups_wants(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	bool any = !event->about_n;

	for (uint32_t i = 0; i < event->about_n && !any; i++)
		any = prof_cgroups_has(prof, (uint32_t)tp_number(event->about[i], sample->raw,
								 sample->raw_size));
	return any;
}

// A number that is used again is another task's.
void prof_cgroups_record(struct prof *prof, const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;
	struct prof_cgroups *cgroups = prof->cgroups;

	if (!cgroups || header->type != PERF_RECORD_FORK || !record_is_whole(header))
		return;
	started(prof);
	set(cgroups, task->tid, prof_cgroups_has(prof, task->ptid));
}
