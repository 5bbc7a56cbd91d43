// SPDX-License-Identifier: GPL-2.0-or-later
// How long tasks that could run wait for a CPU.
#include "base/err.h"
#include "base/log.h"
#include "prof/core/multi.h"
#include "prof/core/tasks.h"

struct rundelay {
	struct multi multi;
	struct prof_tasks tasks;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which waits, and what of them"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT(0, "filter", offsetof(struct multi_options, filter), "NAMES",
		  "tasks with these names, such as java,pyth*"),
	MULTI_OPTIONS,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof rundelay -i 1000 --than 20ms --detail=samecpu",
	 "waits for a CPU above 20 ms, and what ran there meanwhile",
	 "sonde prof rundelay --from \"$T/data/prof.data.gz\" --than 1ms --detail=samecpu >out.txt"},
	{"sonde prof rundelay -p PID --perins -i 1000",
	 "how long each thread of a process waits for a CPU",
	 "sonde prof rundelay --perins -- sleep 0.1 >out.txt"},
	{0},
};

// A task that is switched from while it could run on waits, too; the idle task doesn't.
#define PREEMPTED "(prev_state==0 || prev_state==256) && prev_pid>0"

static int set_filters(struct prof *prof, struct rundelay *state)
{
	bool first = false, last = false;

	for (size_t i = 0; i < prof->events.n; i++) {
		struct prof_event *event = prof->events.v[i];
		enum sched_kind kind = event->sched.kind;
		const char *filter;

		if (prof_spec_attr(event->spec, "untraced") || event->source)
			continue;
		if (event->stage == 0 && (kind == SCHED_WAKEUP || kind == SCHED_WAKEUP_NEW)) {
			filter = prof_tasks_filter(&state->tasks, prof, "pid", "comm");
			first = true;
		} else if (event->stage == 0 && kind == SCHED_SWITCH) {
			filter = feed_and(prof->feed, PREEMPTED,
					  prof_tasks_filter(&state->tasks, prof, "prev_pid",
							    "prev_comm"));
			first = true;
		} else if (event->stage == 1 && kind == SCHED_SWITCH) {
			filter = prof_tasks_filter(&state->tasks, prof, "next_pid", "next_comm");
			last = true;
		} else {
			return fail(EINVAL,
				    "rundelay: %s is none of its events here (wake-ups and sched_switch, then sched_switch); "
				    "others need the attribute untraced",
				    event->feed->event->name);
		}
		event->feed->filter = feed_and(prof->feed, event->feed->filter, filter);
		if (event->feed->filter)
			inform("%s filter \"%s\"", event->feed->event->name, event->feed->filter);
	}
	if (!first || !last)
		return fail(EINVAL,
			    "rundelay needs wake-ups in the first -e and sched:sched_switch in the second, or no -e");
	return 0;
}

// The key is the waiting task's id, whatever -k says.
static const char *key_field(const struct prof_event *event)
{
	if (event->sched.kind == SCHED_SWITCH)
		return event->stage == 0 ? "prev_pid" : "next_pid";
	return "pid";
}

static int setup(struct prof *prof)
{
	struct rundelay *state = PROF_STATE(struct rundelay, prof);
	struct multi *multi = &state->multi;
	int err = prof_tasks_init(&state->tasks, prof,
				  PROF_OPTIONS(struct multi_options, prof)->filter);

	prof->options->key = NULL;
	if (!err)
		err = set_filters(prof, state);
	if (!err)
		err = multi_setup(prof, multi);
	for (size_t i = 0; !err && i < prof->events.n; i++) {
		const struct prof_event *event = prof->events.v[i];
		struct multi_event *m = &multi->events[i];

		if (m->has_key || event->sched.kind == SCHED_OTHER)
			continue;
		err = prof_value_init(&m->key, prof, event, key_field(event));
		m->has_key = true;
		m->by_cpu = m->by_thread = false;
	}
	multi->key_title = "THREAD";
	multi->key_is_task = true;
	multi->follow_cpu = true;
	return err;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct rundelay *state = PROF_STATE(struct rundelay, prof);
	const struct multi_event *m = &state->multi.events[event->index];

	if (!m->untraced &&
	    !prof_tasks_wanted(&state->tasks, prof, (uint32_t)event_value_number(&m->key, sample)))
		return 0;
	return multi_sample(prof, event, sample);
}

static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	prof_tasks_record(&PROF_STATE(struct rundelay, prof)->tasks, prof, header);
	return multi_record(prof, header, ids);
}

static void done(struct prof *prof)
{
	prof_tasks_done(&PROF_STATE(struct rundelay, prof)->tasks);
	multi_done(prof);
}

static const char *const default_events[] =
	{"sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch//key=prev_pid/",
	 "sched:sched_switch//key=next_pid/", NULL};
static const char *const attributes[] = {"key", "role", "untraced", "trigger", NULL};

const struct profiler profiler_rundelay = {
	.name = "rundelay",
	.summary = "How long tasks that could run wait for a CPU",
	.usage = "sonde prof rundelay [-e WAKEUPS -e SWITCHES] [--filter NAMES] [--than TIME [--detail[=samecpu]]] [options] [-- COMMAND]",
	.description =
		"From a wake-up, or from a switch away from a task that could run on, to the switch to it. The events are there without -e; "
		"given ones (sched:sched_wakeup, sched:sched_wakeup_new, sched:sched_switch, then sched:sched_switch) may have attributes, and "
		"untraced ones may be added. Filters for -p, -t and --filter are made by themselves; of a command, all that it starts is "
		"watched.\n\n"
		"--detail=samecpu follows the CPU on whose queue the task waits.",
	.opts = options,
	.size = sizeof(struct multi_options),
	.state_size = sizeof(struct rundelay),
	.examples = examples,
	.default_events = default_events,
	.attributes = attributes,
	.endless = true,
	.takes_profilers = true,
	.ordered = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.record = record,
	.lost = multi_lost,
	.interval = multi_interval,
	.finish = multi_finish,
	.done = done,
};
