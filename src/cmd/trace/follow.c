// SPDX-License-Identifier: GPL-2.0-or-later
// Names of descriptors: which calls have to be seen to know them, also those that are not to be shown.
#include "base/err.h"
#include "cmd/trace/files.h"
#include "cmd/trace/trace.h"
#include "flow/synthesize.h"
#include <limits.h>

static bool takes_descriptor(const struct syscall_def *def)
{
	for (unsigned i = 0; i < def->args_n; i++) {
		if (def->args[i].kind == ARG_FD || def->args[i].kind == ARG_FD32)
			return true;
	}
	return false;
}

// Is there a shown call whose descriptors are worth the events of all calls that make and close them? One that only begins a path isn't.
static bool shows_descriptors(const struct trace *trace)
{
	for (unsigned k = 0; k < 2; k++) {
		struct trace_thread thread = {.is_32bit = k};

		for (uint32_t i = 0; i < trace->numbers_n[k]; i++) {
			if (trace->defs[k][i] && trace_wants(trace, &thread, i) &&
			    takes_descriptor(trace->defs[k][i]))
				return true;
		}
	}
	return false;
}

void trace_follow_open(struct trace *trace)
{
	if (!trace->feed->is_live || trace->options->summary_only)
		return;
	trace->follows = trace->shows_syscalls && shows_descriptors(trace);
	trace->files = files_new("", trace->follows);
	for (unsigned k = 0; k < 2 && trace->follows; k++) {
		uint32_t n = trace->numbers_n[k];

		trace->abouts[k] = arena_zalloc(&trace->arena, n * sizeof(trace->abouts[k][0]));
		for (uint32_t i = 0; i < n; i++) {
			if (!trace->defs[k][i])
				continue;
			trace->abouts[k][i] = files_about(trace->defs[k][i]);
			if (trace->abouts[k][i] && trace->wanted && (!k || trace->has_32bit))
				trace->wanted[i] |= TRACE_FOLLOWED;
		}
	}
}

static const struct files_about *about(const struct trace *trace, const struct trace_thread *thread,
				       uint32_t number)
{
	return trace->follows && number < trace->numbers_n[thread->is_32bit]
		       ? trace->abouts[thread->is_32bit][number]
		       : NULL;
}

bool trace_follows(const struct trace *trace, const struct trace_thread *thread, uint32_t number)
{
	return about(trace, thread, number) != NULL;
}

// The text of the first argument of that kind; NULL: it was not read.
static const char *text_of(const struct trace_payload *payload, const struct syscall_def *def,
			   enum syscall_kind kind, char *room)
{
	for (uint32_t i = 0; payload->there && i < payload->pieces_n; i++) {
		size_t n = MIN((size_t)payload->pieces[i].size, (size_t)PATH_MAX);

		if (def->args[payload->pieces[i].arg].kind != kind)
			continue;
		memset(room, 0, sizeof(uint64_t));
		memcpy(room, payload->bytes + payload->pieces[i].at, n);
		room[n] = '\0';
		return room;
	}
	return NULL;
}

void trace_followed(struct trace *trace, struct trace_thread *thread, int64_t ret)
{
	const struct syscall_def *def = trace_def(trace, thread, thread->number);
	char path[PATH_MAX + 1], how[PATH_MAX + 1];
	struct files_call call = {
		.pid = thread->pid,
		.about = about(trace, thread, thread->number),
		.args = thread->args,
		.ret = ret,
	};

	if (!call.about)
		return;
	call.path = text_of(&thread->payload, def, ARG_PATH, path);
	call.how = text_of(&thread->payload, def, ARG_OPEN_HOW, how);
	files_called(trace->files, &call);
}

bool trace_follow(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	struct trace_thread *thread;
	uint64_t number;
	bool is_shown;

	if (!trace->follows || (event->role != ROLE_ENTER && event->role != ROLE_EXIT) ||
	    (trace->on && !trace->wanted))
		return false;
	thread = trace_thread(trace, sample);
	number = trace_number_of(event, sample);
	if (number > UINT32_MAX)
		return false;
	if (event->role == ROLE_ENTER)
		trace_set_abi(thread, sample);
	is_shown = trace_wants(trace, thread, (uint32_t)number);
	if ((is_shown && trace->on) || !trace_follows(trace, thread, (uint32_t)number))
		return !is_shown;
	if (event->role == ROLE_ENTER) {
		trace_take_args(event, thread, sample);
		trace_match_payload(thread, number);
		thread->number = (uint32_t)number;
		thread->entered = thread->pending = false;
		thread->is_followed = true;
	} else if (thread->is_followed && thread->number == number) {
		trace_followed(trace, thread, trace_ret_of(event, sample));
		thread->is_followed = thread->payload.there = false;
	}
	return !is_shown;
}

void trace_follow_begin(struct trace *trace)
{
	const struct target *target = trace->feed->target;

	if (!trace->follows || !target)
		return;
	for (size_t i = 0; i < target->threads.n; i++) {
		if (target->threads.v[i] > 0)
			files_look(trace->files, (uint32_t)synth_process_of(target->threads.v[i]));
	}
}

void trace_follow_task(struct trace *trace, const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;
	const struct record_comm *comm = (const void *)header;

	if (!trace->files)
		return;
	if (header->type == PERF_RECORD_FORK && task->pid != task->ppid)
		files_forked(trace->files, task->ppid, task->pid);
	else if (header->type == PERF_RECORD_EXIT && task->pid == task->tid)
		files_ended(trace->files, task->pid);
	else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		files_execed(trace->files, comm->pid);
}

static void put_name(const char *name, struct out *out)
{
	if (!name)
		return;
	out_char(out, '<');
	out_escaped(out, name);
	out_char(out, '>');
}

void trace_put_file(struct trace *trace, uint32_t pid, int32_t fd, struct out *out)
{
	put_name(trace->files ? files_name(trace->files, pid, fd) : NULL, out);
}

void trace_put_new_fd(struct trace *trace, uint32_t pid, int32_t fd, struct out *out)
{
	out_i64(out, fd);
	put_name(trace->files ? files_known_name(trace->files, pid, fd) : NULL, out);
}

void trace_put_fd(struct trace *trace, uint32_t pid, int32_t fd, struct out *out)
{
	out_i64(out, fd);
	trace_put_file(trace, pid, fd, out);
}
