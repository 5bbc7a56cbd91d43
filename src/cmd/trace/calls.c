// SPDX-License-Identifier: GPL-2.0-or-later
// Entries and exits of system calls, by thread.
#include "base/file.h"
#include "cmd/trace/trace.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>

// Is the program a 32-bit one? The records of its calls don't say so, and number them by another table.
static bool file_is_32bit(const char *path)
{
	unsigned char head[EI_NIDENT];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool yes = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
		   !memcmp(head, ELFMAG, SELFMAG) && head[EI_CLASS] == ELFCLASS32;

	if (fd >= 0)
		close(fd);
	return yes;
}

static void ask_abi(struct trace *trace, struct trace_thread *thread)
{
	char path[64];

	thread->asked_abi = true;
	if (!trace->has_32bit)
		return;
	snprintf(path, sizeof(path), "/proc/%u/exe", thread->tid);
	thread->next_32bit = thread->is_32bit = file_is_32bit(path);
}

static struct trace_thread *new_thread(struct trace *trace, uint32_t tid)
{
	struct trace_thread *thread = NEW(struct trace_thread);

	thread->tid = tid;
	thread->index = trace->all.n;
	vec_push(&trace->all, thread);
	map_set_ptr(&trace->threads, tid, thread);
	return thread;
}

// When the records are read a short program is gone: its file, by the first map behind its exec, tells what it was. Its parent tells
// what a new task is. What comes in between still belongs to the old program: the result of the exec.
void trace_note_abi(struct trace *trace, const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;
	const struct record_mmap2 *map = (const void *)header;
	const struct trace_thread *parent;
	struct trace_thread *thread = map_find_ptr(&trace->threads, task->tid);

	if (!trace->has_32bit)
		return;
	if (header->type == PERF_RECORD_FORK && !thread) {
		parent = map_find_ptr(&trace->threads, task->ptid);
		if (!parent || !parent->next_32bit)
			return;
		thread = new_thread(trace, task->tid);
		thread->asked_abi = thread->is_32bit = thread->next_32bit = true;
	} else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC) {
		thread = map_find_ptr(&trace->threads, map->tid);
		if (!thread)
			thread = new_thread(trace, map->tid);
		thread->asked_abi = thread->execed = true;
	} else if (header->type == PERF_RECORD_MMAP2) {
		thread = map_find_ptr(&trace->threads, map->tid);
		if (thread && thread->execed)
			thread->next_32bit = file_is_32bit(map->filename);
		if (thread)
			thread->execed = false;
	}
}

struct trace_thread *trace_thread(struct trace *trace, const struct sample *sample)
{
	struct trace_thread *thread = trace->last;

	if (!thread || thread->tid != sample->tid) {
		thread = map_find_ptr(&trace->threads, sample->tid);
		if (!thread)
			thread = new_thread(trace, sample->tid);
		trace->last = thread;
	}
	if (!thread->asked_abi)
		ask_abi(trace, thread);
	return thread;
}

static void free_thread(struct trace_thread *thread)
{
	vec_each(struct call_stat, stat, &thread->stats)
		map_done(&stat->errnos);
	vec_done(&thread->stats);
	map_done(&thread->by_number);
	free(thread->payload.bytes);
	free(thread);
}

void trace_thread_ended(struct trace *trace, uint32_t tid)
{
	struct trace_thread *thread = map_find_ptr(&trace->threads, tid);
	const struct task *task = sym_find_task(trace->feed->sym, tid);

	if (!thread)
		return;
	map_remove(&trace->threads, tid);
	if (trace->last == thread)
		trace->last = NULL;
	if (trace->current == thread)
		trace->current = NULL;
	if ((trace->options->summary || trace->options->summary_only) && thread->events_n) {
		free(thread->payload.bytes);
		thread->payload = (struct trace_payload){0};
		thread->entered = thread->pending = false;
		if (task)
			thread->comm = task_comm(trace->feed->sym, task);
		return;
	}
	trace->all.v[thread->index] = vec_last(&trace->all);
	trace->all.v[thread->index]->index = thread->index;
	trace->all.n--;
	free_thread(thread);
}

void trace_threads_done(struct trace *trace)
{
	vec_each(struct trace_thread *, thread, &trace->all)
		free_thread(*thread);
	vec_done(&trace->all);
	map_done(&trace->threads);
}

void trace_forget_entries(struct trace *trace)
{
	vec_each(struct trace_thread *, thread, &trace->all) {
		(*thread)->entered = (*thread)->pending = false;
		(*thread)->payload.there = false;
	}
}

static uint64_t number_of(const struct trace_event *event, const struct sample *sample)
{
	uint64_t number;

	if (event->plain && sample->raw_size >= 16) {
		memcpy(&number, (const char *)sample->raw + 8, 8);
		return number;
	}
	return tp_number(&event->id, sample->raw, sample->raw_size);
}

static bool prints(const struct trace *trace)
{
	return !trace->options->summary_only;
}

static bool never_returns(const struct syscall_def *def)
{
	return def && (!strcmp(def->name, "exit") || !strcmp(def->name, "exit_group"));
}

int trace_enter(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	const struct trace_options *options = trace->options;
	struct trace_thread *thread = trace_thread(trace, sample);
	uint64_t number = number_of(event, sample);

	thread->is_32bit = thread->next_32bit;
	// Restarted calls and tasks that leave the kernel for the first time have none.
	if (number > UINT32_MAX || !trace_wants(trace, thread, (uint32_t)number))
		return 0;
	thread->events_n++;
	if (prints(trace) && !options->duration_ms && !options->min_stack)
		trace_print_interrupted(trace);
	thread->number = (uint32_t)number;
	thread->entry_ns = sample->time;
	thread->entered = thread->pending = true;
	thread->payload.there = thread->payload.there && thread->payload.number == number;
	trace->current = thread;
	if (!prints(trace))
		return 0;
	if (event->plain && sample->raw_size >= 64) {
		memcpy(thread->args, (const char *)sample->raw + 16, sizeof(thread->args));
	} else {
		for (unsigned i = 0; i < SYSCALL_ARGS; i++)
			thread->args[i] = tp_number(&event->args[i], sample->raw, sample->raw_size);
	}
	if (never_returns(trace_def(trace, thread, thread->number))) {
		if (!options->duration_ms && !options->failure && !options->min_stack)
			trace_print_no_return(trace, thread);
		thread->entered = thread->pending = false;
	}
	return out_broken(trace->out) ? trace->out->error : 0;
}

static int print_exit(struct trace *trace, const struct trace_event *event,
		      struct trace_thread *thread, const uint64_t *duration, int64_t ret,
		      const struct sample *sample)
{
	trace->text.n = 0;
	if (sample->callchain && trace_stack(trace, event, sample, &trace->text) < 0)
		return 0;
	trace_print_exit(trace, thread, duration, ret);
	return trace_end_event(trace);
}

int trace_exit(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	const struct trace_options *options = trace->options;
	struct trace_thread *thread = trace_thread(trace, sample);
	uint64_t number = number_of(event, sample), ns = 0;
	const uint64_t *duration = NULL;
	int64_t ret;
	int err = 0;

	if (number > UINT32_MAX || !trace_wants(trace, thread, (uint32_t)number))
		return 0;
	thread->events_n++;
	if (event->plain && sample->raw_size >= 24)
		memcpy(&ret, (const char *)sample->raw + 16, 8);
	else
		ret = (int64_t)tp_number(&event->ret, sample->raw, sample->raw_size);
	if (thread->number != number)
		thread->entered = thread->pending = false; // its entry was lost
	thread->number = (uint32_t)number;
	if (thread->entered) {
		ns = sample->time > thread->entry_ns ? sample->time - thread->entry_ns : 0;
		duration = &ns;
	}
	if (options->summary || options->summary_only)
		trace_count(trace, thread, (uint32_t)number, duration, ret);
	if (prints(trace) && (ret < 0 || !options->failure) &&
	    (!options->duration_ms || (duration && (double)ns >= options->duration_ms * 1e6)))
		err = print_exit(trace, event, thread, duration, ret, sample);
	thread->entered = thread->pending = thread->payload.there = false;
	return err;
}
