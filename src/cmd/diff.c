// SPDX-License-Identifier: GPL-2.0-or-later
// What became slower or faster from one recording to the next.
#include "cmd/diff/diff.h"
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "encoder/core/table.h"
#include "flow/missing.h"
#include <stdio.h>

#define AT(field) offsetof(struct diff_options, field)

static const struct opt opts[] = {
	HEADING("What is compared"),
	OPT(OPT_TEXT, 's', "sort", AT(sort), "KEY[,KEY...]",
	    "What makes a row (default: dso,symbol); see sonde report."),
	OPT(OPT_TEXT, 'c', "compute", AT(compute), "HOW",
	    "delta: the new percentage less the old one. delta-abs (the default): the same, large changes of both kinds first. "
	    "ratio: new period by old. wdiff:OLD,NEW: new period times NEW less old one times OLD. cycles: of basic blocks, "
	    "new cycles less old ones (of branch stacks that have cycles)."),
	OPT(OPT_INT, 'o', "order", AT(order), "N",
	    "Sort by the change in this file (1: the first new one, the default); 0: by the baseline.",
	    .least = OPT_FROM_ZERO),
	OPT(OPT_FLAG, 'b', "baseline-only", AT(baseline_only), NULL,
	    "Only rows of the baseline that another file has too."),
	OPT(OPT_FLAG, 'f', "force", AT(force), NULL, "Also files that belong to someone else."),
	HEADING("What is shown"),
	OPT(OPT_FLAG, 'p', "period", AT(period), NULL, "Columns with the periods."),
	OPT(OPT_FLAG, 'F', "formula", AT(formula), NULL, "A column that says how it was computed."),
	OPT(OPT_FLAG, 0, "cycles-hist", AT(cycles_hist), NULL,
	    "With -c cycles: how much the change varies, with a bar for each of the first times that a block ran."),
	OPT(OPT_TEXT, 0, "percentage", AT(percentage), "relative|absolute",
	    "Percent of what is shown, or of all (the default)."),
	OPT(OPT_TEXT, 't', "field-separator", AT(separator), "CHAR",
	    "Between columns in place of spaces; in texts it becomes a dot."),
	OPT(OPT_TEXT, 0, "format", AT(format), "FORMAT",
	    TABLE_FORMATS
	    ". text is perf's layout; the others have the period and the change in each file."),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "With the names of the files."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "Without headers and warnings."),
	HEADING("Filters"),
	OPT(OPT_TEXT, 'd', "dsos", AT(dsos), "FILE[,FILE...]", "Only these files."),
	OPT(OPT_TEXT, 'C', "comms", AT(comms), "COMM[,COMM...]", "Only these commands."),
	OPT(OPT_TEXT, 'S', "symbols", AT(symbols), "SYMBOL[,SYMBOL...]", "Only these symbols."),
	OPT(OPT_TEXT, 0, "pid", AT(pids), "PID[,PID...]", "Only these processes."),
	OPT(OPT_TEXT, 0, "tid", AT(tids), "TID[,TID...]", "Only these threads."),
	OPT(OPT_TEXT, 0, "cpu", AT(cpus), "LIST", "Only samples of these CPUs."),
	OPT(OPT_TEXT, 0, "time", AT(time), "RANGE",
	    "Only samples in START,STOP, a range for each file with a colon between; or parts such as 10%-50% of each."),
	HEADING("Symbols"),
	OPT(OPT_TEXT, 0, "kallsyms", AT(kallsyms), "FILE", "A copy of /proc/kallsyms."),
	OPT(OPT_FLAG, 'm', "modules", AT(modules), NULL, "Modules of the running kernel."),
	OPT(OPT_TEXT, 0, "symfs", AT(symfs), "DIR", "Look for files below it."),
	OPT(OPT_FLAG, 'D', "dump-raw-trace", AT(dump), NULL, "Taken from perf, without effect."),
	OPT(OPT_FLAG, 0, "stream", AT(stream), NULL, "Hot streams of branches: not there yet."),
	OPT_END,
};

#define RECORD "cp perf.data old.data && cp perf.data new.data && "

static const struct command_example examples[] = {
	{"sonde diff old.data new.data", "shows which functions' shares changed the most",
	 RECORD "sonde diff old.data new.data"},
	{"sonde diff -c ratio -s dso old.data new.data",
	 "compares by file: how many times as much as before",
	 "sonde diff -c ratio -s dso old.data new.data"},
	{"sonde flamegraph --diff old.data new.data > diff.svg", "draws it: red is more, blue is less",
	 "sonde flamegraph --diff old.data new.data > diff.svg"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_diff = {
	.name = "diff",
	.summary = "Show what changed from one recording to another",
	.usage = "sonde diff [options] [OLD [NEW...]]",
	.description =
		"Compares recordings row by row: the first one is the baseline, each other one has a column with "
		"the change. Functions are the same when their names are, whatever their addresses. Without files "
		"it compares perf.data.old with perf.data, which record leaves there; with one file it is the new "
		"one. Each event is compared with the same event of the other files.\n\n"
		"A change of percentages says how the parts shift, not whether the whole became faster: for that "
		"look at the periods (-p, -c ratio). Differences of some hundredths of a percent are noise: compare "
		"two recordings of the same program first.\n\n"
		"--format json and csv name the columns period_N and change_N by file; change_0 is the baseline's "
		"percentage.",
	.opts = opts,
	.opts_size = sizeof(struct diff_options),
	.examples = examples,
	.values = report_values,
	.family = COMMAND_PERF,
	.run = run,
};

static int parse_weights(struct diff *diff, const char *text)
{
	struct str rest = str_of(text), first = str_cut(&rest, ',');

	if (num_parse_i64(first, &diff->base_weight) < 0 || num_parse_i64(rest, &diff->new_weight) < 0)
		return fail(COMMAND_USAGE,
			    "-c wdiff takes two weights, such as wdiff:1,2; not '%s'", text);
	return 0;
}

static int parse_compute(struct diff *diff)
{
	static const struct {
		const char *name;
		enum diff_compute compute;
	} names[] = {{"delta", DIFF_DELTA},
		     {"delta-abs", DIFF_DELTA_ABS},
		     {"ratio", DIFF_RATIO},
		     {"cycles", DIFF_CYCLES}};
	const char *text = diff->o.compute;

	diff->compute = DIFF_DELTA_ABS;
	if (!text)
		return 0;
	if (text_starts(text, "wdiff:")) {
		diff->compute = DIFF_WDIFF;
		return parse_weights(diff, text + strlen("wdiff:"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i].name, text)) {
			diff->compute = names[i].compute;
			return 0;
		}
	}
	return fail(COMMAND_USAGE,
		    "-c takes delta, delta-abs, ratio, wdiff:OLD,NEW or cycles, not '%s'", text);
}

// Of "A:B" each file has its own part; percentages are for all.
static const char *time_of(const struct diff *diff, size_t file)
{
	struct str rest = str_of(diff->o.time), part = {0};

	if (!diff->o.time || !strchr(diff->o.time, ':'))
		return diff->o.time && (!file || strchr(diff->o.time, '%')) ? diff->o.time : NULL;
	for (size_t i = 0; i <= file; i++)
		part = str_cut(&rest, ':');
	if (!part.n)
		return NULL;
	return arena_strdup(&diff->files[file].report.arena, part);
}

static int read_file(struct diff *diff, size_t file)
{
	const struct run_hooks hooks = {.hits = report_samples, .record = report_record};
	const struct diff_options *o = &diff->o;
	struct report *report = &diff->files[file].report;
	struct report_options *r = &report->o;
	int err;

	r->input = diff->files[file].path;
	report->own_order = "dso,symbol";
	report->no_rows = true; // diff makes its own
	report->verbose = o->verbose;
	r->sort = o->sort;
	r->symfs = o->symfs;
	r->kallsyms = o->kallsyms;
	r->separator = o->separator; // widths depend on it
	r->force = o->force;
	r->percentage = o->percentage;
	r->children = false;
	r->branch = 0;
	r->group = false;
	r->chain.mode = CHAIN_NONE;
	r->filter = (struct filter_options){.cpus = o->cpus,
					    .pids = o->pids,
					    .tids = o->tids,
					    .comms = o->comms,
					    .dsos = o->dsos,
					    .symbols = o->symbols,
					    .times = time_of(diff, file)};
	err = report_open(report);
	if (err < 0)
		return err;
	if (diff->compute == DIFF_CYCLES) {
		if (!report_has_branches(report))
			return fail(EINVAL, "%s has no branch stacks: record with -b", r->input);
		report->blocks = report_blocks_new(report);
	}
	err = report_prepare(report);
	if (err)
		return err;
	// Its lines about what is left out are for report.
	out_init_memory(&report->out);
	report_setup_elided(report);
	out_done(&report->out);
	err = run_process(report->run, &hooks, report);
	if (err < 0)
		return err;
	report_finish(report);
	report_say_no_cycles(report);
	return 0;
}

// The keys among the columns; a report has numbers too.
static int find_keys(struct diff *diff)
{
	const struct report *report = &diff->files[0].report;

	for (size_t i = 0; i < report->fields.n; i++) {
		const struct column *column = report->fields.v[i];

		if (column->key || column->field)
			vec_push(&diff->keys, i);
	}
	for (size_t i = 1; i < diff->files_n; i++) {
		if (diff->files[i].report.fields.n != report->fields.n)
			return fail(EINVAL, "%s and %s can't be compared by the same keys",
				    diff->files[0].path, diff->files[i].path);
	}
	return 0;
}

static int show(struct diff *diff)
{
	const struct recording *recording = diff->files[0].report.run->recording;
	bool is_table = diff->o.format && strcmp(diff->o.format, "text") != 0;
	struct arena arena = {0};
	struct table table = {0};
	const struct encoder *format;
	int err = find_keys(diff);

	if (!err && is_table)
		err = table_format_find(&format, diff->o.format);
	if (err < 0)
		return err;
	if (is_table)
		diff_table_start(diff, &table, &arena);
	for (size_t i = 0; i < recording->events.n && !out_broken(&diff->out); i++) {
		struct event *event = recording->events.v[i];
		struct diff_rows rows;

		report_hist(&diff->files[0].report, event);
		diff_rows_init(&rows, diff, event);
		if (is_table)
			diff_table(diff, event, &rows, &table);
		else
			diff_print(diff, event, &rows, !i);
		diff_rows_done(&rows);
	}
	if (is_table)
		table_print(&diff->out, &table, format, NULL);
	table_done(&table);
	arena_done(&arena);
	return 0;
}

static int run_files(struct diff *diff)
{
	int err = 0, closed;

	for (size_t i = 0; i < diff->files_n && err >= 0; i++)
		err = read_file(diff, i);
	if (err >= 0)
		err = show(diff);
	closed = out_close(&diff->out, "standard output");
	if (err >= 0 && closed)
		err = closed;
	for (size_t i = 0; i < diff->files_n && err >= 0; i++) {
		int damaged = run_warn(diff->files[i].report.run);

		err = damaged ? damaged : err;
		missing_show(diff->files[i].report.run);
	}
	return err;
}

static int check_options(struct diff *diff)
{
	const struct diff_options *o = &diff->o;
	int err = parse_compute(diff);

	if (err)
		return err;
	if (o->stream)
		return fail(COMMAND_USAGE, "--stream is not there yet");
	if (o->cycles_hist && diff->compute != DIFF_CYCLES)
		return fail(COMMAND_USAGE, "--cycles-hist is for -c cycles");
	if (strcmp(o->percentage, "relative") != 0 && strcmp(o->percentage, "absolute") != 0)
		return fail(COMMAND_USAGE, "--percentage takes relative or absolute, not '%s'",
			    o->percentage);
	if (o->separator && (!*o->separator || *o->separator == '.'))
		return fail(COMMAND_USAGE, "--field-separator takes a character other than the dot");
	return 0;
}

static int run_with(struct diff *diff, int argc, char **argv)
{
	int words = command_parse(&command_diff, &diff->o, argv, 0), err;

	if (words < 0)
		return words;
	err = check_options(diff);
	if (err)
		return err;
	diff->files_n = words > 1 ? (size_t)words : 2;
	if ((size_t)diff->o.order >= diff->files_n)
		return fail(COMMAND_USAGE, "-o takes the number of a file, 0 to %zu, not '%d'",
			    diff->files_n - 1, diff->o.order);
	if (diff->o.quiet)
		diff->o.verbose = 0;
	log_set_level(diff->o.quiet ? LOG_QUIET : diff->o.verbose);
	diff->files = xcalloc(diff->files_n, sizeof(*diff->files));
	for (size_t i = 0; i < diff->files_n; i++) {
		diff->files[i].path = words > 1	   ? argv[1 + i]
				      : !i	   ? "perf.data.old"
				      : words == 1 ? argv[1]
						   : "perf.data";
		report_init(&diff->files[i].report);
		diff->files[i].report.measure = hist_widths_of;
	}
	out_init_fd(&diff->out, STDOUT_FILENO);
	err = run_files(diff);
	for (size_t i = 0; i < diff->files_n; i++)
		report_done(&diff->files[i].report);
	free(diff->files);
	vec_done(&diff->keys);
	return err;
}

static int run(int argc, char **argv)
{
	struct diff diff = {.o = {.order = 1, .percentage = "absolute"}};

	return run_with(&diff, argc, argv);
}
