// SPDX-License-Identifier: GPL-2.0-or-later
// Prints events as they come.
#include "base/err.h"
#include "flow/event_fields.h"
#include "prof/core/flame.h"
#include "prof/core/print.h"

struct trace {
	struct prof_options common;
	struct expr **programs; // exec=, by event
	struct table table;	// of --format csv and json: one row
	bool stacks, foreign;	// its last columns
	struct out fields;
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

static void set_columns(struct trace *trace, bool stacks, bool foreign)
{
	static const struct table_column columns[] = {
		{"comm", NULL, TABLE_TEXT},  {"tid", NULL, TABLE_COUNT},
		{"cpu", NULL, TABLE_COUNT},  {"time_ns", NULL, TABLE_COUNT},
		{"event", NULL, TABLE_TEXT}, {"fields", NULL, TABLE_TEXT},
		{"stack", NULL, TABLE_TEXT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns) - !stacks; i++)
		table_column(&trace->table, columns[i]);
	if (foreign)
		table_column(&trace->table, (struct table_column){"from", NULL, TABLE_TEXT});
	trace->stacks = stacks;
	trace->foreign = foreign;
	out_init_memory(&trace->fields);
}

static int setup(struct prof *prof)
{
	struct trace *trace = PROF_STATE(struct trace, prof);
	bool stacks = false, foreign = false;
	int err = 0;

	trace->programs = xcalloc(prof->events.n + 1, sizeof(struct expr *));
	for (size_t i = 0; i < prof->events.n && !err; i++) {
		struct prof_event *event = prof->events.v[i];
		const char *text = prof_spec_attr(event->spec, "exec");

		stacks |= event->feed->stack;
		foreign |= event->feed->foreign != NULL;
		if (text)
			err = prof_compile(&trace->programs[i], prof, event, text);
	}
	if (prof->print->format != TABLE_FORMAT_TEXT)
		set_columns(trace, stacks && !prof->options->flame_graph, foreign);
	return err;
}

static void put_row(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	struct trace *trace = PROF_STATE(struct trace, prof);
	struct table *table = &trace->table;
	struct out *text = &trace->fields;

	table_clear(table);
	table_text(table, prof_comm(prof, sample->pid, sample->tid));
	table_number(table, sample->tid);
	table_number(table, sample->cpu);
	table_number(table, prof_event_clock(prof, event, sample->time));
	table_text(table, event->feed->event->name);
	text->n = 0;
	prof_event_text(event, sample, text);
	out_char(text, 0);
	table_text(table, text->buf);
	if (trace->stacks) {
		text->n = 0;
		prof_stack_text(prof, sample, text);
		out_char(text, 0);
		table_text(table, text->buf);
	}
	if (trace->foreign)
		table_text(table, event->feed->foreign ? event->feed->foreign->where : "");
	prof_put_table(prof, table, sample->time);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct trace *trace = PROF_STATE(struct trace, prof);
	const struct expr *program = trace->programs[event->index];

	if (trace->table.columns.n) {
		put_row(prof, event, sample);
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
	if (prof->flame || !trace->table.columns.n)
		prof_add_stack(prof, sample);
	return out_broken(prof->out) ? prof->out->error : 0;
}

static void done(struct prof *prof)
{
	struct trace *trace = PROF_STATE(struct trace, prof);

	for (size_t i = 0; trace->programs && i < prof->events.n; i++)
		expr_free(trace->programs[i]);
	free(trace->programs);
	if (trace->table.columns.n) {
		table_done(&trace->table);
		out_done(&trace->fields);
	}
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
	.size = sizeof(struct trace),
	.examples = examples,
	.attributes = attributes,
	.endless = true,
	.takes_profilers = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.done = done,
};
