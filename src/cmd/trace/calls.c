// SPDX-License-Identifier: GPL-2.0-or-later
// Entries and exits of system calls, by thread.
#include "cmd/trace/files.h"
#include "cmd/trace/trace.h"

// The records of calls don't say by which table their numbers are. The registers that come with them do: what the processor runs.
void trace_set_abi(struct trace_thread *thread, const struct sample *sample)
{
	thread->is_32bit = sample->user_abi == PERF_SAMPLE_REGS_ABI_32;
}

void trace_want_abi(struct trace *trace, struct trace_event *event)
{
	enum { INSTRUCTION_POINTER = 8 }; // arch/x86/include/uapi/asm/perf_regs.h; one is enough
	struct perf_event_attr *attr = &event->feed->event->attr;

	if (trace->options->input || !trace->has_32bit)
		return;
	if (!(attr->sample_type & PERF_SAMPLE_REGS_USER))
		attr->sample_regs_user = 1ull << INSTRUCTION_POINTER;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
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

struct trace_thread *trace_thread(struct trace *trace, const struct sample *sample)
{
	struct trace_thread *thread = trace->last;

	if (!thread || thread->tid != sample->tid) {
		thread = map_find_ptr(&trace->threads, sample->tid);
		if (!thread)
			thread = new_thread(trace, sample->tid);
		trace->last = thread;
	}
	thread->pid = sample->pid;
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
		thread->ended = true;
		trace->ended_n++;
		trace_fold_ended(trace);
		return;
	}
	trace_thread_remove(trace, thread);
}

void trace_thread_remove(struct trace *trace, struct trace_thread *thread)
{
	trace->all.v[thread->index] = vec_last(&trace->all);
	trace->all.v[thread->index]->index = thread->index;
	trace->all.n--;
	free_thread(thread);
}

void trace_threads_done(struct trace *trace)
{
	vec_each(struct trace_thread *, thread, &trace->all)
		free_thread(*thread);
	if (trace->folded)
		free_thread(trace->folded);
	vec_done(&trace->all);
	map_done(&trace->threads);
}

void trace_forget_entries(struct trace *trace)
{
	vec_each(struct trace_thread *, thread, &trace->all) {
		(*thread)->entered = (*thread)->pending = false;
		(*thread)->payload.there = (*thread)->is_followed = false;
	}
	if (trace->files)
		files_forget(trace->files);
}

uint64_t trace_number_of(const struct trace_event *event, const struct sample *sample)
{
	uint64_t number;

	if (event->plain && sample->raw_size >= 16) {
		memcpy(&number, (const char *)sample->raw + 8, 8);
		return number;
	}
	return tp_number(&event->id, sample->raw, sample->raw_size);
}

int64_t trace_ret_of(const struct trace_event *event, const struct sample *sample)
{
	int64_t ret;

	if (!event->plain || sample->raw_size < 24)
		return (int64_t)tp_number(&event->ret, sample->raw, sample->raw_size);
	memcpy(&ret, (const char *)sample->raw + 16, 8);
	return ret;
}

void trace_take_args(const struct trace_event *event, struct trace_thread *thread,
		     const struct sample *sample)
{
	if (event->plain && sample->raw_size >= 64) {
		memcpy(thread->args, (const char *)sample->raw + 16, sizeof(thread->args));
		return;
	}
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		thread->args[i] = tp_number(&event->args[i], sample->raw, sample->raw_size);
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
	uint64_t number = trace_number_of(event, sample);

	trace_set_abi(thread, sample);
	// Restarted calls and tasks that leave the kernel for the first time have none.
	if (number > UINT32_MAX || !trace_wants(trace, thread, (uint32_t)number))
		return 0;
	thread->events_n++;
	if (prints(trace) && !options->duration_ms && !options->min_stack)
		trace_print_interrupted(trace);
	thread->number = (uint32_t)number;
	thread->entry_ns = sample->time;
	thread->entered = thread->pending = true;
	trace_match_payload(thread, number);
	trace->current = thread;
	if (!prints(trace))
		return 0;
	trace_take_args(event, thread, sample);
	if (never_returns(trace_def(trace, thread, thread->number))) {
		if (!options->duration_ms && !options->failure && !options->min_stack)
			trace_print_no_return(trace, thread);
		thread->entered = thread->pending = false;
	}
	return out_broken(trace->out) ? trace->out->error : 0;
}

// False: it is too short to be wanted.
static bool take_stack(struct trace *trace, const struct trace_event *event,
		       const struct sample *sample)
{
	trace->text.n = 0;
	return !sample->callchain || trace_stack(trace, event, sample, &trace->text) >= 0;
}

int trace_exit(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	const struct trace_options *options = trace->options;
	struct trace_thread *thread = trace_thread(trace, sample);
	uint64_t number = trace_number_of(event, sample), ns = 0;
	const uint64_t *duration = NULL;
	int64_t ret;
	int err = 0;

	// What an exec returns to is another program.
	if (!thread->entered)
		trace_set_abi(thread, sample);
	if (number > UINT32_MAX || !trace_wants(trace, thread, (uint32_t)number))
		return 0;
	thread->events_n++;
	ret = trace_ret_of(event, sample);
	if (thread->number != number)
		thread->entered = thread->pending = false; // its entry was lost
	thread->number = (uint32_t)number;
	if (thread->entered) {
		ns = sample->time > thread->entry_ns ? sample->time - thread->entry_ns : 0;
		duration = &ns;
	}
	if (options->summary || options->summary_only)
		trace_count(trace, thread, duration, ret);
	if (prints(trace) && (ret < 0 || !options->failure) &&
	    (!options->duration_ms || (duration && (double)ns >= options->duration_ms * 1e6)) &&
	    take_stack(trace, event, sample)) {
		trace_print_exit(trace, thread, duration, ret);
		err = trace_end_event(trace);
	}
	if (thread->entered && trace->follows)
		trace_followed(trace, thread, ret);
	thread->entered = thread->pending = thread->payload.there = false;
	return err;
}
