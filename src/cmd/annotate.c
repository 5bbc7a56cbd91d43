// SPDX-License-Identifier: GPL-2.0-or-later
// Where in a function the samples lie: its source and instructions, each with its share.
#include "cmd/annotate/annotate.h"
#include "cmd/annotate/screen.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/rows.h"
#include "cmd/core/text_color.h"
#include "encoder/core/table.h"
#include "flow/missing.h"
#include <stdio.h>

#define AT(field) offsetof(struct annotate_command_options, field)

static const struct opt opts[] = {
	HEADING("What is read"),
	OPT(OPT_TEXT, 'i', "input", AT(input), "FILE",
	    "The recording (default: perf.data, or standard input when that is a pipe; - is standard input)."),
	OPT(OPT_FLAG, 'f', "force", AT(force), NULL, "Also when the file belongs to someone else."),
	OPT(OPT_TEXT, 'C', "cpu", AT(cpus), "LIST", "Only samples of these CPUs, such as 0-3,8."),
	OPT(OPT_TEXT, 0, "time", AT(time), "RANGE",
	    "Only samples in START,STOP (seconds, either may be missing), or in parts such as 10%/2."),
	HEADING("Which functions"),
	OPT(OPT_TEXT, 's', "symbol", AT(symbol), "NAME",
	    "Only this function; without -s, the first word says the same."),
	OPT(OPT_TEXT, 'd', "dsos", AT(dsos), "FILE[,FILE...]", "Only functions of these files."),
	OPT(OPT_DOUBLE, 0, "percent-limit", AT(percent_limit), "PERCENT",
	    "Only functions of at least that share of the samples."),
	OPT(OPT_FLAG, 0, "skip-missing", AT(skip_missing), NULL,
	    "Say nothing of functions whose code is not here."),
	HEADING("What is shown"),
	OPT(OPT_FLAG, 'S', "source", AT(source), NULL,
	    "Source lines between the instructions (the default; --no-source leaves them out)."),
	OPT(OPT_FLAG, 'l', "print-line", AT(lines), NULL,
	    "First the source lines that cost the most, and the line behind each instruction of 0.5% and more."),
	OPT(OPT_FLAG, 'P', "full-paths", AT(full_paths), NULL, "Whole paths of files."),
	OPT(OPT_FLAG, 'n', "show-nr-samples", AT(counts), NULL, "Samples in place of percent."),
	OPT(OPT_FLAG, 0, "show-total-period", AT(total_period), NULL,
	    "Sums of periods in place of percent."),
	OPT(OPT_TEXT, 0, "percent-type", AT(percent_type), "WHERE-WHAT",
	    "local: of the function's samples; global: of all. period: weighted by it; hits: each sample is one. "
	    "Default: local-period.",
	    .no_negation = true),
	{OPT_FLAG, 0, "group", AT(group),
	 .help = "Events of a group side by side (the default); all events when none is in a group.",
	 .given = AT(group_given)},
	OPT(OPT_TEXT, 'M', "disassembler-style", AT(style), "STYLE",
	    "att (the default) or intel, for x86."),
	OPT(OPT_FLAG, 0, "asm-raw", AT(raw_bytes), NULL, "The bytes of instructions too."),
	OPT(OPT_TEXT, 0, "prefix", AT(prefix), "DIR",
	    "Put it before the absolute paths of source files."),
	OPT(OPT_U32, 0, "prefix-strip", AT(prefix_strip), "N",
	    "Take N leading parts off these paths first (with --prefix)."),
	HEADING("Layout"),
	OPT(OPT_TEXT, 0, "format", AT(format), "FORMAT",
	    TABLE_FORMATS ". text is perf's layout; the others have a row for each instruction."),
	OPT(OPT_FLAG, 0, "stdio", AT(stdio), NULL,
	    "As text (the default where standard output is no terminal)."),
	OPT(OPT_FLAG, 0, "stdio2", AT(stdio2), NULL,
	    "As text that looks like the screen: offsets and arrows at jumps, names in place of addresses."),
	OPT(OPT_FLAG, 0, "tui", AT(tui), NULL,
	    "As a screen (the default on a terminal; ? there tells its keys)."),
	OPT(OPT_FLAG, 0, "gtk", AT(gtk), NULL, "In a window: not there, it shows text."),
	OPT(OPT_TEXT, 0, "stdio-color", AT(stdio_color), "always|never|auto",
	    "--stdio with colours; auto: on a terminal, unless NO_COLOR is set.",
	    .absent = "always", .next_word = true),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "With the counts of each address."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "No warnings."),
	OPT(OPT_FLAG, 'D', "dump-raw-trace", AT(dump), NULL,
	    "The bytes of each record and what they mean."),
	HEADING("Symbols and code"),
	OPT(OPT_TEXT, 'k', "vmlinux", AT(vmlinux), "FILE", "The kernel with symbols and code."),
	OPT(OPT_FLAG, 0, "ignore-vmlinux", AT(ignore_vmlinux), NULL, "Don't look for one."),
	OPT(OPT_FLAG, 'm', "modules", AT(modules), NULL, "Modules of the running kernel."),
	OPT(OPT_TEXT, 0, "symfs", AT(symfs), "DIR", "Look for files below it."),
	OPT(OPT_FLAG, 0, "functions", AT(functions), NULL,
	    "Code without a symbol has the name of its file and the address where its function begins, gzip@4300 (the default on the screen, and where SYMBOL is such a name)."),
	OPT(OPT_FLAG, 0, "demangle", AT(demangle), NULL,
	    "C++ and Rust names as in the source (the default)."),
	OPT(OPT_FLAG, 0, "demangle-kernel", AT(demangle_kernel), NULL, "In the kernel too."),
	HEADING("Taken from perf and without effect here"),
	OPT(OPT_TEXT, 0, "objdump", AT(ignored_text), "PATH",
	    "Instructions are decoded here, no objdump is run."),
	OPT(OPT_TEXT, 0, "itrace", AT(ignored_text), "OPTS",
	    "Decoding of processor traces: not there yet.", .absent = ""),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde annotate -i FILE", "shows every function that has samples, the heaviest first",
	 "sonde record -q -o own.data sonde list >/dev/null && sonde annotate -i own.data"},
	{"sonde annotate -l -s main", "shows one function, with its hottest source lines first",
	 "sonde annotate -l -s main"},
	{"sonde annotate --no-source -M intel --percent-type global-period",
	 "shows instructions in Intel's syntax, each with its share of all samples",
	 "sonde annotate -i own.data --no-source -M intel --percent-type global-period"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_annotate = {
	.name = "annotate",
	.summary = "Show the source and instructions that the time went to",
	.usage = "sonde annotate [options] [SYMBOL]",
	.description =
		"Disassembles the functions that have samples, puts the source lines between the instructions, and "
		"shows at each instruction its share of the function's samples. The heaviest function comes first. "
		"Functions that were inlined stand where they were inlined, under their names. With events of a "
		"group there is a column for each.\n\n"
		"The code is taken from the files that were mapped, from the build-id cache or an archive; a file "
		"that is not the one that was recorded is not used. The kernel's code is read from a vmlinux (-k), "
		"from /proc/kcore, or from what record --kcore kept. Source lines need debug information (-g, or a "
		"debug package) and the source where the compiler saw it (see --prefix).\n\n"
		"Branch stacks (record -b) say more. With their cycles, --stdio2 and the screen have columns of "
		"instructions per cycle of the block that an instruction is in, and of the cycles of the block that "
		"a branch ends; there each branch counts as a sample where it begins and where it goes. --stdio says "
		"at instructions that are jumped to which share came by the jump (+), and at branches how often they "
		"were taken (-) and predicted (p).\n\n"
		"A sample stands at the instruction that was about to be executed, so on many processors the one "
		"before it is what took the time; precise events (cycles:pp) are better.",
	.opts = opts,
	.opts_size = sizeof(struct annotate_command_options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

// Names are compared once a symbol: they lie all over the memory.
static bool is_wanted(struct annotate *annotate, const struct symbol *symbol)
{
	struct known_name *known =
		&annotate->known[hash_u64((uintptr_t)symbol) % ARRAY_SIZE(annotate->known)];

	if (known->symbol != symbol)
		*known = (struct known_name){symbol, !strcmp(symbol->name, annotate->o.symbol)};
	return known->is_wanted;
}

// In perf's layout of the screen each branch of a stack is a sample, where it begins and where it goes.
static bool counts_branches(const struct annotate *annotate)
{
	return annotate->report.mode == MODE_BRANCH;
}

static bool is_place_wanted(struct annotate *annotate, const struct location *location)
{
	if (annotate->dsos && !filter_dso(annotate->dsos, location->dso))
		return false;
	if (counts_branches(annotate))
		return location->sym;
	return !annotate->o.symbol || (location->sym && is_wanted(annotate, location->sym));
}

static void count_unnamed(struct annotate *annotate, const struct location *location)
{
	if (location->sym)
		return;
	annotate->unnamed_n++;
	++*map_at(&annotate->unnamed, (uintptr_t)location->dso, NULL);
}

// What is not shown, as there is no function that it could stand in.
static void tell_unnamed(const struct annotate *annotate)
{
	struct map_slot slot, most = {0};
	char where[300] = "";
	const struct dso *dso;

	for (size_t i = 0; map_next(&annotate->unnamed, &i, &slot);) {
		if (slot.value > most.value)
			most = slot;
	}
	dso = (const void *)(uintptr_t)most.key;
	if (dso)
		snprintf(where, sizeof(where), ", %.1f%% in %.200s",
			 100.0 * (double)most.value / (double)annotate->samples_n, dso->short_name);
	if (annotate->unnamed_n)
		warn("%.1f%% of the samples lie in code that has no name%s: they are not shown%s",
		     100.0 * (double)annotate->unnamed_n / (double)annotate->samples_n, where,
		     annotate->report.o.functions
			     ? ""
			     : "; --functions may find where their functions begin");
}

// The symbol is matched before anything is counted: the other samples do not exist. Branches may come from other functions.
static int on_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	struct annotate *annotate = arg;
	struct location location;

	if (!filter_time(annotate->report.skip, sample->time) ||
	    !filter_sample(annotate->report.skip, sample))
		return 0;
	if (!task)
		task = sym_task(run->sym, UINT32_MAX, UINT32_MAX);
	location = sym_resolve(run->sym, task, sample->cpumode, sample->ip);
	if (!is_place_wanted(annotate, &location)) {
		run_count_place(run, &location); // the others are counted by the report
		return 0;
	}
	annotate->samples_n++;
	count_unnamed(annotate, &location);
	if (annotate->blocks)
		blocks_add_sample(annotate->blocks, run->sym, task, sample);
	if (annotate->ranges)
		ranges_add_sample(annotate->ranges, run->sym, task, sample);
	if (location.sym && !counts_branches(annotate))
		annotate_counts_add(annotate->counts, event->index, &location,
				    event->attr.sample_type & PERF_SAMPLE_PERIOD || !event->attr.freq
					    ? sample->period
					    : 1);
	return report_samples(&annotate->report, run, hit, 1);
}

static int on_record(void *arg, struct run *run, const struct hit *hit)
{
	return report_record(&((struct annotate *)arg)->report, run, hit);
}

double annotate_percent(const struct annotate *annotate, const struct annotate_view *view,
			const struct annotated_count *counts, uint32_t event)
{
	const struct recording *recording = annotate->report.run->recording;
	const struct hist *hist = recording->events.v[view->hist->event->index + event]->user;
	const struct annotated_count *totals = &view->lines->totals[event];
	uint64_t n = counts[event].period, of = totals->period;

	switch (annotate->percent_type) {
	case PERCENT_LOCAL_PERIOD:
		break;
	case PERCENT_LOCAL_HITS:
		n = counts[event].samples;
		of = totals->samples;
		break;
	case PERCENT_GLOBAL_PERIOD:
		of = hist ? hist->total_period : 0;
		break;
	case PERCENT_GLOBAL_HITS:
		n = counts[event].samples;
		of = hist ? hist->samples : 0;
		break;
	}
	return of ? 100.0 * (double)n / (double)of : 0;
}

static bool is_table(const struct annotate *annotate)
{
	return annotate->o.format && strcmp(annotate->o.format, "text") != 0;
}

// What a recording without branch stacks does not have gets no columns.
static void put_cycles(const struct annotate *annotate, const struct annotated_line *line,
		       struct table *table)
{
	if (!annotate->blocks)
		return;
	table_number_if(table, line->cycles, line->cycles);
	table_number_if(table, line->cycles, line->cycles_least);
	table_number_if(table, line->cycles, line->cycles_most);
}

// What rows are of, and the table that they go to.
struct rows_of {
	const struct annotate *annotate;
	const struct annotate_view *view;
	struct table *table;
};

static void add_row(const struct rows_of *of, const struct annotated_line *line, uint32_t event)
{
	const struct recording *recording = of->annotate->report.run->recording;
	struct table *table = of->table;

	table_text(table, of->view->lines->symbol);
	table_text(table, of->view->lines->path);
	table_number(table, line->addr);
	table_text(table, line->text);
	if (!event && line->file && line->line) {
		table_text(table, line->file);
		table_number(table, line->line);
	} else {
		table_none(table);
		table_none(table);
	}
	table_text_or_none(table, event ? NULL : line->function);
	table_text(table, recording->events.v[of->view->hist->event->index + event]->name);
	table_number(table, line->counts[event].samples);
	table_number(table, line->counts[event].period);
	put_cycles(of->annotate, line, table);
}

static void add_rows(const struct rows_of *of)
{
	const struct annotated *lines = of->view->lines;

	vec_each(const struct annotated_line, line, &lines->lines) {
		for (uint32_t i = 0; line->kind == ANNOTATED_INSTRUCTION && i < lines->events_n; i++)
			add_row(of, line, i);
	}
}

static void say_missing(struct annotate *annotate, const struct entry *e)
{
	struct dso *dso = e->place.dso;

	// Once a file.
	if (!annotate->o.skip_missing && !dso->user)
		warn("Can't annotate %s: %s", e->place.sym->name, err_sentence());
	dso->user = annotate;
	err_clear();
}

static void show_entry(struct annotate *annotate, struct hist *hist, const struct entry *e,
		       struct table *table)
{
	struct annotate_request request = {
		.dso = e->place.dso,
		.symbol = e->place.sym,
		.counts = annotate->counts,
		.blocks = annotate->blocks,
		.first = hist->event->index,
		.n = annotate->report.grouped ? MAX(hist->event->group_members, 1) : 1,
	};
	struct annotated lines;
	struct annotate_view view = {&lines, hist, e};

	if (annotator_lines(annotate->annotator, &request, &lines) < 0) {
		say_missing(annotate, e);
		return;
	}
	if (table)
		add_rows(&(struct rows_of){annotate, &view, table});
	else if (annotate->o.stdio2)
		annotate_print_like_screen(annotate, &view);
	else
		annotate_print(annotate, &view);
	annotated_done(&lines);
}

static bool has_counts(const struct annotate *annotate, const struct hist *hist,
		       const struct symbol *symbol)
{
	uint32_t n = annotate->report.grouped ? MAX(hist->event->group_members, 1) : 1;
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any |= annotate_counts_of(annotate->counts, symbol, hist->event->index + i).samples !=
		       0;
	return any;
}

// Each function once, where its heaviest row stands.
static void show_hist(struct annotate *annotate, struct hist *hist, struct table *table)
{
	struct map seen = {0};

	for (size_t i = 0; i < hist->rows_n && !out_broken(&annotate->out); i++) {
		const struct entry *e = hist->rows[i];
		uint64_t total = hist->total_period;
		bool is_new;

		if (!e->place.sym || !e->place.dso || !has_counts(annotate, hist, e->place.sym))
			continue;
		if (annotate->o.symbol && !is_wanted(annotate, e->place.sym))
			continue;
		if (annotate->o.percent_limit > 0 &&
		    (!total || 100.0 * (double)e->period / (double)total < annotate->o.percent_limit))
			continue;
		*map_at(&seen, (uintptr_t)e->place.sym, &is_new) = 1;
		if (is_new)
			show_entry(annotate, hist, e, table);
	}
	map_done(&seen);
}

static void table_start(const struct annotate *annotate, struct table *table)
{
	static const struct table_column columns[] = {
		{.title = "symbol", .kind = TABLE_TEXT},
		{.title = "file", .kind = TABLE_TEXT},
		{.title = "address", .kind = TABLE_COUNT},
		{.title = "instruction", .kind = TABLE_TEXT},
		{.title = "source", .kind = TABLE_TEXT},
		{.title = "line", .kind = TABLE_COUNT},
		{.title = "function", .kind = TABLE_TEXT},
		{.title = "event", .kind = TABLE_TEXT},
		{.title = "samples", .kind = TABLE_COUNT},
		{.title = "period", .kind = TABLE_COUNT},
	};
	static const struct table_column of_cycles[] = {
		{.title = "cycles", .kind = TABLE_COUNT},
		{.title = "cycles_min", .kind = TABLE_COUNT},
		{.title = "cycles_max", .kind = TABLE_COUNT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(table, columns[i]);
	for (size_t i = 0; annotate->blocks && i < ARRAY_SIZE(of_cycles); i++)
		table_column(table, of_cycles[i]);
}

static int show(struct annotate *annotate)
{
	struct report *report = &annotate->report;
	const struct recording *recording = report->run->recording;
	struct table table = {0};
	const struct encoder *format;
	int err;

	if (is_table(annotate)) {
		err = table_format_find(&format, annotate->o.format);
		if (err < 0)
			return err;
		table_start(annotate, &table);
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = recording->events.v[i]->user;

		if (hist && (!report->grouped || hist->event->leader == hist->event))
			show_hist(annotate, hist, is_table(annotate) ? &table : NULL);
	}
	if (is_table(annotate))
		table_print(&annotate->out, &table, format, NULL);
	table_done(&table);
	return 0;
}

static int process(struct annotate *annotate)
{
	const struct run_hooks hooks = {.hit = on_sample, .record = on_record};
	struct report *report = &annotate->report;
	const struct filter_options dsos = {.dsos = annotate->o.dsos};
	const struct annotate_options options = {
		.intel = annotate->o.style && !strcmp(annotate->o.style, "intel"),
		.no_source = !annotate->o.source,
		.prefix = annotate->o.prefix,
		.strip = annotate->o.prefix_strip,
	};
	int err = report_prepare(report);

	if (!err && annotate->o.dsos)
		err = filter_new(&annotate->dsos, &dsos, report->run->recording);
	if (err)
		return err;
	if (annotate->o.dump)
		return report_dump(report);
	annotate->counts = annotate_counts_new((uint32_t)report->run->recording->events.n);
	if (report_has_branches(report))
		annotate->blocks = report_blocks_new(report);
	if (annotate->blocks && !annotate->blocks->no_starts && !counts_branches(annotate) &&
	    !is_table(annotate))
		annotate->ranges = ranges_new();
	if (counts_branches(annotate))
		report->addresses = annotate->counts;
	err = run_process(report->run, &hooks, annotate);
	report->addresses = NULL; // they are annotate's
	if (annotate->ranges)
		ranges_finish(annotate->ranges);
	if (err < 0)
		return err;
	if (!annotate->samples_n) {
		if (annotate->o.symbol)
			warn("%s has no samples in '%s'", report->run->recording->path,
			     annotate->o.symbol);
		else
			warn("The %s data has no samples!", report->run->recording->path);
		return 0;
	}
	tell_unnamed(annotate);
	report_finish(report);
	if (annotate_wants_screen(annotate))
		return annotate_run_screen(annotate);
	annotate->annotator = annotator_new(report->run->sym, &options);
	err = show(annotate);
	annotator_free(annotate->annotator);
	return err;
}

static int check_options(struct annotate *annotate, int words, char **argv)
{
	struct annotate_command_options *o = &annotate->o;

	if (words > 1)
		return fail(COMMAND_USAGE, "annotate takes one symbol, not '%s' and '%s'", argv[1],
			    argv[2]);
	if (words == 1)
		o->symbol = argv[1];
	if (o->style && strcmp(o->style, "att") != 0 && strcmp(o->style, "intel") != 0)
		return fail(COMMAND_USAGE, "-M takes att or intel, not '%s'", o->style);
	if (o->prefix_strip && !o->prefix)
		return fail(COMMAND_USAGE, "--prefix-strip needs --prefix");
	if (o->counts && o->total_period)
		return fail(COMMAND_USAGE, "-n and --show-total-period exclude each other");
	if (o->percent_type)
		return percent_type_parse(o->percent_type, &annotate->percent_type);
	return 0;
}

static void to_report(struct annotate *annotate)
{
	const struct annotate_command_options *o = &annotate->o;
	struct report_options *r = &annotate->report.o;

	r->input = o->input && *o->input ? o->input : default_input(false);
	r->vmlinux = o->vmlinux;
	r->symfs = o->symfs;
	r->force = o->force;
	r->ignore_vmlinux = o->ignore_vmlinux;
	r->functions = o->functions || annotate_wants_screen(annotate) ||
		       (o->symbol && strchr(o->symbol, '@'));
	r->demangle = o->demangle;
	r->demangle_kernel = o->demangle_kernel;
	r->group = o->group;
	r->group_given = o->group_given;
	r->filter.cpus = o->cpus;
	r->filter.times = o->time;
	r->children = false;
	annotate->report.own_order = "dso,symbol";
	r->branch = o->stdio2 || annotate_wants_screen(annotate) ? -1 : 0;
	r->chain.mode = CHAIN_NONE;
}

static int run_with(struct annotate *annotate, int argc, char **argv)
{
	int err = command_parse(&command_annotate, &annotate->o, argv, 0), closed;

	if (err < 0)
		return err;
	err = check_options(annotate, err, argv);
	if (err)
		return err;
	if (annotate->o.quiet)
		annotate->o.verbose = 0;
	log_set_level(annotate->o.quiet ? LOG_QUIET : annotate->o.verbose);
	to_report(annotate);
	out_init_fd(&annotate->out, STDOUT_FILENO);
	err = text_colors(annotate->o.stdio_color, annotate->out.is_terminal, &annotate->colors);
	if (err < 0)
		return err;
	out_init_fd(&annotate->report.out, STDOUT_FILENO);
	err = report_open(&annotate->report);
	if (!err)
		err = process(annotate);
	closed = out_close(&annotate->out, "standard output");
	if (!closed)
		closed = out_close(&annotate->report.out, "standard output");
	if (!err && closed)
		err = closed;
	if (!err) {
		err = run_warn(annotate->report.run);
		missing_show(annotate->report.run);
	}
	return err;
}

static int run(int argc, char **argv)
{
	struct annotate annotate = {.o = {.source = true, .demangle = true, .group = true}};
	int err;

	report_init(&annotate.report);
	annotate.report.measure = hist_widths_of;
	annotate_look_init(&annotate.look);
	err = run_with(&annotate, argc, argv);
	map_done(&annotate.unnamed);
	annotate_counts_free(annotate.counts);
	blocks_free(annotate.blocks);
	ranges_free(annotate.ranges);
	filter_free(annotate.dsos);
	report_done(&annotate.report);
	return err;
}
