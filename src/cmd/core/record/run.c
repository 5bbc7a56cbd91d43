// SPDX-License-Identifier: GPL-2.0-or-later
// A recording from its beginning to its end.
//
// event_parse turns -e into struct event_spec; cmd/core/record/config.c decides what a sample holds; opened_open opens each
// event on each CPU and thread, leaving out what an older kernel refuses (sys/perf.c: one table, newest feature first, by
// trying). opened_map makes one ring a CPU that all events share. The main loop of cmd/core/record/watch.c sleeps in poll; collect_rings
// walks the headers once (to count samples and losses, and to note which files were mapped), hands the bytes as they lie to
// writer_records, and releases them. With --threads (cmd/core/record/readers.c) threads that share nothing copy the bytes of
// their rings to files of a folder, one a ring, which needs no rounds as each is in order of time; what collect would have
// noted is looked up in the files once at the end.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "cmd/core/archiver.h"
#include "cmd/core/command.h"
#include "cmd/core/output.h"
#include "cmd/core/record/drain.h"
#include "cmd/core/record/unwinding.h"
#include "cmd/core/record/readers.h"
#include "cmd/core/record/watch.h"
#include "sys/signals.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>

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

	collect_report(recorder); // what was lost is told whoever wants no messages
	if (options->quiet)
		return;
	if (recorder->kernel_hidden && samples_kernel(recorder))
		warn("kernel addresses are hidden from this user: kernel symbols will be missing; sysctl "
		     "kernel.kptr_restrict=0, or run as root");
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
	moved_texts_done(&recorder->moved);
	out_done(&recorder->behind);
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
static bool choose_whole_system(struct record_options *options)
{
	struct target_options *target = &options->target;

	if (target->all_cpus || target->cpus || target->pids || target->tids || target->users ||
	    options->dry_run)
		return false;
	target->all_cpus = true;
	return true;
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
		return fail(COMMAND_USAGE, "-G watches cgroups on CPUs, not a command: add -a");
	return 0;
}

void record_options_init(struct record_options *options)
{
	*options = (struct record_options){.timestamp = true,
					   .synth = {.task = true, .mmap = true, .cgroup = true},
					   .control = {.fd = -1, .ack_fd = -1}};
}

static int set_priority(const struct record_options *options)
{
	struct sched_param param = {.sched_priority = (int)options->realtime};

	if (!options->realtime_given || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	return fail(errno,
		    "can't run with realtime priority %u: %s; run as root, or: setcap cap_sys_nice+ep on this program",
		    options->realtime, strerror(errno));
}

static void init(struct recorder *recorder, struct record_options *options)
{
	*recorder = (struct recorder){.options = options, .fd = -1, .first_ns = UINT64_MAX};
	if (options->threads)
		keep_stacks(options);
	recorder->affinity = affinity_new(options->threads ? AFFINITY_ANY : options->affinity, "");
	intern_init(&recorder->dsos);
	intern_init(&recorder->modules);
	recorder->held = held_new();
	recorder->held->keeps_facts = true;
	recorder->held->keeps_open = options->archive || options->overwrite;
	recorder->straddle = xmalloc(1 << 16);
	out_init_memory(&recorder->behind);
}

static int start(struct recorder *recorder, struct watch *watch, char **command)
{
	struct record_options *options = recorder->options;
	int err = set_priority(options);

	if (err)
		return err;
	watch->control = options->control;
	watch->signal_fd = err = signals_open(SIGUSR2);
	if (err >= 0 && command)
		err = prepare_workload(recorder, command);
	options->target.workload = recorder->workload.pid;
	if (err >= 0)
		err = target_init(&recorder->target, &options->target);
	return err < 0 ? err : record(recorder, watch, command ? command[0] : NULL);
}

int record_run(struct record_options *options, char **command)
{
	struct watch watch = {.signal_fd = -1};
	struct recorder recorder;
	bool is_chosen;
	int err, code;

	log_set_level(options->quiet ? LOG_QUIET : options->verbose);
	is_chosen = !command && choose_whole_system(options);
	err = check_options(options);
	if (!err && is_chosen && !options->quiet)
		warn("no command and no -p: the whole system is recorded%s, until Ctrl-C",
		     options->cgroups.n ? ", as far as it is in these cgroups" : "");
	if (!err)
		err = default_event(options);
	if (err || options->dry_run) {
		event_specs_done(&options->specs);
		event_specs_done(&options->rotate.specs);
		return err;
	}
	init(&recorder, options);
	err = start(&recorder, &watch, command);
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
	if (wrote && !err && options->archive)
		err = archive(&recorder);
	free(watch.fds);
	if (watch.signal_fd >= 0)
		close(watch.signal_fd);
	done(&recorder);
	return err < 0 ? err : code;
}
