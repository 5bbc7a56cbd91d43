// SPDX-License-Identifier: GPL-2.0-or-later
// --switch-output-event: events that are not recorded; a sample of one begins a new file.
#include "base/err.h"
#include "cmd/core/record/record.h"

// What happens so often that each occurrence can't mean a new file.
static bool needs_period(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	case PERF_TYPE_SOFTWARE:
		return attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK;
	default:
		return attr->type <= PERF_TYPE_RAW;
	}
}

static int configure(const struct recorder *recorder, struct event_spec *spec)
{
	const struct record_options *options = recorder->options;
	struct perf_event_attr *attr = &spec->attr;
	bool given = spec->given & (EVENT_PERIOD | EVENT_FREQ);

	if (!given && needs_period(attr))
		return fail(EINVAL,
			    "--switch-output-event %s: a new file after how many? Say it: %s/period=N/",
			    spec->name, spec->name);
	if (!given)
		attr->sample_period = 1;
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_TID;
	attr->wakeup_events = 1;
	attr->inherit = !options->no_inherit && recorder->target.cpus.v[0] >= 0;
	attr->disabled = 1;
	attr->enable_on_exec = recorder->target.has_workload;
	return 0;
}

int trigger_open(struct recorder *recorder)
{
	enum { PAGES = 4 };
	struct opened *trigger = &recorder->trigger;
	struct event_specs *specs = &recorder->options->rotate.specs;
	int err = 0;

	if (!specs->events.n)
		return 0;
	trigger->specs = specs;
	for (size_t i = 0; i < specs->events.n && !err; i++) {
		err = configure(recorder, &specs->events.v[i]);
		if (!err)
			opened_add(trigger, &specs->events.v[i]);
	}
	if (!err)
		err = opened_open(trigger, &recorder->target);
	if (!err)
		err = opened_filter(trigger);
	if (!err)
		err = opened_map(trigger, PAGES, false);
	if (!err && !recorder->target.has_workload && opened_enable(trigger) < 0)
		err = fail(EIO, "can't switch the events of --switch-output-event on");
	return err;
}

bool trigger_fired(struct recorder *recorder)
{
	bool fired = false;

	vec_each(struct ring, ring, &recorder->trigger.rings) {
		struct ring_pieces pieces;

		if (!ring_read(ring, &pieces))
			continue;
		ring_release(ring, pieces.end);
		fired = true;
	}
	return fired;
}
