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
#include <sys/stat.h>

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

// ---- hooks

static const struct {
	int (*take)(struct trace *trace, struct trace_event *event, const struct sample *sample);
} roles[] = {
	[ROLE_ENTER] = {trace_enter},	    [ROLE_EXIT] = {trace_exit},
	[ROLE_FAULT_MAJOR] = {trace_fault}, [ROLE_FAULT_MINOR] = {trace_fault},
	[ROLE_RUNTIME] = {trace_runtime},   [ROLE_OTHER] = {trace_other},
	[ROLE_PAYLOAD] = {trace_payload},
};

static void put_sample(struct trace *trace, const struct trace_event *event,
		       const struct sample *sample)
{
	const struct task *task = sym_find_task(trace->feed->sym, sample->tid);

	out_printf(trace->out, "%22s %10.3f ", event->feed->event->name, (double)sample->time / 1e6);
	out_escaped(trace->out, task ? task_comm(trace->feed->sym, task) : "");
	out_printf(trace->out, " %u/%u [%u]\n", sample->pid, sample->tid, sample->cpu);
}

// --switch-on, --switch-off. True: not to be shown.
static bool switches(struct trace *trace, const struct trace_event *event)
{
	bool show = trace->options->show_on_off;

	if (event->switches_on && !trace->on) {
		trace->on = true;
		return !show;
	}
	if (event->switches_off && trace->on) {
		trace->on = false;
		return !show;
	}
	return !trace->on;
}

static int on_sample(void *arg, struct feed_event *wanted, const struct sample *sample)
{
	struct trace *trace = arg;
	struct trace_event *event = &trace->events.v[(size_t)(uintptr_t)wanted->user];
	int err;

	if (event->role == ROLE_PAYLOAD)
		return trace_payload(trace, event, sample);
	if ((trace->files && trace_follow(trace, event, sample)) || switches(trace, event))
		return 0;
	if (!trace->base_ns && !trace->options->full_time)
		trace->base_ns = sample->time;
	trace->events_n++;
	if (trace->options->print_sample)
		put_sample(trace, event, sample);
	err = roles[event->role].take(trace, event, sample);
	if (!err && trace->options->max_events && trace->printed_n >= trace->options->max_events)
		return 1;
	return err;
}

static int on_record(void *arg, const struct perf_event_header *header, const struct sample *ids)
{
	struct trace *trace = arg;
	const struct record_task *task = (const void *)header;

	if (!record_is_whole(header))
		return 0;
	if (header->type == PERF_RECORD_EXIT)
		trace_thread_ended(trace, task->tid);
	trace_follow_task(trace, header);
	return 0;
}

static int on_lost(void *arg, const struct run_loss *loss)
{
	struct trace *trace = arg;

	trace->lost_n += loss->lost;
	trace_forget_entries(trace);
	if (!trace->options->summary_only)
		out_printf(trace->out, "LOST %llu events!\n", (unsigned long long)loss->lost);
	return 0;
}

// What a pipe or terminal waits for comes at once; a file is written in large pieces.
static int on_tick(void *arg, uint64_t now_ns)
{
	struct trace *trace = arg;

	out_flush(trace->out);
	return out_broken(trace->out) ? trace->out->error : 0;
}

// ---- set-up

static void make_defs(struct trace *trace)
{
	for (unsigned k = 0; k < 2; k++) {
		enum syscalls abi = k ? trace->abi_32bit : trace->abi;
		uint32_t n = syscall_limit_of(abi);

		trace->numbers_n[k] = n;
		trace->defs[k] = arena_zalloc(&trace->arena, n * sizeof(trace->defs[k][0]));
		for (uint32_t i = 0; i < n; i++) {
			const char *name = syscall_name_of(abi, i);

			trace->defs[k][i] = name ? syscall_def(name) : NULL;
		}
	}
}

// A kernel that runs 32-bit programs has this (arch/x86/entry/vdso/vdso32-setup.c).
static bool runs_32bit(void)
{
	return access("/proc/sys/abi/vsyscall32", F_OK) == 0;
}

static void find_abi(struct trace *trace)
{
	const char *path = trace->options->input, *arch = trace->feed->arch;

	trace->abi = SYSCALLS_NATIVE;
	trace->abi_32bit = SYSCALLS_I386;
	if (arch && !strcmp(arch, "aarch64"))
		trace->abi = SYSCALLS_ARM64;
	else if (arch && !strcmp(arch, "x86_64"))
		trace->abi = SYSCALLS_X86_64;
	else if (arch && arch[0] == 'i' && text_ends(arch, "86"))
		trace->abi = SYSCALLS_I386;
	else if (arch)
		warn("%s was made on %s, whose system calls are not known: names may be wrong",
		     path, arch);
	trace->has_32bit = trace->abi == SYSCALLS_X86_64 && (path || runs_32bit());
	make_defs(trace);
}

static int add_calls(struct trace *trace)
{
	bool is_live = !trace->options->input;
	int err = trace_add_event(trace, "raw_syscalls:sys_enter", ROLE_ENTER);

	if (!err)
		err = trace_add_event(trace, "raw_syscalls:sys_exit", ROLE_EXIT);
	if (err == -ENOENT && !is_live && (trace->has_other || trace->options->faults)) {
		err_clear();
		trace->shows_syscalls = false;
		return 0;
	}
	if (err == -ENOENT && !is_live)
		return fail(ENOENT,
			    "%s has no system calls; 'sonde trace record' makes a recording that has",
			    trace->options->input);
	return err;
}

static int add_faults(struct trace *trace)
{
	static const struct {
		const char *name;
		enum trace_fault fault;
		enum trace_role role;
	} rows[] = {
		{"major-faults", FAULT_MAJOR, ROLE_FAULT_MAJOR},
		{"minor-faults", FAULT_MINOR, ROLE_FAULT_MINOR},
	};
	bool is_live = !trace->options->input;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !err; i++) {
		if (is_live && !(trace->options->faults & rows[i].fault))
			continue;
		err = trace_add_event(trace, rows[i].name, rows[i].role);
		if (err == -ENOENT && !is_live) { // a recording need not have them
			err_clear();
			err = 0;
		}
	}
	return err;
}

static int mark_switches(struct trace *trace)
{
	const struct trace_options *options = trace->options;
	bool on = !options->switch_on, off = !options->switch_off;

	vec_each(struct trace_event, event, &trace->events) {
		const char *name = event->feed->event->name;

		event->switches_on = options->switch_on && !strcmp(name, options->switch_on);
		event->switches_off = options->switch_off && !strcmp(name, options->switch_off);
		on |= event->switches_on;
		off |= event->switches_off;
	}
	if (!on || !off)
		return fail(EINVAL, "--switch-%s %s: that event is not among those of -e",
			    on ? "off" : "on", on ? options->switch_off : options->switch_on);
	trace->on = !options->switch_on;
	return 0;
}

// All but --filter-pids, and what else the kernel can leave out.
static int set_filters(struct trace *trace)
{
	const char *calls = trace_filter(trace), *pids = NULL;
	struct str rest = str_of(trace->options->filter_pids);

	while (rest.p) {
		struct str word = str_trim(str_cut(&rest, ','));
		uint64_t pid;

		if (num_parse_u64(word, &pid))
			return fail(EINVAL, "--filter-pids takes numbers, not '%.*s'", STR_FMT(word));
		pids = feed_and(trace->feed, pids,
				arena_fmt(&trace->arena, "common_pid != %llu",
					  (unsigned long long)pid));
	}
	for (size_t i = 0; i < trace->events.n; i++) {
		struct trace_event *event = &trace->events.v[i];
		struct feed_event *feed = event->feed;

		feed->user = (void *)(uintptr_t)i;
		if (event->role == ROLE_ENTER || event->role == ROLE_EXIT)
			feed->filter = feed_and(trace->feed, feed->filter, calls);
		if (feed->event->tp && pids)
			feed->filter = feed_and(trace->feed, feed->filter, pids);
	}
	return 0;
}

static int add_events(struct trace *trace)
{
	int err = trace_select(trace);

	if (!err)
		trace_follow_open(trace);
	if (!err && trace->shows_syscalls)
		err = add_calls(trace);
	if (!err)
		err = add_faults(trace);
	if (!err && trace->options->sched)
		err = trace_add_event(trace, "sched:sched_stat_runtime", ROLE_RUNTIME);
	if (!err)
		err = mark_switches(trace);
	if (!err)
		trace_texts_open(trace);
	if (!err)
		err = set_filters(trace);
	return err;
}

// Regular expressions of feed_options stand for names; here it is one name.
static const char *cgroup_pattern(struct trace *trace)
{
	const char *name = trace->options->cgroups;
	char *pattern, *to;

	if (!name)
		return NULL;
	pattern = to = arena_alloc(&trace->arena, 2 * strlen(name) + 1);
	for (; *name; name++) {
		if (strchr(".[]{}()*+?^$|\\", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	*to = '\0';
	return pattern;
}

// A file is opened when all else stands: what is in it stays until then.
static void init_output(struct trace *trace, struct out *out)
{
	const char *path = trace->options->output;

	trace->out = out;
	trace->colors = !path && isatty(2) && !getenv("NO_COLOR");
	out_init_fd(out, path ? -1 : 2);
}

static int on_begin(void *arg)
{
	struct trace *trace = arg;
	const char *path = trace->options->output;
	struct stat st;

	trace_follow_begin(trace);
	if (!path)
		return 0;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size) {
		auto_free char *old = text_dup_fmt("%s.old", path);

		if (rename(path, old) < 0)
			return fail(errno, "can't rename %s to %s: %s", path, old, strerror(errno));
	}
	return out_open_late(trace->out, path);
}

static int run_feed(struct trace *trace, struct feed_options *options)
{
	static const struct feed_hooks hooks = {.begin = on_begin,
						.sample = on_sample,
						.record = on_record,
						.lost = on_lost,
						.tick = on_tick,
						.opened = trace_texts_opened};
	struct feed *feed = trace->feed;
	int err = trace->input->open(feed);

	if (err)
		return err;
	find_abi(trace);
	err = add_events(trace);
	if (err)
		return err;
	feed->hooks = &hooks;
	feed->arg = trace;
	options->needs_maps = trace->options->stacks || trace->options->faults;
	trace->several_threads = options->inherit || !feed_has_tasks(feed) || options->from;
	err = trace->input->run(feed);
	if (err >= 0 && (trace->options->summary || trace->options->summary_only))
		trace_summary(trace);
	if (trace->options->tool_stats)
		out_printf(trace->out,
			   "Stats:\n  events  : %llu\n  lost    : %llu\n  wake-ups: %llu\n",
			   (unsigned long long)trace->events_n, (unsigned long long)trace->lost_n,
			   (unsigned long long)feed->stats.wakeups);
	return err;
}

static int trace_run(const struct trace_options *options, struct feed_options *feed_options)
{
	struct trace trace = {
		.options = options,
		.input = input_by_name(options->input ? "recording" : "live"),
	};
	struct feed feed;
	struct out out = {.fd = -1};
	int err, closed;

	trace_look(&trace.look);
	feed_init(&feed, feed_options);
	trace.feed = &feed;
	feed_options->cgroups = cgroup_pattern(&trace);
	out_init_memory(&trace.line);
	out_init_memory(&trace.text);
	init_output(&trace, &out);
	err = run_feed(&trace, feed_options);
	auto_free char *sentence = xstrdup(err_sentence());
	closed = out_close(&out, options->output ? options->output : "standard error");
	if (err < 0 && *sentence)
		fail_again(err, sentence);
	if (trace.lost_n)
		warn("%llu events were lost: calls are missing%s; -m makes the buffers larger",
		     (unsigned long long)trace.lost_n,
		     options->summary_only ? ", and times of those beside the gaps are not known"
					   : "");
	trace_texts_close(&trace);
	trace.input->close(&feed);
	trace_threads_done(&trace);
	files_free(trace.files);
	vec_done(&trace.events);
	free(trace.wanted);
	out_done(&trace.line);
	out_done(&trace.text);
	arena_done(&trace.arena);
	feed_done(&feed);
	if (err < 0)
		return err;
	return closed < 0 ? closed : options->input ? feed.exit_code : 0;
}

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
	if (SYSCALLS_NATIVE == SYSCALLS_X86_64 && runs_32bit())
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
