// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "cmd/core/record/record.h"

#define AT(field) offsetof(struct record_options, field)
#define UNSUPPORTED(n, a, why)                                                                     \
	{                                                                                          \
		.kind = OPT_CALL, .name = (n), .call = record_opt_unsupported, .arg = (a),         \
		.help = (why), .hidden = true                                                      \
	}

#define NO_AUX                                                                                                           \
	"it needs a processor that traces its own instructions or memory accesses (Intel PT, Arm SPE or CoreSight) and " \
	"sonde to record that, which it does not yet"

static const struct opt record_table[] = {
	HEADING("Whom to record"),
	FLAG('a', "all-cpus", target.all_cpus, "everything on all CPUs"),
	TEXT('C', "cpu", target.cpus, "LIST", "only these CPUs, such as 0,2-3"),
	TEXT('p', "pid", target.pids, "LIST",
	     "processes that are there already, with their threads and what they start"),
	TEXT('t', "tid", target.tids, "LIST", "threads that are there already"),
	TEXT('u', "uid", target.users, "USER", "the processes of a user"),
	{.kind = OPT_LIST,
	 .letter = 'G',
	 .name = "cgroup",
	 .offset = AT(cgroups),
	 .arg = "NAMES",
	 .help = "only tasks of these cgroups, one for each event in turn; a command needs -a"},
	FLAG('i', "no-inherit", no_inherit, "not the children that the command starts"),
	FLAG(0, "per-thread", target.per_thread, "a ring for each thread instead of each CPU"),
	FLAG(0, "exclude-perf", exclude_self, "not the recorder itself"),

	HEADING("What to sample"),
	CALL('e', "event", record_opt_event, "EVENT",
	     "what to count down to the next sample; 'sonde list' shows what there is (default: cycles, else cpu-clock); "
	     "or a probe: uprobe:FUNC@\"FILE\", uretprobe:, kprobe:FUNC, kretprobe:, usdt:PROVIDER:NAME@\"FILE\", as 'sonde prof' takes it"),
	CALL(0, "filter", record_opt_filter, "FILTER",
	     "of the tracepoint before it: only records for which this holds"),
	CALL('F', "freq", record_opt_frequency, "HZ", "samples per second, or max (default 4000)"),
	{.kind = OPT_U64,
	 .letter = 'c',
	 .name = "count",
	 .offset = AT(count),
	 .arg = "N",
	 .least = OPT_ABOVE_ZERO,
	 .help = "a sample every N events"},
	FLAG(0, "strict-freq", strict_freq, "fail when the kernel does not allow the frequency"),
	FLAG('n', "no-samples", no_samples, "count only, no samples"),
	FLAG(0, "group", group, "all events in one group"),
	FLAG(0, "all-user", all_user, "all events in user space only"),
	FLAG(0, "all-kernel", all_kernel, "all events in the kernel only"),

	HEADING("What a sample holds"),
	{.kind = OPT_CALL,
	 .letter = 'g',
	 .call = record_opt_call_graph,
	 .arg = NULL,
	 .absent = "auto",
	 .help = "the call chain: as --call-graph auto"},
	{.kind = OPT_CALL,
	 .name = "call-graph",
	 .call = record_opt_call_graph,
	 .arg = "MODE",
	 .help = "the call chain, by auto (whole stacks: dwarf up to 5000 Hz, else fp), fp (frame pointers), dwarf[,BYTES] (unwound at once from a copy of the stack, as large as the rings bear, at most 65528 bytes; dwarf,raw[,BYTES] keeps the copies, 8192 bytes) or lbr (the processor's)"},
	{.kind = OPT_U32,
	 .name = "max-stack",
	 .offset = AT(max_stack),
	 .arg = "N",
	 .least = OPT_ABOVE_ZERO,
	 .help = "at most so many frames of the kernel and of user space (default: what the kernel has room for, "
		 "kernel.perf_event_max_stack; no limit of what is unwound)"},
	FLAG(0, "user-callchains", user_callchains, "only the user part of call chains"),
	FLAG(0, "kernel-callchains", kernel_callchains, "only the kernel part of call chains"),
	FLAG('d', "data", address, "the data address"),
	FLAG(0, "phys-data", phys_address, "the physical data address"),
	FLAG(0, "data-page-size", data_page_size, "the size of the data's page"),
	FLAG(0, "code-page-size", code_page_size, "the size of the code's page"),
	{.kind = OPT_FLAG,
	 .letter = 'T',
	 .name = "timestamp",
	 .offset = AT(timestamp),
	 .given = AT(timestamp_given),
	 .help = "the time (always there but with --no-timestamp)"},
	{.kind = OPT_FLAG,
	 .letter = 'P',
	 .name = "period",
	 .offset = AT(period),
	 .given = AT(period_given),
	 .help = "the period"},
	FLAG(0, "sample-cpu", sample_cpu, "the CPU"),
	FLAG(0, "sample-identifier", sample_identifier, "the event's id at a fixed place"),
	FLAG('R', "raw-samples", raw, "the raw data of tracepoints"),
	FLAG('W', "weight", weight, "the weight (latency) of events that have one"),
	FLAG(0, "transaction", transaction, "transaction flags"),
	{.kind = OPT_CALL,
	 .letter = 'b',
	 .name = "branch-any",
	 .call = record_opt_branch,
	 .absent = "any",
	 .no_negation = true,
	 .help = "the last branches taken"},
	CALL('j', "branch-filter", record_opt_branch, "KINDS",
	     "the last branches of these kinds: any, any_call, any_ret, ind_call, cond, call, u, k, ..."),
	{.kind = OPT_CALL,
	 .letter = 'I',
	 .name = "intr-regs",
	 .offset = AT(intr_regs),
	 .call = record_opt_regs,
	 .arg = "REGS",
	 .absent = "",
	 .no_negation = true,
	 .help = "registers at the interrupt; '?' lists them"},
	{.kind = OPT_CALL,
	 .name = "user-regs",
	 .offset = AT(user_regs),
	 .call = record_opt_regs,
	 .arg = "REGS",
	 .absent = "",
	 .no_negation = true,
	 .help = "registers of user space; '?' lists them"},
	FLAG('s', "stat", inherit_stat, "counts per thread as well"),
	FLAG(0, "running-time", running_time, "how long each counter ran, with group reads"),

	HEADING("Other records"),
	FLAG(0, "namespaces", namespaces, "namespaces of tasks"),
	FLAG(0, "all-cgroups", all_cgroups, "cgroups, and each sample's"),
	FLAG(0, "switch-events", switch_events, "context switches"),
	FLAG(0, "no-bpf-event", no_bpf_event, "no records of BPF programs"),
	CALL(0, "synth", record_opt_synth, "KINDS",
	     "what to tell of tasks that were there before: no, all, task, mmap, cgroup"),
	FLAG(0, "tail-synthesize", tail_synthesize, "tell it at the end of the file"),
	{.kind = OPT_CALL,
	 .letter = 'k',
	 .name = "clockid",
	 .call = record_opt_clockid,
	 .no_negation = true,
	 .arg = "CLOCK",
	 .help = "the clock of the times: mono, raw, real, boot, tai"},

	HEADING("When"),
	CALL('D', "delay", record_opt_delay, "MS",
	     "start after so many milliseconds, -1: disabled; or ranges 10-20,30-40"),
	CALL(0, "control", record_opt_control, "CHANNEL",
	     "take commands (enable, disable, snapshot, stop, ping) from fd:N[,M] or fifo:PATH[,PATH]"),

	HEADING("Output"),
	TEXT('o', "output", output, "FILE", "where to (default perf.data; -: a pipe)"),
	CALL('m', "mmap-pages", record_opt_mmap, "PAGES", "ring per CPU: pages, or a size such as 4M"),
	{.kind = OPT_SIZE,
	 .name = "mmap-flush",
	 .offset = AT(mmap_flush),
	 .arg = "BYTES",
	 .help = "take from a ring only when so much is in it"},
	{.kind = OPT_CALL,
	 .letter = 'z',
	 .name = "compression-level",
	 .call = record_opt_compress,
	 .arg = "LEVEL",
	 .absent = "1",
	 .help = "compress with zstd, 1 (fast) to 22"},
	{.kind = OPT_CALL,
	 .name = "switch-output",
	 .call = record_opt_switch,
	 .arg = "WHEN",
	 .absent = "signal",
	 .help = "a new file at SIGUSR2 (signal), after a size (10M) or a time (30s)"},
	{.kind = OPT_CALL,
	 .name = "switch-output-event",
	 .call = record_opt_switch_event,
	 .arg = "EVENT",
	 .no_negation = true,
	 .help = "a new file at each of these events, which are not recorded themselves"},
	{.kind = OPT_U32,
	 .name = "switch-max-files",
	 .offset = AT(rotate.max_files),
	 .arg = "N",
	 .help = "keep only the last N of them"},
	FLAG(0, "timestamp-filename", timestamp_filename, "append the time to the file's name"),
	FLAG(0, "timestamp-boundary", timestamp_boundary,
	     "note the times of the first and last sample (always done)"),
	{.kind = OPT_SIZE,
	 .name = "max-size",
	 .offset = AT(max_size),
	 .arg = "SIZE",
	 .least = OPT_ABOVE_ZERO,
	 .help = "stop when the file has this size"},
	FLAG(0, "overwrite", overwrite, "keep only what the rings hold when SIGUSR2 comes or the end"),
	FLAG(0, "no-buffering", no_buffering, "wake up for each record"),
	FLAG('B', "no-buildid", no_buildid, "no build-ids"),
	FLAG('N', "no-buildid-cache", no_buildid_cache,
	     "taken for perf's sake: sonde copies nothing to ~/.debug"),
	FLAG(0, "buildid-all", buildid_all, "build-ids of all mapped files (always done)"),
	FLAG(0, "buildid-mmap", buildid_mmap, "build-ids in the map records"),
	{.kind = OPT_U32,
	 .letter = 'r',
	 .name = "realtime",
	 .offset = AT(realtime),
	 .arg = "PRIO",
	 .given = AT(realtime_given),
	 .help = "run with this SCHED_FIFO priority"},
	FLAG(0, "archive", archive,
	     "at the end, all that the recording needs elsewhere in FILE.archive, also programs and JIT maps of containers that have ended, files that were removed or replaced (see sonde archive)"),
	FLAG(0, "kcore", kcore,
	     "make the output a folder, with a copy of the kernel's code and symbols (root)"),
	FLAG(0, "dry-run", dry_run, "only look at the options"),
	FLAG('q', "quiet", quiet, "no messages"),
	{.kind = OPT_COUNT,
	 .letter = 'v',
	 .name = "verbose",
	 .offset = AT(verbose),
	 .help = "more messages"},

	{.kind = OPT_CALL,
	 .name = "threads",
	 .call = record_opt_threads,
	 .arg = "SPEC",
	 .absent = "",
	 .help = "a thread for each cpu (default), core, package or numa node, or for each of CPUS/CPUS:... (whose rings it reads/where it "
		 "runs); makes the output a folder, and keeps stacks as they are copied"},
	{.kind = OPT_CALL,
	 .name = "affinity",
	 .call = record_opt_affinity,
	 .arg = "MODE",
	 .help = "without --threads: before a ring is read, go to its CPU (cpu) or its memory node (node)"},

	HEADING("Taken without effect, as they make nothing faster here"),
	{.kind = OPT_TEXT,
	 .name = "aio",
	 .offset = AT(dummy),
	 .arg = "N",
	 .absent = "1",
	 .help = "asynchronous writing"},
	{.kind = OPT_U32,
	 .name = "num-thread-synthesize",
	 .offset = AT(dummy_number),
	 .arg = "N",
	 .help = "threads for reading /proc"},
	{.kind = OPT_U32,
	 .name = "proc-map-timeout",
	 .offset = AT(dummy_number),
	 .arg = "MS",
	 .help = "limit for reading a process's maps"},
	{.kind = OPT_CALL,
	 .name = "vmlinux",
	 .call = record_opt_vmlinux,
	 .arg = "FILE",
	 .help = "the kernel's file (used when reading)"},
	{.kind = OPT_TEXT,
	 .name = "debuginfod",
	 .offset = AT(dummy),
	 .arg = "URLS",
	 .absent = "",
	 .help = "debuginfod servers"},
	UNSUPPORTED("off-cpu", NULL,
		    "these samples come from BPF programs, which sonde does not load yet (Debian's perf leaves the option "
		    "out as well); record -e sched:sched_switch -g -a tells when tasks stop"),
	{.kind = OPT_CALL,
	 .letter = 'S',
	 .name = "snapshot",
	 .call = record_opt_unsupported,
	 .arg = "OPTS",
	 .absent = "",
	 .help = NO_AUX,
	 .hidden = true},
	UNSUPPORTED("aux-sample", "OPTS", NO_AUX),
	UNSUPPORTED("clang-path", "PATH", "BPF scriptlets are not compiled here"),
	UNSUPPORTED("clang-opt", "OPTS", "BPF scriptlets are not compiled here"),
	OPT_END,
};

static const struct command_example record_examples[] = {
	{"sonde record -g -- gzip -9 FILE", "where a program spends its time, with its callers",
	 "sonde record -q -g -o out.data -- gzip -9 -c \"$T/../LICENSE\" > out.gz && sonde script -i out.data > out.txt"},
	{"sonde record -F 99 -a -g -- sleep 10", "the whole system for ten seconds",
	 "sonde record -q -F 99 -a -g -o out.data -- sleep 0.2"},
	{"sonde record -e sched:sched_switch -a -- sleep 1", "every context switch",
	 "sonde record -q -e sched:sched_switch -a -o out.data -- sleep 0.2"},
	{"sonde record -p 1234 -- sleep 5", "a process that runs already, for five seconds",
	 "sleep 2 & sonde record -q -e cpu-clock -p $! -o out.data -- sleep 0.2"},
	{NULL, NULL, NULL},
};

extern const struct command command_record;

int record_typed(struct record_options *options, int argc, char **argv)
{
	auto_free const char **line = xcalloc((size_t)argc + 1, sizeof(*line));
	int words;

	for (int i = 0; i < argc; i++)
		line[i] = argv[i];
	if (!options->command_line)
		options->command_line = line;
	words = command_parse(&command_record, options, argv, OPT_STOP_AT_WORD);
	return words < 0 ? words : record_run(options, words ? argv + 1 : NULL);
}

static int run_record(int argc, char **argv)
{
	struct record_options options;

	record_options_init(&options);
	return record_typed(&options, argc, argv);
}

const struct command command_record = {
	.name = "record",
	.summary = "Record samples and events of a program or the system into a file",
	.usage = "sonde record [options] [--] COMMAND [ARGS]\nsonde record [options] -p PID | -t TID | -u USER | [-a]",
	.description =
		"Opens events, lets the command run (or watches what runs already) and writes what the kernel tells to "
		"perf.data, in perf's own format. 'sonde report', 'sonde script' and 'sonde flamegraph' read it, and so do perf "
		"and the programs that read perf's files.\n\n"
		"The recording ends with the command, at Ctrl-C or SIGTERM; the file is complete then. The exit status is the "
		"command's. After a kill -9 or on a full disk the file can be read up to where it stops.",
	.opts = record_table,
	.opts_size = sizeof(struct record_options),
	.examples = record_examples,
	.family = COMMAND_PERF,
	.run = run_record,
};
