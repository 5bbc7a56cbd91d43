// SPDX-License-Identifier: GPL-2.0-or-later
// What arguments point at: which calls have such arguments, and the records that the kernel makes of them.
#include "base/err.h"
#include "base/log.h"
#include "cmd/trace/trace.h"
#include "flow/synthesize.h"

enum { ADDRESS_MAX = 128, BUFFER_MAX = 48, TIME_SIZE = 16, HOW_SIZE = 24 };

// pieces: BPF_TEXTS_PLACES of them; false: there are none.
static bool pieces_of(const struct syscall_def *def, struct bpf_texts_piece *pieces)
{
	size_t n = 0;

	memset(pieces, 0, BPF_TEXTS_PLACES * sizeof(*pieces));
	for (uint32_t i = 0; i < def->args_n && n < BPF_TEXTS_PIECES; i++) {
		switch (def->args[i].kind) {
		case ARG_PATH:
		case ARG_TEXT:
			pieces[n++] = (struct bpf_texts_piece){BPF_TEXTS_IS_STRING, i, 0, 0};
			break;
		case ARG_BUF:
			pieces[n++] =
				(struct bpf_texts_piece){BPF_TEXTS_IS_BYTES, i, BUFFER_MAX, i + 1};
			break;
		case ARG_SOCKADDR:
			pieces[n++] =
				(struct bpf_texts_piece){BPF_TEXTS_IS_BYTES, i, ADDRESS_MAX, i + 1};
			break;
		case ARG_TIMESPEC:
			pieces[n++] = (struct bpf_texts_piece){BPF_TEXTS_IS_BYTES, i, TIME_SIZE, 0};
			break;
		case ARG_OPEN_HOW:
			pieces[n++] = (struct bpf_texts_piece){BPF_TEXTS_IS_BYTES, i, HOW_SIZE, 0};
			break;
		case ARG_ARGV:
			pieces[BPF_TEXTS_LIST] = (struct bpf_texts_piece){BPF_TEXTS_IS_LIST, i, 0, 0};
			break;
		default:
			break;
		}
	}
	return n > 0;
}

static int take_fork(void *arg, struct event *event, const char *system, const char *name)
{
	struct bpf_texts_options *options = arg;
	const struct tp_field *child = event->tp ? tracepoint_field(event->tp, "child_pid") : NULL;

	if (!child || child->size != 4)
		return fail(EINVAL, "sched:sched_process_fork has no child_pid");
	options->fork_id = tracepoint_id(event->tp);
	options->child = child->offset;
	return 0;
}

static void add_output(struct trace *trace)
{
	struct event *event = arena_zalloc(&trace->arena, sizeof(*event));
	struct trace_event *added = vec_add(&trace->events);

	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	event->attr.sample_type = PERF_SAMPLE_RAW;
	event->attr.sample_period = 1;
	event->name = "arguments";
	event->leader = event;
	event->scale = 1;
	added->role = ROLE_PAYLOAD;
	added->feed = feed_add(trace->feed, event, NULL, NULL);
	added->feed->everywhere = true;
}

static bool reads(const struct trace *trace, const struct trace_thread *thread, uint32_t number)
{
	return trace_wants(trace, thread, number) || trace_follows(trace, thread, number);
}

static int open_texts(struct trace *trace, const struct trace_event *enter)
{
	struct bpf_texts_options options = {
		.numbers_n = syscall_limit_of(trace->abi),
		.by_process = feed_has_tasks(trace->feed),
		.enter_id = tracepoint_id(enter->feed->event->tp),
	};
	struct bpf_texts_piece pieces[BPF_TEXTS_PLACES];
	const struct trace_thread native = {0};
	int err = 0;

	if (options.by_process)
		err = trace->input->find(trace->feed, "sched:sched_process_fork", take_fork,
					 &options);
	if (!err)
		err = bpf_texts_open(&trace->texts, &options);
	for (uint32_t i = 0; i < options.numbers_n && !err; i++) {
		const struct syscall_def *def = trace->defs[0][i];

		if (def && reads(trace, &native, i) && pieces_of(def, pieces))
			err = bpf_texts_plan(trace->texts, i, pieces);
	}
	return err;
}

void trace_texts_open(struct trace *trace)
{
	const struct trace_event *enter = NULL;

	vec_each(struct trace_event, event, &trace->events) {
		if (event->role == ROLE_ENTER)
			enter = event;
	}
	if (!enter || !enter->plain || trace->options->input || trace->options->summary_only ||
	    trace->options->no_strings)
		return;
	if (open_texts(trace, enter) < 0) {
		inform("arguments that point at something are shown as pointers: %s", err_sentence());
		err_clear();
		bpf_texts_close(trace->texts);
		trace->texts = NULL;
		return;
	}
	add_output(trace);
}

int trace_texts_opened(void *arg, struct feed_event *event, uint32_t cpu, int fd)
{
	struct trace *trace = arg;
	const struct target *target = trace->feed->target;
	int err = bpf_texts_output(trace->texts, cpu, fd);

	if (trace->texts_started || err < 0)
		return 0;
	trace->texts_started = true;
	for (size_t i = 0; i < target->threads.n; i++) {
		if (target->threads.v[i] > 0)
			bpf_texts_watch(trace->texts,
					(uint32_t)synth_process_of(target->threads.v[i]));
	}
	err = bpf_texts_start(trace->texts);
	if (err < 0) {
		inform("arguments that point at something are shown as pointers: %s", err_sentence());
		err_clear();
	}
	return 0;
}

int trace_payload(struct trace *trace, struct trace_event *event, const struct sample *sample)
{
	struct trace_thread *thread = trace_thread(trace, sample);
	const struct bpf_texts_record *record = sample->raw;
	struct trace_payload *payload = &thread->payload;
	struct bpf_texts_piece pieces[BPF_TEXTS_PLACES];
	struct bpf_texts_record head;
	size_t at = 0, room;
	const struct syscall_def *def;

	payload->there = false;
	if (sample->raw_size < sizeof(head))
		return 0;
	memcpy(&head, record, sizeof(head));
	def = head.number < syscall_limit_of(trace->abi) ? trace->defs[0][head.number] : NULL;
	if (!def)
		return 0;
	room = sample->raw_size - sizeof(head);
	if (payload->capacity < room) {
		payload->bytes = xrealloc(payload->bytes, room);
		payload->capacity = (uint32_t)room;
	}
	memcpy(payload->bytes, (const char *)record + sizeof(head), room);
	pieces_of(def, pieces);
	payload->pieces_n = 0;
	for (size_t i = 0; i < BPF_TEXTS_PLACES && head.sizes[i] <= room - at; i++) {
		if (head.sizes[i]) {
			payload->pieces[payload->pieces_n].arg = (uint8_t)pieces[i].arg;
			payload->pieces[payload->pieces_n].at = (uint16_t)at;
			payload->pieces[payload->pieces_n++].size = head.sizes[i];
		}
		at += head.sizes[i];
	}
	payload->number = (uint32_t)head.number;
	payload->there = true;
	return 0;
}

// Programs read by the numbers of the native table.
void trace_match_payload(struct trace_thread *thread, uint64_t number)
{
	struct trace_payload *payload = &thread->payload;

	payload->there = payload->there && payload->number == number && !thread->is_32bit;
}

void trace_texts_close(struct trace *trace)
{
	bpf_texts_close(trace->texts);
}
