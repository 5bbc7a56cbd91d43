// SPDX-License-Identifier: GPL-2.0-or-later
// Whether events are lost, and how many.
#include "prof/core/profiler.h"

struct event_lost {
	uint64_t *counts; // by event
	uint64_t lost_all;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH, PROF_HEADING("Which events"), PROF_OPTIONS_EVENTS,
	PROF_OPTIONS_RINGS,  PROF_OPTIONS_OUTPUT,	   OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof event-lost -e raw_syscalls:sys_enter -m 8",
	 "whether rings of 8 pages are enough for all system calls",
	 "sonde prof event-lost -e raw_syscalls:sys_enter -m 64 -- sleep 0.1 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct event_lost *state = PROF_STATE(struct event_lost, prof);

	state->counts = xcalloc(prof->events.n + 1, sizeof(*state->counts));
	return 0;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	PROF_STATE(struct event_lost, prof)->counts[event->index]++;
	return 0;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct event_lost *state = PROF_STATE(struct event_lost, prof);
	struct table table = {0};

	for (size_t i = 0; i < prof->events.n; i++)
		table_column(&table,
			     (struct table_column){prof->events.v[i]->label, NULL, TABLE_COUNT, 10});
	table_column(&table, (struct table_column){"lost", NULL, TABLE_COUNT, 10});
	table_column(&table, (struct table_column){"lost-in-all", "lost_in_all", TABLE_COUNT, 10});
	for (size_t i = 0; i < prof->events.n; i++) {
		table_number(&table, state->counts[i]);
		state->counts[i] = 0;
	}
	table_number(&table, prof->lost_all - state->lost_all);
	table_number(&table, prof->lost_all);
	state->lost_all = prof->lost_all;
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	return 0;
}

static void done(struct prof *prof)
{
	free(PROF_STATE(struct event_lost, prof)->counts);
}

const struct profiler profiler_event_lost = {
	.name = "event-lost",
	.summary = "Whether events are lost, and how many",
	.usage = "sonde prof event-lost -e EVENT [-m PAGES] [options] [-- COMMAND]",
	.description =
		"Takes the events out of the rings and does nothing else with them than count; what the kernel had no room for is told "
		"with its CPU and the time, and counted.",
	.opts = options,
	.size = sizeof(struct prof_options),
	.state_size = sizeof(struct event_lost),
	.examples = examples,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
