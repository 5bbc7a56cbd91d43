// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/record/live.h"
#include "base/err.h"
#include "base/log.h"
#include "flow/queue.h"
#include "sym/unwind.h"
#include <stdio.h>
#include <sys/utsname.h>

enum { MOST_FRAMES = 1000 }; // of user space in a chain

// The chain that a record gets, in live->chains.
struct new_chain {
	const struct perf_event_header *header;
	uint32_t first, n;
	bool is_new;
};

struct live {
	struct recorder *recorder;
	struct sym *sym;
	struct unwinder *unwinder;
	struct map events; // id -> index + 1, where samples have ids
	struct queue queue;
	struct arena copies; // of records that the ring's end cut
	VEC(struct new_chain) records;
	VEC(uint64_t) chains;
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
	struct utsname name;
	bool any = false;
	int err;

	*ret = NULL;
	vec_each(const struct opened_event, event, &opened->events)
		any |= is_unwound(recorder, &event->spec->attr);
	if (!any || uname(&name) < 0)
		return 0;
	live = NEW(struct live);
	live->recorder = recorder;
	err = sym_new(&live->sym, &(struct sym_options){.root = "", .live = true});
	if (err) {
		live_free(live);
		return err;
	}
	live->unwinder = unwinder_new(live->sym, unwind_machine(name.machine));
	if (!live->unwinder) {
		live_free(live);
		return fail(ENOTSUP,
			    "stacks of %s can't be unwound here; record them as they are: --call-graph dwarf,raw",
			    name.machine);
	}
	for (size_t i = 0; opened->events.n > 1 && i < opened->events.n; i++) {
		const struct opened_event *event = &opened->events.v[i];

		for (size_t k = 0; k < event->ids.n; k++)
			*map_at(&live->events, event->ids.v[k], NULL) = i + 1;
	}
	*ret = live;
	return 0;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	unwinder_free(live->unwinder);
	sym_free(live->sym);
	map_done(&live->events);
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

const struct perf_event_header *live_copy(struct live *live, const void *head, size_t head_size,
					  const void *tail, size_t tail_size)
{
	uint8_t *copy = arena_alloc(&live->copies, head_size + tail_size);

	memcpy(copy, head, head_size);
	memcpy(copy + head_size, tail, tail_size);
	return (const void *)copy;
}

static size_t event_of(const struct live *live, const struct perf_event_header *header)
{
	const struct opened *opened = &live->recorder->opened;
	int at = sample_id_offset(&opened->events.v[0].spec->attr);
	const uint64_t *found;
	uint64_t id;

	if (!live->events.n || at <= 0 || (size_t)at + 8 > header->size)
		return 0;
	memcpy(&id, (const char *)header + at, 8);
	found = map_find(&live->events, id);
	return found ? *found - 1 : 0;
}

static uint64_t time_of(const struct live *live, const struct perf_event_header *header)
{
	struct sample ids = {.time = 0};

	if (header->type == PERF_RECORD_SAMPLE) {
		const struct sample_plan *plan = &live->recorder->plans[event_of(live, header)];
		uint64_t time = 0;

		if (plan->time > 0 && plan->time + 8 <= header->size)
			memcpy(&time, (const char *)header + plan->time, 8);
		return time;
	}
	ids.time = 0;
	sample_decode_trailer(&live->recorder->plans[0], header, &ids);
	return ids.time;
}

void live_add(struct live *live, const struct perf_event_header *header)
{
	const struct record record = {.header = header, .offset = live->records.n, .stable = true};

	vec_push(&live->records, (struct new_chain){.header = header});
	queue_add(&live->queue, time_of(live, header), &record, NULL);
}

// PERF_REG_X86_IP or PERF_REG_ARM64_PC: both stand behind all those of lower number.
static uint64_t user_ip(const struct sample *sample, const struct sample_plan *plan)
{
#if defined(__aarch64__)
	enum { IP = 32 };
#else
	enum { IP = 8 };
#endif
	return sample->user_regs[__builtin_popcountll(plan->user_mask & ((1ull << IP) - 1))];
}

static void unwind(struct live *live, struct new_chain *ret, const struct sample *sample,
		   const struct sample_plan *plan)
{
	struct task *task = sym_task(live->sym, sample->pid, sample->tid);
	const struct unwind_input input = {.task = task,
					   .regs = sample->user_regs,
					   .regs_mask = plan->user_mask,
					   .regs_abi = sample->user_abi,
					   .stack = sample->user_stack,
					   .stack_size = sample->user_stack_size,
					   .return_addresses = true};
	uint32_t n = sample->callchain_n, frames = 0;
	enum unwind_end end;
	uint64_t *chain;

	vec_reserve(&live->chains, (size_t)n + 1 + MOST_FRAMES);
	chain = live->chains.v + live->chains.n;
	ret->first = (uint32_t)live->chains.n;
	ret->is_new = true;
	memcpy(chain, sample->callchain, n * 8ull);
	// In an exec the old stack is gone and the new one is not there yet.
	if (sample->user_regs && !sample->user_stack_size) {
		live->unwinder->counts.without++;
		chain[n] = PERF_CONTEXT_USER;
		chain[n + 1] = user_ip(sample, plan);
		frames = 2;
	} else if (sample->user_regs && task) {
		frames = unwind_stack(live->unwinder, &input, chain + n + 1, MOST_FRAMES, &end);
		if (frames) {
			live->unwinder->counts.ends[end]++;
			chain[n] = PERF_CONTEXT_USER;
			frames++;
		}
	}
	ret->n = n + frames;
	live->chains.n += ret->n;
}

static int look_at(void *arg, const struct queued *queued)
{
	struct live *live = arg;
	const struct perf_event_header *header = queued->header;
	struct sample sample;
	size_t event;

	if (header->type != PERF_RECORD_SAMPLE) {
		// What makes no sense changes nothing; readers will see and count it.
		sym_record(live->sym, header, queued->time);
		return 0;
	}
	event = event_of(live, header);
	if (is_unwound(live->recorder, &live->recorder->opened.events.v[event].spec->attr) &&
	    sample_decode(&live->recorder->plans[event], header, &sample) == 0)
		unwind(live, &live->records.v[queued->offset], &sample,
		       &live->recorder->plans[event]);
	return 0;
}

// Where the registers begin and the stack ends in a sample that was decoded.
static void find_stack(const struct sample_plan *plan, const struct sample *sample,
		       const uint8_t **ret_regs, const uint8_t **ret_end)
{
	const uint8_t *p = (const uint8_t *)(sample->callchain + sample->callchain_n);
	uint64_t abi, size;

	if (plan->sample_type & PERF_SAMPLE_RAW)
		p = (const uint8_t *)sample->raw - 4 + ((sample->raw_size + 4 + 7) & ~7ull);
	if (plan->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		p = (const uint8_t *)(sample->branches + sample->branch_n);
		if (sample->branch_counters)
			p = (const uint8_t *)(sample->branch_counters + sample->branch_n);
	}
	*ret_regs = p;
	memcpy(&abi, p, 8);
	p += 8;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		p += (size_t)__builtin_popcountll(plan->user_mask) * 8;
	memcpy(&size, p, 8);
	p += 8;
	*ret_end = size ? p + size + 8 : p;
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

static int put_sample(struct live *live, const struct new_chain *chain)
{
	const struct recorder *recorder = live->recorder;
	const struct sample_plan *plan = &recorder->plans[event_of(live, chain->header)];
	const uint8_t *start = (const uint8_t *)chain->header, *end = start + chain->header->size;
	const uint8_t *regs, *stack_end, *behind;
	struct perf_event_header header = *chain->header;
	uint64_t n = chain->n;
	struct sample sample;
	int err = sample_decode(plan, chain->header, &sample);

	if (err)
		return err;
	behind = (const uint8_t *)(sample.callchain + sample.callchain_n);
	find_stack(plan, &sample, &regs, &stack_end);
	// With --user-regs those stay.
	if (recorder->options->user_regs) {
		uint64_t abi;

		memcpy(&abi, regs, 8);
		regs += 8 + (abi != PERF_SAMPLE_REGS_ABI_NONE
				     ? (size_t)__builtin_popcountll(plan->user_mask) * 8
				     : 0);
	}
	const struct piece pieces[] = {
		{&header, sizeof(header)},
		{start + sizeof(header),
		 (size_t)((const uint8_t *)sample.callchain - 8 - start) - sizeof(header)},
		{&n, 8},
		{live->chains.v + chain->first, n * 8},
		{behind, (size_t)(regs - behind)},
		{stack_end, (size_t)(end - stack_end)},
	};
	size_t size = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		size += pieces[i].n;
	header.size = (uint16_t)size;
	return put(recorder->writer, pieces, ARRAY_SIZE(pieces));
}

int live_round(struct live *live)
{
	int err = queue_finish(&live->queue, look_at, live);

	vec_each(struct new_chain, record, &live->records) {
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
			warn("  %.1f%% ended: %s", 100.0 * (double)ends[i] / (double)all,
			     unwind_end_text((enum unwind_end)i));
	}
	if (ends[UNWIND_SHORT] * 100 > all)
		warn("more of the stack is copied with --call-graph dwarf,65528, or at a lower frequency");
}
