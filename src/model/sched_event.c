// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sched_event.h"
#include "base/alloc.h"
#include "base/out.h"

// include/linux/trace_events.h, TRACE_FLAG_...: HARDIRQ, SOFTIRQ, NMI. Who was interrupted has no part in it.
enum { IN_INTERRUPT = 0x08 | 0x10 | 0x40 };

// Which letter a state has differs from kernel to kernel; the event's own text says it.
static void learn_letters(struct sched_event *ret, const struct event *event)
{
	const char *usual = "SDTtXZPI";
	size_t size = 0, n;
	const struct tp_field *fields;
	struct out text;

	n = tracepoint_fields(event->tp, &fields);
	for (size_t i = 0; i < n; i++)
		size = MAX(size, (size_t)fields[i].offset + fields[i].size);
	auto_free char *raw = xcalloc(1, size + 8);
	out_init_memory(&text);
	for (int bit = 0; bit < SCHED_BITS; bit++) {
		const char *at;

		memset(raw, 0, size);
		raw[ret->prev_state->offset +
		    (ret->prev_state->is_swapped ? ret->prev_state->size - 1 : 0)] = (char)(1 << bit);
		text.n = 0;
		tracepoint_print(&text, event->tp, raw, (uint32_t)size);
		out_char(&text, 0);
		at = strstr(text.buf, "prev_state=");
		ret->letters[bit] = usual[bit];
		if (at && strchr("RSDTtXZPIxWKNkE", at[11]) && at[11])
			ret->letters[bit] = at[11];
	}
	out_done(&text);
}

bool sched_event_init(struct sched_event *ret, const struct event *event)
{
	const struct tracepoint *tp = event->tp;
	const char *name;
	bool is_switch;

	*ret = (struct sched_event){0};
	if (!tp || strcmp(tracepoint_system(tp), "sched"))
		return false;
	name = tracepoint_name(tp);
	ret->kind = !strcmp(name, "sched_switch")	  ? SCHED_SWITCH
		    : !strcmp(name, "sched_wakeup")	  ? SCHED_WAKEUP
		    : !strcmp(name, "sched_wakeup_new")	  ? SCHED_WAKEUP_NEW
		    : !strcmp(name, "sched_migrate_task") ? SCHED_MIGRATE
							  : SCHED_OTHER;
	is_switch = ret->kind == SCHED_SWITCH;
	ret->comm = tracepoint_field(tp, is_switch ? "prev_comm" : "comm");
	ret->pid = tracepoint_field(tp, is_switch ? "prev_pid" : "pid");
	ret->prio = tracepoint_field(tp, is_switch ? "prev_prio" : "prio");
	ret->prev_state = tracepoint_field(tp, "prev_state");
	ret->next_comm = tracepoint_field(tp, "next_comm");
	ret->next_pid = tracepoint_field(tp, "next_pid");
	ret->next_prio = tracepoint_field(tp, "next_prio");
	ret->success = tracepoint_field(tp, "success");
	ret->flags = tracepoint_field(tp, "common_flags");
	ret->orig_cpu = tracepoint_field(tp, "orig_cpu");
	ret->target_cpu =
		tracepoint_field(tp, ret->kind == SCHED_MIGRATE ? "dest_cpu" : "target_cpu");
	if (!ret->comm || !ret->pid || !ret->prio ||
	    (is_switch ? !ret->prev_state || !ret->prev_state->size || !ret->next_comm ||
				 !ret->next_pid || !ret->next_prio
		       : !ret->target_cpu) ||
	    (ret->kind == SCHED_MIGRATE && !ret->orig_cpu))
		ret->kind = SCHED_OTHER;
	if (is_switch && ret->kind == SCHED_SWITCH)
		learn_letters(ret, event);
	return ret->kind != SCHED_OTHER;
}

char sched_letter(const struct sched_event *event, uint8_t state)
{
	return state >= SCHED_SLEEPS && state < SCHED_WAITS ? event->letters[state - SCHED_SLEEPS]
							    : 'R';
}

struct str sched_comm(const struct sched_event *event, const struct sample *sample)
{
	return tp_string(event->comm, sample->raw, sample->raw_size);
}

struct sched_hit sched_hit_of(const struct sched_event *event, const struct sample *sample)
{
	const void *raw = sample->raw;
	uint32_t size = sample->raw_size;
	struct sched_hit hit = {.kind = event->kind,
				.time_ns = sample->time,
				.cpu = sample->cpu,
				.by = sample->tid};
	uint64_t bits;
	char letter;

	if (event->kind == SCHED_OTHER)
		return hit;
	if (event->flags && tp_number(event->flags, raw, size) & IN_INTERRUPT)
		hit.by = SCHED_INTERRUPT;
	hit.tid = (uint32_t)tp_number(event->pid, raw, size);
	if (event->kind == SCHED_SWITCH) {
		hit.next = (uint32_t)tp_number(event->next_pid, raw, size);
		bits = tp_number(event->prev_state, raw, size) & ((1 << SCHED_BITS) - 1);
		hit.state = bits ? (uint8_t)(SCHED_SLEEPS + __builtin_ctzll(bits)) : SCHED_WAITS;
		letter = sched_letter(event, hit.state);
		hit.is_dead = letter == 'X' || letter == 'Z' || letter == 'x';
		return hit;
	}
	hit.to_cpu = (uint32_t)tp_number(event->target_cpu, raw, size);
	if (event->kind == SCHED_MIGRATE)
		hit.from_cpu = (uint32_t)tp_number(event->orig_cpu, raw, size);
	return hit;
}
