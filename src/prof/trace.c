// SPDX-License-Identifier: GPL-2.0-or-later
// Prints events as they come.
#include "base/err.h"
#include "flow/event_fields.h"
#include "prof/core/flame.h"
#include "prof/core/rows.h"

struct trace {
	struct expr **programs; // exec=, by event
	struct prof_rows rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which events"),
	PROF_OPTIONS_EVENTS,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof trace -e sched:sched_wakeup -N 10", "shows the next ten wake-ups",
	 "sonde prof trace -e sched:sched_wakeup -N 10 >out.txt"},
	{"sonde prof trace -e 'sched:sched_wakeup/pid<10/' -N 5", "shows those of kernel threads",
	 "sonde prof trace -e 'sched:sched_wakeup/pid<10/' -N 1 --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof trace -e sched:sched_switch -g -- sleep 0.1",
	 "shows where a command gives up the CPU",
	 "sonde prof trace -e sched:sched_switch -g -- sleep 0.1 >out.txt"},
	{"sonde prof trace -e sched:sched_switch --from perf.data", "shows the events of a recording",
	 "sonde prof trace -e sched:sched_switch --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct trace *trace = PROF_STATE(struct trace, prof);
	bool stacks = false;
	int err = 0;

	trace->programs = xcalloc(prof->events.n + 1, sizeof(struct expr *));
	for (size_t i = 0; i < prof->events.n && !err; i++) {
		struct prof_event *event = prof->events.v[i];
		const char *text = prof_spec_attr(event->spec, "exec");

		stacks |= event->feed->stack;
		if (text)
			err = prof_compile(&trace->programs[i], prof, event, text);
	}
	prof_rows_begin(prof, &trace->rows, stacks);
	return err;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct trace *trace = PROF_STATE(struct trace, prof);
	const struct expr *program = trace->programs[event->index];

	if (prof_rows_on(&trace->rows)) {
		prof_rows_put(prof, &trace->rows, event, sample);
	} else if (prof->options->verbose < 2) { // else it stands there already
		prof_put_time(prof, sample->time);
		out_char(prof->out, ' ');
		prof_put_event(prof, event, sample);
	}
	if (program) {
		uint64_t context[EXPR_CONTEXTS];
		struct expr_record record = event_record(sample, context);
		struct expr_value value;
		int err = expr_run(prof->machine, program, &record, &value);

		if (err)
			return fail_context(expr_fault(prof->machine, program), "exec");
	}
	if (prof->flame || !prof_rows_on(&trace->rows))
		prof_add_stack(prof, sample);
	return prof_broken(prof);
}

static void done(struct prof *prof)
{
	struct trace *trace = PROF_STATE(struct trace, prof);

	for (size_t i = 0; trace->programs && i < prof->events.n; i++)
		expr_free(trace->programs[i]);
	free(trace->programs);
	prof_rows_done(&trace->rows);
}

static const char *const attributes[] = {"exec", NULL};

const struct profiler profiler_trace = {
	.name = "trace",
	.summary = "Print events as they come",
	.usage = "sonde prof trace -e EVENT [-g [--flame-graph FILE]] [options] [-- COMMAND]",
	.description =
		"A line for each event: the time of day, the task's name and thread, whether interrupts were off (d), a switch was due "
		"(N), in a hard or soft interrupt (h, s, H), the CPU, the event's own time, its name and fields.\n\n"
		"Without --order the events come CPU by CPU. The attribute exec=EXPRESSION is evaluated for each event, such as "
		"exec=printf(\"%d\\n\", pid). Profilers may be events, too: task-state, profile/-F N/, page-faults, "
		"breakpoint/\"0xADDRESS/4:rw\"/.",
	.opts = options,
	.size = sizeof(struct prof_options),
	.state_size = sizeof(struct trace),
	.examples = examples,
	.attributes = attributes,
	.endless = true,
	.takes_profilers = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.done = done,
};
