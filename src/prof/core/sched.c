// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/sched.h"
#include "base/alloc.h"

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
	for (int bit = 0; bit < SCHED_STATES; bit++) {
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

	*ret = (struct sched_event){0};
	if (!tp || strcmp(tracepoint_system(tp), "sched"))
		return false;
	name = tracepoint_name(tp);
	ret->comm = tracepoint_field(tp, "comm");
	ret->pid = tracepoint_field(tp, "pid");
	ret->prio = tracepoint_field(tp, "prio");
	ret->success = tracepoint_field(tp, "success");
	ret->target_cpu = tracepoint_field(tp, "target_cpu");
	ret->prev_comm = tracepoint_field(tp, "prev_comm");
	ret->prev_pid = tracepoint_field(tp, "prev_pid");
	ret->prev_prio = tracepoint_field(tp, "prev_prio");
	ret->prev_state = tracepoint_field(tp, "prev_state");
	ret->next_comm = tracepoint_field(tp, "next_comm");
	ret->next_pid = tracepoint_field(tp, "next_pid");
	ret->next_prio = tracepoint_field(tp, "next_prio");
	if (!strcmp(name, "sched_switch") && ret->prev_comm && ret->prev_pid && ret->prev_prio &&
	    ret->prev_state && ret->next_comm && ret->next_pid && ret->next_prio) {
		ret->kind = SCHED_SWITCH;
		learn_letters(ret, event);
	} else if ((!strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new")) &&
		   ret->comm && ret->pid && ret->prio && ret->target_cpu) {
		ret->kind = name[12] ? SCHED_WAKEUP_NEW : SCHED_WAKEUP;
	} else if (!strcmp(name, "sched_migrate_task") && ret->pid) {
		ret->target_cpu = tracepoint_field(tp, "dest_cpu");
		ret->kind = ret->target_cpu ? SCHED_MIGRATE : SCHED_OTHER;
	}
	return ret->kind != SCHED_OTHER;
}

char sched_state(const struct sched_event *event, uint64_t prev_state)
{
	for (int bit = 0; bit < SCHED_STATES; bit++) {
		if (prev_state & (1ull << bit))
			return event->letters[bit];
	}
	return 'R';
}

static void put_task(struct out *out, const struct tp_field *const fields[3], const void *raw,
		     uint32_t size)
{
	struct str comm = tp_string(fields[0], raw, size);
	char text[64];

	if (comm.n >= sizeof(text))
		comm.n = sizeof(text) - 1;
	memcpy(text, comm.p ? comm.p : "", comm.n);
	text[comm.n] = 0;
	out_safe(out, text);
	out_char(out, ':');
	out_i64(out, (int64_t)tp_number(fields[1], raw, size));
	out_text(out, " [");
	out_i64(out, (int64_t)tp_number(fields[2], raw, size));
	out_char(out, ']');
}

void sched_event_print(struct out *out, const struct sched_event *event, const void *raw,
		       uint32_t size)
{
	if (event->kind == SCHED_SWITCH) {
		put_task(out,
			 (const struct tp_field *const[]){event->prev_comm, event->prev_pid,
							  event->prev_prio},
			 raw, size);
		out_char(out, ' ');
		out_char(out, sched_state(event, tp_number(event->prev_state, raw, size)));
		out_text(out, " ==> ");
		put_task(out,
			 (const struct tp_field *const[]){event->next_comm, event->next_pid,
							  event->next_prio},
			 raw, size);
		return;
	}
	put_task(out, (const struct tp_field *const[]){event->comm, event->pid, event->prio}, raw,
		 size);
	// Older kernels say whether the wake-up was one; newer ones tell of those only.
	out_text(out, " success=");
	out_u64(out, event->success ? tp_number(event->success, raw, size) : 1);
	out_text(out, " CPU:");
	out_u64_zeros(out, tp_number(event->target_cpu, raw, size), 3);
}
