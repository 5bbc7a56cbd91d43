// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "cmd/core/archiver.h"
#include "cmd/core/command.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "cmd/record/drain.h"
#include "cmd/record/live.h"
#include "cmd/record/readers.h"
#include "cmd/record/record.h"
#include "cmd/record/watch.h"
#include "sys/signals.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

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
	 .help = "only tasks of these cgroups, one for each event in turn; needs -a"},
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

enum { MOST_POLLED = 4096 };

static int default_event(struct record_options *options)
{
	const struct event_context context = {0};

	if (options->specs.events.n)
		return 0;
	int err = event_default(&options->specs, &context, true);
	if (!err && options->specs.events.v[0].attr.exclude_kernel)
		warn("kernel.perf_event_paranoid is %d: only user space is recorded (%s)",
		     perf_paranoid(), options->specs.events.v[0].name);
	return err;
}

static void note_event(struct recorder *recorder, size_t index)
{
	const struct opened_event *event = &recorder->opened.events.v[index];

	sample_plan_init(&recorder->plans[index], &event->spec->attr);
	for (size_t i = 0; i < event->ids.n; i++)
		*map_at(&recorder->events_by_id, event->ids.v[i], NULL) = index;
}

static size_t ring_pages(const struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	bool stacks = false;

	vec_each(const struct opened_event, event, &recorder->opened.events)
		stacks |= event->spec->attr.sample_stack_user != 0;
	if (options->mmap_pages || !stacks)
		return options->mmap_pages;
	return record_stack_pages(&recorder->target);
}

static int prepare(struct recorder *recorder)
{
	struct record_options *options = recorder->options;
	struct opened *opened = &recorder->opened;
	int err = event_dynamic_make(&recorder->dynamic, &options->specs);

	if (!err)
		err = event_dynamic_make(&recorder->dynamic, &options->rotate.specs);
	if (!err)
		err = record_configure(options, opened, &recorder->target);
	if (!err)
		err = record_attach_cgroups(options, opened, &recorder->target);
	if (!err)
		err = opened_open(opened, &recorder->target);
	if (!err)
		err = opened_filter(opened);
	if (!err)
		err = opened_map(opened, ring_pages(recorder), options->overwrite);
	if (!err)
		err = trigger_open(recorder);
	if (err)
		return err;
	recorder->plans = xcalloc(opened->events.n, sizeof(*recorder->plans));
	for (size_t i = 0; i < opened->events.n; i++)
		note_event(recorder, i);
	err = live_new(&recorder->live, recorder);
	if (!err)
		early_open(recorder);
	return err;
}

static int start_readers(struct recorder *recorder)
{
	int err = readers_start(&recorder->readers, recorder, recorder->options->threads);

	if (!err)
		return 0;
	readers_stop(recorder->readers);
	recorder->readers = NULL;
	output_discard(recorder);
	return err;
}

static int prepare_workload(struct recorder *recorder, char **argv)
{
	const char *name = argv[0];
	int err = workload_prepare(&recorder->workload, argv,
				   output_is_pipe(recorder->options->output));

	// "-g dwarf PROGRAM"
	if (err == -ENOENT && (!strcmp(name, "dwarf") || !strcmp(name, "fp") || !strcmp(name, "lbr")))
		return fail(ENOENT,
			    "can't start %s: there is no such program; -g takes no word, such call graphs are --call-graph %s",
			    name, name);
	return err;
}

// Where it can't be had, stacks are unwound as well, but more may be lost meanwhile.
static void start_drain(struct recorder *recorder)
{
	if (drain_start(&recorder->drain, recorder) == 0)
		return;
	inform("stacks are unwound out of the rings: %s", err_sentence());
	err_clear();
	drain_stop(recorder->drain);
	recorder->drain = NULL;
}

static int record(struct recorder *recorder, struct watch *watch, const char *program)
{
	struct record_options *options = recorder->options;
	int err = prepare(recorder);

	if (!err && recorder->live && !options->overwrite)
		start_drain(recorder);
	if (!err)
		err = output_open(recorder);
	if (!err && !options->tail_synthesize)
		err = output_synthesize(recorder);
	if (err)
		return err;
	if (options->threads)
		err = start_readers(recorder);
	if (err)
		return err;
	watch_init(recorder, watch);
	// Events of a command switch on by themselves at its exec.
	if (!recorder->target.has_workload && !options->delays.n && !options->start_disabled)
		err = opened_enable(&recorder->opened) < 0 ? fail(EIO, "can't switch the events on")
							   : 0;
	if (!err && recorder->workload.pid) {
		err = workload_start(&recorder->workload, program);
		if (err)
			output_discard(recorder);
	}
	if (!err)
		err = watch_run(recorder, watch);
	auto_free char *sentence = xstrdup(err_sentence());
	int stopped = readers_stop(recorder->readers);
	recorder->readers = NULL;
	err = err ? fail_again(err, sentence) : stopped;
	if (!err)
		err = collect_lost(recorder);
	if (!err && options->tail_synthesize)
		err = output_synthesize(recorder);
	return err;
}

static bool samples_kernel(const struct recorder *recorder)
{
	vec_each(struct opened_event, event, &recorder->opened.events) {
		if (!event->spec->attr.exclude_kernel && !event->system_wide)
			return true;
	}
	return false;
}

static void tell_result(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;

	if (options->quiet)
		return;
	if (recorder->kernel_hidden && samples_kernel(recorder))
		warn("kernel addresses are hidden from this user: kernel symbols will be missing; sysctl "
		     "kernel.kptr_restrict=0, or run as root");
	collect_report(recorder);
	if (recorder->live)
		live_report(recorder->live);
	fprintf(stderr, "[ sonde record: Woken up %llu times to write data ]\n",
		(unsigned long long)recorder->wakeups);
	if (recorder->is_pipe || recorder->files.n)
		return;
	say("[ sonde record: Captured and wrote %.3f MB %s (%llu samples) ]",
	    (double)recorder->written_bytes / 1048576, recorder->path,
	    (unsigned long long)recorder->samples);
}

// While the files are open that can't be reached by their names any more.
static int archive(const struct recorder *recorder)
{
	struct archive_request request = {.input = recorder->path, .held = recorder->held};
	int err = 0;

	vec_each(char *, file, &recorder->files) {
		request.input = *file;
		err = err < 0 ? err : archive_recording(&request);
	}
	return recorder->files.n ? err : archive_recording(&request);
}

static void done(struct recorder *recorder)
{
	drain_stop(recorder->drain);
	live_free(recorder->live);
	affinity_free(recorder->affinity);
	opened_done(&recorder->opened);
	opened_done(&recorder->trigger);
	opened_done(&recorder->early);
	event_dynamic_done(&recorder->dynamic);
	event_specs_done(&recorder->options->rotate.specs);
	target_done(&recorder->target);
	event_specs_done(&recorder->options->specs);
	held_free(recorder->held);
	intern_done(&recorder->dsos);
	intern_done(&recorder->modules);
	vec_each(char *, file, &recorder->files)
		free(*file);
	vec_done(&recorder->files);
	vec_done(&recorder->options->delays);
	free(recorder->plans);
	map_done(&recorder->events_by_id);
	free(recorder->losses);
	free(recorder->straddle);
	free(recorder->path);
	free(recorder->options->cgroups.v);
}

// Threads that only copy unwind nothing.
static void keep_stacks(struct record_options *options)
{
	enum { COPIED_BYTES = 8192 }; // as perf does it

	if (options->call_graph == CALL_GRAPH_AUTO)
		options->call_graph = CALL_GRAPH_FP;
	options->raw_stacks = options->call_graph == CALL_GRAPH_DWARF;
	vec_each(const struct event_spec, spec, &options->specs.events)
		options->raw_stacks |= spec->call_graph == EVENT_CALL_GRAPH_DWARF;
	options->address |= options->raw_stacks;
	if (options->raw_stacks && !options->stack_bytes)
		options->stack_bytes = COPIED_BYTES;
}

// As perf does when it is told nothing else.
static void choose_whole_system(struct record_options *options)
{
	struct target_options *target = &options->target;

	if (target->all_cpus || target->cpus || target->pids || target->tids || target->users ||
	    options->dry_run)
		return;
	target->all_cpus = true;
	if (!options->quiet)
		warn("no command and no -p: the whole system is recorded, until Ctrl-C");
}

static int check_options(const struct record_options *options)
{
	if (options->count && (options->frequency || options->frequency_max))
		return fail(COMMAND_USAGE,
			    "-c and -F exclude each other: a sample every N events, or so many a second");
	if (options->all_user && options->all_kernel)
		return fail(COMMAND_USAGE, "--all-user and --all-kernel exclude each other");
	if (options->kcore &&
	    (output_is_pipe(options->output) || options->rotate.on || options->timestamp_filename))
		return fail(COMMAND_USAGE,
			    "--kcore makes one folder: it doesn't go with a pipe, --switch-output or --timestamp-filename");
	if (output_is_fifo(options->output) &&
	    (options->kcore || options->rotate.on || options->timestamp_filename))
		return fail(COMMAND_USAGE,
			    "%s is a FIFO: --kcore, --switch-output and --timestamp-filename need files",
			    options->output);
	if (options->archive && (output_is_pipe(options->output) || output_is_fifo(options->output)))
		return fail(COMMAND_USAGE, "--archive lies beside a file: it doesn't go with a pipe");
	if (options->threads && (output_is_pipe(options->output) || output_is_fifo(options->output)))
		return fail(COMMAND_USAGE,
			    "--threads makes a folder of files: it doesn't go with a pipe");
	if (options->threads && (options->rotate.on || options->timestamp_filename ||
				 options->overwrite || options->zstd_level))
		return fail(COMMAND_USAGE,
			    "--threads doesn't go with --switch-output, --timestamp-filename, --overwrite or -z");
	if (options->cgroups.n && !options->target.all_cpus && !options->target.cpus)
		return fail(COMMAND_USAGE, "-G watches cgroups on CPUs: add -a");
	return 0;
}

extern const struct command command_record;

static int run_record(int argc, char **argv)
{
	struct record_options options = {.timestamp = true,
					 .synth = {.task = true, .mmap = true, .cgroup = true},
					 .control = {.fd = -1, .ack_fd = -1}};
	struct recorder recorder = {.options = &options, .fd = -1, .first_ns = UINT64_MAX};
	struct watch watch = {.signal_fd = -1};
	auto_free const char **line = xcalloc((size_t)argc + 1, sizeof(*line));
	int words, err, code = 0;

	for (int i = 0; i < argc; i++)
		line[i] = argv[i];
	options.command_line = line;
	words = command_parse(&command_record, &options, argc, argv, OPT_STOP_AT_WORD);
	if (words < 0)
		return words;
	log_set_level(options.quiet ? LOG_QUIET : options.verbose);
	err = check_options(&options);
	if (!err && !words)
		choose_whole_system(&options);
	if (!err)
		err = default_event(&options);
	if (err || options.dry_run) {
		event_specs_done(&options.specs);
		event_specs_done(&options.rotate.specs);
		return err;
	}
	if (options.threads)
		keep_stacks(&options);
	recorder.affinity = affinity_new(options.threads ? AFFINITY_ANY : options.affinity, "");
	if (options.realtime_given) {
		struct sched_param param = {.sched_priority = (int)options.realtime};

		if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
			return fail(errno,
				    "can't run with realtime priority %u: %s; run as root, or: setcap "
				    "cap_sys_nice+ep on this program",
				    options.realtime, strerror(errno));
	}
	intern_init(&recorder.dsos);
	intern_init(&recorder.modules);
	recorder.held = held_new();
	recorder.held->keeps_facts = true;
	recorder.straddle = xmalloc(1 << 16);
	watch.control = options.control;
	watch.signal_fd = err = signals_open(SIGUSR2);
	if (err >= 0 && words > 0)
		err = prepare_workload(&recorder, argv + 1);
	if (err >= 0) {
		options.target.workload = recorder.workload.pid;
		err = target_init(&recorder.target, &options.target);
	}
	if (err >= 0)
		err = record(&recorder, &watch, words > 0 ? argv[1] : NULL);
	// Whatever happened, what is there is made a file that can be read.
	bool wrote = recorder.writer != NULL;
	if (wrote) {
		auto_free char *sentence = xstrdup(err_sentence());
		int closed = output_finish(&recorder);

		err = err ? fail_again(err, sentence) : closed;
	}
	workload_done(&recorder.workload, true);
	code = watch.exit_signal ? 128 + watch.exit_signal : workload_exit_code(&recorder.workload);
	if (watch.exit_signal == SIGINT || watch.exit_signal == SIGTERM)
		code = workload_exit_code(&recorder.workload);
	if (wrote && !err)
		tell_result(&recorder);
	if (wrote && !err && options.archive)
		err = archive(&recorder);
	free(watch.fds);
	if (watch.signal_fd >= 0)
		close(watch.signal_fd);
	done(&recorder);
	return err < 0 ? err : code;
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
