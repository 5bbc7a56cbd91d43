// SPDX-License-Identifier: GPL-2.0-or-later
// How busy CPUs are, exactly: by their switches.
#include "prof/core/profiler.h"
#include <stdio.h>

struct cpu_util {
	struct prof_event *switches;
	struct sched sched;
};

static const struct opt options[] = {
	PROF_HEADING("Whom to watch"),
	PROF_TEXT('C', "cpus", PROF_AT(target.cpus), "LIST", "these CPUs, such as 0,2-3"),
	PROF_TEXT(0, "from", PROF_AT(from), "FILE",
		  "take the events of a recording instead of the running kernel's"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof cpu-util -i 1000", "how busy each CPU is, every second",
	 "sonde prof cpu-util -C 0 -i 100 -- sleep 0.2 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct cpu_util *state = PROF_STATE(struct cpu_util, prof);

	prof->everywhere = true;
	return prof_add_sched(prof, "sched:sched_switch", NULL, &state->switches);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	const struct sched_hit hit = sched_hit_of(&event->sched, sample);

	sched_take(&PROF_STATE(struct cpu_util, prof)->sched, &hit);
	return 0;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	sched_lost(&PROF_STATE(struct cpu_util, prof)->sched, loss->cpu);
}

static void put_row(struct table *table, const char *name, const struct sched_use *use)
{
	uint64_t all = use->busy_ns + use->idle_ns;

	table_text(table, name);
	table_number(table, use->busy_ns);
	table_number(table, use->idle_ns);
	table_number(table, use->unknown_ns);
	if (all)
		table_number(table, (uint64_t)((double)use->busy_ns / (double)all * 1e8));
	else
		table_none(table);
	table_number(table, use->switches_n);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct cpu_util *state = PROF_STATE(struct cpu_util, prof);
	struct table table = {0};
	struct sched_use all = {0};
	char name[16];

	table_column(&table, (struct table_column){"[CPU]", "cpu", TABLE_TEXT, 5, .left = true});
	table_column(&table, (struct table_column){"busy(ms)", "busy_ms", TABLE_MS, 10});
	table_column(&table, (struct table_column){"idle(ms)", "idle_ms", TABLE_MS, 10});
	table_column(&table, (struct table_column){"unknown(ms)", "unknown_ms", TABLE_MS, 11});
	table_column(&table, (struct table_column){"busy(%)", "busy_percent", TABLE_MS, 8});
	table_column(&table, (struct table_column){"switches", NULL, TABLE_COUNT, 8});
	sched_cut(&state->sched, now_ns);
	vec_each(struct sched_cpu, cpu, &state->sched.cpus) {
		struct sched_use *use = &cpu->use;

		if (!cpu->seen)
			continue;
		snprintf(name, sizeof(name), "[%03zu]", (size_t)(cpu - state->sched.cpus.v));
		put_row(&table, name, use);
		all.busy_ns += use->busy_ns;
		all.idle_ns += use->idle_ns;
		all.unknown_ns += use->unknown_ns;
		all.switches_n += use->switches_n;
		*use = (struct sched_use){0};
	}
	put_row(&table, "[ALL]", &all);
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	return 0;
}

static void done(struct prof *prof)
{
	struct sched *sched = &PROF_STATE(struct cpu_util, prof)->sched;

	prof_warn_sched(sched);
	sched_done(sched);
}

const struct profiler profiler_cpu_util = {
	.name = "cpu-util",
	.summary = "How busy CPUs are, exactly: by their switches",
	.usage = "sonde prof cpu-util [-C LIST] [-i MS] [options] [-- COMMAND]",
	.description =
		"Adds up how long CPUs ran tasks and how long the idle task, from switch to switch. A CPU is known from its first switch on. Where the kernel does not show a switch (in sandboxes those out of the idle task), or where events were lost, whose the time up to the next one was is unknown; busy(%) is of the time that is known.",
	.opts = options,
	.size = sizeof(struct prof_options),
	.state_size = sizeof(struct cpu_util),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.setup = setup,
	.sample = sample,
	.lost = lost,
	.interval = interval,
	.done = done,
};
