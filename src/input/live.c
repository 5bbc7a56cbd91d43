// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel as a source of events.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "input/core/input.h"
#include "input/core/live.h"
#include "event/core/probe.h"
#include "input/core/live_pull.h"
#include "sys/signals.h"
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

enum {
	OTHERS = 3, // to wait for, behind the rings: signals, what is typed, who listens
	IDLE_MS = 1000,
	WAITING_MS = 40, // until the records of a quiet ring are given
};

// Prints of events name functions of the kernel: it is looked at when one is printed.
static const char *name_in_print(void *arg, uint64_t addr, uint64_t *ret_start,
				 const char **ret_module)
{
	struct watching *live = arg;

	if (!live->knows_kernel)
		watching_learn_kernel(live);
	return sym_name_in_print(live->feed->sym, addr, ret_start, ret_module);
}

static int open_live(struct feed *feed)
{
	static const struct run_hooks hooks = {.hits = feed_take_samples,
					       .record = feed_take_record,
					       .lost = feed_take_loss};
	const struct sym_options sym = {.live = true, .functions = true};
	struct watching *live = NEW(struct watching);
	int err;

	feed->input = live;
	live->clock.fd = -1;
	feed->is_live = true;
	live->feed = feed;
	live->signal_fd = live->to_fd = -1;
	event_specs_init(&live->specs);
	err = run_open_live(&live->run, &sym);
	if (err)
		return err;
	live->run->hooks = &hooks;
	live->run->arg = feed;
	rings_init(&live->rings, live->run);
	feed->run = live->run;
	feed->sym = live->run->sym;
	feed->sym->clock_is_monotonic = true;
	tracepoints_set_resolver(live->run->recording->tracepoints, name_in_print, live);
	return 0;
}

static struct event *known(const struct watching *live, const char *name)
{
	vec_each(struct event *const, it, &live->run->recording->events) {
		if (!strcmp((*it)->name, name))
			return *it;
	}
	return NULL;
}

static bool is_inherited(const struct feed *feed)
{
	return feed->options->inherit && feed_has_tasks(feed);
}

// Before anything is made that a signal must not leave behind.
static int open_signals(struct watching *live)
{
	if (live->signal_fd < 0)
		live->signal_fd = signals_open(0);
	return MIN(live->signal_fd, 0);
}

static int add_dynamic(struct watching *live, const struct event_probe *probe,
		       const struct tracepoint **ret)
{
	const struct event_made *made;
	int err = open_signals(live);

	if (!err)
		err = event_dynamic_add(&live->dynamic, probe, &made);
	if (err < 0)
		return err;
	*ret = tracepoints_by_name(live->run->recording->tracepoints, live->dynamic.group,
				   made->name);
	if (*ret) // the same event once more
		return 0;
	err = rings_read_format(live->run, live->dynamic.tracefs, live->dynamic.group, made->name);
	*ret = tracepoints_by_name(live->run->recording->tracepoints, live->dynamic.group,
				   made->name);
	return err || *ret ? err : fail(EIO, "%s:%s has no format", live->dynamic.group, made->name);
}

// As an event of tracefs, where it has to be one, or has fields by it.
static int make_dynamic(struct watching *live, const struct event_probe *probe, struct event *event)
{
	bool needed = is_inherited(live->feed);
	const struct tracepoint *tp;
	int err;

	if (!needed && (!probe->fetch || !*probe->fetch))
		return 0;
	err = add_dynamic(live, probe, &tp);
	if (err < 0 && needed)
		return fail_context(err,
				    "%s can't be watched in what is started (--no-inherit: not there)",
				    probe->name);
	if (err < 0) { // without them it is an event without fields
		warn("%s: its arguments are no fields: %s", probe->name, err_sentence());
		err_clear();
		return 0;
	}
	event->tp = tp;
	event->attr = (struct perf_event_attr){.size = sizeof(event->attr),
					       .type = PERF_TYPE_TRACEPOINT,
					       .config = tracepoint_id(tp),
					       .sample_type = PERF_SAMPLE_RAW,
					       .sample_period = 1};
	return 0;
}

static int find_probes(struct watching *live, const char *text, input_found *found, void *arg)
{
	struct event_probe *probes;
	size_t n = 0;
	int err = event_probe_find(&live->arena, text, &probes, &n);

	for (size_t i = 0; i < n && !err; i++) {
		struct event *event = arena_zalloc(&live->arena, sizeof(*event));

		event->attr = probes[i].attr;
		event->name = probes[i].name;
		event->index = (uint32_t)live->run->recording->events.n;
		event->leader = event;
		event->scale = 1;
		err = make_dynamic(live, &probes[i], event);
		if (!err)
			err = found(arg, event, NULL, NULL);
	}
	return err;
}

static int find(struct feed *feed, const char *name, input_found *found, void *arg)
{
	struct watching *live = feed->input;
	int err;

	if (event_probe_is(name))
		return find_probes(live, name, found, arg);
	err = event_parse(&live->specs, name, &live->context);

	for (size_t i = live->specs.last; !err && i < live->specs.events.n; i++) {
		const struct event_spec *spec = &live->specs.events.v[i];
		struct event *event = known(live, spec->name);

		if (!event)
			err = rings_add_event(live->run, spec, live->specs.tracefs, &event);
		if (!err)
			err = found(arg, event, spec->tp_system, spec->tp_name);
	}
	return err;
}

static int pull(struct feed *feed, const struct feed_pull *pull)
{
	struct watching *live = feed->input;

	return live_pull_find(&live->pull, feed, pull);
}

// ---- the loop

static void take_signals(struct watching *live)
{
	struct signalfd_siginfo info;

	while (read(live->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (live->workload.pid && workload_ended(&live->workload))
				live->feed->stop = true;
		} else if (live->feed->hooks->asked &&
			   (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2)) {
			live->asked_signal = (int)info.ssi_signo;
		} else {
			live->feed->stop = live->feed->interrupted = true;
			live->exit_signal = (int)info.ssi_signo;
		}
	}
}

// By the clock of the events; 0: it can't be read.
static uint64_t events_now(const struct watching *live)
{
#if defined(__x86_64__)
	const struct feed_tsc *tsc = &live->feed->tsc;

	if (tsc->mult)
		return tsc->zero +
		       (uint64_t)(((unsigned __int128)__builtin_ia32_rdtsc() * tsc->mult) >>
				  tsc->shift);
#endif
	return live->has_clockid ? time_now_ns(CLOCK_MONOTONIC) : 0;
}

// What began before the round before had begun was given (flow/merge.h), without an order what began before this one.
static int tell_settled(struct watching *live)
{
	struct feed *feed = live->feed;

	return feed->hooks->settled
		       ? feed->hooks->settled(feed->arg, live->settled_ns[live->rings.merge.ordered])
		       : 0;
}

static int one_round(struct watching *live, bool all)
{
	int err = live_pull_read(live->pull);

	if (live->feed->hooks->settled) {
		live->settled_ns[1] = live->settled_ns[0];
		live->settled_ns[0] = events_now(live);
	}
	live->rings.merge.hold_ns = live_pull_hold(live->pull);
	if (!err)
		err = merge_round(&live->rings.merge, all);
	if (!err)
		err = tell_settled(live);
	live->feed->stats.late = live->rings.merge.late_n;
	if (!err && live->writer)
		err = writer_round(live->writer);
	return err;
}

// All that happened up to now.
static int settle(struct watching *live)
{
	int err = one_round(live, false);

	return err ? err : one_round(live, false);
}

// Another clock than CLOCK_MONOTONIC drifts: where it is, is looked at once a second.
static void look_at_clock(struct watching *live)
{
	struct feed *feed = live->feed;
	uint64_t now = time_now_ns(CLOCK_MONOTONIC), width;

	if (live->clock.fd < 0 || now < live->next_clock_ns)
		return;
	live->next_clock_ns = now + NSEC_PER_SEC;
	if (perf_clock_wall(&live->clock, &feed->wall_offset_ns, &width) < 0)
		return;
	feed->has_wall = feed->own_clock = true;
	feed->ahead_ns = (int64_t)(time_now_ns(CLOCK_REALTIME) - time_now_ns(CLOCK_MONOTONIC)) -
			 feed->wall_offset_ns;
}

static int tick(struct watching *live)
{
	struct feed *feed = live->feed;
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);
	int err = 0;

	if (!live->next_tick_ns || now < live->next_tick_ns)
		return 0;
	live->next_tick_ns += feed->tick_ns;
	// After a stop (SIGSTOP, a slow terminal) intervals are left out, not made up for.
	if (live->next_tick_ns <= now)
		live->next_tick_ns = now + feed->tick_ns - (now - live->next_tick_ns) % feed->tick_ns;
	if (live->counts_n)
		err = watching_counts(live);
	if (!err && live->rings.merge.n)
		err = settle(live);
	if (!err && feed->hooks->tick)
		err = feed->hooks->tick(feed->arg, now + (uint64_t)feed->ahead_ns);
	return err;
}

static int answer(struct watching *live)
{
	struct feed *feed = live->feed;
	int signal = live->asked_signal, err = live->counts_n ? watching_counts(live) : 0;

	live->asked_signal = 0;
	if (!err && live->rings.merge.n)
		err = settle(live);
	return err ? err : feed->hooks->asked(feed->arg, signal);
}

static int sleep_ms(const struct watching *live, int pull_ms)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);
	int ms = live->rings.merge.ordered && merge_waits(&live->rings.merge) ? WAITING_MS : IDLE_MS;

	// Rings wake us up by their fill; what trickles is looked for twenty times a second.
	if (live->rings.merge.n)
		ms = MIN(ms, 50);
	if (live->pull)
		ms = MIN(ms, pull_ms);
	if (live->enable_ns)
		ms = live->enable_ns > now ? MIN(ms, (int)((live->enable_ns - now) / 1000000) + 1)
					   : 0;
	if (live->next_tick_ns) {
		uint64_t left = live->next_tick_ns > now ? live->next_tick_ns - now : 0;

		ms = (int)MIN((uint64_t)ms, (left + 999999) / 1000000);
	}
	return ms;
}

static bool tasks_ended(struct watching *live, const struct pollfd *fds)
{
	size_t rings = live->opened.rings.n, gone = 0;

	for (size_t i = 0; i < rings; i++)
		gone += fds[i].fd < 0;
	// Of a CPU that went offline, too: others go on.
	if (rings && gone == rings && live->target.has_tasks)
		return true;
	if (!rings && live->pull)
		return live_pull_ended(live->pull);
	if (live->asked.has_tasks)
		return !target_alive(&live->asked);
	return live->target.has_tasks && !target_alive(&live->target);
}

static struct pollfd *poll_fds(const struct watching *live)
{
	size_t rings = live->opened.rings.n;
	struct pollfd *fds = xcalloc(rings + OTHERS + live_pull_sources(live->pull), sizeof(*fds));

	for (size_t i = 0; i < rings; i++)
		fds[i] = (struct pollfd){.fd = live->opened.rings.v[i].fd, .events = POLLIN};
	fds[rings + 1] = (struct pollfd){.fd = live->feed->typed_fd, .events = POLLIN};
	fds[rings + 2] = (struct pollfd){.fd = live->feed->peers_fd, .events = POLLIN};
	fds[rings] = (struct pollfd){.fd = live->signal_fd, .events = POLLIN};
	return fds;
}

// How the kernel makes its times of the processor's counter.
static int learn_tsc(struct watching *live)
{
	const struct perf_event_mmap_page *page =
		live->opened.rings.n ? live->opened.rings.v[0].page : NULL;

	if (!page || !page->cap_user_time_zero || !page->time_mult)
		return fail(EOPNOTSUPP,
			    "--tsc: this kernel does not say how its clock comes from the processor's counter");
	live->feed->tsc = (struct feed_tsc){page->time_zero, page->time_mult, page->time_shift};
	return 0;
}

static uint64_t look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	struct watching *live = arg;
	uint64_t id = pull_id(header);

	if (!pull_is(id))
		return rings_look(&live->rings, header, ret_what);
	*ret_what = live->pull;
	return pull_time(header);
}

static int give(void *arg, const struct perf_event_header *header, uint64_t time, void *what)
{
	struct watching *live = arg;

	return what == live->pull ? live_pull_give(live->pull, header, live->feed)
				  : rings_give(&live->rings, header, time, what);
}

static void begin_merge(struct watching *live)
{
	struct merge *merge = &live->rings.merge;

	rings_begin(&live->rings, &live->opened);
	merge->ordered = live->feed->options->ordered;
	if (live->writer) {
		merge->fresh = watching_to_fresh;
		merge->fresh_arg = live;
	}
	if (!live->pull)
		return;
	// Others' records lie beside the kernel's.
	merge->look = look;
	merge->give = give;
	merge->arg = live;
	for (size_t i = 0; i < live_pull_sources(live->pull); i++)
		merge_add(merge, live_pull_ring(live->pull, i));
}

// Processors came back: what lies in the rings is given before they change.
static int change_cpus(struct watching *live, struct pollfd **fds)
{
	bool has_rings = live->rings.merge.n > 0;
	int err = live->counts_n ? watching_counts(live) : 0;

	for (int i = 0; i < 2 && has_rings && !err; i++)
		err = one_round(live, true);
	if (!err)
		err = watching_cpus(live);
	if (err <= 0)
		return err;
	if (has_rings)
		begin_merge(live);
	free(*fds);
	*fds = poll_fds(live);
	return 0;
}

static int loop(struct watching *live)
{
	auto_free struct pollfd *fds = poll_fds(live);
	struct feed *feed = live->feed;
	int err = 0;

	while (!err && !feed->stop) {
		size_t rings = live->opened.rings.n;
		int pull_ms = live_pull_poll(live->pull, fds + rings + OTHERS);
		nfds_t all = rings + OTHERS + live_pull_sources(live->pull);

		if (poll(fds, all, sleep_ms(live, pull_ms)) < 0 && errno != EINTR)
			return fail(errno, "can't wait for events: %s", strerror(errno));
		feed->stats.wakeups++;
		if (live->enable_ns && time_now_ns(CLOCK_MONOTONIC) >= live->enable_ns) {
			live->enable_ns = 0;
			opened_enable(&live->opened);
		}
		take_signals(live);
		look_at_clock(live);
		if (feed->sym)
			sym_age(feed->sym);
		for (size_t i = 0; i < rings; i++) {
			if (fds[i].revents & (POLLHUP | POLLERR))
				fds[i].fd = -1;
		}
		if (!live->workload.pid && tasks_ended(live, fds))
			feed->stop = true;
		if (live->rings.merge.n && !feed->stop)
			err = one_round(live, false);
		if (!err && fds[rings + 1].revents && feed->hooks->typed)
			err = feed->hooks->typed(feed->arg);
		fds[rings + 1].fd = feed->typed_fd;
		if (!err && live->asked_signal && !feed->stop)
			err = answer(live);
		if (!err && !feed->stop)
			err = tick(live);
		if (!err && !feed->stop && watching_cpus_changed(live))
			err = change_cpus(live, &fds);
	}
	return err;
}

static void begin_pull(struct watching *live)
{
	struct feed *feed = live->feed;
	const struct pull_clock clock = {.mixed = live->opened.events.n > 0,
					 .offset_ns = feed->options->clock_offset_ns,
					 .wall_offset_ns = feed->wall_offset_ns,
					 .tsc = feed->tsc};

	if (!live->pull)
		return;
	if (!clock.mixed) // times of others become those of CLOCK_MONOTONIC
		feed->has_wall = !feed->options->tsc;
	live_pull_begin(live->pull, &clock);
}

static int start(struct watching *live)
{
	struct feed *feed = live->feed;
	const struct feed_options *options = feed->options;
	int err;

	feed->has_wall = live->has_clockid;
	feed->wall_offset_ns = (int64_t)(time_now_ns(CLOCK_REALTIME) - time_now_ns(CLOCK_MONOTONIC));
	begin_pull(live);
	if (!live->has_clockid && !live->pull && !options->tsc && live->rings.merge.n &&
	    perf_clock_open(&live->clock) == 0)
		look_at_clock(live);
	err = feed_begin(feed);
	if (err)
		return err;
	if (feed->tick_ns)
		live->next_tick_ns = time_now_ns(CLOCK_MONOTONIC) + feed->tick_ns;
	if (options->delay_ms)
		live->enable_ns = time_now_ns(CLOCK_MONOTONIC) + options->delay_ms * 1000000;
	// The events of a command switch on by themselves at its exec.
	else if ((!live->target.has_workload || options->everywhere) &&
		 opened_enable(&live->opened) < 0)
		err = fail(EIO, "can't switch the events on: %s", strerror(errno));
	for (size_t i = 0; !err && i < live->opened.events.n; i++) {
		const struct opened_event *event = &live->opened.events.v[i];

		// Names are learned while the events still wait.
		bool early = event->system_wide || (options->delay_ms && !live->wanted[i]);

		for (size_t k = 0; early && k < event->fds.n; k++)
			if (event->fds.v[k] >= 0)
				ioctl(event->fds.v[k], PERF_EVENT_IOC_ENABLE, 0);
	}
	// Once nothing that tasks do is missed any more.
	if (!err && live->opened.events.n && (options->needs_tasks || live->writer))
		err = watching_learn(live);
	if (!err && live->workload.pid)
		err = workload_start(&live->workload, options->workload[0]);
	return err;
}

static int finish(struct watching *live)
{
	int err = 0;

	opened_disable(&live->opened);
	if (live->counts_n)
		err = watching_counts(live);
	if (!err && live->rings.merge.n)
		err = one_round(live, true);
	if (!err && live->rings.merge.n)
		err = one_round(live, true);
	// What was lost behind the last record of a ring is only there.
	live->run->counted_n = watching_lost(live);
	return err ? err : run_tell_counted(live->run);
}

static int run(struct feed *feed)
{
	struct watching *live = feed->input;
	int err = open_signals(live);

	if (!err && feed->options->workload)
		err = workload_prepare(&live->workload, (char **)(uintptr_t)feed->options->workload,
				       false);
	feed->workload_pid = live->workload.pid;
	if (!err)
		err = watching_open(live);
	feed->target = &live->target;
	if (!err && feed->options->to && live->pull)
		err = fail(EINVAL,
			   "--to keeps what this kernel tells; keep what comes from elsewhere there, or push it into a file");
	if (!err && feed->options->to)
		err = watching_to_open(live);
	if (!err && feed->options->tsc && live->opened.events.n)
		err = learn_tsc(live);
	if (!err && (live->opened.rings.n || live->pull))
		begin_merge(live);
	if (!err)
		err = start(live);
	if (!err) {
		err = loop(live);
		if (!err)
			err = finish(live);
	}
	if (live->writer) {
		auto_free char *sentence = xstrdup(err_sentence());
		int closed = watching_to_close(live);

		if (err < 0 && *sentence)
			fail_again(err, sentence);
		else if (!err)
			err = closed;
	}
	if (live->workload.pid) {
		bool ended = workload_ended(&live->workload);

		workload_done(&live->workload, true);
		if (ended)
			feed->exit_code = workload_exit_code(&live->workload);
	}
	// Those two are how a run is told to end.
	if (live->exit_signal && live->exit_signal != SIGINT && live->exit_signal != SIGTERM)
		feed->exit_code = 128 + live->exit_signal;
	return err < 0 ? err : 0;
}

static void close_live(struct feed *feed)
{
	struct watching *live = feed->input;

	if (!live)
		return;
	perf_clock_close(&live->clock);
	live_pull_free(live->pull);
	opened_done(&live->opened);
	event_dynamic_done(&live->dynamic);
	target_done(&live->target);
	cgroup_names_done(&live->cgroups);
	free(live->cgroup_mount.path);
	target_done(&live->asked);
	if (live->signal_fd >= 0)
		close(live->signal_fd);
	free(live->opened_specs);
	free(live->wanted);
	free(live->last_counts);
	free(live->online);
	free(live->returned);
	event_specs_done(&live->specs);
	arena_done(&live->arena);
	rings_done(&live->rings);
	run_close(live->run);
	free(live);
	feed->sym = NULL;
	feed->input = NULL;
}

const struct input input_live = {
	.name = "live",
	.summary = "the running kernel",
	.open = open_live,
	.find = find,
	.pull = pull,
	.run = run,
	.close = close_live,
};
