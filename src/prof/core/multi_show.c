// SPDX-License-Identifier: GPL-2.0-or-later
// The two events of a long delay and what happened between them.
#include "base/log.h"
#include "prof/core/multi.h"
#include "prof/core/sources.h"
#include <stdio.h>

enum { MARGIN = 27 }; // "2024-02-24 10:43:22.869109 "

struct multi_shown {
	uint64_t first_at, second_at, due_ns;
};

// What the events between are compared with, and what is noted beside them.
struct showing {
	const struct history_entry *first, *second;
	uint32_t target_cpu;	     // of rundelay: where the task waits; UINT32_MAX: not followed
	uint64_t last_switch_ns[64]; // by cpu; 0: none yet
	uint64_t last_shown_ns, hidden_n;
	bool told_delay;
};

static struct sample decode(const struct prof *prof, const struct history_entry *entry)
{
	struct sample sample = {0};

	if (sample_decode(&prof->events.v[entry->event]->feed->event->plan, history_record(entry),
			  &sample) < 0)
		sample.raw_size = 0;
	return sample;
}

static bool same(const struct multi_detail *detail, const struct history_entry *entry,
		 const struct history_entry *with)
{
	return (detail->same_cpu && entry->cpu == with->cpu) ||
	       (detail->same_pid && entry->pid == with->pid) ||
	       (detail->same_tid && entry->tid == with->tid) ||
	       (detail->same_key && entry->key == with->key);
}

// A wake-up of the task happens in the context of who wakes it up.
static bool is_about(const struct prof *prof, const struct showing *s,
		     const struct history_entry *entry)
{
	const struct prof_event *event = prof->events.v[entry->event];
	struct sample sample;

	if (!event->source)
		return false;
	sample = decode(prof, entry);
	return prof_source_is_of(event, &sample, s->first->tid) ||
	       prof_source_is_of(event, &sample, s->second->tid);
}

static bool is_wanted(const struct prof *prof, const struct multi_detail *detail,
		      const struct showing *s, const struct history_entry *entry)
{
	bool any = detail->same_cpu || detail->same_pid || detail->same_tid || detail->same_key;
	bool first = detail->only_first || !detail->only_second,
	     second = detail->only_second || !detail->only_first;

	if (!any || ((detail->same_tid || detail->same_pid) && is_about(prof, s, entry)))
		return true;
	if (s->target_cpu != UINT32_MAX && detail->same_cpu && entry->cpu != s->target_cpu &&
	    !(entry->key == s->first->key))
		return same(&(struct multi_detail){.same_pid = detail->same_pid,
						   .same_tid = detail->same_tid,
						   .same_key = detail->same_key},
			    entry, s->first);
	if (s->target_cpu != UINT32_MAX && detail->same_cpu && entry->cpu == s->target_cpu)
		return true;
	return (first && same(detail, entry, s->first)) || (second && same(detail, entry, s->second));
}

// Where the task that waits is now: a wake-up or a migration says it.
static void follow(const struct prof *prof, struct showing *s, const struct history_entry *entry,
		   const struct sample *sample)
{
	const struct sched_event *sched = &prof->events.v[entry->event]->sched;

	if (s->target_cpu == UINT32_MAX)
		return;
	if ((sched->kind == SCHED_WAKEUP || sched->kind == SCHED_WAKEUP_NEW ||
	     sched->kind == SCHED_MIGRATE) &&
	    tp_number(sched->pid, sample->raw, sample->raw_size) == s->first->key)
		s->target_cpu = (uint32_t)tp_number(sched->target_cpu, sample->raw, sample->raw_size);
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

// The left-hand note of an event between: how long a task ran that a switch takes off a CPU, or what became of the task that
// waits and when.
static void note(const struct prof *prof, struct showing *s, const struct history_entry *entry,
		 const struct sample *sample, char text[64])
{
	const struct sched_event *sched = &prof->events.v[entry->event]->sched;
	const void *raw = sample->raw;
	uint32_t size = sample->raw_size, cpu = entry->cpu % 64;
	uint64_t offset = entry->time_ns - s->first->time_ns;
	const char *reason = NULL;

	*text = 0;
	if (entry->time_ns < s->first->time_ns || entry->time_ns > s->second->time_ns)
		return;
	if (sched->kind == SCHED_SWITCH) {
		uint64_t before = s->last_switch_ns[cpu];
		struct str comm = tp_string(sched->prev_comm, raw, size);
		uint64_t state = tp_number(sched->prev_state, raw, size);

		s->last_switch_ns[cpu] = entry->time_ns;
		if (tp_number(sched->next_pid, raw, size) == s->first->key)
			reason = "running";
		else if (tp_number(sched->prev_pid, raw, size) == s->first->key)
			reason = !(state & 0xff) ? "preempt" : state & 1 ? "sleeping" : "waiting";
		else if (before && before != entry->time_ns && tp_number(sched->prev_pid, raw, size))
			snprintf(text, 64, "%.3f %.*s", us(entry->time_ns - before),
				 (int)MIN(comm.n, (size_t)15), comm.p);
	} else if (sched->kind != SCHED_OTHER && tp_number(sched->pid, raw, size) == s->first->key) {
		reason = sched->kind == SCHED_MIGRATE ? "migrate" : "wakeup";
	}
	if (reason)
		snprintf(text, 64, "%.3f [%s]", us(offset), reason);
}

static void put_margin(struct prof *prof, const char *text)
{
	size_t n = strlen(text);

	out_char(prof->out, '|');
	if (n + 2 < MARGIN)
		out_fill(prof->out, ' ', MARGIN - 2 - n);
	out_text(prof->out, text);
	out_char(prof->out, ' ');
}

static void put_hidden(struct prof *prof, struct showing *s)
{
	if (!s->hidden_n)
		return;
	out_printf(prof->out, "|\n| %llu hidden\n|\n", (unsigned long long)s->hidden_n);
	s->hidden_n = 0;
}

static void put_between(struct prof *prof, struct multi *multi, struct showing *s,
			const struct history_entry *entry)
{
	const struct prof_event *event = prof->events.v[entry->event];
	struct sample sample = decode(prof, entry);
	char text[64];

	if (!is_wanted(prof, &multi->detail, s, entry)) {
		if (event->sched.kind == SCHED_SWITCH)
			s->last_switch_ns[entry->cpu % 64] = entry->time_ns;
		follow(prof, s, entry, &sample);
		return;
	}
	follow(prof, s, entry, &sample);
	note(prof, s, entry, &sample, text);
	if (multi->detail.hide_ns && s->last_shown_ns &&
	    entry->time_ns - s->last_shown_ns < multi->detail.hide_ns) {
		s->last_shown_ns = entry->time_ns;
		s->hidden_n++;
		return;
	}
	put_hidden(prof, s);
	s->last_shown_ns = entry->time_ns;
	if (!s->told_delay && entry->time_ns >= s->first->time_ns) {
		snprintf(text, sizeof(text), "%.3f us", us(s->second->time_ns - s->first->time_ns));
		s->told_delay = true;
	}
	put_margin(prof, text);
	prof_put_event(prof, event, &sample);
	if (event->feed->stack)
		prof_put_stack(prof, &sample, "|                           ");
}

static void put_end(struct prof *prof, const struct history_entry *entry)
{
	struct sample sample = decode(prof, entry);

	prof_put_time(prof, entry->time_ns);
	out_char(prof->out, ' ');
	prof_put_event(prof, prof->events.v[entry->event], &sample);
	if (sample.callchain)
		prof_put_stack(prof, &sample, "    ");
}

static void put_before(struct prof *prof, struct multi *multi, struct showing *s, uint64_t first_at)
{
	const struct history *history = &multi->history;
	const struct history_entry *entry;
	bool titled = false;

	for (uint64_t at = history->from; (entry = history_at(history, at)) && at < first_at;
	     at = history_next(history, at)) {
		if (entry->time_ns + multi->detail.before_ns < s->first->time_ns)
			continue;
		if (!titled && is_wanted(prof, &multi->detail, s, entry)) {
			out_printf(prof->out, "`Previous %.3f us\n",
				   -us(s->first->time_ns - entry->time_ns));
			titled = true;
		}
		put_between(prof, multi, s, entry);
	}
}

static void put_after(struct prof *prof, struct multi *multi, struct showing *s, uint64_t second_at)
{
	const struct history *history = &multi->history;
	const struct history_entry *entry;
	uint64_t last = 0;

	for (uint64_t at = history_next(history, second_at); (entry = history_at(history, at));
	     at = history_next(history, at)) {
		if (entry->time_ns > s->second->time_ns + multi->detail.after_ns)
			break;
		put_between(prof, multi, s, entry);
		if (is_wanted(prof, &multi->detail, s, entry))
			last = entry->time_ns - s->second->time_ns;
	}
	put_hidden(prof, s);
	if (last)
		out_printf(prof->out, "`After %.3f us\n", us(last));
}

static void show(struct prof *prof, struct multi *multi, const struct multi_shown *shown)
{
	const struct history *history = &multi->history;
	struct showing s = {.first = history_at(history, shown->first_at),
			    .second = history_at(history, shown->second_at),
			    .target_cpu = UINT32_MAX};
	const struct history_entry *entry;

	if (!s.second)
		return;
	if (!s.first) {
		inform("the first event of a delay is too long ago to be shown: --order-mem gives more room");
		put_end(prof, s.second);
		return;
	}
	if (multi->follow_cpu) {
		struct sample sample = decode(prof, s.first);

		s.target_cpu = s.first->cpu;
		follow(prof, &s, s.first, &sample);
	}
	if (multi->detail.before_ns)
		put_before(prof, multi, &s, shown->first_at);
	s.hidden_n = 0;
	s.last_shown_ns = s.first->time_ns;
	put_end(prof, s.first);
	for (uint64_t at = history_next(history, shown->first_at);
	     multi->detail.on && at < shown->second_at && (entry = history_at(history, at));
	     at = history_next(history, at))
		put_between(prof, multi, &s, entry);
	put_hidden(prof, &s);
	put_end(prof, s.second);
	s.told_delay = true;
	if (multi->detail.after_ns)
		put_after(prof, multi, &s, shown->second_at);
}

void multi_show(struct prof *prof, struct multi *multi, uint64_t first_at, uint64_t second_at)
{
	struct multi_shown shown = {.first_at = first_at, .second_at = second_at};
	const struct history_entry *second = history_at(&multi->history, second_at);

	if (!multi->detail.after_ns || !second) {
		show(prof, multi, &shown);
		return;
	}
	shown.due_ns = second->time_ns + multi->detail.after_ns;
	struct multi_shown *kept = NEW(struct multi_shown);
	*kept = shown;
	vec_push(&multi->shown, kept);
}

void multi_show_due(struct prof *prof, struct multi *multi, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < multi->shown.n; i++) {
		struct multi_shown *shown = multi->shown.v[i];

		if (shown->due_ns >= now_ns) {
			multi->shown.v[kept++] = shown;
			continue;
		}
		show(prof, multi, shown);
		free(shown);
	}
	multi->shown.n = kept;
}

void multi_show_done(struct multi *multi)
{
	for (size_t i = 0; i < multi->shown.n; i++)
		free(multi->shown.v[i]);
	vec_done(&multi->shown);
}
