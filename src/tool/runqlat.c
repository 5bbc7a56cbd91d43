// SPDX-License-Identifier: GPL-2.0-or-later
// How long tasks that could run wait for a CPU, as bcc's runqlat shows it.
#include "base/err.h"
#include "tool/core/tool.h"

struct runqlat {
	struct prof_options common;
	bool milliseconds, by_thread, by_name;
};

static const struct opt options[] = {
	PROF_HEADING("What to count"),
	PROF_FLAG('m', "milliseconds", offsetof(struct runqlat, milliseconds), "in ms instead of us"),
	PROF_FLAG('L', "tids", offsetof(struct runqlat, by_thread), "each thread by itself"),
	PROF_FLAG('n', "names", offsetof(struct runqlat, by_name), "tasks of a name together"),
	TOOL_OPTIONS,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde runqlat 1 10", "how long tasks waited for a CPU, each second, ten times",
	 "sonde runqlat 0.1 2 || exit 77"},
	{"sonde runqlat -n", "until Ctrl-C, by the names of tasks",
	 "sonde runqlat -n --from \"$T/data/prof.data.gz\""},
	{0},
};

// A task that is switched from while it could run on waits, too; the idle task doesn't. An idle task switched to waited for nothing.
static const struct tool_event switches[] = {
	{"sched:sched_wakeup", TALLY_FIRST, "pid"},
	{"sched:sched_wakeup_new", TALLY_FIRST, "pid"},
	{"sched:sched_switch", TALLY_FIRST, "prev_pid",
	 .filter = "(prev_state==0||prev_state==256)&&prev_pid>0"},
	{"sched:sched_switch", TALLY_SECOND, "next_pid", .filter = "next_pid>0"},
	{0},
};

static int plan(struct tool_run *run)
{
	const struct runqlat *o = run->options;
	const struct tool_event *const choices[] = {switches, NULL};

	if (o->by_thread && o->by_name)
		return fail(EINVAL, "-L and -n exclude each other");
	tool_histogram(run, TALLY_DELAY, o->milliseconds ? 1000000 : 1000,
		       o->milliseconds ? "msecs" : "usecs");
	if (o->by_thread)
		tool_sections(run, &(struct tool_section){"tid", TALLY_NUMBER, "next_pid"});
	if (o->by_name)
		tool_sections(run, &(struct tool_section){"comm", TALLY_TEXT, "next_comm"});
	return tool_events(run, choices);
}

const struct tool tool_runqlat = {
	.name = "runqlat",
	.summary = "How long tasks that could run wait for a CPU",
	.usage = "sonde runqlat [-L | -n] [-m] [options] [INTERVAL [COUNT]]",
	.description =
		"From a wake-up, or from a switch away from a task that could run on, to the switch to it, as a histogram: at Ctrl-C, or every "
		"INTERVAL seconds, COUNT times. The kernel counts, no events come out of it.\n\n"
		"The waits of one process, or those above a limit and what ran meanwhile: sonde prof rundelay.",
	.opts = options,
	.opts_size = sizeof(struct runqlat),
	.examples = examples,
	.banner = "Tracing run queue latency... Hit Ctrl-C to end.",
	.pairs = "waits",
	.everybody = true,
	.plan = plan,
};
