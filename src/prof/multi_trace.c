// SPDX-License-Identifier: GPL-2.0-or-later
// Delays between events that belong together.
#include "prof/core/multi.h"

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which events, and what of them"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT(0, "impl", offsetof(struct multi_options, impl), "HOW",
		  "delay (how long it takes, default) or pair (whether each has its second)"),
	PROF_FLAG(0, "cycle", offsetof(struct multi_options, cycle),
		  "from the last -e back to the first"),
	MULTI_OPTIONS,
	PROF_OPTION_NO_BPF,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof multi-trace -e irq:softirq_entry -e irq:softirq_exit -i 1000",
	 "how long soft interrupts take",
	 "sonde prof multi-trace -e irq:softirq_entry -e irq:softirq_exit -- sleep 0.2 >out.txt"},
	{"sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --order --than 4ms --detail=samekey",
	 "from wake-up to running, and what happened where it took long",
	 "sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --order --than 4ms --detail=samekey --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof multi-trace -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -p PID --perins",
	 "system calls of a process, thread by thread",
	 "sonde prof multi-trace -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit --perins -- sleep 0.1 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	int err = multi_setup(prof, multi);

	return err ? err : multi_count_in_kernel(prof, multi);
}

static const char *const attributes[] = {"key", "role", "untraced", "trigger", NULL};

const struct profiler profiler_multi_trace = {
	.name = "multi-trace",
	.summary = "Delays between events that belong together",
	.usage = "sonde prof multi-trace -e EVENT... -e EVENT... [-k KEY] [--than TIME [--detail[=WHAT]]] [options] [-- COMMAND]",
	.description =
		"Each -e is a stage; its events are alternatives. From an event of one stage to the next event of the stage behind with the "
		"same key is a delay. Without a key it is the thread, or the CPU where all events are of interrupts, timers and the scheduler "
		"and no tasks are chosen. Events come in the order of time wherever the key is not the CPU; a second event that "
		"happened before its first is none and is counted.\n\n"
		"Attributes: key=EXPR; role=EXPR, bit 0: may be a first, bit 1: may be a second; untraced: takes no part, is only shown "
		"by --detail; trigger: its coming makes a result.\n\n"
		"A profiler may be an event: task-state (switches and wake-ups of the watched tasks), profile/-F N -g/ (samples of what runs), "
		"page-faults, breakpoint/\"0xADDRESS/4:rw\"/. Its events are untraced; its options stand where a filter would.\n\n"
		"Delays within which events were lost are not known and left out.",
	.opts = options,
	.size = sizeof(struct multi_options),
	.state_size = sizeof(struct multi),
	.examples = examples,
	.attributes = attributes,
	.endless = true,
	.takes_profilers = true,
	.tasks = true,
	.setup = setup,
	.sample = multi_sample,
	.record = multi_record,
	.lost = multi_lost,
	.interval = multi_interval,
	.finish = multi_finish,
	.done = multi_done,
};
