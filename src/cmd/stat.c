// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "cmd/stat/stat.h"
#include "sys/capture.h"
#include "sys/signals.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <sys/wait.h>

#define AT(field) offsetof(struct stat_options, field)

static int opt_event(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct stat_options *options = at;
	const struct event_context context = {0};

	return event_parse(&options->specs, arg, &context);
}

static int opt_filter(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct stat_options *options = at;

	return event_filter(&options->specs, arg);
}

static int opt_control(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct stat_options *options = at;

	return control_open(&options->control, arg);
}

static int opt_absent(void *at, const struct opt *opt, const char *arg, bool negated)
{
	return fail(EOPNOTSUPP, "--%s is not there: %s", opt->name, opt->help);
}

#define HOW_TO_ADD_UP                                                                              \
	HEADING("How to add up"), FLAG('A', "no-aggr", no_aggr, "each CPU by itself"),             \
		FLAG(0, "per-thread", per_thread,                                                  \
		     "each thread by itself; with -a those that live at the beginning"),           \
		FLAG(0, "per-core", per_core, "a count for each core"),                            \
		FLAG(0, "per-die", per_die, "a count for each die"),                               \
		FLAG(0, "per-socket", per_socket, "a count for each socket"),                      \
		FLAG(0, "per-node", per_node, "a count for each memory node")
#define HOW_TO_WRITE                                                                               \
	TEXT('x', "field-separator", separator, "SEPARATOR", "CSV with this between the fields"),  \
		FLAG('j', "json-output", json, "a JSON object a line"),                            \
		TEXT('o', "output", output, "FILE", "write there instead of standard error"),      \
		FLAG(0, "append", append, "append to that file")

static const struct opt report_table[] = {
	HEADING("Input"),
	TEXT('i', "input", input, "FILE", "the recording (default: perf.data; - for a pipe)"),
	HOW_TO_ADD_UP,
	HEADING("Output"),
	HOW_TO_WRITE,
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "more messages"),
	OPT_END,
};

static const struct opt stat_table[] = {
	HEADING("Whom to count"),
	FLAG('a', "all-cpus", target.all_cpus, "everything on all CPUs"),
	TEXT('C', "cpu", target.cpus, "LIST", "only these CPUs, such as 0,2-3"),
	TEXT('p', "pid", target.pids, "LIST",
	     "processes that are there already, with their threads and what they start"),
	TEXT('t', "tid", target.tids, "LIST", "threads that are there already"),
	OPT(OPT_LIST, 'G', "cgroup", AT(cgroups), "NAMES",
	    "only tasks of these cgroups, one for each event in turn; needs -a"),
	TEXT(0, "for-each-cgroup", each_cgroup, "NAMES",
	     "all events for each of these cgroups; needs -a"),
	TEXT('b', "bpf-prog", bpf_programs, "LIST",
	     "only while these BPF programs run, by their numbers in 'bpftool prog'"),
	FLAG('i', "no-inherit", no_inherit, "not the children that the command starts"),

	HEADING("What to count"),
	CALL('e', "event", opt_event, "EVENT",
	     "what to count; 'sonde list' shows what there is; or a probe that is made for the run, as record takes it (uprobe:FUNC@\"FILE\", ...)"),
	CALL(0, "filter", opt_filter, "FILTER", "of the tracepoint before it: only where this holds"),
	OPT(OPT_LIST, 'M', "metrics", AT(metrics), "LIST",
	    "metrics or groups of them, such as IPC,branch_miss_rate; 'sonde list metric' shows what there is"),
	FLAG(0, "metric-no-group", metric_no_group, "of a metric's events each by itself"),
	FLAG(0, "metric-no-merge", metric_no_merge, "events of its own for each metric"),
	FLAG(0, "topdown", topdown, "where the pipeline's slots went (Intel)"),
	OPT(OPT_U32, 0, "td-level", AT(topdown_level), "N", "of --topdown: levels up to N (0: all)"),
	FLAG('T', "transaction", transaction, "transactional memory (Intel)"),
	FLAG(0, "smi-cost", smi_cost,
	     "system management interrupts and what they take (Intel; sets freeze_on_smi meanwhile)"),
	OPT(OPT_COUNT, 'd', "detailed", AT(detail), NULL,
	    "caches as well; -d -d: and TLBs; -d -d -d: and prefetches"),
	FLAG('g', "group", group, "all events in one group"),
	FLAG(0, "all-user", all_user, "all events in user space only"),
	FLAG(0, "all-kernel", all_kernel, "all events in the kernel only"),
	FLAG('n', "null", null_run, "no counters, only the times"),
	FLAG(0, "scale", scale, "scale up what was counted a part of the time (--no-scale: don't)"),

	HEADING("When"),
	OPT(OPT_U32, 'r', "repeat", AT(repeat), "N",
	    "run the command N times, show means and their spread; 0: for ever"),
	OPT(OPT_U32, 'I', "interval-print", AT(interval_ms), "MS", "print every MS milliseconds"),
	OPT(OPT_U32, 0, "interval-count", AT(interval_count), "N", "stop after N of them"),
	FLAG(0, "interval-clear", interval_clear, "clear the screen before each"),
	OPT(OPT_U32, 0, "timeout", AT(timeout_ms), "MS", "end the command after MS milliseconds",
	    .given = AT(timeout_given)),
	OPT(OPT_INT, 'D', "delay", AT(delay_ms), "MS",
	    "count only after MS milliseconds; -1: when --control says so"),
	CALL(0, "control", opt_control, "CHANNEL",
	     "take commands (enable, disable, stop, ping) from fd:N[,M] or fifo:PATH[,PATH]"),
	TEXT(0, "pre", pre, "COMMAND", "run this before each run"),
	TEXT(0, "post", post, "COMMAND", "run this after each run"),
	FLAG('S', "sync", sync, "sync(2) before each run"),

	HOW_TO_ADD_UP,

	HEADING("Output"),
	HOW_TO_WRITE,
	OPT(OPT_INT, 0, "log-fd", AT(log_fd), "N", "write to this descriptor", .given = AT(log_given)),
	OPT(OPT_FLAG, 0, "metric-only", AT(metric_only), NULL, "only what follows from the counts",
	    .given = AT(metric_only_given)),
	FLAG(0, "summary", summary, "with -I: the sums at the end"),
	FLAG(0, "no-csv-summary", no_csv_summary,
	     "with --summary and -x: no 'summary' before the sums"),
	FLAG(0, "table", table, "with -r: each run's time"),
	FLAG('B', "big-num", big_num,
	     "large counts in the groups of digits of LC_NUMERIC (the default)"),
	FLAG(0, "quiet", quiet, "print nothing"),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "more messages"),

	HEADING("Taken for perf's sake"),
	OPT(OPT_CALL, 0, "bpf-counters", 0, NULL,
	    "counters are not shared with others by BPF; without it the counts are the same",
	    .call = opt_absent, .hidden = true, .no_negation = true),
	FLAG(0, "no-merge", dummy, "events of the same name are never added up here"),
	FLAG(0, "hybrid-merge", dummy, "likewise"),
	FLAG(0, "percore-show-thread", dummy, "for events with percore"),
	TEXT(0, "cputype", ignored, "TYPE", "for hybrid processors"),
	OPT(OPT_CALL, 0, "iostat", 0, "DEFAULT", "it needs the uncore events of Intel servers",
	    .call = opt_absent, .absent = "", .hidden = true),
	OPT_END,
};

static const struct command_example stat_examples[] = {
	{"sonde stat -- gzip -9 FILE", "what a program costs: time, faults, cycles, misses",
	 "sonde stat -o out.txt -- gzip -9 -c \"$T/../LICENSE\" > out.gz && cat out.txt"},
	{"sonde stat -r 5 -- make", "means of five runs and how far they are apart",
	 "sonde stat -r 5 -- true 2>&1"},
	{"sonde stat -a -A -I 1000 -e context-switches,page-faults", "each CPU, every second",
	 "sonde stat -a -A -I 50 --interval-count 2 -e context-switches,page-faults 2>&1"},
	{"sonde stat -M IPC,branch_miss_rate -- CMD", "figures by name, and the events that they need",
	 "sonde stat -M IPC,branch_miss_rate -- true 2>&1"},
	{"sonde stat -x, -e cycles,instructions -- CMD", "for a script",
	 "sonde stat -x, -e task-clock,page-faults -- true 2>&1"},
	{"sonde stat record -o FILE -- CMD; sonde stat report -i FILE", "counts that are kept",
	 "sonde stat record -o a.data true 2> /dev/null && sonde stat report -i a.data 2>&1"},
	{NULL, NULL, NULL},
};

// How counts are added up and written.
static int check_output(struct stat_options *options)
{
	const struct {
		bool on;
		enum stat_by by;
	} chosen[] = {
		{options->no_aggr, STAT_BY_CPU},   {options->per_core, STAT_BY_CORE},
		{options->per_die, STAT_BY_DIE},   {options->per_socket, STAT_BY_SOCKET},
		{options->per_node, STAT_BY_NODE}, {options->per_thread, STAT_BY_THREAD},
	};

	for (size_t i = 0; i < ARRAY_SIZE(chosen); i++)
		options->by = chosen[i].on ? chosen[i].by : options->by;
	options->format = options->json ? STAT_JSON : options->separator ? STAT_CSV : STAT_TEXT;
	if (options->separator && !strcmp(options->separator, "\\t"))
		options->separator = "\t";
	return options->json && options->separator
		       ? fail(COMMAND_USAGE, "-j and -x exclude each other")
		       : 0;
}

static int check_options(struct stat_options *options, bool has_command)
{
	bool has_tasks = options->target.pids || options->target.tids;
	int err = check_output(options);

	if (err)
		return err;
	if (options->output && options->log_given)
		return fail(COMMAND_USAGE, "cannot use both --output and --log-fd");
	if (options->table && options->repeat <= 1)
		return fail(COMMAND_USAGE, "--table is only supported with -r");
	if (options->all_user && options->all_kernel)
		return fail(COMMAND_USAGE, "--all-user and --all-kernel exclude each other");
	if (options->timeout_given && options->timeout_ms < 10)
		return fail(COMMAND_USAGE, "timeout must be >= 10ms.");
	if (options->bpf_programs && (err = stat_bpf_check(options)) < 0)
		return err;
	if ((!has_command && !has_tasks && !options->target.cpus) || options->bpf_programs)
		options->target.all_cpus = true;
	bool whole_cpus = options->target.all_cpus || options->target.cpus;
	if ((options->cgroups.n || options->each_cgroup) && !whole_cpus)
		return fail(COMMAND_USAGE,
			    "both cgroup and no-aggregation modes only available in system-wide mode");
	if (options->by != STAT_BY_ALL && options->by != STAT_BY_THREAD && !whole_cpus)
		return fail(COMMAND_USAGE, "counts by CPU, core, die, socket or node need -a or -C");
	if (options->by == STAT_BY_THREAD && options->target.cpus)
		return fail(COMMAND_USAGE,
			    "--per-thread counts threads wherever they run: it doesn't go with -C");
	options->each_thread = options->by == STAT_BY_THREAD && whole_cpus && !has_tasks;
	if (options->each_thread && (options->cgroups.n || options->each_cgroup))
		return fail(COMMAND_USAGE,
			    "--per-thread of the whole system doesn't go with cgroups");
	if (options->cgroups.n && options->each_cgroup)
		return fail(COMMAND_USAGE, "-G and --for-each-cgroup exclude each other");
	if (options->repeat != 1 && options->keep)
		return fail(COMMAND_USAGE,
			    "-r does not go with stat record: a recording holds one run");
	if (options->repeat != 1 && (options->interval_ms || !has_command))
		return fail(COMMAND_USAGE, "-r repeats a command, and doesn't go with -I");
	return 0;
}

static void take_signals(struct counting *stat)
{
	struct signalfd_siginfo info;

	while (read(stat->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			stat->stop |= workload_ended(&stat->workload);
		} else {
			// A Ctrl-C at the terminal reached the command too, which may have things to finish.
			bool both = info.ssi_code == SI_KERNEL && stat->workload.pid && !stat->signal;

			stat->stop |= !both;
			stat->signal = (int)info.ssi_signo;
		}
	}
}

static void take_commands(struct counting *stat)
{
	enum control_command command;

	while ((command = control_read(&stat->control)) != CONTROL_NONE) {
		if (command == CONTROL_ENABLE)
			stat_switch(stat, true);
		else if (command == CONTROL_DISABLE)
			stat_switch(stat, false);
		else if (command == CONTROL_STOP)
			stat->stop = true;
		if (command != CONTROL_UNKNOWN)
			control_ack(&stat->control);
	}
}

// Until the workload or the watched end, a signal, the timeout.
static int wait_for_end(struct counting *stat)
{
	const struct stat_options *options = stat->options;
	struct pollfd fds[] = {{.fd = stat->signal_fd, .events = POLLIN},
			       {.fd = stat->control.fd, .events = POLLIN}};
	const uint64_t ms = 1000000, start = time_now_ns(CLOCK_MONOTONIC);
	uint64_t delayed =
		options->delay_ms > 0 ? start + (uint64_t)options->delay_ms * ms : UINT64_MAX;
	uint64_t end = options->timeout_given ? start + options->timeout_ms * ms : UINT64_MAX;
	uint64_t step = options->interval_ms ? options->interval_ms * ms : UINT64_MAX - start;
	uint64_t next = start + step;
	unsigned intervals = 0;

	while (!stat->stop) {
		uint64_t now = time_now_ns(CLOCK_MONOTONIC), until = MIN(MIN(delayed, end), next);

		if (stat->target.has_tasks && !stat->workload.pid)
			until = MIN(until, now + 100 * ms);
		if (until > now) {
			struct timespec sleep = {(time_t)((until - now) / 1000000000),
						 (long)((until - now) % 1000000000)};
			if (ppoll(fds, 2, until == UINT64_MAX ? NULL : &sleep, NULL) < 0 &&
			    errno != EINTR)
				return fail(errno, "can't wait for signals: %s", strerror(errno));
		}
		take_signals(stat);
		take_commands(stat);
		if (stat->target.has_tasks && !stat->workload.pid && !target_alive(&stat->target))
			stat->stop = true;
		now = time_now_ns(CLOCK_MONOTONIC);
		if (now >= delayed) {
			int err = stat_switch(stat, true);

			if (err)
				return err;
			delayed = UINT64_MAX;
			if (!options->quiet)
				fprintf(stderr, "Events enabled\n");
		}
		if (now >= end)
			stat->stop = stat->timed_out = true;
		if (now >= next && !stat->stop) {
			next += step;
			stat->elapsed_ns = now - stat->started_ns;
			stat_read(stat);
			int err = stat_file_round(stat, stat->elapsed_ns, false);

			if (err < 0)
				return err;
			if (!options->quiet)
				stat_print_interval(stat, now - stat->started_ns);
			stat_rows_clear(stat);
			if (options->interval_count && ++intervals >= options->interval_count) {
				// Like perf's: the command may go on to its end.
				next = UINT64_MAX;
				stat->intervals_done = true;
				stat->stop = !stat->workload.pid;
			}
		}
	}
	return 0;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static int run_counted(struct counting *stat)
{
	struct stat_options *options = stat->options;
	struct rusage before, after;
	int err = stat_open(stat);

	if (!err && options->keep)
		err = stat_file_open(stat);
	if (err >= 0 && stat->out.fd < 0)
		err = stat_output_open(stat);
	if (err < 0)
		return err;
	getrusage(RUSAGE_CHILDREN, &before);
	if (options->delay_ms && !options->quiet)
		fprintf(stderr, "Events disabled\n");
	stat->started_ns = time_now_ns(CLOCK_MONOTONIC);
	if (!options->delay_ms && !stat->target.has_workload)
		err = stat_switch(stat, true);
	if (!err && stat->workload.pid)
		err = workload_start(&stat->workload, stat->command[0]);
	if (!err)
		err = wait_for_end(stat);
	if (err)
		return err;
	stat->elapsed_ns = time_now_ns(CLOCK_MONOTONIC) - stat->started_ns;
	if (!stat->target.has_workload)
		stat_switch(stat, false);
	else if (!stat->workload.reaped)
		workload_done(&stat->workload, true);
	getrusage(RUSAGE_CHILDREN, &after);
	stat->user_ns = timeval_ns(after.ru_utime) - timeval_ns(before.ru_utime);
	stat->system_ns = timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime);
	stat_read(stat);
	return MIN(stat_file_round(stat, stat->elapsed_ns, true), 0);
}

static int run_helper(const char *command)
{
	int status = command ? shell_run(command) : 0;

	return status ? fail(ECHILD, "'%s' failed", command) : 0;
}

// One run of the command, or the whole of a watch.
static int run_once(struct counting *stat)
{
	struct stat_options *options = stat->options;
	int err = run_helper(options->pre);

	stat->stop = false;
	if (options->sync)
		sync();
	if (!err && stat->command[0])
		err = workload_prepare(&stat->workload, stat->command, false);
	if (!err) {
		struct target_options target = options->target;

		target.workload = stat->workload.pid;
		target.each_thread = options->each_thread;
		target.all_cpus &= !options->each_thread;
		target.per_thread = !target.all_cpus && !target.cpus;
		target_done(&stat->target);
		err = target_init(&stat->target, &target);
	}
	if (!err) {
		stat_rows_make(stat, NULL);
		err = run_counted(stat);
	}
	stat_close(stat);
	int closed = stat_file_close(stat);
	err = err ? err : MIN(closed, 0);
	if (!err)
		err = run_helper(options->post);
	workload_done(&stat->workload, true);
	return err;
}

static void run_added(struct counting *stat)
{
	spread_add(&stat->elapsed, (double)stat->elapsed_ns);
	spread_add(&stat->user, (double)stat->user_ns);
	spread_add(&stat->system, (double)stat->system_ns);
	vec_push(&stat->run_ns, stat->elapsed_ns);
	stat->runs++;
}

static void forget_runs(struct counting *stat)
{
	stat_rows_clear(stat);
	stat->elapsed = stat->user = stat->system = (struct spread){0};
	vec_each(struct stat_counter, counter, &stat->counters)
		counter->spread = (struct spread){0};
	vec_clear(&stat->run_ns);
	stat->runs = 0;
}

static int count(struct counting *stat)
{
	const struct stat_options *options = stat->options;
	unsigned runs = options->repeat ? options->repeat : UINT32_MAX;
	int err = 0;

	for (unsigned i = 0; i < runs && !err && !stat->signal; i++) {
		err = run_once(stat);
		if (err)
			break;
		if (options->interval_ms) {
			// With --interval-count the last one was printed just now.
			if (!stat->intervals_done && !options->quiet)
				stat_print_interval(stat, stat->elapsed_ns);
			stat_rows_total(stat);
		}
		run_added(stat);
		if (!options->repeat && !options->quiet) {
			stat_print(stat);
			forget_runs(stat);
		}
	}
	if (!err && !options->quiet && options->repeat && (!options->interval_ms || options->summary))
		stat_print(stat);
	return err;
}

int stat_output_open(struct counting *stat)
{
	const struct stat_options *options = stat->options;
	// Intervals are read while they are written.
	bool at_once = options->append || options->interval_ms;
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (options->append ? O_APPEND : O_TRUNC);
	time_t now = time(NULL);
	int fd = options->log_given ? options->log_fd : 2;

	if (options->output && !options->keep && !at_once) {
		int err = out_open(&stat->out, options->output);
		if (err < 0)
			return err;
	} else if (options->output && !options->keep) {
		fd = open(options->output, flags, 0666);
		if (fd < 0)
			return fail(errno, "can't write %s: %s", options->output, strerror(errno));
	} else if (fcntl(fd, F_GETFD) < 0) {
		return fail(errno, "--log-fd %d: there is no such descriptor", fd);
	}
	if (stat->out.fd < 0)
		out_init_fd(&stat->out, fd);
	if (options->output && !options->keep) {
		struct tm local;
		char when[64];

		localtime_r(&now, &local);
		strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &local);
		out_printf(&stat->out, "# started on %s\n\n", when);
	}
	return 0;
}

static void done(struct counting *stat)
{
	vec_each(struct stat_counter, counter, &stat->counters) {
		int fd = counter->cgroup_fd;

		// One group may be that of several counters.
		vec_each(struct stat_counter, other, &stat->counters) {
			if (fd >= 0 && other->cgroup_fd == fd)
				other->cgroup_fd = -1;
		}
		if (fd >= 0)
			close(fd);
		free(counter->fds);
		free(counter->before);
		free(counter->now);
		free(counter->rows);
		free(counter->totals);
		free(counter->row_cells);
	}
	vec_done(&stat->counters);
	vec_done(&stat->rows);
	vec_done(&stat->run_ns);
	free(stat->row_of);
	target_done(&stat->target);
	stat_named_done(stat);
	stat_preset_done(stat);
	event_dynamic_done(&stat->dynamic);
	event_specs_done(&stat->options->specs);
	free(stat->options->cgroups.v);
	free(stat->options->metrics.v);
	if (stat->signal_fd >= 0)
		close(stat->signal_fd);
}

static const struct command command_stat_report = {
	.name = "stat report",
	.summary = "Print the counts of a recording that stat record made",
	.usage = "sonde stat report [options] [-i FILE]",
	.description =
		"Prints the counts of a recording as stat printed them, or added up in another way.",
	.opts = report_table,
	.opts_size = sizeof(struct stat_options),
	.family = COMMAND_PERF,
};

static int report(struct counting *stat, int argc, char **argv)
{
	struct stat_options *options = stat->options;
	int words = command_parse(&command_stat_report, options, argv, 0), err;

	if (words < 0)
		return words;
	log_set_level(options->verbose);
	if (words)
		return fail(COMMAND_USAGE, "stat report takes its recording with -i, not as '%s'",
			    argv[1]);
	if (!options->input)
		options->input = default_input(false);
	err = check_output(options);
	if (!err && options->output)
		err = output_check_input(options->output, options->input);
	if (err)
		return err;
	err = stat_report(stat);
	return out_end(&stat->out, options->output ? options->output : "the output", err);
}

// The counting itself, and the command's exit code.
static int run_counts(struct counting *stat, int words)
{
	struct stat_options *options = stat->options;
	int err = check_options(options, words > 0);

	if (!err)
		err = stat_choose(stat);
	if (!err) {
		stat->control = options->control;
		stat->signal_fd = err = signals_open(0);
	}
	if (err >= 0)
		err = event_dynamic_make(&stat->dynamic, &options->specs);
	if (err >= 0) {
		bool has_file = options->output && !options->keep;

		err = count(stat);
		err = out_end(&stat->out, has_file ? options->output : "the output", err);
	}
	if (!stat->timed_out && !stat->signal && stat->workload.reaped &&
	    WIFSIGNALED(stat->workload.status))
		warn("%s: %s", stat->command[0], strsignal(WTERMSIG(stat->workload.status)));
	return err < 0		 ? err
	       : stat->signal	 ? 128 + stat->signal
	       : stat->timed_out ? 0
				 : workload_exit_code(&stat->workload);
}

extern const struct command command_stat;

static int run_stat(int argc, char **argv)
{
	struct stat_options options = {.repeat = 1,
				       .scale = true,
				       .big_num = true,
				       .control = {.fd = -1, .ack_fd = -1}};
	struct counting stat = {.options = &options, .signal_fd = -1, .out = {.fd = -1}};
	// Before the words are sorted.
	auto_free char **line = xcalloc((size_t)argc + 1, sizeof(*line));
	int words, err;

	memcpy(line, argv, (size_t)argc * sizeof(*argv));
	options.command_line = (const char *const *)line;
	words = command_parse(&command_stat, &options, argv, OPT_STOP_AT_WORD);
	if (words > 0 && !strcmp(argv[1], "report")) {
		err = report(&stat, words, argv + 1);
	} else {
		if (words > 0 && !strcmp(argv[1], "record")) {
			options.keep = true;
			argv++;
			words = command_parse(&command_stat, &options, argv, OPT_STOP_AT_WORD);
		}
		err = words;
		if (words >= 0) {
			stat.command = argv + 1;
			stat.command[words] = NULL;
			log_set_level(options.quiet ? LOG_QUIET : options.verbose);
			err = run_counts(&stat, words);
		}
	}
	done(&stat);
	return err;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "Count events while a program runs or the system works",
	.usage = "sonde stat [options] [--] COMMAND [ARGS]\nsonde stat [options] -p PID | -t TID | -a | -C LIST\n"
		 "sonde stat [options] record [-o FILE] COMMAND [ARGS]\nsonde stat report [-i FILE]",
	.description =
		"Counts events, without samples and so nearly without cost, and prints what was counted with what follows from it: "
		"CPUs used, instructions per cycle, misses per access. Without -e it counts what says most about a program. Events that "
		"this machine lacks are '<not supported>', those that never ran '<not counted>'; where counters took turns, counts are "
		"scaled up and the share of the time is shown.\n\n"
		"The counts go to standard error, or to -o FILE. The exit status is the command's. At Ctrl-C what was counted so far "
		"is printed.",
	.opts = stat_table,
	.opts_size = sizeof(struct stat_options),
	.examples = stat_examples,
	.family = COMMAND_PERF,
	.run = run_stat,
};
