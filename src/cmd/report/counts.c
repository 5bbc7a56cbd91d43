// SPDX-License-Identifier: GPL-2.0-or-later
// --tasks, --mmaps and -T: what else a recording tells.
#include "base/err.h"
#include "cmd/report/report.h"
#include <stdio.h>
#include <sys/mman.h>

enum { NONE = UINT32_MAX };

struct listed {
	const struct task *task;
	uint32_t parent, first, last, next; // children, in the order in which they were found
	bool placed;
};

static int by_bucket(const void *a, const void *b)
{
	uint32_t x = ((const struct listed *)a)->task->tid, y = ((const struct listed *)b)->task->tid;

	// perf keeps threads in 256 buckets
	if (x % 256 != y % 256)
		return x % 256 < y % 256 ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void print_maps(const struct task *task, int indent, struct out *out)
{
	for (size_t i = 0; i < task->space->maps.n; i++) {
		const struct mapping *map = task->space->maps.v[i];

		out_fill(out, ' ', (size_t)indent);
		out_printf(out, "  %llx-%llx %c%c%c%c %08llx %llu ", (unsigned long long)map->start,
			   (unsigned long long)map->end, map->prot & PROT_READ ? 'r' : '-',
			   map->prot & PROT_WRITE ? 'w' : '-', map->prot & PROT_EXEC ? 'x' : '-',
			   map->flags & MAP_SHARED ? 's' : 'p', (unsigned long long)map->pgoff,
			   (unsigned long long)map->ino);
		out_safe(out, map->dso->long_name);
		out_char(out, '\n');
	}
}

struct listing {
	struct report *report;
	const struct listed *all;
	bool mmaps;
};

static void print_task(const struct listing *listing, uint32_t i, int level)
{
	const struct listed *all = listing->all;
	const struct task *task = all[i].task;
	struct out *out = &listing->report->out;
	char head[64];
	// As wide as it is printed: maps stand below the name.
	int indent = snprintf(head, sizeof(head), "  %8d %8d %8d |", (int)task->pid, (int)task->tid,
			      (int)task->ppid) +
		     level;

	out_text(out, head);
	out_fill(out, ' ', (size_t)level);
	out_safe(out, task_comm(listing->report->run->sym, task));
	out_char(out, '\n');
	if (listing->mmaps)
		print_maps(task, indent, out);
	for (uint32_t c = all[i].first; c != NONE; c = all[c].next)
		print_task(listing, c, level + 1);
}

static void append(struct listed *all, uint32_t *first, uint32_t *last, uint32_t i)
{
	all[i].placed = true;
	if (*last != NONE)
		all[*last].next = i;
	else
		*first = i;
	*last = i;
}

void report_tasks(struct report *report, bool mmaps)
{
	struct sym *sym = report->run->sym;
	struct listed *all = xcalloc(report->tids.n + 1, sizeof(*all));
	uint32_t n = 0, first = NONE, last = NONE;
	struct map places = {0}, by_tid = {0};

	for (size_t i = 0; i < report->tids.n; i++) {
		struct task *task = sym_find_task(sym, report->tids.v[i]);
		bool is_new;

		if (!task)
			continue;
		map_at(&by_tid, task->tid, &is_new);
		if (is_new)
			all[n++] = (struct listed){.task = task,
						   .first = NONE,
						   .last = NONE,
						   .next = NONE};
	}
	qsort(all, n, sizeof(*all), by_bucket);
	for (uint32_t i = 0; i < n; i++)
		*map_at(&places, all[i].task->tid, NULL) = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;

		// Up to a parent that has its place; what has none stands at the top.
		for (uint32_t steps = 0; !all[at].placed && steps <= n; steps++) {
			uint64_t *parent = all[at].task->ppid == NONE
						   ? NULL
						   : map_find(&places, all[at].task->ppid);

			if (!parent || *parent == at) {
				append(all, &first, &last, at);
				break;
			}
			append(all, &all[*parent].first, &all[*parent].last, at);
			at = (uint32_t)*parent;
		}
	}
	out_printf(&report->out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (uint32_t i = first; i != NONE; i = all[i].next)
		print_task(&(struct listing){report, all, mmaps}, i, 0);
	map_done(&places);
	map_done(&by_tid);
	free(all);
}

struct thread_value {
	uint32_t pid, tid;
	VEC(uint64_t) values; // by counter
};

struct thread_values {
	VEC(struct thread_value) threads;
	VEC(const struct event *) counters;
};

static void thread_values_add(struct report *report, struct event *event, const struct record *record)
{
	const struct record_read *read = (const void *)record->header;
	struct thread_values *all = report->thread_values;
	struct thread_value *thread = NULL;
	size_t counter = 0;

	if (!event || record->header->size < sizeof(*read) + 8)
		return;
	if (!all)
		all = report->thread_values = NEW(struct thread_values);
	vec_each(struct thread_value, it, &all->threads) {
		if (it->pid == read->pid && it->tid == read->tid)
			thread = it;
	}
	if (!thread) {
		thread = vec_add(&all->threads);
		thread->pid = read->pid;
		thread->tid = read->tid;
	}
	while (counter < all->counters.n && all->counters.v[counter] != event)
		counter++;
	if (counter == all->counters.n)
		vec_push(&all->counters, event);
	while (thread->values.n <= counter)
		vec_push(&thread->values, 0);
	thread->values.v[counter] += read->values[0];
}

static void note_task(struct report *report, uint32_t tid)
{
	vec_push(&report->tids, tid);
}

int report_note_record(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct record *record = &hit->record;
	struct report *report = arg;
	const struct perf_event_header *header = record->header;

	if (!record_is_whole(header))
		return 0;
	switch (header->type) {
	case PERF_RECORD_READ:
		if (report->o.threads)
			thread_values_add(report, event, record);
		break;
	case PERF_RECORD_COMM:
		note_task(report, ((const struct record_comm *)header)->tid);
		break;
	case PERF_RECORD_FORK:
		note_task(report, ((const struct record_task *)header)->tid);
		note_task(report, ((const struct record_task *)header)->ptid);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (report->o.mmaps &&
		    (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
			note_task(report, ((const struct record_mmap *)header)->tid);
		break;
	default:
		break;
	}
	return report_record(arg, run, hit);
}

static uint64_t value_at(const struct thread_value *thread, size_t counter)
{
	return counter < thread->values.n ? thread->values.v[counter] : 0;
}

static int digits(uint64_t n)
{
	char text[24];

	return (int)num_put_u64(text, n);
}

static void print_raw(const struct thread_values *all, struct out *out, int pid_width, int tid_width)
{
	int name = 4, raw = 3, count = 5;

	for (size_t j = 0; j < all->counters.n; j++) {
		char text[24];

		name = MAX(name, (int)strlen(all->counters.v[j]->name));
		raw = MAX(raw, (int)num_put_hex(text, all->counters.v[j]->index));
		for (size_t i = 0; i < all->threads.n; i++)
			count = MAX(count, digits(value_at(&all->threads.v[i], j)));
	}
	out_printf(out, "# %*s  %*s  %*s  %*s  %*s\n", pid_width, "PID", tid_width, "TID", name,
		   "Name", raw, "Raw", count, "Count");
	for (size_t i = 0; i < all->threads.n; i++) {
		for (size_t j = 0; j < all->counters.n; j++)
			out_printf(out, "  %*d  %*d  %*s  %*x  %*llu", pid_width,
				   (int)all->threads.v[i].pid, tid_width, (int)all->threads.v[i].tid,
				   name, all->counters.v[j]->name, raw, all->counters.v[j]->index,
				   count, (unsigned long long)value_at(&all->threads.v[i], j));
	}
}

void thread_values_print(struct report *report)
{
	static const struct thread_values none;
	const struct thread_values *all = report->thread_values ? report->thread_values : &none;
	struct out *out = &report->out;
	int pid_width = 3, tid_width = 3, *widths;

	for (size_t i = 0; i < all->threads.n; i++) {
		pid_width = MAX(pid_width, digits(all->threads.v[i].pid));
		tid_width = MAX(tid_width, digits(all->threads.v[i].tid));
	}
	if (report->o.pretty && !strcmp(report->o.pretty, "raw")) {
		print_raw(all, out, pid_width, tid_width);
		return;
	}
	widths = xcalloc(all->counters.n + 1, sizeof(*widths));
	out_printf(out, "# %*s  %*s", pid_width, "PID", tid_width, "TID");
	for (size_t j = 0; j < all->counters.n; j++) {
		widths[j] = (int)strlen(all->counters.v[j]->name);
		for (size_t i = 0; i < all->threads.n; i++)
			widths[j] = MAX(widths[j], digits(value_at(&all->threads.v[i], j)));
		out_printf(out, "  %*s", widths[j], all->counters.v[j]->name);
	}
	out_char(out, '\n');
	for (size_t i = 0; i < all->threads.n; i++) {
		out_printf(out, "  %*d  %*d", pid_width, (int)all->threads.v[i].pid, tid_width,
			   (int)all->threads.v[i].tid);
		for (size_t j = 0; j < all->counters.n; j++)
			out_printf(out, "  %*llu", widths[j],
				   (unsigned long long)value_at(&all->threads.v[i], j));
		out_char(out, '\n');
	}
	free(widths);
}

void thread_values_free(struct report *report)
{
	struct thread_values *all = report->thread_values;

	if (!all)
		return;
	for (size_t i = 0; i < all->threads.n; i++)
		vec_done(&all->threads.v[i].values);
	vec_done(&all->threads);
	vec_done(&all->counters);
	free(all);
}
