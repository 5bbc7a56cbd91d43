// SPDX-License-Identifier: GPL-2.0-or-later
// The two events of a long delay and what happened between them.
#include "base/log.h"
#include "prof/core/multi.h"
#include "prof/core/sources.h"
#include <stdio.h>

enum { MARGIN = 27 }; // "2024-02-24 10:43:22.869109 "

struct multi_shown {
	uint64_t first_at, second_at, due_ns;
	struct history_entry *first; // a copy, where it may be gone; NULL: in the history
};

// What the events between are compared with, and what is noted beside them.
struct showing {
	const struct history_entry *first, *second; // second NULL: it has not come yet
	uint64_t end_ns;			    // the second's time, or now
	uint32_t target_cpu;	     // of rundelay: where the task waits; UINT32_MAX: not followed
	uint64_t last_switch_ns[64]; // by cpu; 0: none yet
	bool told_delay;
};

// What is wanted of the events before, between or behind.
struct between {
	uint64_t at, time_ns;	 // in the history
	uint64_t last_switch_ns; // on its CPU before it
	bool shown;
};
struct betweens {
	VEC(struct between) v;
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
	       (s->second && prof_source_is_of(event, &sample, s->second->tid));
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
	return (first && same(detail, entry, s->first)) ||
	       (second && s->second && same(detail, entry, s->second));
}

// Where the task that waits is now: a wake-up or a migration says it.
static void follow(const struct prof *prof, struct showing *s, const struct history_entry *entry,
		   const struct sample *sample)
{
	struct sched_hit hit;

	if (s->target_cpu == UINT32_MAX)
		return;
	hit = sched_hit_of(&prof->events.v[entry->event]->sched, sample);
	if (hit.kind != SCHED_OTHER && hit.kind != SCHED_SWITCH && hit.tid == s->first->key)
		s->target_cpu = hit.to_cpu;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

struct noted {
	const struct history_entry *entry;
	const struct sample *sample;
	uint64_t last_switch_ns; // on its CPU before it
};

// The left-hand note of an event between: how long a task ran that a switch takes off a CPU, or what became of the task that
// waits and when.
static void note(const struct prof *prof, const struct showing *s, const struct noted *of,
		 char text[64])
{
	const struct history_entry *entry = of->entry;
	const struct sample *sample = of->sample;
	uint64_t before = of->last_switch_ns;
	const struct sched_event *sched = &prof->events.v[entry->event]->sched;
	const struct sched_hit hit = sched_hit_of(sched, sample);
	uint64_t offset = entry->time_ns - s->first->time_ns;
	const char *reason = NULL;

	*text = 0;
	if (entry->time_ns < s->first->time_ns || entry->time_ns > s->end_ns)
		return;
	if (hit.kind == SCHED_SWITCH) {
		struct str comm = sched_comm(sched, sample);

		if (hit.next == s->first->key)
			reason = "running";
		else if (hit.tid == s->first->key)
			reason = hit.state == SCHED_WAITS    ? "preempt"
				 : hit.state == SCHED_SLEEPS ? "sleeping"
							     : "waiting";
		else if (before && before != entry->time_ns && hit.tid)
			snprintf(text, 64, "%.3f %.*s", us(entry->time_ns - before),
				 (int)MIN(comm.n, (size_t)15), comm.p);
	} else if (sched_hit_is_about(&hit, (uint32_t)s->first->key)) {
		reason = hit.kind == SCHED_MIGRATE ? "migrate" : "wakeup";
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
}

// What is wanted of a part of the history, in its order.
static void gather(const struct prof *prof, struct showing *s, const struct between *from_to,
		   struct betweens *ret)
{
	const struct multi *multi = PROF_STATE(const struct multi, prof);
	const struct history *history = &multi->history;
	const struct history_entry *entry;

	for (uint64_t at = from_to[0].at; at < from_to[1].at && (entry = history_at(history, at)) &&
					  entry->time_ns <= from_to[1].time_ns;
	     at = history_next(history, at)) {
		const struct sched_event *sched = &prof->events.v[entry->event]->sched;
		uint64_t *last = &s->last_switch_ns[entry->cpu % 64];
		struct between between = {.at = at, .time_ns = entry->time_ns, .last_switch_ns = *last};
		struct sample sample;

		if (entry->time_ns < from_to[0].time_ns)
			continue;
		if (is_wanted(prof, &multi->options->detail, s, entry))
			vec_push(&ret->v, between);
		if (s->target_cpu != UINT32_MAX) {
			sample = decode(prof, entry);
			follow(prof, s, entry, &sample);
		}
		if (sched->kind == SCHED_SWITCH)
			*last = entry->time_ns;
	}
}

// Without hide<TIME all; else the first, and what stands at both sides of the largest gap and of all that are longer than TIME.
static void choose(struct betweens *found, const struct showing *s, uint64_t hide_ns)
{
	struct between *v = found->v.v;
	size_t n = found->v.n, largest = 0;
	uint64_t widest = 0;

	// gap i lies before event i; gap n behind the last
	for (size_t i = 0; i <= n && n; i++) {
		uint64_t before = i ? v[i - 1].time_ns : s->first->time_ns;
		uint64_t behind = i < n ? v[i].time_ns : s->end_ns;
		uint64_t gap = behind > before ? behind - before : 0;

		if (gap > widest) {
			widest = gap;
			largest = i;
		}
		if (gap < hide_ns && hide_ns)
			continue;
		if (i)
			v[i - 1].shown = true;
		if (i < n)
			v[i].shown = true;
	}
	if (!n)
		return;
	v[0].shown = true;
	if (largest)
		v[largest - 1].shown = true;
	if (largest < n)
		v[largest].shown = true;
}

static void put_delay(struct prof *prof, struct showing *s, const char *note)
{
	char text[64];

	snprintf(text, sizeof(text), "%.3f us", us(s->end_ns - s->first->time_ns));
	put_margin(prof, s->told_delay ? note : text);
	s->told_delay = true;
}

static void put_between(struct prof *prof, struct multi *multi, struct showing *s,
			const struct between *between)
{
	const struct history_entry *entry = history_at(&multi->history, between->at);
	const struct prof_event *event = prof->events.v[entry->event];
	struct sample sample = decode(prof, entry);
	char text[64];

	note(prof, s, &(struct noted){entry, &sample, between->last_switch_ns}, text);
	if (entry->time_ns < s->first->time_ns)
		put_margin(prof, text);
	else
		put_delay(prof, s, text);
	out_char(prof->out, ' ');
	prof_put_event(prof, event, &sample);
	if (event->feed->stack)
		prof_put_stack(prof, &sample, "|                           ");
}

static void put_betweens(struct prof *prof, struct multi *multi, struct showing *s,
			 struct betweens *found)
{
	uint64_t hidden = 0;

	choose(found, s, multi->options->detail.hide_ns);
	for (size_t i = 0; i <= found->v.n; i++) {
		bool shown = i == found->v.n || found->v.v[i].shown;

		if (shown && hidden)
			out_printf(prof->out, "|\n| %llu hidden\n|\n", (unsigned long long)hidden);
		hidden = shown ? 0 : hidden + 1;
		if (shown && i < found->v.n)
			put_between(prof, multi, s, &found->v.v[i]);
	}
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
	const uint64_t before = multi->options->detail.before_ns, first_ns = s->first->time_ns;
	const struct between from_to[2] = {{multi->history.from,
					    first_ns > before ? first_ns - before : 0},
					   {first_at, UINT64_MAX}};
	struct betweens found = {0};

	gather(prof, s, from_to, &found);
	if (found.v.n)
		out_printf(prof->out, "`Previous %.3f us\n",
			   -us(s->first->time_ns - found.v.v[0].time_ns));
	put_betweens(prof, multi, s, &found);
	vec_done(&found.v);
}

static void put_after(struct prof *prof, struct multi *multi, struct showing *s, uint64_t second_at)
{
	const struct between from_to[2] = {{history_next(&multi->history, second_at), 0},
					   {UINT64_MAX, s->end_ns + multi->options->detail.after_ns}};
	struct betweens found = {0};
	uint64_t last;

	gather(prof, s, from_to, &found);
	put_betweens(prof, multi, s, &found);
	last = found.v.n ? vec_last(&found.v).time_ns - s->end_ns : 0;
	if (last)
		out_printf(prof->out, "`After %.3f us\n", us(last));
	vec_done(&found.v);
}

// From the first event to `second_at`.
static void put_inside(struct prof *prof, struct multi *multi, struct showing *s,
		       const struct between *from_to)
{
	struct betweens found = {0};

	if (multi->follow_cpu) {
		struct sample sample = decode(prof, s->first);

		s->target_cpu = s->first->cpu;
		follow(prof, s, s->first, &sample);
	}
	gather(prof, s, from_to, &found);
	put_betweens(prof, multi, s, &found);
	vec_done(&found.v);
	if (s->told_delay)
		return;
	put_delay(prof, s, "");
	out_char(prof->out, '\n');
}

static uint64_t behind(const struct history *history, uint64_t first_at)
{
	return history_at(history, first_at) ? history_next(history, first_at) : history->from;
}

static void show(struct prof *prof, struct multi *multi, const struct multi_shown *shown)
{
	const struct history *history = &multi->history;
	struct showing s = {.first = history_at(history, shown->first_at),
			    .second = history_at(history, shown->second_at),
			    .target_cpu = UINT32_MAX};

	if (!s.second)
		return;
	if (!s.first)
		s.first = shown->first;
	if (!s.first) {
		inform("the first event of a delay is too long ago to be shown: --order-mem gives more room");
		put_end(prof, s.second);
		return;
	}
	s.end_ns = s.second->time_ns;
	if (multi->options->detail.before_ns && s.first != shown->first)
		put_before(prof, multi, &s, shown->first_at);
	put_end(prof, s.first);
	if (multi->options->detail.on)
		put_inside(prof, multi, &s,
			   (const struct between[2]){{behind(history, shown->first_at), 0},
						     {shown->second_at, UINT64_MAX}});
	put_end(prof, s.second);
	s.told_delay = true;
	if (multi->options->detail.after_ns)
		put_after(prof, multi, &s, shown->second_at);
}

void multi_show_open(struct prof *prof, struct multi *multi, const struct pair_slot *slot,
		     const struct multi_waiting *waiting)
{
	struct showing s = {.first = waiting->entry,
			    .end_ns = waiting->now_ns,
			    .target_cpu = UINT32_MAX};

	if (s.first) {
		put_end(prof, s.first);
	} else {
		prof_put_time(prof, slot->time_ns);
		out_printf(prof->out, " %s, key %lld\n",
			   prof->events.v[slot->event]->feed->event->name, (long long)slot->key);
	}
	if (s.first && multi->options->detail.on && !waiting->told)
		put_inside(prof, multi, &s,
			   (const struct between[2]){{behind(&multi->history, slot->data), 0},
						     {UINT64_MAX, waiting->now_ns}});
}

void multi_show(struct prof *prof, struct multi *multi, const struct pair_slot *first,
		uint64_t second_at)
{
	struct multi_shown shown = {.first_at = first->data, .second_at = second_at};
	const struct history_entry *entry = multi_first(multi, first),
				   *second = history_at(&multi->history, second_at);
	struct multi_shown *kept;

	if (entry)
		shown.first = xmemdup(entry, entry->size);
	if (!multi->options->detail.after_ns || !second) {
		show(prof, multi, &shown);
		free(shown.first);
		return;
	}
	shown.due_ns = second->time_ns + multi->options->detail.after_ns;
	kept = NEW(struct multi_shown);
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
		free(shown->first);
		free(shown);
	}
	multi->shown.n = kept;
}

void multi_show_done(struct multi *multi)
{
	for (size_t i = 0; i < multi->shown.n; i++) {
		free(multi->shown.v[i]->first);
		free(multi->shown.v[i]);
	}
	vec_done(&multi->shown);
}
