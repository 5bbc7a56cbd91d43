// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/record/unwinding.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/record/parts.h"
#include "flow/queue.h"
#include "sym/unwind.h"
#include <stdio.h>

enum { MOST_FRAMES = 4096 }; // of user space in a chain: as many as fit into a copy of the stack

struct waiting {
	const struct perf_event_header *header;
	uint32_t event;	   // of a sample
	uint32_t first, n; // its new chain in live->chains
	bool is_new;
};

struct live {
	struct recorder *recorder;
	struct sym *sym;
	struct unwinder *unwinder;
	struct queue queue;
	struct arena copies; // of records that the ring's end cut
	VEC(struct waiting) records;
	VEC(uint64_t) chains;
	uint64_t noted[UNWIND_ENDS]; // of counts.ends
};

static bool is_unwound(const struct recorder *recorder, const struct perf_event_attr *attr)
{
	const uint64_t needed = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return !recorder->options->raw_stacks && (attr->sample_type & needed) == needed;
}

int live_new(struct live **ret, struct recorder *recorder)
{
	const struct opened *opened = &recorder->opened;
	struct live *live;
	bool any = false;
	int err;

	*ret = NULL;
	vec_each(const struct opened_event, event, &opened->events)
		any |= is_unwound(recorder, &event->spec->attr);
	if (!any)
		return 0;
	live = NEW(struct live);
	live->recorder = recorder;
	err = sym_new(&live->sym,
		      &(struct sym_options){.root = "", .live = true, .held = recorder->held});
	if (err) {
		live_free(live);
		return err;
	}
	live->unwinder = unwinder_new(live->sym, unwind_machine_here());
	if (!live->unwinder) {
		live_free(live);
		return fail(ENOTSUP,
			    "stacks of this kind of machine can't be unwound here; record them as they are: "
			    "--call-graph dwarf,raw");
	}
	live->unwinder->is_live = true;
	*ret = live;
	return 0;
}

void live_age(struct recorder *recorder)
{
	if (recorder->live)
		sym_age(recorder->live->sym);
	else
		held_age(recorder->held, NULL);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	unwinder_free(live->unwinder);
	sym_free(live->sym);
	queue_done(&live->queue);
	arena_done(&live->copies);
	vec_done(&live->records);
	vec_done(&live->chains);
	free(live);
}

struct perf_event_attr live_file_attr(const struct recorder *recorder, size_t event)
{
	struct perf_event_attr attr = recorder->opened.events.v[event].spec->attr;

	if (!is_unwound(recorder, &attr))
		return attr;
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 0;
	attr.exclude_callchain_user = 0;
	if (!recorder->options->user_regs) {
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = 0;
	}
	return attr;
}

void live_learn(struct live *live, const struct perf_event_header *header)
{
	sym_record(live->sym, header, 0);
}

const struct perf_event_header *live_copy(struct live *live, const struct perf_event_header *header)
{
	return arena_memdup(&live->copies, header, header->size);
}

// What has no time comes last.
static uint64_t time_of(const struct live *live, const struct waiting *record)
{
	uint64_t time = sample_plan_time(&live->recorder->plans[record->event], record->header);

	return time || record->header->type == PERF_RECORD_SAMPLE ? time : UINT64_MAX;
}

void live_add(struct live *live, const struct perf_event_header *header)
{
	const struct record record = {.header = header, .offset = live->records.n, .stable = true};
	struct waiting waiting = {.header = header};

	if (header->type == PERF_RECORD_SAMPLE)
		waiting.event = (uint32_t)collect_event(live->recorder, header);
	vec_push(&live->records, waiting);
	queue_add(&live->queue, time_of(live, &waiting), &record, NULL);
}

// How many entries come before those of user space.
static uint32_t kernel_part(const struct sample *sample)
{
	uint32_t n = 0;

	while (n < sample->callchain_n && sample->callchain[n] != PERF_CONTEXT_USER)
		n++;
	return n;
}

static uint32_t most_frames(const struct live *live, uint32_t event)
{
	const struct event_spec *spec = live->recorder->opened.events.v[event].spec;
	uint32_t chosen = spec->given & EVENT_MAX_STACK ? spec->max_stack
							: live->recorder->options->max_stack;

	return chosen ? MIN(chosen, (uint32_t)MOST_FRAMES) : MOST_FRAMES;
}

static void unwind(struct live *live, struct waiting *ret, const struct sample *sample,
		   const struct sample_plan *plan)
{
	struct task *task = sym_task(live->sym, sample->pid, sample->tid);
	uint32_t n = kernel_part(sample), frames = 0;
	const struct unwind_input input = {.task = task,
					   .regs = sample->user_regs,
					   .regs_mask = plan->user_mask,
					   .regs_abi = sample->user_abi,
					   .stack = sample->user_stack,
					   .stack_size = sample->user_stack_size,
					   .by_kernel = sample->callchain + n + 1,
					   .by_kernel_n = sample->callchain_n > n
								  ? sample->callchain_n - n - 1
								  : 0};
	struct unwound found = {.max = most_frames(live, ret->event)};
	uint64_t *chain;

	vec_reserve(&live->chains, (size_t)n + 1 + MOST_FRAMES);
	chain = live->chains.v + live->chains.n;
	ret->first = (uint32_t)live->chains.n;
	ret->is_new = true;
	memcpy(chain, sample->callchain, n * 8ull);
	found.ips = chain + n + 1;
	if (sample->user_regs && task)
		frames = unwind_stack(live->unwinder, &input, &found);
	if (frames) {
		chain[n] = PERF_CONTEXT_USER;
		frames++;
		// In an exec the old stack is gone and the new one is not there yet: no fault of the copy's size.
		if (sample->user_stack_size)
			live->unwinder->counts.ends[found.end]++;
		else
			live->unwinder->counts.without++;
	}
	ret->n = n + frames;
	live->chains.n += ret->n;
}

static int look_at(void *arg, const struct queued *queued)
{
	struct live *live = arg;
	struct waiting *record = &live->records.v[queued->offset];
	const struct sample_plan *plan = &live->recorder->plans[record->event];
	struct sample sample;

	// What makes no sense changes nothing; readers will see and count it.
	if (record->header->type != PERF_RECORD_SAMPLE)
		sym_record(live->sym, record->header, queued->time);
	else if (is_unwound(live->recorder,
			    &live->recorder->opened.events.v[record->event].spec->attr) &&
		 sample_decode(plan, record->header, &sample) == 0)
		unwind(live, record, &sample, plan);
	return 0;
}

struct piece {
	const void *p;
	size_t n;
};

static int put(struct writer *writer, const struct piece *pieces, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (pieces[i].n)
			err = writer_records(writer, pieces[i].p, pieces[i].n);
	}
	return err;
}

static int put_sample(struct live *live, const struct waiting *record)
{
	enum { CHAIN = 3, MOST_BYTES = 65528 };
	const struct recorder *recorder = live->recorder;
	const struct sample_plan *plan = &recorder->plans[record->event];
	const uint8_t *start = (const uint8_t *)record->header;
	struct perf_event_header header = *record->header;
	const uint8_t *end = start + header.size, *chain, *kept;
	uint64_t n = record->n;
	struct sample_parts parts;
	struct sample sample;
	int err = sample_decode(plan, record->header, &sample);

	if (err)
		return err;
	chain = (const uint8_t *)sample.callchain;
	parts = sample_parts_find(plan, &sample);
	kept = recorder->options->user_regs ? parts.stack : parts.regs;
	struct piece pieces[] = {
		{&header, sizeof(header)},
		{start + sizeof(header), (size_t)(chain - 8 - start) - sizeof(header)},
		{&n, 8},
		{live->chains.v + record->first, n * 8},
		{chain + sample.callchain_n * 8ull,
		 (size_t)(kept - chain) - sample.callchain_n * 8ull},
		{parts.behind, (size_t)(end - parts.behind)},
	};
	size_t size = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		size += pieces[i].n;
	// A kernel that is told to follow thousands of frames of its own leaves less room for the callers.
	if (size > MOST_BYTES) {
		uint64_t excess = (size - MOST_BYTES) / 8;

		n -= excess;
		pieces[CHAIN].n -= excess * 8;
		size -= excess * 8;
	}
	header.size = (uint16_t)size;
	return put(recorder->writer, pieces, ARRAY_SIZE(pieces));
}

int live_round(struct live *live)
{
	int err = queue_finish(&live->queue, look_at, live);

	vec_each(const struct waiting, record, &live->records) {
		if (err)
			break;
		err = record->is_new ? put_sample(live, record)
				     : writer_records(live->recorder->writer, record->header,
						      record->header->size);
	}
	vec_clear(&live->records);
	vec_clear(&live->chains);
	arena_reset(&live->copies);
	return err;
}

// Which events have chains whose callers stand at their calls.
static void note_calls(const struct live *live, struct writer *writer)
{
	struct out text;

	out_init_memory(&text);
	for (size_t i = 0; i < live->recorder->opened.events.n; i++) {
		if (is_unwound(live->recorder, &live->recorder->opened.events.v[i].spec->attr))
			out_printf(&text, " %zu", i);
	}
	out_char(&text, '\0');
	writer_note(writer, "calls%s", text.buf);
	out_done(&text);
}

void live_note(struct live *live, struct writer *writer)
{
	const uint64_t *ends = live->unwinder->counts.ends;
	char text[UNWIND_ENDS * 21 + 1];
	size_t n = 0;

	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %llu",
				      (unsigned long long)(ends[i] - live->noted[i]));
		live->noted[i] = ends[i];
	}
	writer_note(writer, "stacks%s", text);
	note_calls(live, writer);
}

// Is there more to be had of a stack?
static bool copies_less(const struct live *live)
{
	enum { MOST = 65528 };

	vec_each(const struct opened_event, event, &live->recorder->opened.events) {
		if (is_unwound(live->recorder, &event->spec->attr) &&
		    event->spec->attr.sample_stack_user < MOST)
			return true;
	}
	return false;
}

void live_report(const struct live *live)
{
	const uint64_t *ends = live->unwinder->counts.ends;
	uint64_t all = 0, whole = ends[UNWIND_ROOT];

	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		all += ends[i];
	if (!all)
		return;
	if (whole * 100 >= all * 99) {
		inform("%llu stacks of user space, %.1f%% of them whole", (unsigned long long)all,
		       100.0 * (double)whole / (double)all);
		return;
	}
	warn("%.1f%% of %llu stacks of user space are whole", 100.0 * (double)whole / (double)all,
	     (unsigned long long)all);
	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		if (i != UNWIND_ROOT && ends[i])
			warn("  %.1f%% %s%s", 100.0 * (double)ends[i] / (double)all,
			     i >= UNWIND_GUESSED ? "" : "ended: ",
			     unwind_end_text((enum unwind_end)i));
	}
	if (ends[UNWIND_SHORT] * 100 > all && copies_less(live))
		warn("more of the stack is copied with --call-graph dwarf,65528, or at a lower frequency");
}
