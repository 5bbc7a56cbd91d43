// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/top/top.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "cmd/core/settings.h"
#include "encoder/tui/screen.h"
#include <sched.h>
#include <stdio.h>

#define AT(field) offsetof(struct top_options, field)

static const char *const record_modes[] = {"fp", "dwarf", "lbr", "auto", "no"};

// What says how chains are recorded, and behind it how they are shown: "dwarf,8192,graph,caller".
static int call_graph(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct top_options *o = at;
	struct str rest = str_of(arg), word = str_cut(&rest, ',');
	bool is_mode = false;
	auto_free char *mode = NULL;

	if (negated) {
		o->record.call_graph = CALL_GRAPH_NONE;
		o->report.chain.mode = CHAIN_NONE;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(record_modes); i++)
		is_mode |= str_is(word, record_modes[i]);
	if (!is_mode) {
		const char *set = settings_get("top.call-graph");
		int err = 0;

		o->record.call_graph = CALL_GRAPH_FP;
		if (!set)
			set = settings_get("call-graph.record-mode");
		if (set)
			err = record_opt_call_graph(&o->record, opt, set, false);
		return err ? err : report_parse_chain(&o->report.chain, arg);
	}
	// A size of the stack's copy belongs to the mode.
	if (str_is(word, "dwarf") && rest.n && rest.p[0] >= '0' && rest.p[0] <= '9') {
		struct str size = str_cut(&rest, ',');

		word.n = (size_t)(size.p + size.n - word.p);
	}
	mode = str_dup(word);
	int err = record_opt_call_graph(&o->record, opt, mode, false);

	o->report.chain.enabled = true;
	return err || !rest.n ? err : report_parse_chain(&o->report.chain, rest.p);
}

static int percent_limit(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct top_options *o = at;
	double percent;

	if (num_parse_double(str_of(arg), &percent) < 0 || percent < 0)
		return fail(COMMAND_USAGE,
			    "--percent-limit takes a number of percent from 0 up, not '%s'", arg);
	o->report.percent_limit = (float)percent;
	o->report.chain.least_percent = percent;
	return 0;
}

static int not_there(void *at, const struct opt *opt, const char *arg, bool negated)
{
	return fail(EOPNOTSUPP, "--%s is not there in top yet; record, and use report", opt->name);
}

static const struct opt opts[] = {
	{OPT_GROUP, .help = "Whom to watch"},
	FLAG('a', "all-cpus", record.target.all_cpus, "Everything on all CPUs (the default)."),
	TEXT('C', "cpu", record.target.cpus, "LIST", "Only these CPUs, such as 0,2-3."),
	TEXT('p', "pid", record.target.pids, "LIST", "Processes, and what they start."),
	TEXT('t', "tid", record.target.tids, "LIST", "Threads."),
	TEXT('u', "uid", record.target.users, "USER", "The processes of a user."),
	{.kind = OPT_LIST,
	 .letter = 'G',
	 .name = "cgroup",
	 .offset = AT(record.cgroups),
	 .arg = "NAMES",
	 .help = "Only tasks of these cgroups, one for each event in turn."},
	FLAG('i', "no-inherit", record.no_inherit, "Not what the watched tasks start."),
	FLAG('K', "hide_kernel_symbols", hide_kernel, "Without samples of the kernel."),
	FLAG('U', "hide_user_symbols", hide_user, "Without samples of user space."),

	{OPT_GROUP, .help = "What to sample"},
	CALL('e', "event", record_opt_event, "EVENT",
	     "What to count down to the next sample (default: cycles, else cpu-clock)."),
	CALL(0, "filter", record_opt_filter, "FILTER",
	     "Of the tracepoint before it: only records for which this holds."),
	CALL('F', "freq", record_opt_frequency, "HZ", "Samples per second, or max (default 4000)."),
	{.kind = OPT_U64,
	 .letter = 'c',
	 .name = "count",
	 .offset = AT(record.count),
	 .arg = "N",
	 .least = OPT_ABOVE_ZERO,
	 .help = "A sample every N events."},
	{.kind = OPT_CALL,
	 .letter = 'g',
	 .call = call_graph,
	 .absent = "fp",
	 .help = "With call chains, by frame pointers."},
	{.kind = OPT_CALL,
	 .name = "call-graph",
	 .call = call_graph,
	 .arg = "MODE[,SHOWN]",
	 .help = "With call chains: how they are recorded (fp, dwarf[,BYTES], lbr, auto: see sonde record) and shown (graph, "
		 "fractal, THRESHOLD, caller, callee, function, address, percent, period, count: see sonde report)."},
	{.kind = OPT_U32,
	 .name = "max-stack",
	 .offset = AT(report.max_stack),
	 .arg = "N",
	 .help = "Frames of a call chain that are looked at (default 127)."},
	FLAG(0, "group", record.group, "All events in one group, shown side by side."),
	CALL('m', "mmap-pages", record_opt_mmap, "PAGES",
	     "How large the rings are, in pages or as a size such as 4M."),
	{.kind = OPT_U32,
	 .letter = 'r',
	 .name = "realtime",
	 .offset = AT(record.realtime),
	 .given = AT(record.realtime_given),
	 .arg = "PRIORITY",
	 .help = "Run with this priority of SCHED_FIFO."},
	{.kind = OPT_CALL,
	 .letter = 'b',
	 .name = "branch-any",
	 .call = record_opt_branch,
	 .absent = "any",
	 .no_negation = true,
	 .help = "Sample the last branches taken."},
	CALL('j', "branch-filter", record_opt_branch, "KINDS",
	     "Likewise, of these kinds: any, any_call, any_ret, ind_call, cond, u, k, ..."),
	FLAG(0, "all-cgroups", record.all_cgroups, "Learn of cgroups, for -s cgroup."),
	FLAG(0, "no-bpf-event", record.no_bpf_event, "Do not learn of BPF programs."),

	{OPT_GROUP, .help = "Rows and columns"},
	TEXT('s', "sort", report.sort, "KEY[,KEY...]",
	     "What makes a row (default: dso,symbol); the keys are those of sonde report."),
	TEXT(0, "fields", report.fields, "KEY[,KEY...]",
	     "The columns: overhead, period, sample and all sort keys."),
	FLAG('n', "show-nr-samples", report.counts, "A column with the number of samples."),
	FLAG(0, "show-total-period", report.total_period, "A column with the sum of periods."),
	FLAG(0, "children", report.children,
	     "With call chains: rows of callers weigh what they call, too (default)."),
	TEXT(0, "comms", report.filter.comms, "NAMES", "Only rows of these commands."),
	TEXT(0, "dsos", report.filter.dsos, "NAMES", "Only rows of these files."),
	TEXT(0, "symbols", report.filter.symbols, "NAMES", "Only rows of these symbols."),
	{.kind = OPT_U64,
	 .letter = 'f',
	 .name = "count-filter",
	 .offset = AT(least_samples),
	 .arg = "N",
	 .help = "Only rows with at least so many samples."},
	CALL(0, "percent-limit", percent_limit, "PERCENT", "Only rows above it."),
	TEXT(0, "percentage", report.percentage, "HOW",
	     "Of all (absolute) or of what is shown (relative)."),
	TEXT('w', "column-widths", report.widths, "N[,N...]", "Widths of the columns."),
	TEXT(0, "ignore-callees", report.ignore_callees, "REGEX",
	     "What these functions call counts as theirs."),

	{OPT_GROUP, .help = "How it is shown"},
	{.kind = OPT_DOUBLE,
	 .letter = 'd',
	 .name = "delay",
	 .offset = AT(delay_s),
	 .arg = "SECONDS",
	 .least = OPT_ABOVE_ZERO,
	 .help = "Between refreshes (default 2)."},
	FLAG('z', "zero", zero,
	     "Forget what was at each refresh. Without it the past fades by an eighth each time."),
	FLAG(0, "stdio", report.stdio,
	     "As pages of text (the default where standard output is no terminal)."),
	FLAG(0, "tui", tui, "As a screen (the default on a terminal; ? there tells its keys)."),
	{.kind = OPT_INT,
	 .letter = 'E',
	 .name = "entries",
	 .offset = AT(entries),
	 .arg = "N",
	 .least = OPT_ABOVE_ZERO,
	 .help = "Rows of a page of text (default: as many as fit)."},
	{.kind = OPT_COUNT,
	 .letter = 'v',
	 .name = "verbose",
	 .offset = AT(verbose),
	 .help = "With addresses and full paths."},

	{OPT_GROUP, .help = "Symbols"},
	TEXT('k', "vmlinux", report.vmlinux, "FILE", "The kernel's symbols come from there."),
	TEXT(0, "kallsyms", report.kallsyms, "FILE", "Likewise."),
	FLAG(0, "ignore-vmlinux", report.ignore_vmlinux, "No vmlinux is looked for."),
	FLAG(0, "functions", report.functions,
	     "Code without a symbol has the name of its file and the address where its function begins, gzip@4300 (the default; --no-functions leaves it unnamed)."),
	FLAG(0, "demangle-kernel", report.demangle_kernel, "Demangle the kernel's names too."),

	{.kind = OPT_CALL, .name = "hierarchy", .call = not_there, .help = "Not there.", .hidden = true},
	{.kind = OPT_FLAG,
	 .letter = 'D',
	 .name = "dump-symtab",
	 .offset = AT(ignored),
	 .help = "Nothing.",
	 .hidden = true},
	{.kind = OPT_FLAG, .name = "overwrite", .offset = AT(ignored), .help = "Nothing.", .hidden = true},
	{.kind = OPT_FLAG, .name = "force", .offset = AT(ignored), .help = "Nothing.", .hidden = true},
	{.kind = OPT_FLAG,
	 .name = "namespaces",
	 .offset = AT(record.namespaces),
	 .help = "Learn of namespaces.",
	 .hidden = true},
	{.kind = OPT_FLAG, .name = "source", .offset = AT(ignored), .help = "Of annotate.", .hidden = true},
	{.kind = OPT_FLAG,
	 .name = "asm-raw",
	 .offset = AT(ignored),
	 .help = "Of annotate.",
	 .hidden = true},
	{.kind = OPT_TEXT,
	 .name = "objdump",
	 .offset = AT(ignored_text),
	 .arg = "PATH",
	 .help = "Nothing.",
	 .hidden = true},
	{.kind = OPT_TEXT,
	 .name = "num-thread-synthesize",
	 .offset = AT(ignored_text),
	 .arg = "N",
	 .help = "Nothing.",
	 .hidden = true},
	{.kind = OPT_TEXT,
	 .name = "proc-map-timeout",
	 .offset = AT(ignored_text),
	 .arg = "MS",
	 .help = "Nothing.",
	 .hidden = true},
	{.kind = OPT_TEXT,
	 .name = "sym-annotate",
	 .offset = AT(ignored_text),
	 .arg = "SYMBOL",
	 .help = "Nothing.",
	 .hidden = true},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde top", "what the system spends its time on, live; ? tells the keys",
	 "timeout -s INT 3 sonde top -d 0.5 >page || [ $? = 124 ]; grep -q PerfTop page || "
	 "{ tail -n 1 page; exit 77; }"},
	{"sonde top -g -p 4711", "the functions of one process, with their callers",
	 "sleep 5 & timeout -s INT 2 sonde top -g -d 0.5 -p $! >page || [ $? = 124 ]; grep -q PerfTop page || exit 77"},
	{"sonde top -e syscalls:sys_enter_read -ns comm",
	 "who reads, by command, with the number of calls",
	 "timeout -s INT 2 sonde top -e syscalls:sys_enter_read -ns comm -d 0.5 >page || [ $? = 124 ]; "
	 "grep -q PerfTop page || exit 77"},
	{"sonde top --stdio -d 5 -E 10 | cat",
	 "the ten hottest symbols each five seconds, into a pipe",
	 "timeout -s INT 2 sonde top --stdio -d 0.5 -E 10 >page || [ $? = 124 ]; grep -q PerfTop page || exit 77"},
	{NULL, NULL, NULL},
};

extern const struct command command_top;

static int set_priority(const struct record_options *o)
{
	struct sched_param param = {.sched_priority = (int)o->realtime};

	if (!o->realtime_given || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	return fail(errno,
		    "can't run with realtime priority %u: %s; run as root, or: setcap cap_sys_nice+ep on this program",
		    o->realtime, strerror(errno));
}

static int settle(struct top *top)
{
	struct top_options *o = &top->o;
	struct target_options *target = &o->record.target;

	if (strcmp(o->report.percentage, "relative") && strcmp(o->report.percentage, "absolute"))
		return fail(COMMAND_USAGE, "--percentage takes relative or absolute, not '%s'",
			    o->report.percentage);
	if (o->record.count && (o->record.frequency || o->record.frequency_max))
		return fail(COMMAND_USAGE,
			    "-c and -F exclude each other: a sample every N events, or so many a second");
	if (o->delay_s > 86400)
		return fail(COMMAND_USAGE, "-d takes up to 86400 seconds");
	if (!target->pids && !target->tids && !target->users && !target->cpus)
		target->all_cpus = true;
	if (o->record.branch_type)
		o->report.branch = 1;
	o->record.sample_cpu = true;
	top->report.own_order = "dso,symbol";
	top->report.verbose = o->verbose;
	return set_priority(&o->record);
}

static int run_with(struct top *top, int argc, char **argv)
{
	int err = report_chain_settings(&top->o.report.chain), words;
	struct run_stats stats;
	uint64_t bad;
	bool screen;

	if (err)
		return err;
	words = command_parse(&command_top, &top->o, argv, 0);
	if (words < 0)
		return words;
	if (words > 0)
		return fail(COMMAND_USAGE,
			    "top takes no word such as '%s'; sonde record runs commands", argv[1]);
	log_set_level(top->o.verbose);
	err = settle(top);
	if (err)
		return err;
	screen = !top->o.report.stdio && screen_possible();
	if (top->o.tui && !screen)
		warn("There is no terminal for the screen here: pages of text follow.");
	err = top_open(top);
	if (err)
		return err;
	err = screen ? top_run_screen(top) : top_run_text(top);
	if (!err && top->kernel_hidden && !top->o.hide_kernel)
		warn("kernel addresses are hidden from this user: kernel symbols were missing; sysctl "
		     "kernel.kptr_restrict=0, or run as root");
	if (!err && top->lost_n)
		warn("%llu of %llu events were lost: a larger ring helps (-m 4M), or a lower rate (-F)",
		     (unsigned long long)top->lost_n,
		     (unsigned long long)(top->lost_n + top->samples_n));
	stats = top->run->stats;
	bad = stats.unknown_ids + stats.bad_samples + stats.bad_records;
	if (!err && bad)
		warn("%llu records could not be read: what they said is missing",
		     (unsigned long long)bad);
	return err;
}

static int run(int argc, char **argv)
{
	struct top top = {.o = {.record = {.timestamp = true, .control = {.fd = -1, .ack_fd = -1}},
				.delay_s = 2}};
	int err;

	report_init(&top.report);
	top.report.measure = hist_widths_of;
	top.o.report = top.report.o;
	top.o.report.functions = true;
	err = run_with(&top, argc, argv);
	top_close(&top);
	return err;
}

const struct command command_top = {
	.name = "top",
	.summary = "Show where time goes, live",
	.usage = "sonde top [options]",
	.description =
		"Samples the running system and shows its hottest functions, again and again. On a terminal it is a screen to move "
		"in: rows expand to their callers, zoom into a thread or file, are filtered while you type, and freeze (f); ? tells "
		"all keys. Elsewhere, and with --stdio, it prints pages of text as perf top does.\n\n"
		"What is shown is the sum of all refreshes, the past fading by an eighth each time (-z: only the last one). Memory "
		"stays bounded over days: rows that faded away and tasks that ended are dropped.",
	.opts = opts,
	.opts_size = sizeof(struct top_options),
	.examples = examples,
	.values = report_values,
	.family = COMMAND_PERF,
	.run = run,
};
