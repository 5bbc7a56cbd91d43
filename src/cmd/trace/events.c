// SPDX-License-Identifier: GPL-2.0-or-later
// What is not a system call: page faults, the scheduler, events of -e; and call chains.
#include "cmd/trace/trace.h"
#include "flow/chain.h"
#include "sym/stacks.h"

enum { INDENT = 39, FRAMES_MAX = 127 };

// ---- call chains

static void put_frame(struct out *out, const struct location *location)
{
	out_fill(out, ' ', INDENT);
	if (location->sym) {
		out_escaped(out, location->sym->name);
	} else {
		uint64_t ip = location->map ? location->addr : location->ip;

		out_text(out, ip ? "[0x" : "[");
		out_hex(out, ip);
		out_char(out, ']');
	}
	out_text(out, " (");
	out_escaped(out, location->dso ? location->dso->name : "[unknown]");
	out_text(out, ")\n");
}

void trace_want_stacks(struct trace *trace, struct trace_event *event)
{
	struct perf_event_attr *attr = &event->feed->event->attr;

	if (!trace->options->stack_bytes || trace->options->input)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = unwind_regs_here();
	attr->sample_stack_user = trace->options->stack_bytes;
}

// The sample with what its copy of the stack tells.
static const struct sample *unwound(struct trace *trace, const struct trace_event *event,
				    const struct sample *sample, struct sample *ret)
{
	const uint32_t most = trace->options->max_stack;
	const struct chain_of of = {event->feed->event, feed_task(trace->feed, sample),
				    most ? most : FRAMES_MAX};

	return sample->user_stack_size ? run_chain(trace->feed->run, &of, sample, ret) : sample;
}

int trace_stack(struct trace *trace, const struct trace_event *event, const struct sample *sample_,
		struct out *ret)
{
	struct task *task = feed_task(trace->feed, sample_);
	struct sample whole;
	struct chain_walk walk = chain_walk_of(unwound(trace, event, sample_, &whole));
	uint32_t n = 0, most = trace->options->max_stack;
	struct stack_step step;

	while (chain_next(&walk, &step) > 0) {
		// Of a recording both sides may be there; a system call's own side is the one that is asked for.
		if (step.cpumode == PERF_RECORD_MISC_KERNEL && trace->options->no_kernel_stacks)
			continue;
		n++;
		if (!most || n <= most) {
			const struct location location =
				stack_step_resolve(trace->feed->sym, task, &step);

			put_frame(ret, &location);
		}
	}
	return n < trace->options->min_stack ? -1 : 0;
}

// ---- page faults

static void put_place(struct trace *trace, const struct location *location, bool with_file)
{
	struct out *out = &trace->line;

	if ((with_file || trace->options->verbose) && location->dso) {
		out_escaped(out, location->dso->long_name);
		out_char(out, '@');
	}
	if (!with_file && location->sym) {
		out_escaped(out, location->sym->name);
		out_text(out, "+0x");
		out_hex(out, location->addr - location->sym->start);
		return;
	}
	out_text(out, "0x");
	out_hex(out, location->map ? location->addr : location->ip);
}

int trace_fault(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	struct trace_thread *thread = trace_thread(trace, sample);
	struct task *task = feed_task(trace->feed, sample);
	bool major = event->role == ROLE_FAULT_MAJOR;
	struct location at, on;
	struct out *out = &trace->line;

	trace->text.n = 0;
	if (sample->callchain && trace_stack(trace, event, sample, &trace->text) < 0)
		return 0;
	thread->events_n++;
	*(major ? &thread->faults_major : &thread->faults_minor) += 1;
	if (trace->options->summary_only)
		return 0;
	at = sym_resolve(trace->feed->sym, task, sample->cpumode, sample->ip);
	on = sym_resolve_map(trace->feed->sym, task, sample->cpumode, sample->addr);
	trace_put_head(trace, thread, sample->time, &(uint64_t){0});
	out_text(out, major ? "majfault [" : "minfault [");
	put_place(trace, &at, false);
	out_text(out, "] => ");
	put_place(trace, &on, true);
	out_text(out, on.map ? " (d" : " (?");
	out_char(out, on.level ? on.level : '.');
	out_char(out, ')');
	return trace_end_event(trace);
}

// ---- the scheduler

int trace_runtime(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	struct trace_thread *thread = trace_thread(trace, sample);
	const struct tracepoint *tp = event->feed->event->tp;
	const struct tp_field *field = tp ? tracepoint_field(tp, "runtime") : NULL;
	double ms = field ? (double)tp_number(field, sample->raw, sample->raw_size) / 1e6 : 0;

	thread->events_n++;
	thread->runtime_ms += ms;
	trace->runtime_ms += ms;
	return 0;
}

// ---- other events

static enum syscall_kind kind_of(const struct tp_field *field)
{
	if (field->is_pointer || strstr(field->name, "addr"))
		return ARG_PTR;
	if (!strcmp(field->type, "pid_t"))
		return ARG_PID;
	if (!strcmp(field->type, "umode_t"))
		return ARG_MODE;
	if (text_ends(field->name, "fd") &&
	    (!strcmp(field->type, "int") || !strcmp(field->type, "unsigned int")))
		return ARG_FD;
	return ARG_LONG;
}

static void put_items(const struct tp_field *field, const struct sample *sample, struct out *out)
{
	struct tp_field item = *field;

	item.is_array = false;
	item.size = field->element_size ? field->element_size : 1;
	out_char(out, '[');
	for (uint32_t i = 0; i < field->array_len && !field->is_dynamic; i++) {
		item.offset = (uint16_t)(field->offset + i * item.size);
		if (i)
			out_text(out, ", ");
		out_i64(out, (int64_t)tp_number(&item, sample->raw, sample->raw_size));
	}
	out_char(out, ']');
}

static void put_fields(struct trace *trace, const struct tracepoint *tp, const struct sample *sample)
{
	const struct tp_field *fields;
	size_t n = tracepoint_fields(tp, &fields);
	struct out *out = &trace->line;
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		const struct tp_field *field = &fields[i];
		bool is_text = field->is_string || (field->is_array && strstr(field->type, "char"));
		uint64_t value = is_text || field->is_array
					 ? 1
					 : tp_number(field, sample->raw, sample->raw_size);

		if (text_starts(field->name, "common_"))
			break;
		if (!value && !trace->look.zeros)
			continue;
		if (!first)
			out_text(out, ", ");
		first = false;
		if (!trace->look.no_names) {
			out_text(out, field->name);
			out_text(out, ": ");
		}
		if (is_text) {
			auto_free char *text =
				str_dup(tp_string(field, sample->raw, sample->raw_size));

			out_char(out, '"');
			out_escaped(out, text);
			out_char(out, '"');
		} else if (field->is_array) {
			put_items(field, sample, out);
		} else if (kind_of(field) == ARG_PTR) {
			out_text(out, "0x");
			out_hex(out, value);
		} else if (kind_of(field) == ARG_PID) {
			trace_put_pid(trace, (int32_t)value, out);
		} else if (kind_of(field) == ARG_FD) {
			trace_put_fd(trace, sample->pid, (int32_t)value, out);
		} else {
			syscall_put_value(out, kind_of(field), value, trace->look.prefix);
		}
	}
}

// syscalls:sys_enter_NAME: the fields behind the number are the arguments.
static void put_entry(struct trace *trace, const struct trace_event *event,
		      const struct sample *sample)
{
	struct trace_thread thread = {.tid = sample->tid, .pid = sample->pid};
	const struct tp_field *fields;
	size_t n = tracepoint_fields(event->feed->event->tp, &fields), k = 0;

	for (size_t i = 0; i < n && k < SYSCALL_ARGS; i++) {
		if (!strcmp(fields[i].name, "__syscall_nr") || !strcmp(fields[i].name, "nr"))
			continue;
		if (text_starts(fields[i].name, "common_"))
			break;
		thread.args[k++] = tp_number(&fields[i], sample->raw, sample->raw_size);
	}
	trace_put_args(trace, &thread, event->def, &trace->line);
}

int trace_other(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	struct trace_thread *thread = trace_thread(trace, sample);
	const struct event *recorded = event->feed->event;
	struct out *out = &trace->line;

	trace->text.n = 0;
	if (sample->callchain && trace_stack(trace, event, sample, &trace->text) < 0)
		return 0;
	if (event->max && event->printed == event->max)
		return 0;
	event->printed++;
	if (trace->options->summary_only)
		return 0;
	trace_print_interrupted(trace);
	trace_put_head(trace, thread, sample->time, NULL);
	out_text(out, recorded->name);
	out_char(out, '(');
	if (recorded->tp && event->def)
		put_entry(trace, event, sample);
	else if (recorded->tp && trace->options->print_fmt)
		tracepoint_print(out, recorded->tp, sample->raw, sample->raw_size);
	else if (recorded->tp)
		put_fields(trace, recorded->tp, sample);
	out_char(out, ')');
	return trace_end_event(trace);
}
