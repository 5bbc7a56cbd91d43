// SPDX-License-Identifier: GPL-2.0-or-later
// How busy CPUs are, exactly: by their switches.
#include "prof/core/switches.h"
#include <stdio.h>

struct cpu_util {
	struct prof_options common;
	struct switches switches;
	struct cpu_use {
		uint64_t busy_ns, idle_ns, unknown_ns, switches_n;
		bool seen;
	} * cpus;
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
	state->cpus = xcalloc(SWITCH_CPUS, sizeof(*state->cpus));
	return switches_init(&state->switches, prof, NULL);
}

static void add(struct cpu_use *use, uint32_t tid, uint64_t ns)
{
	*(tid == SWITCH_NOBODY ? &use->unknown_ns : tid ? &use->busy_ns : &use->idle_ns) += ns;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct cpu_util *state = PROF_STATE(struct cpu_util, prof);
	struct cpu_use *use;
	uint32_t tid;
	uint64_t ns;
	bool known = switches_take(&state->switches, sample, &tid, &ns);

	if (sample->cpu >= SWITCH_CPUS)
		return 0;
	use = &state->cpus[sample->cpu];
	use->seen = true;
	use->switches_n++;
	add(use, known ? tid : SWITCH_NOBODY, ns);
	return 0;
}

static void lost(struct prof *prof, const struct feed_loss *loss)
{
	switches_forget(&PROF_STATE(struct cpu_util, prof)->switches, loss->cpu);
}

static void put_row(struct table *table, const char *name, const struct cpu_use *use)
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
	struct cpu_use all = {0};
	char name[16];

	table_column(&table, (struct table_column){"[CPU]", "cpu", TABLE_TEXT, 5, .left = true});
	table_column(&table, (struct table_column){"busy(ms)", "busy_ms", TABLE_MS, 10});
	table_column(&table, (struct table_column){"idle(ms)", "idle_ms", TABLE_MS, 10});
	table_column(&table, (struct table_column){"unknown(ms)", "unknown_ms", TABLE_MS, 11});
	table_column(&table, (struct table_column){"busy(%)", "busy_percent", TABLE_MS, 8});
	table_column(&table, (struct table_column){"switches", NULL, TABLE_COUNT, 8});
	for (uint32_t cpu = 0; cpu < SWITCH_CPUS; cpu++) {
		struct cpu_use *use = &state->cpus[cpu];
		uint64_t ns;

		if (!use->seen)
			continue;
		if (switches_cut(&state->switches, cpu, now_ns, &ns))
			add(use, state->switches.cpus[cpu].tid, ns);
		snprintf(name, sizeof(name), "[%03u]", cpu);
		put_row(&table, name, use);
		all.busy_ns += use->busy_ns;
		all.idle_ns += use->idle_ns;
		all.unknown_ns += use->unknown_ns;
		all.switches_n += use->switches_n;
		*use = (struct cpu_use){.seen = true};
	}
	put_row(&table, "[ALL]", &all);
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	return 0;
}

static void done(struct prof *prof)
{
	struct cpu_util *state = PROF_STATE(struct cpu_util, prof);

	switches_done(&state->switches);
	free(state->cpus);
}

const struct profiler profiler_cpu_util = {
	.name = "cpu-util",
	.summary = "How busy CPUs are, exactly: by their switches",
	.usage = "sonde prof cpu-util [-C LIST] [-i MS] [options] [-- COMMAND]",
	.description =
		"Adds up how long CPUs ran tasks and how long the idle task, from switch to switch. A CPU is known from its first switch on. Where the kernel does not show a switch (in sandboxes those out of the idle task), or where events were lost, whose the time up to the next one was is unknown; busy(%) is of the time that is known.",
	.opts = options,
	.size = sizeof(struct cpu_util),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.setup = setup,
	.sample = sample,
	.lost = lost,
	.interval = interval,
	.done = done,
};
