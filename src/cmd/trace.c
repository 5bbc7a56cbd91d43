// SPDX-License-Identifier: GPL-2.0-or-later
// System calls as they happen, of the running system or of a recording.
//
// sys/syscalls has the numbers (x86-64, i386, arm64), abi/syscall_table the names and kinds of arguments, abi/syscall_names the
// values that have names: const tables, so a recording is read without the kernel that made it. cmd/trace keeps the arguments
// of a thread's entry as they are and makes text of them once, at the exit; filters of numbers run in the kernel. What
// arguments point at comes from flow/bpf_texts: a program at the entry writes it to a perf event of the same ring, so it lies
// just before the entry's own record and needs no second stream to be matched; whom it reads for is a map that a second program
// keeps up to date at each fork. cmd/trace/files knows what descriptors stand for: tables by process that opens, copies,
// closes, forks and execs change in the order of time, names as ids, all forgotten when it gets too much. Calls that only tell
// of descriptors pass cmd/trace/follow and are not shown.
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/output.h"
#include "cmd/core/record/record.h"
#include "cmd/trace/files.h"
#include "cmd/trace/trace.h"
#include <stdio.h>

#define AT(field) offsetof(struct trace_options, field)

enum { DEFAULT_STACK = 8192 };

// -e and --expr
static int take_choice(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct trace_options *options = at;

	vec_push(&options->choices, (struct trace_choice){arg, !strcmp(opt->name, "filter")});
	return 0;
}

static int take_faults(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct trace_options *options = at;

	if (negated)
		options->faults = 0;
	else if (!strcmp(arg, "all"))
		options->faults = FAULT_MAJOR | FAULT_MINOR;
	else if (!strcmp(arg, "maj"))
		options->faults |= FAULT_MAJOR;
	else if (!strcmp(arg, "min"))
		options->faults |= FAULT_MINOR;
	else
		return fail(EINVAL, "-F takes all, maj or min, not '%s'", arg);
	return 0;
}

static int take_call_graph(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct trace_options *options = at;

	uint64_t bytes = DEFAULT_STACK;

	options->stacks = !negated;
	options->stack_bytes = 0;
	if (negated || !strcmp(arg, "fp"))
		return 0;
	if (!strcmp(arg, "dwarf") || text_starts(arg, "dwarf,")) {
		if (arg[5] && (num_parse_u64(str_of(arg + 6), &bytes) || !bytes || bytes > 65528))
			return fail(EINVAL,
				    "--call-graph dwarf,SIZE takes up to 65528 bytes, not '%s'",
				    arg + 6);
		options->stack_bytes = (uint32_t)((bytes + 7) & ~7ull);
		return 0;
	}
	if (!strcmp(arg, "lbr"))
		return fail(EOPNOTSUPP,
			    "--call-graph=lbr: the branches of a system call's return are the kernel's; use fp");
	return fail(EINVAL, "--call-graph takes fp or dwarf, not '%s'", arg);
}

static const struct opt opts[] = {
	{.kind = OPT_GROUP, .help = "What to trace"},
	{.kind = OPT_CALL,
	 .letter = 'e',
	 .name = "event",
	 .arg = "LIST",
	 .call = take_choice,
	 .no_negation = true,
	 .help = "System calls by name, glob (open*) or group (%file, %desc, %network, %process, %signal, %ipc, %memory, %clock, "
		 "%creds, %string), separated by commas; with ! before the list, all but these. Other names are events that are "
		 "shown between the calls (sched:sched_switch)."},
	{.kind = OPT_CALL,
	 .name = "expr",
	 .arg = "LIST",
	 .call = take_choice,
	 .no_negation = true,
	 .help = "The same as -e."},
	{.kind = OPT_CALL,
	 .name = "filter",
	 .arg = "FILTER",
	 .call = take_choice,
	 .no_negation = true,
	 .help = "The kernel's filter for the events of the -e before it."},
	{OPT_FLAG, 0, "syscalls", AT(syscalls),
	 .help = "System calls as well, beside events of -e or -F."},
	{.kind = OPT_CALL,
	 .letter = 'F',
	 .name = "pf",
	 .arg = "all|maj|min",
	 .absent = "maj",
	 .next_word = true,
	 .call = take_faults,
	 .help = "Page faults."},
	{OPT_FLAG, 0, "sched", AT(sched), .help = "How long each thread ran, in the summary."},
	{.kind = OPT_GROUP, .help = "Whom to trace"},
	{OPT_TEXT, 'p', "pid", AT(target.pids), "PID,...", .help = "These processes."},
	{OPT_TEXT, 't', "tid", AT(target.tids), "TID,...", .help = "These threads."},
	{OPT_TEXT, 'u', "uid", AT(target.users), "USER", .help = "All processes of a user."},
	{OPT_FLAG, 'a', "all-cpus", AT(target.all_cpus),
	 .help = "All processes (default without a command)."},
	{OPT_TEXT, 'C', "cpu", AT(target.cpus), "LIST", .help = "Only on these CPUs."},
	{OPT_TEXT, 'G', "cgroup", AT(cgroups), "NAME",
	 .help = "Only processes of this control group (with -a)."},
	{OPT_TEXT, 0, "filter-pids", AT(filter_pids), "PID,...", .help = "All but these."},
	{OPT_FLAG, 0, "no-inherit", AT(no_inherit), .help = "Not what they start.",
	 .no_negation = true},
	{OPT_U64, 'D', "delay", AT(delay_ms), "MS",
	 .help = "Begin this long after the command was started."},
	{.kind = OPT_GROUP, .help = "What to show"},
	{OPT_TEXT, 'i', "input", AT(input), "FILE", .help = "A recording, not the running system."},
	{OPT_FLAG, 's', "summary", AT(summary_only), .help = "Only a table of each thread's calls."},
	{OPT_FLAG, 'S', "with-summary", AT(summary), .help = "All calls, then the tables."},
	{OPT_FLAG, 0, "errno-summary", AT(errno_summary),
	 .help = "With -s or -S: which errors each call had."},
	{OPT_FLAG, 0, "failure", AT(failure), .help = "Only calls that failed."},
	{OPT_DOUBLE, 0, "duration", AT(duration_ms), "MS",
	 .help = "Only calls that took at least this long."},
	{OPT_U64, 0, "max-events", AT(max_events), "N", .help = "End after so many lines."},
	{OPT_FLAG, 'T', "time", AT(full_time),
	 .help = "The events' own time, not that since the first."},
	{OPT_FLAG, 0, "comm", AT(comm), .help = "Names beside the numbers of threads (default)."},
	{OPT_FLAG, 0, "no-strings", AT(no_strings),
	 .help = "Pointers as numbers. Else paths, texts, addresses and times that arguments point at are shown; a BPF program "
		 "reads them at entry, where that is allowed.",
	 .no_negation = true},
	{OPT_FLAG, 0, "libtraceevent_print", AT(print_fmt),
	 .help = "Other events as their format says."},
	{OPT_TEXT, 'o', "output", AT(output), "FILE",
	 .help = "Write to this file, not to standard error. A file of that name becomes FILE.old."},
	{.kind = OPT_GROUP, .help = "Call chains"},
	{.kind = OPT_CALL,
	 .name = "call-graph",
	 .arg = "fp|dwarf[,SIZE]",
	 .call = take_call_graph,
	 .help = "The chain of calls that led there: by frame pointers, or unwound from a copy of the stack."},
	{OPT_FLAG, 0, "kernel-syscall-graph", AT(kernel_stacks),
	 .help = "With it, the kernel's part as well (of a recording it is shown always)."},
	{OPT_U32, 0, "max-stack", AT(max_stack), "N", .help = "At most so many frames."},
	{OPT_U32, 0, "min-stack", AT(min_stack), "N", .help = "Only where there are so many frames."},
	{.kind = OPT_GROUP, .help = "Rarely needed"},
	{OPT_TEXT, 0, "switch-on", AT(switch_on), "EVENT",
	 .help = "Show nothing before this event of -e."},
	{OPT_TEXT, 0, "switch-off", AT(switch_off), "EVENT",
	 .help = "Show nothing after this event of -e."},
	{OPT_FLAG, 0, "show-on-off-events", AT(show_on_off), .help = "Show these two as well."},
	{OPT_U64, 'm', "mmap-pages", AT(mmap_pages), "N", .help = "Pages of each ring buffer."},
	{OPT_FLAG, 0, "sort-events", AT(sorted),
	 .help = "Events are always in the order of time; for perf's sake."},
	{OPT_FLAG, 0, "print-sample", AT(print_sample),
	 .help = "Each event's time, thread and CPU before it."},
	{OPT_FLAG, 0, "tool_stats", AT(tool_stats), .help = "How many events came and were lost."},
	{OPT_U64, 0, "proc-map-timeout", AT(ignored), "MS", .help = "For perf's sake."},
	{OPT_FLAG, 'f', "force", AT(force), .help = "Read a recording of someone else."},
	{OPT_COUNT, 'v', "verbose", AT(verbose), .help = "Say more."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde trace ls", "shows each system call of a command"},
	{"sonde trace -e %file,connect -- ls", "shows which files it touches and where it connects to",
	 "sonde trace -e %file,connect -o out.txt -- ls && grep -q openat out.txt"},
	{"sonde trace -s -p PID", "counts the calls of a process until Ctrl-C",
	 "sonde trace -s -o out.txt -- sh -c 'ls | cat' && grep -q 'Summary of events' out.txt"},
	{"sonde trace --failure -a", "shows what fails, everywhere",
	 "sonde trace --failure -- ls /nonexistent || true"},
	{"sonde trace --duration 10 -e futex,poll,read -p PID", "shows where a process waits for long",
	 "sonde trace --duration 10 -e clock_nanosleep,read -- sleep 0.05"},
	{"sonde trace record -o trace.data ls && sonde trace -i trace.data",
	 "keeps the calls, shows them later"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_trace = {
	.name = "trace",
	.summary = "System calls as they happen, with their arguments",
	.usage = "sonde trace [options] [COMMAND [ARGS]]\n"
		 "sonde trace [-F all|maj|min] record [options of record] [COMMAND [ARGS]]\n"
		 "sonde trace -i FILE [options]",
	.description =
		"A line for each system call: when it began (milliseconds since the first event), how long it took, the thread, the "
		"arguments, and the result or error. Arguments that are 0 are left out. A call during which another thread begins one is "
		"shown in two lines (\" ...\" and \"... [continued]\").\n\n"
		"The program is not stopped as under strace: the kernel writes records, which are read in batches. Our own system calls "
		"are left out.\n\n"
		"Like perf trace, it writes to standard error, and its exit status is 0 whatever that of the command is.",
	.opts = opts,
	.opts_size = sizeof(struct trace_options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

// What a kernel event says is wanted, as with -e and --filter.
static int want(struct record_options *record, const char *events, const char *filter)
{
	int err = record_opt_event(record, NULL, events, false);

	return err || !filter ? err : record_opt_filter(record, NULL, filter, false);
}

// perf's `trace record`: record with the events that trace needs.
static int record(const struct trace_options *options, int argc, char **argv)
{
	enum { INSTRUCTION = 8 }; // arch/x86/include/uapi/asm/perf_regs.h: PERF_REG_X86_IP
	auto_free const char **line = xcalloc((size_t)argc + 2, sizeof(*line));
	struct record_options record;
	char filter[64];
	int err = 0;

	memcpy(line, argv, ((size_t)argc + 1) * sizeof(*line));
	record_options_init(&record);
	record.command_line = line;
	record.raw = true;
	record.mmap_pages = 1024;
	record.count = 1;
	record.address = options->faults != 0;
	if (SYSCALLS_NATIVE == SYSCALLS_X86_64 && trace_runs_32bit())
		record.user_regs = 1 << INSTRUCTION; // which tell 32-bit programs from others
	snprintf(filter, sizeof(filter), "common_pid != %d", (int)getpid());
	if (!options->faults || options->syscalls)
		err = want(&record, "raw_syscalls:sys_enter,raw_syscalls:sys_exit", filter);
	if (!err && options->faults & FAULT_MAJOR)
		err = want(&record, "major-faults", NULL);
	if (!err && options->faults & FAULT_MINOR)
		err = want(&record, "minor-faults", NULL);
	if (err) {
		event_specs_done(&record.specs);
		return err;
	}
	return record_typed(&record, argc, argv + 1);
}

static int check(struct trace_options *options, int words)
{
	if (options->input && words)
		return fail(COMMAND_USAGE,
			    "a recording (-i) and a command to run exclude each other");
	if (options->min_stack || options->max_stack || options->kernel_stacks)
		options->stacks = true;
	if (options->input && options->output && output_check_input(options->output, options->input))
		return -EINVAL;
	options->summary |= options->summary_only;
	// What was recorded is shown.
	options->no_kernel_stacks = !options->kernel_stacks && !options->input;
	if (options->cgroups && (options->target.pids || options->target.tids || words))
		return fail(COMMAND_USAGE, "-G watches a control group on all CPUs, not tasks");
	return 0;
}

static int run(int argc, char **argv)
{
	struct trace_options options = {.comm = true};
	struct feed_options feed = {.ordered = true, .needs_tasks = true};
	const int flags = OPT_STOP_AT_WORD | OPT_KEEP_DASHES;
	int words, err;

	words = command_parse(&command_trace, &options, argv, flags);
	if (words < 0)
		return words;
	log_set_level(options.verbose);
	if (opt_cut_dashes(&words, argv, flags) && !strcmp(argv[1], "record")) {
		err = record(&options, words, argv);
		vec_done(&options.choices);
		return err;
	}
	trace_add_settings(&options);
	err = check(&options, words);
	if (!err) {
		feed.target = options.target;
		feed.from = options.input;
		feed.mmap_pages = options.mmap_pages;
		feed.delay_ms = options.delay_ms;
		feed.inherit = !options.no_inherit;
		feed.no_kernel_chain = options.no_kernel_stacks;
		if (words)
			feed.workload = (const char *const *)(argv + 1);
		err = trace_run(&options, &feed);
	}
	vec_done(&options.choices);
	return err;
}
