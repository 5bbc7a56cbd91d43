// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/report/report.h"
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/percent_type.h"
#include "cmd/core/screen_settings.h"
#include "cmd/core/text_color.h"
#include "cmd/core/report/browse.h"
#include "cmd/core/script/dump.h"
#include "flow/chain.h"
#include "flow/missing.h"
#include <stdio.h>

static int call_graph(void *options, const struct opt *opt, const char *arg, bool negated)
{
	struct report_options *o = options;

	if (negated) {
		o->chain.enabled = false;
		o->chain.mode = CHAIN_NONE;
		return 0;
	}
	return report_parse_chain(&o->chain, arg);
}

static int percent_limit(void *options, const struct opt *opt, const char *arg, bool negated)
{
	struct report_options *o = options;
	double percent;

	if (num_parse_double(str_of(arg), &percent) < 0 || percent < 0)
		return fail(COMMAND_USAGE,
			    "--percent-limit takes a number of percent from 0 up, not '%s'", arg);
	o->percent_limit = (float)percent;
	o->chain.least_percent = percent;
	return 0;
}

// The screen's annotation knows one kind; what is no kind at all is told.
static int percent_type(void *options, const struct opt *opt, const char *arg, bool negated)
{
	enum percent_type ignored;

	return percent_type_parse(arg, &ignored);
}

static int branch_stack(void *options, const struct opt *opt, const char *arg, bool negated)
{
	((struct report_options *)options)->branch = !negated;
	return 0;
}

#define AT(field) offsetof(struct report_options, field)
#define IGNORED(name, text)                                                                        \
	{                                                                                          \
		OPT_FLAG, 0, name, AT(ignored), .help = text                                       \
	}

static const struct opt opts[] = {
	{OPT_GROUP, .help = "What is read"},
	{OPT_TEXT, 'i', "input", AT(input), "FILE",
	 "The recording (default: perf.data, or standard input when that is a pipe; - is standard input)."},
	{OPT_FLAG, 'f', "force", AT(force), .help = "Also when the file belongs to someone else."},
	{OPT_TEXT, 0, "time", AT(filter.times), "RANGE",
	 "Only samples in START,STOP (seconds, either may be missing), or in parts such as 10%/2 or 0%-10%."},
	{OPT_TEXT, 'C', "cpu", AT(filter.cpus), "LIST", "Only samples of these CPUs, such as 0-3,8."},
	{OPT_FLAG, 0, "disable-order", AT(unordered),
	 .help = "With -D: in the order of the file, not of time."},
	{OPT_GROUP, .help = "Rows and columns"},
	{OPT_TEXT, 's', "sort", AT(sort), "KEY[,KEY...]",
	 "What makes a row. Common keys: pid comm dso symbol parent cpu socket srcline srcfile time trace cgroup "
	 "local_weight weight transaction symbol_size dso_size code_page_size addr. Of branches: dso_from dso_to "
	 "symbol_from symbol_to addr_from addr_to mispredict in_tx abort cycles srcline_from srcline_to. Of memory "
	 "accesses (--mem-mode): symbol_daddr symbol_iaddr dso_daddr locked tlb mem snoop dcacheline phys_daddr "
	 "data_page_size blocked. Of tracepoints: names of fields, EVENT.FIELD, trace_fields. Names may be cut short; a + in "
	 "front adds to the default (comm,dso,symbol)."},
	{OPT_TEXT, 'F', "fields", AT(fields), "KEY[,KEY...]",
	 "Columns in this order: sort keys, and overhead overhead_children overhead_sys overhead_us "
	 "overhead_guest_sys overhead_guest_us sample period. A + in front adds to the default."},
	{OPT_FLAG, 'n', "show-nr-samples", AT(counts), .help = "A column with the number of samples."},
	{OPT_FLAG, 0, "show-total-period", AT(total_period),
	 .help = "A column with the sum of periods."},
	{OPT_FLAG, 0, "show-cpu-utilization", AT(cpu_utilization),
	 .help = "Columns with the shares of kernel and user mode."},
	{OPT_FLAG, 0, "showcpuutilization", AT(cpu_utilization), .help = "", .hidden = true},
	{OPT_FLAG, 0, "hierarchy", AT(hierarchy),
	 .help = "Each sort key is a level below the one before."},
	{OPT_FLAG, 0, "group", AT(group),
	 .help = "Events of a group side by side (the default); all events when none is in a group.",
	 .given = AT(group_given)},
	{OPT_INT, 0, "group-sort-idx", AT(group_index), "N",
	 "Sort by the event with this index in the group.", .least = OPT_FROM_ZERO},
	{OPT_CALL, 'b', "branch-stack", 0,
	 .help = "Rows are branches taken (the default for recordings with branch stacks).",
	 .call = branch_stack},
	{OPT_FLAG, 0, "total-cycles", AT(total_cycles),
	 .help = "In place of rows: basic blocks, by the cycles that they took (of branch stacks that have cycles)."},
	{OPT_FLAG, 0, "mem-mode", AT(mem_mode),
	 .help = "Rows are memory accesses (recorded with -d)."},
	{OPT_FLAG, 0, "raw-trace", AT(raw_trace),
	 .help = "Fields of tracepoints instead of their text."},
	{OPT_FLAG, 0, "ns", AT(ns), .help = "Times in nanoseconds."},
	{OPT_TEXT, 0, "time-quantum", AT(time_quantum), "TIME",
	 "Grain of the time key (default: 100ms)."},
	{OPT_GROUP, .help = "Call graphs"},
	{OPT_CALL, 'g', "call-graph", 0, "TYPE,PERCENT[,LIMIT],ORDER,KEY[,branch],VALUE",
	 "Type: graph, fractal, flat, folded, none. Percent: branches below it are left out. Limit: lines of a level. Order: "
	 "caller, callee. Key: function, address, srcline. Value: percent, period, count. Any of them, in any order; the "
	 "default is graph,0.5,caller,function,percent.",
	 call_graph, "graph,0.5,caller,function,percent", .next_word = true},
	{OPT_FLAG, 0, "children", AT(children),
	 .help = "Functions count for their callers too (the default when there are call chains)."},
	{OPT_FLAG, 'G', "inverted", AT(inverted), .help = "Call graphs begin at the caller."},
	{OPT_U32, 0, "max-stack", AT(max_stack), "N",
	 "Frames of a call chain that are read (default: 127)."},
	{OPT_U32, 'j', "jobs", AT(jobs), "N", .least = OPT_ABOVE_ZERO,
	 .help = "Unwind copies of stacks in N processes; without it in as many as there are CPUs, 16 at most, where the "
		 "recording is large enough. The result is the same."},
	{OPT_TEXT, 0, "ignore-callees", AT(ignore_callees), "REGEX",
	 "What these functions call counts as theirs."},
	{OPT_TEXT, 'p', "parent", AT(parent), "REGEX", "Sort by the caller that matches too."},
	{OPT_FLAG, 'x', "exclude-other", AT(exclude_other), .help = "Only what has such a caller."},
	{OPT_GROUP, .help = "Filters"},
	{OPT_TEXT, 'c', "comms", AT(filter.comms), "COMM[,COMM...]", "Only these commands."},
	{OPT_TEXT, 'd', "dsos", AT(filter.dsos), "DSO[,DSO...]", "Only these files."},
	{OPT_TEXT, 'S', "symbols", AT(filter.symbols), "SYMBOL[,SYMBOL...]", "Only these symbols."},
	{OPT_TEXT, 0, "pid", AT(filter.pids), "PID[,PID...]", "Only these processes."},
	{OPT_TEXT, 0, "tid", AT(filter.tids), "TID[,TID...]", "Only these threads."},
	{OPT_TEXT, 0, "symbol-filter", AT(symbol_filter), "TEXT",
	 "Only symbols that contain the text."},
	{OPT_INT, 0, "socket-filter", AT(socket), "N", "Only this processor socket.",
	 .least = OPT_FROM_ZERO},
	{OPT_CALL, 0, "percent-limit", 0, "PERCENT", "Leave out rows and branches below it.",
	 percent_limit, .no_negation = true},
	{OPT_TEXT, 0, "percentage", AT(percentage), "relative|absolute",
	 "Percent of what is shown, or of all (the default)."},
	{OPT_TEXT, 0, "switch-on", AT(event_switch.on), "EVENT", "Only samples from this event on."},
	{OPT_TEXT, 0, "switch-off", AT(event_switch.off), "EVENT", "Only samples up to this event."},
	{OPT_FLAG, 0, "show-on-off-events", AT(event_switch.show), .help = "Those two events too."},
	{OPT_FLAG, 'U', "hide-unresolved", AT(hide_unresolved), .help = "Only what has a symbol."},
	{OPT_FLAG, 0, "skip-empty", AT(skip_empty),
	 .help = "Leave out events without samples (the default)."},
	{OPT_GROUP, .help = "Layout"},
	{OPT_TEXT, 0, "format", AT(format), "text|json|csv",
	 "text is perf's layout; json one object; csv one line a row."},
	{OPT_TEXT, 't', "field-separator", AT(separator), "CHAR",
	 "Between columns in place of spaces; in texts it becomes a dot."},
	{OPT_TEXT, 'w', "column-widths", AT(widths), "N[,N...]", "Widths of the columns."},
	{OPT_COUNT, 'v', "verbose", AT(verbose),
	 .help = "With addresses, full paths and where symbols came from."},
	{OPT_FLAG, 'q', "quiet", AT(quiet), .help = "Without headers."},
	{OPT_TEXT, 0, "stdio-color", AT(stdio_color), "always|never|auto",
	 "Large shares in red, others in green; auto: on a terminal, unless NO_COLOR is set.",
	 .absent = "always", .next_word = true},
	{OPT_FLAG, 0, "stdio", AT(stdio),
	 .help = "As text (the default where standard output is no terminal)."},
	{OPT_FLAG, 0, "tui", AT(tui),
	 .help = "As a screen to move in (the default on a terminal; ? there tells its keys)."},
	{OPT_FLAG, 0, "gtk", AT(gtk), .help = "In a window: not there, it shows text."},
	{OPT_GROUP, .help = "About the recording"},
	{OPT_FLAG, 0, "header", AT(header), .help = "With what the file says about the machine."},
	{OPT_FLAG, 0, "header-only", AT(header_only), .help = "Only that."},
	{OPT_FLAG, 'I', "show-info", AT(full_info), .help = "With processor and memory topology."},
	{OPT_FLAG, 0, "stats", AT(stats), .help = "Counts of records by type."},
	{OPT_FLAG, 0, "tasks", AT(tasks), .help = "Processes and threads as a tree."},
	{OPT_FLAG, 0, "mmaps", AT(mmaps), .help = "The same with their memory maps."},
	{OPT_FLAG, 'T', "threads", AT(threads), .help = "Counters of each thread (recorded with -s)."},
	{OPT_TEXT, 0, "pretty", AT(pretty), "normal|raw", "Layout of those."},
	{OPT_FLAG, 'D', "dump-raw-trace", AT(dump),
	 .help = "The bytes of each record and what they mean, then the counts of --stats."},
	{OPT_GROUP, .help = "Symbols"},
	{OPT_TEXT, 'k', "vmlinux", AT(vmlinux), "FILE", "The kernel with symbols."},
	{OPT_FLAG, 0, "ignore-vmlinux", AT(ignore_vmlinux), .help = "Don't look for one."},
	{OPT_TEXT, 0, "kallsyms", AT(kallsyms), "FILE", "A copy of /proc/kallsyms."},
	{OPT_FLAG, 'm', "modules", AT(modules), .help = "Modules of the running kernel."},
	{OPT_TEXT, 0, "symfs", AT(symfs), "DIR", "Look for files below it."},
	{OPT_FLAG, 0, "demangle", AT(demangle),
	 .help = "C++ and Rust names as in the source (the default)."},
	{OPT_FLAG, 0, "demangle-kernel", AT(demangle_kernel), .help = "In the kernel too."},
	{OPT_FLAG, 0, "inline", AT(inlines),
	 .help = "Inlined functions are frames (the default; --no-inline leaves them out)."},
	{OPT_FLAG, 0, "functions", AT(functions),
	 .help = "Code without a symbol has the name of its file and the address where its function begins, gzip@4300 (the default on the screen and of --format).",
	 .given = AT(functions_given)},
	{OPT_FLAG, 0, "full-source-path", AT(full_source_path), .help = "Full paths of source files."},
	{OPT_GROUP, .help = "Taken from perf and without effect here"},
	{OPT_FLAG, 0, "branch-history", AT(branch_history),
	 .help = "The last branches before each sample in place of its call chain, with cycles, iterations and predictions."},
	{OPT_FLAG, 0, "stitch-lbr", AT(stitch_lbr),
	 .help = "Stacks of calls among branches are not sewn together."},
	{OPT_TEXT, 0, "itrace", AT(ignored_text), "OPTS",
	 "Decoding of processor traces: not there yet.", .absent = ""},
	IGNORED("source", "Of annotate."),
	IGNORED("asm-raw", "Of annotate."),
	IGNORED("show-ref-call-graph", "Of the browser."),
	{OPT_TEXT, 'M', "disassembler-style", AT(ignored_text), "STYLE", "Of annotate."},
	{OPT_TEXT, 0, "objdump", AT(ignored_text), "PATH", "Of annotate."},
	{OPT_TEXT, 0, "prefix", AT(ignored_text), "PREFIX", "Of annotate."},
	{OPT_TEXT, 0, "prefix-strip", AT(ignored_text), "N", "Of annotate."},
	{OPT_CALL, 0, "percent-type", 0, "WHERE-WHAT",
	 "Of annotate: local or global, period or hits.", percent_type, .no_negation = true},
	{OPT_INT, 0, "samples", AT(ignored_int), "N", "Of the browser."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde report -i FILE", "shows which functions took the time, and who called them",
	 "sonde report -i \"$T/data/sleep.data\""},
	{"sonde report -g none --no-children -s comm,dso", "sums up by command and file",
	 "sonde report -i \"$T/data/sleep.data\" -g none --no-children -s comm,dso"},
	{"sonde report --format json", "gives the same to a program",
	 "sonde report -i \"$T/data/sleep.data\" --format json"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_report = {
	.name = "report",
	.summary = "Show where the time of a recording went",
	.usage = "sonde report [options] [SYMBOL-FILTER]",
	.description =
		"Adds up the samples of a recording by command, file and function (or by other keys, see "
		"--sort) and shows the heaviest first, each with the call graph that leads to it. With call "
		"chains a function counts for its callers too: Children is the share of a function and all "
		"that it called, Self its own.\n\n"
		"--format json is one object: lost_samples, lost_records, damage (null, or what is wrong with "
		"the file), events; an event has its samples, period and rows; a row one field for each column "
		"(percentages as numbers) with period, samples, children_period, and calls: a tree of frames, "
		"period, samples and further calls. --format csv has one line a row and its columns first.",
	.opts = opts,
	.opts_size = sizeof(struct report_options),
	.examples = examples,
	.values = report_values,
	.family = COMMAND_PERF,
	.run = run,
};

// What perf says where it has nothing to sew together.
static void say_no_stitching(const struct recording *recording)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct perf_event_attr *attr = &recording->events.v[i]->attr;

		if ((attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
		    (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)) {
			warn("--stitch-lbr: stacks of calls among branches are shown as they are, not sewn together");
			return;
		}
	}
	warn("Can't find LBR callchain. Switch off --stitch-lbr.\nPlease apply --call-graph lbr when recording.");
}

static bool has_groups(const struct recording *recording)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		if (recording->events.v[i]->group_members > 1)
			return true;
	}
	return false;
}

static int check_data(struct report *report)
{
	struct recording *recording = report->run->recording;
	uint64_t types = report_sample_types(recording);
	const char *path = recording->path;

	if (report->o.stitch_lbr)
		say_no_stitching(recording);
	if (report->pipe)
		return 0;
	if (report->o.group_index && !has_groups(recording))
		return fail(COMMAND_USAGE,
			    "--group-sort-idx sorts groups of events, and %s has none: with --group all events are one",
			    path);
	if (!(types & PERF_SAMPLE_CALLCHAIN)) {
		if (report->has_parent)
			return fail(EINVAL,
				    "%s has no call chains to find parents in: record with -g", path);
		if (report->chain.enabled && !report->history)
			return fail(EINVAL,
				    "%s has no call chains: record with -g, or leave -g away", path);
	}
	if ((report->mode == MODE_BRANCH || (report->history && !(types & PERF_SAMPLE_CALLCHAIN))) &&
	    !(types & PERF_SAMPLE_BRANCH_STACK))
		return fail(EINVAL, "%s has no branch stacks: record with -b", path);
	if (report->mode == MODE_MEMORY && !(types & PERF_SAMPLE_DATA_SRC))
		return fail(EINVAL,
			    "%s has no memory accesses: record with -d on a processor that samples them",
			    path);
	return 0;
}

static int count_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	report_hist(arg, event)->samples++;
	return 0;
}

static size_t rows_n(const struct report *report)
{
	const struct recording *recording = report->run->recording;
	size_t n = 0;

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct hist *hist = recording->events.v[i]->user;

		n += hist ? hist->entries.n + hist->counted_n : 0;
	}
	return n;
}

// Of the samples, where they have copies of stacks.
static bool unwinds_most(const struct report *report)
{
	const struct report_options *o = &report->o;

	return report->mode != MODE_BRANCH && !report->history && !report->has_skip &&
	       !o->event_switch.on && !o->event_switch.off &&
	       (report->children || report->use_chains || report->has_parent);
}

static int show_counts(struct report *report)
{
	const struct run_hooks hooks = {.hit = report->o.stats ? count_sample : NULL,
					.record = report_note_record};
	int err;

	vec_push(&report->tids, sym_task(report->run->sym, 0, 0)->tid);
	err = run_process(report->run, &hooks, report);
	if (err < 0)
		return err;
	if (report->o.stats)
		report_stats(report);
	else
		report_tasks(report, report->o.mmaps);
	return 0;
}

static bool is_text(const struct report *report)
{
	return !report->o.format || !strcmp(report->o.format, "text");
}

// perf opens its browser where it writes to a terminal and nothing was asked for that is text.
static bool wants_screen(const struct report *report)
{
	const struct report_options *o = &report->o;

	return !o->stdio && !o->format && !o->separator && !o->stats && !o->tasks && !o->mmaps &&
	       !o->header && !o->header_only && !o->dump && !o->hierarchy && !o->threads &&
	       !o->gtk && !o->quiet && !o->total_cycles && !report->pipe && screen_possible();
}

static int show_screen(struct report *report)
{
	const struct recording *recording = report->run->recording;
	size_t n = recording->events.n;
	auto_free struct hist **hists = xcalloc(n + 1, sizeof(struct hist *));
	struct browse_hooks hooks = {.hists = hists, .arg = report};
	struct screen *screen;
	int err;

	for (size_t i = 0; i < n; i++) {
		struct hist *hist = report_hist(report, recording->events.v[i]);

		// A lone event without samples is no event to choose.
		if (hist->samples || !report->o.skip_empty)
			hists[hooks.n++] = hist;
	}
	err = screen_open_as_set(&screen);
	if (err)
		return err;
	err = report_browse(report, screen, &hooks);
	screen_close(screen);
	return err;
}

static bool has_ipc(const struct report *report)
{
	bool has = false;

	for (size_t i = 0; i < report->fields.n; i++)
		has |= report->fields.v[i]->key &&
		       report->fields.v[i]->key->width == WIDTH_SYMBOL_IPC;
	return has;
}

static int show_table(struct report *report)
{
	const struct encoder *format;
	int err;

	if (!report->o.total_cycles) {
		report_table(report);
		return 0;
	}
	err = table_format_find(&format, report->o.format);
	if (!err)
		report_table_of_blocks(report, format);
	return err;
}

static int show(struct report *report)
{
	const struct run_hooks hooks = {.hits = report_samples, .record = report_note_record};
	struct report_options *o = &report->o;
	bool screen = wants_screen(report);
	int err;

	// As in perf, -q takes --header-only away.
	if (o->header_only && !o->quiet) {
		recording_print_header(&report->out, report->run->recording, o->full_info);
		return 0;
	}
	err = report_prepare(report);
	if (err)
		return err;
	if (o->dump && !o->unordered && is_text(report))
		dump_order(&report->out, report->run->recording);
	if (o->header && !o->quiet)
		recording_print_header(&report->out, report->run->recording, o->full_info);
	else if (!o->quiet && !o->stats && !o->tasks && !o->mmaps && is_text(report) && !screen)
		out_text(&report->out, "# To display the perf.data header info, please use "
				       "--header/--header-only options.\n#\n");
	if (is_text(report))
		report_setup_elided(report);
	if (o->stats || o->tasks || o->mmaps)
		return show_counts(report);
	if (screen)
		report->addresses = annotate_counts_new((uint32_t)report->run->recording->events.n);
	if (report->mode == MODE_BRANCH && (screen || report->o.total_cycles || has_ipc(report)))
		report->blocks = report_blocks_new(report);
	err = check_data(report);
	if (!err && o->dump)
		return report_dump(report);
	if (!err && unwinds_most(report))
		run_share_chains(report->run, o->jobs, o->max_stack);
	if (!err)
		err = run_process(report->run, &hooks, report);
	if (err < 0)
		return err;
	if (!rows_n(report)) {
		warn("The %s data has no samples!", report->run->recording->path);
		return is_text(report) ? 0 : show_table(report);
	}
	report_finish(report);
	if (report->o.total_cycles)
		report_say_no_cycles(report);
	report->escape = is_text(report) && !screen && report->out.is_terminal;
	report->colors &= is_text(report) && !screen;
	if (screen) {
		report->out.n = 0; // what report_setup_elided said is seen there too
		return show_screen(report);
	}
	if (!is_text(report))
		return show_table(report);
	report_print(report);
	return 0;
}

static int check_options(struct report *report)
{
	struct report_options *o = &report->o;

	if (strcmp(o->percentage, "relative") && strcmp(o->percentage, "absolute"))
		return fail(COMMAND_USAGE, "--percentage takes relative or absolute, not '%s'",
			    o->percentage);
	if (o->format && strcmp(o->format, "text") && strcmp(o->format, "json") &&
	    strcmp(o->format, "csv"))
		return fail(COMMAND_USAGE, "--format takes text, json or csv, not '%s'", o->format);
	if (!is_text(report) && (o->hierarchy || o->stats || o->tasks || o->mmaps || o->header ||
				 o->header_only || o->dump || o->threads || o->separator))
		return fail(COMMAND_USAGE,
			    "--format %s is for the report itself, not for --hierarchy, --stats, --tasks, "
			    "--mmaps, --threads, --header, -t or -D",
			    o->format);
	if (o->stats && (o->tasks || o->mmaps))
		return fail(COMMAND_USAGE, "--tasks and --mmaps can't be used together with --stats");
	if (o->hierarchy && o->fields)
		return fail(COMMAND_USAGE, "--hierarchy and --fields exclude each other");
	if (o->separator && (!*o->separator || *o->separator == '.'))
		return fail(COMMAND_USAGE, "--field-separator takes a character other than the dot");
	if (o->time_quantum &&
	    (num_parse_duration(str_of(o->time_quantum), 1, &report->quantum_ns) < 0 ||
	     !report->quantum_ns))
		return fail(COMMAND_USAGE, "--time-quantum takes a time such as 10ms, not '%s'",
			    o->time_quantum);
	if (o->gtk)
		warn("There is no window of its own: here is the text.");
	else if (o->tui && !screen_possible())
		warn("There is no terminal for the browser here: here is the text.");
	if (o->separator) {
		report->separator = *o->separator;
		report->separator_text = o->separator;
	}
	report->verbose = o->verbose;
	report->quiet = o->quiet;
	return 0;
}

static int run_report(struct report *report)
{
	struct report_options *o = &report->o;
	int err, closed;

	if (!o->functions_given)
		o->functions = wants_screen(report) || !is_text(report);
	err = report_open(report);
	if (err < 0)
		return err;
	err = show(report);
	// What could be read comes before the word about the rest.
	closed = out_flush(&report->out);
	if (!err && closed)
		err = closed;
	if (!err && !o->header_only) {
		err = run_warn(report->run);
		missing_show(report->run);
	}
	return err;
}

static int run_with(struct report *report, int argc, char **argv)
{
	int err = report_chain_settings(&report->o.chain), closed, words;

	if (err)
		return err;
	words = command_parse(&command_report, &report->o, argv, 0);
	if (words < 0)
		return words;
	if (words > 1)
		return fail(COMMAND_USAGE, "report takes one symbol filter, not '%s' and '%s'",
			    argv[1], argv[2]);
	if (words == 1)
		report->o.symbol_filter = argv[1];
	if (report->o.quiet)
		report->o.verbose = 0;
	log_set_level(report->o.quiet ? LOG_QUIET : report->o.verbose);
	if (!report->o.input || !*report->o.input)
		report->o.input = default_input(false);
	err = check_options(report);
	if (err)
		return err;
	out_init_fd(&report->out, STDOUT_FILENO);
	err = text_colors(report->o.stdio_color, report->out.is_terminal, &report->colors);
	if (!err)
		err = run_report(report);
	closed = out_close(&report->out, "standard output");
	return err ? err : closed;
}

static int run(int argc, char **argv)
{
	struct report report = {0};
	int err;

	report_init(&report);
	report.measure = hist_widths_of;
	err = run_with(&report, argc, argv);
	thread_values_free(&report);
	report_done(&report);
	return err;
}
