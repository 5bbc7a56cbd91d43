// SPDX-License-Identifier: GPL-2.0-or-later
// A recording that --to made names the tasks that were watched (THREAD_MAP, as perf writes it) and, by the bit inherit of its
// events, whether what they started counts; --from then watches the same tasks and uses the same keys, so the result is the
// same. Other profilers may be events of multi-trace, trace and rundelay (prof/core/sources): theirs are opened for all CPUs
// beside events of tasks alone, as a wake-up happens in the context of who wakes. The kernel ends the events of a CPU that goes
// offline and does not begin them again: once a second input/core/live_cpus looks who is there, gives what lies in the rings,
// and opens that CPU's anew.
#include "prof/core/run.h"
#include "base/err.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/time.h"
#include "prof/core/cgroups.h"
#include "prof/core/flame.h"
#include "prof/core/given.h"
#include "prof/core/heat.h"
#include "prof/core/counted.h"
#include "prof/core/pairing.h"
#include "prof/core/print.h"
#include "prof/core/push.h"
#include "prof/core/sources.h"
#include "prof/core/tasks.h"
#include "prof/core/typed.h"
#include "sys/syscalls.h"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

// When what is due.
struct prof_pace {
	uint64_t next_interval_ns, next_usage_ns;
	double last_cpu_s;
	uint64_t last_usage_ns;
	bool dirty; // something came since the last result, or there was none yet
};

// ---- options

int prof_opt_duration(void *options, const struct opt *opt, const char *arg, bool negated)
{
	uint64_t *to = (uint64_t *)(void *)((char *)options + opt->offset);

	if (num_parse_duration(str_of(arg), 1, to))
		return fail(EINVAL,
			    "--%s %s: that is no time; write 100us, 10ms or 1s (ns without a unit)",
			    opt->name, arg);
	return 0;
}

int prof_opt_mmap(void *options, const struct opt *opt, const char *arg, bool negated)
{
	uint64_t *to = (uint64_t *)(void *)((char *)options + opt->offset), pages, bytes = 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (num_parse_u64(str_of(arg), &pages)) {
		if (num_parse_size(str_of(arg), &bytes))
			return fail(EINVAL,
				    "-m %s: that is no number of pages and no size such as 4M", arg);
		pages = bytes / page;
	}
	if (!pages || pages & (pages - 1) || pages > 1 << 20)
		return fail(EINVAL, "-m %s: a ring has a power of two of pages, such as 64 or 4096",
			    arg);
	*to = pages;
	return 0;
}

int prof_opt_inherit(void *options_, const struct opt *opt, const char *arg, bool negated)
{
	struct prof_options *options = options_;

	options->inherit = !negated;
	options->inherit_given = true;
	return 0;
}

int prof_opt_signed(void *options, const struct opt *opt, const char *arg, bool negated)
{
	int64_t *to = (int64_t *)(void *)((char *)options + opt->offset);

	if (num_parse_i64(str_of(arg), to))
		return fail(EINVAL, "--%s %s: that is no number", opt->name, arg);
	((struct prof_options *)options)->has_clock_offset = true;
	return 0;
}

struct feed_options prof_feed_options(const struct profiler *profiler,
				      const struct prof_options *options)
{
	struct feed_options feed = {
		.target = options->target,
		.cgroups = options->cgroups,
		.from = options->from,
		.to = options->to,
		.mmap_pages = options->mmap_pages,
		.watermark_percent = (unsigned)options->watermark,
		// A task's events lie in the rings of the CPUs where it ran.
		.ordered = options->order || profiler->ordered || options->target.pids ||
			   options->target.tids,
		.inherit = options->inherit_given ? options->inherit : !options->target.tids,
		.clock_offset_ns = options->clock_offset,
		.tsc = options->tsc,
		.monotonic = options->monotonic,
		.no_user = options->exclude_user,
		.no_kernel = options->exclude_kernel,
		.no_guest = options->exclude_guest,
		.no_host = options->exclude_host,
		.no_user_chain = options->user_chain_given && !options->user_chain,
		.no_kernel_chain = options->kernel_chain_given && !options->kernel_chain,
		.needs_tasks = profiler->tasks || options->verbose > 1,
		.needs_maps = options->call_graph,
	};
	return feed;
}

const struct profiler *prof_find(const char *name)
{
	for (size_t i = 0; profilers[i]; i++) {
		if (!strcmp(profilers[i]->name, name))
			return profilers[i];
	}
	return NULL;
}

// ---- hooks

// Nothing but its profiler takes an event: then nothing else needs asking for each sample.
static void learn_plain(struct prof *prof)
{
	const bool plain = !prof->cgroups && prof->options->verbose <= 1 && !prof->options->exit_n;

	vec_each(struct prof_event *, event, &prof->events)
		(*event)->plain = plain && !(*event)->tasks && !(*event)->limit &&
				  !(*event)->push && !(*event)->feed->foreign;
}

static int on_begin(void *arg)
{
	struct prof *prof = arg;
	const char *path = prof->options->output;
	int err = prof_push_begin(prof);

	learn_plain(prof);
	if (!err && path)
		err = out_open_late(prof->tables, path);
	return err || !prof->profiler->begin ? err : prof->profiler->begin(prof);
}

static int prof_sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	if (prof->profiler->sample)
		return prof->profiler->sample(prof, event, sample);
	if (prof->tally) {
		struct tally_hit hit = {0};

		tally_hit(prof->tally, event->index, sample, &hit);
	}
	return 0;
}

static __attribute__((noinline)) int choosy_sample(struct prof *prof, struct prof_event *event,
						   const struct sample *sample)
{
	const uint64_t limit = prof->options->exit_n;
	int err;

	if (prof->cgroups &&
	    (prof_cgroups_take(prof, event, sample) || !prof_cgroups_wants(prof, event, sample)))
		return 0;
	if (event->tasks && !prof_source_wants(prof, event, sample))
		return 0;
	if (event->limit && event->taken_n++ >= event->limit)
		return 0;
	prof->sampled_n++;
	prof->foreign = event->feed->foreign;
	prof->pace->dirty = true;
	if (prof->options->verbose > 1) {
		prof_put_time(prof, sample->time);
		out_char(prof->out, ' ');
		prof_put_event(prof, event, sample);
	}
	if (event->push)
		err = prof_push_sample(prof, event, sample);
	else
		err = prof_sample(prof, event, sample);
	prof->foreign = NULL;
	if (!err && limit && prof->sampled_n >= limit)
		err = 1;
	return err;
}

static int on_sample(void *arg, struct feed_event *feed, const struct sample *sample)
{
	struct prof *prof = arg;
	struct prof_event *event = feed->user;

	int err;

	if (event->plain) {
		prof->sampled_n++;
		prof->pace->dirty = true;
		err = prof_sample(prof, event, sample);
	} else {
		err = choosy_sample(prof, event, sample);
	}
	if (err > 0)
		prof->feed->stop = true;
	return err;
}

static int on_record(void *arg, const struct perf_event_header *header, const struct sample *ids)
{
	struct prof *prof = arg;

	prof_cgroups_record(prof, header);
	for (size_t i = 0; i < prof->source_tasks.n; i++)
		prof_tasks_record(prof->source_tasks.v[i], prof, header);
	return prof->profiler->record ? prof->profiler->record(prof, header, ids) : 0;
}

static int on_count(void *arg, struct feed_event *feed, uint32_t instance, uint64_t delta)
{
	struct prof *prof = arg;

	prof->pace->dirty = true;
	return prof->profiler->count ? prof->profiler->count(prof, feed->user, instance, delta) : 0;
}

// "Lost 1804 events on CPU #24 (5696605.869896, 5696605.898613)": beside the results that lack them.
static int on_lost(void *arg, const struct run_loss *loss)
{
	struct prof *prof = arg;
	char cpu[32] = "", from[32] = "", to[32] = "";
	struct out line;

	prof->lost_interval += loss->lost;
	prof->lost_all += loss->lost;
	if (prof->profiler->lost)
		prof->profiler->lost(prof, loss);
	prof_push_lost(prof, loss);
	if (prof->options->quiet)
		return 0;
	if (loss->cpu != UINT32_MAX)
		snprintf(cpu, sizeof(cpu), " on CPU #%u", loss->cpu);
	if (loss->from_ns)
		snprintf(from, sizeof(from), "%.6f", (double)loss->from_ns / 1e9);
	if (loss->to_ns != UINT64_MAX)
		snprintf(to, sizeof(to), "%.6f", (double)loss->to_ns / 1e9);
	out_init_memory(&line);
	out_printf(&line, "%s: Lost %llu events%s", prof->profiler->name,
		   (unsigned long long)loss->lost, cpu);
	if (*from || *to)
		out_printf(&line, " (%s, %s)", *from ? from : "start", *to ? to : "end");
	out_char(&line, 0);
	if (!prof->print->format) {
		prof_put_time(prof, loss->to_ns != UINT64_MAX ? loss->to_ns : prof->feed->last_ns);
		out_printf(prof->out, " %s\n", line.buf);
	} else {
		warn("%s", line.buf);
	}
	out_done(&line);
	return 0;
}

struct usage {
	double user_s, system_s;
	long rss_kb;
};

static struct usage usage_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct usage){
		.user_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6,
		.system_s = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6,
		.rss_kb = usage.ru_maxrss,
	};
}

static void show_usage(struct prof *prof)
{
	struct prof_pace *pace = prof->pace;
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);
	struct usage usage = usage_now();
	double cpu = usage.user_s + usage.system_s,
	       seconds = (double)(now - pace->last_usage_ns) / 1e9;

	if (seconds > 0)
		fprintf(stderr,
			"sonde prof %s: CPU %.1f%% (so far %.3f s in user space, %.3f s in the kernel), memory %ld KB at most, "
			"%llu events, %llu lost, %llu wake-ups\n",
			prof->profiler->name, (cpu - pace->last_cpu_s) / seconds * 100, usage.user_s,
			usage.system_s, usage.rss_kb, (unsigned long long)prof->feed->stats.samples,
			(unsigned long long)prof->feed->stats.lost,
			(unsigned long long)prof->feed->stats.wakeups);
	pace->last_usage_ns = now;
	pace->last_cpu_s = cpu;
}

static int flush(struct prof *prof)
{
	int err = out_flush(prof->tables);

	if (prof->out != prof->tables)
		out_flush(prof->out);
	return err;
}

static int on_tick(void *arg, uint64_t now_ns)
{
	struct prof *prof = arg;
	struct prof_pace *pace = prof->pace;
	uint64_t slack = prof->feed->tick_ns / 2;
	int err = 0;

	if (prof->period_ns && prof->profiler->period)
		err = prof->profiler->period(prof, now_ns);
	if (!pace->next_interval_ns)
		pace->next_interval_ns = now_ns + prof->interval_ns - prof->feed->tick_ns;
	if (!err && prof->interval_ns && now_ns + slack >= pace->next_interval_ns) {
		pace->next_interval_ns += prof->interval_ns;
		if (pace->next_interval_ns <= now_ns)
			pace->next_interval_ns = now_ns + prof->interval_ns;
		if (prof->flame)
			prof_flame_interval(prof, now_ns);
		prof_put_backward(prof, now_ns);
		if (prof->profiler->interval)
			err = prof->profiler->interval(prof, now_ns);
		prof_put_no_place(prof, now_ns);
		prof->lost_interval = 0;
		pace->dirty = false;
	}
	if (prof->options->usage_self_ms && prof->feed->is_live &&
	    time_now_ns(CLOCK_MONOTONIC) >= pace->next_usage_ns) {
		show_usage(prof);
		pace->next_usage_ns =
			time_now_ns(CLOCK_MONOTONIC) + prof->options->usage_self_ms * 1000000;
	}
	return err ? err : flush(prof);
}

// By the clock of the events.
static uint64_t now_of(const struct feed *feed)
{
	return feed->is_live ? time_now_ns(CLOCK_MONOTONIC) + (uint64_t)feed->ahead_ns
			     : feed->last_ns;
}

// SIGUSR1: the result so far, as at the end of an interval, in the file that has the name of -o now; SIGUSR2: what sonde used.
static int on_asked(void *arg, int signal)
{
	struct prof *prof = arg;
	uint64_t now = now_of(prof->feed);
	bool is_empty = false;
	int err = 0;

	if (signal != SIGUSR1) {
		show_usage(prof);
		return 0;
	}
	if (prof->options->output)
		err = out_reopen(prof->tables, prof->options->output, &is_empty);
	if (is_empty)
		prof->print->titles_shown = false;
	if (!err && prof->profiler->interval) {
		err = prof->profiler->interval(prof, now);
		prof->pace->dirty = false;
	}
	return err ? err : flush(prof);
}

static int on_typed(void *arg)
{
	return prof_typed_read(arg);
}

static int on_settled(void *arg, uint64_t time_ns)
{
	return prof_push_settled(arg, time_ns);
}

static const struct feed_hooks hooks = {.begin = on_begin,
					.settled = on_settled,
					.sample = on_sample,
					.asked = on_asked,
					.typed = on_typed,
					.record = on_record,
					.lost = on_lost,
					.count = on_count,
					.tick = on_tick};

// ---- what expressions ask for

static const char *ksymbol(void *arg, uint64_t addr)
{
	struct prof *prof = arg;
	struct location location;

	if (prof->foreign)
		return NULL;
	location = sym_resolve(prof->feed->sym, sym_task(prof->feed->sym, 0, 0),
			       PERF_RECORD_MISC_KERNEL, addr);
	return location.sym ? location.sym->name : NULL;
}

static const char *usymbol(void *arg, uint32_t pid, uint64_t addr)
{
	struct prof *prof = arg;
	struct location location;

	if (prof->foreign)
		return NULL;
	location = sym_resolve(prof->feed->sym, sym_task(prof->feed->sym, pid, pid),
			       PERF_RECORD_MISC_USER, addr);
	return location.sym ? location.sym->name : NULL;
}

static const char *comm_of(void *arg, uint32_t tid)
{
	struct prof *prof = arg;

	if (prof->foreign)
		return foreign_name(prof->foreign, tid, prof->print->number);

	const struct task *task =
		tid ? sym_find_task(prof->feed->sym, tid) : sym_task(prof->feed->sym, 0, 0);

	return task ? task_comm(prof->feed->sym, task) : NULL;
}

static const char *syscall_of(void *arg, uint64_t number)
{
	return syscall_name(number);
}

// ---- a run

static void choose_ticks(struct prof *prof)
{
	const struct prof_options *options = prof->options;
	uint64_t tick, usage = options->usage_self_ms * 1000000;

	if (options->interval_ms)
		prof->interval_ns = options->interval_ms * 1000000;
	else if (!prof->interval_ns && !prof->profiler->endless && !options->from)
		prof->interval_ns = NSEC_PER_SEC;
	tick = prof->interval_ns;
	if (prof->period_ns && (!tick || prof->period_ns < tick))
		tick = prof->period_ns;
	if (usage && (!tick || usage < tick))
		tick = usage;
	// What is printed event by event is seen soon.
	if (!tick && prof->feed->is_live)
		tick = 100000000;
	prof->feed->tick_ns = tick;
}

int prof_setup(struct prof *prof)
{
	struct prof_options *options = prof->options;
	struct expr_env env = {.ksymbol = ksymbol,
			       .usymbol = usymbol,
			       .comm = comm_of,
			       .syscall = syscall_of,
			       .arg = prof};
	int err = 0;

	if (options->tsc && options->monotonic)
		return fail(EINVAL, "--tsc and --monotonic are two clocks: choose one");
	if (options->watermark > 100)
		return fail(EINVAL,
			    "--watermark %llu: how full a ring is when it wakes us up, in percent, so 1 to 100",
			    (unsigned long long)options->watermark);
	if (prof->profiler->counts && options->exit_n)
		return fail(EINVAL,
			    "-N: %s counts in the kernel and sees no single events to end after",
			    prof->profiler->name);

	prof->state = xcalloc(1, prof->profiler->state_size + 1);
	prof->pace = NEW(struct prof_pace);
	prof->pace->dirty = true;
	prof->print = NEW(struct prof_print);
	if (options->format)
		err = table_format_find(&prof->print->format, options->format);
	prof->tables = prof->out;
	out_init_fd(&prof->print->beside, STDERR_FILENO);
	if (prof->print->format)
		prof->out = &prof->print->beside;
	env.out = prof->out;
	prof->machine = expr_machine_new(&env);
	if (!err && prof->profiler->events == PROF_EVENTS_WANTED && !options->events.n &&
	    !prof->profiler->default_events)
		err = fail(EINVAL,
			   "which events? Give -e SYSTEM:NAME; sonde prof %s -h shows examples",
			   prof->profiler->name);
	if (!err)
		err = prof_add_given(prof);
	if (!err)
		err = prof->profiler->setup(prof);
	if (!err)
		err = prof_cgroups_open(prof);
	if (!err && options->flame_graph)
		err = prof_flame_new(prof);
	// Who starts whom is to be known.
	prof->needs_tasks |= prof->source_tasks.n > 0;
	if (err)
		return err;
	choose_ticks(prof);
	prof_typed_begin(prof);
	prof->feed->hooks = &hooks;
	prof->feed->arg = prof;
	prof->pace->last_usage_ns = time_now_ns(CLOCK_MONOTONIC);
	prof->pace->last_cpu_s = usage_now().user_s + usage_now().system_s;
	return 0;
}

int prof_finish(struct prof *prof)
{
	const struct profiler *profiler = prof->profiler;
	uint64_t now = now_of(prof->feed);
	int err = 0;

	err = prof_push_finish(prof);
	if (err)
		return err;
	prof_put_backward(prof, now);
	if (profiler->finish)
		err = profiler->finish(prof, now);
	else if (profiler->interval &&
		 (prof->pace->dirty || prof_in_kernel(prof) || !prof->interval_ns))
		err = profiler->interval(prof, now);
	prof_put_no_place(prof, now);
	if (prof->flame)
		err = prof_flame_write(prof);
	if (prof->heat && !err)
		err = prof_heat_write(prof);
	if (prof->lost_all)
		say("%llu events were lost in all, beside %llu that are in the results: give larger rings (-m), or fewer events",
		    (unsigned long long)prof->lost_all,
		    (unsigned long long)prof->feed->stats.samples);
	if (prof->feed->is_live) // of a recording its input tells
		run_warn_names(prof->feed->run);
	if (prof->feed->stats.late)
		inform("%llu events came behind newer ones",
		       (unsigned long long)prof->feed->stats.late);
	if (prof->options->usage_self_ms)
		show_usage(prof);
	return err;
}

void prof_done(struct prof *prof)
{
	if (prof->state && prof->profiler->done)
		prof->profiler->done(prof);
	for (size_t i = 0; i < prof->source_tasks.n; i++)
		prof_tasks_done(prof->source_tasks.v[i]);
	vec_done(&prof->source_tasks);
	prof_push_done(prof);
	prof_cgroups_close(prof);
	tally_close(prof->tally);
	prof_typed_free(prof->typed);
	prof_flame_free(prof->flame);
	prof_heat_free(prof->heat);
	prof_specs_done(&prof->specs);
	vec_done(&prof->events);
	expr_machine_free(prof->machine);
	free(prof->pace);
	if (prof->print) {
		map_done(&prof->print->asked);
		out_close(&prof->print->beside, "standard error");
	}
	free(prof->print);
	free(prof->state);
	arena_done(&prof->arena);
}
