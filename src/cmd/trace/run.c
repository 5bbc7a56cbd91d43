// SPDX-License-Identifier: GPL-2.0-or-later
// A run of trace: which events it takes, and what becomes of their hits.
#include "base/err.h"
#include "base/log.h"
#include "cmd/trace/files.h"
#include "cmd/trace/trace.h"
#include <stdio.h>
#include <sys/stat.h>

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

bool trace_runs_32bit(void)
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
	trace->has_32bit = trace->abi == SYSCALLS_X86_64 && (path || trace_runs_32bit());
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
		{"page-faults", 0, ROLE_FAULT_MINOR}, // of a recording: both, which perf calls minor
		{"faults", 0, ROLE_FAULT_MINOR},
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

int trace_run(const struct trace_options *options, struct feed_options *feed_options)
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
