// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel as a source of events.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "input/core/input.h"
#include "input/core/live.h"
#include "input/core/live_probe.h"
#include "sys/signals.h"
#include "sys/tracefs.h"
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

enum {
	MOST_FORMAT_BYTES = 1 << 20,
	IDLE_MS = 1000,
	WAITING_MS = 40, // until the records of a quiet ring are given
};

static int open_live(struct feed *feed)
{
	struct watching *live = NEW(struct watching);
	struct tp_options options = {.long_size = sizeof(long),
				     .page_size = (uint32_t)sysconf(_SC_PAGESIZE)};
	struct sym_options sym = {.live = true};
	int err;

	feed->input = live;
	feed->is_live = true;
	live->feed = feed;
	live->signal_fd = live->to_fd = -1;
	live->formats = tracepoints_new(&options);
	event_specs_init(&live->specs);
	err = sym_new(&feed->sym, &sym);
	if (!err)
		feed->sym->clock_is_monotonic = true;
	return err;
}

static struct event *known(const struct watching *live, const char *name)
{
	for (size_t i = 0; i < live->events.n; i++) {
		if (!strcmp(live->events.v[i]->name, name))
			return live->events.v[i];
	}
	return NULL;
}

static int read_format(struct watching *live, const struct event_spec *spec,
		       const struct tracepoint **ret)
{
	auto_free char *path = text_dup_fmt("events/%s/%s/format", spec->tp_system, spec->tp_name);
	auto_free char *text = NULL;
	size_t n;
	int err = tracefs_read(live->specs.tracefs, path, MOST_FORMAT_BYTES, &text, &n);

	if (err)
		return fail(-err, "can't read the format of %s: %s", spec->name, strerror(-err));
	err = tracepoints_add(live->formats, spec->tp_system, (struct str){text, n});
	*ret = tracepoints_by_name(live->formats, spec->tp_system, spec->tp_name);
	return err;
}

static int take_spec(struct watching *live, const struct event_spec *spec, struct event **ret)
{
	struct event *event = arena_zalloc(&live->arena, sizeof(*event));
	int err = 0;

	event->index = (uint32_t)live->events.n;
	event->attr = spec->attr;
	event->name = arena_strdup(&live->arena, str_of(spec->name));
	event->leader = event;
	event->scale = 1;
	if (spec->tp_system)
		err = read_format(live, spec, &event->tp);
	if (err)
		return err;
	vec_push(&live->events, event);
	*ret = event;
	return 0;
}

// Without them it is an event without fields.
static void add_arguments(struct watching *live, const struct live_probe *probe, struct event *event)
{
	const struct tracepoint *tp;

	if (!probe->fetch || !*probe->fetch)
		return;
	if (live_dynamic_add(&live->dynamic, probe, live->formats, &tp) < 0) {
		warn("%s: its arguments are no fields: %s", probe->name, err_sentence());
		err_clear();
		return;
	}
	event->tp = tp;
	event->attr = (struct perf_event_attr){.size = sizeof(event->attr),
					       .type = PERF_TYPE_TRACEPOINT,
					       .config = tracepoint_id(tp),
					       .sample_type = PERF_SAMPLE_RAW,
					       .sample_period = 1};
}

static int find_probes(struct watching *live, const char *text, input_found *found, void *arg)
{
	struct live_probe *probes;
	size_t n = 0;
	int err = live_probe_find(&live->arena, text, &probes, &n);

	for (size_t i = 0; i < n && !err; i++) {
		struct event *event = arena_zalloc(&live->arena, sizeof(*event));

		event->attr = probes[i].attr;
		event->name = probes[i].name;
		event->index = (uint32_t)live->events.n;
		event->leader = event;
		event->scale = 1;
		add_arguments(live, &probes[i], event);
		err = found(arg, event, NULL, NULL);
	}
	return err;
}

static int find(struct feed *feed, const char *name, input_found *found, void *arg)
{
	struct watching *live = feed->input;
	int err;

	if (probe_is(name))
		return find_probes(live, name, found, arg);
	err = event_parse(&live->specs, name, &live->context);

	for (size_t i = live->specs.last; !err && i < live->specs.events.n; i++) {
		const struct event_spec *spec = &live->specs.events.v[i];
		struct event *event = known(live, spec->name);

		if (!event)
			err = take_spec(live, spec, &event);
		if (!err)
			err = found(arg, event, spec->tp_system, spec->tp_name);
	}
	return err;
}

// ---- records

static const struct watching_id *id_of(const struct watching *live, uint64_t id)
{
	uint64_t *index;

	if (id - live->first_id < live->ids_n)
		return &live->id_table[id - live->first_id];
	index = map_find(&live->ids, id);
	return index ? &live->id_table[*index] : NULL;
}

static uint64_t look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	struct watching *live = arg;
	const char *p = (const char *)header;
	const struct watching_id *what;
	uint64_t id;

	// PERF_SAMPLE_IDENTIFIER: behind the header of samples, the last word of others.
	memcpy(&id, header->type == PERF_RECORD_SAMPLE ? p + 8 : p + header->size - 8, 8);
	what = id_of(live, id);
	*ret_what = (void *)(uintptr_t)what;
	return what && what->plan ? sample_plan_time(what->plan, header) : 0;
}

static void note_cpu(struct watching *live, uint32_t cpu, uint64_t time)
{
	if (cpu < live->cpus_n)
		live->last_ns[cpu] = time;
}

// The record behind a gap has come.
static int tell_gap(struct watching *live, uint32_t cpu, uint64_t to_ns)
{
	struct feed *feed = live->feed;
	struct watching_gap *gap = &live->gaps[cpu];
	struct feed_loss loss = {.cpu = cpu, .lost = gap->lost, .from_ns = gap->from_ns, .to_ns = to_ns};

	gap->lost = 0;
	return feed->hooks->lost ? feed->hooks->lost(feed->arg, &loss) : 0;
}

static int give_side(struct watching *live, const struct perf_event_header *header, uint64_t time,
		     const struct watching_id *what)
{
	struct feed *feed = live->feed;
	struct sample ids = {.header = header};

	sample_decode_trailer(what->plan, header, &ids);
	if (header->type == PERF_RECORD_LOST && record_is_whole(header)) {
		uint64_t lost = ((const struct record_lost *)header)->lost;

		feed->stats.lost += lost;
		live->lost_told += lost;
		if (ids.cpu < live->cpus_n) {
			if (!live->gaps[ids.cpu].lost)
				live->gaps[ids.cpu].from_ns = live->last_ns[ids.cpu];
			live->gaps[ids.cpu].lost += lost;
			return tell_gap(live, ids.cpu, time);
		}
		return 0;
	}
	sym_record(feed->sym, header, time);
	return feed->hooks->record ? feed->hooks->record(feed->arg, header, &ids) : 0;
}

static int give(void *arg, const struct perf_event_header *header, uint64_t time, void *what_)
{
	struct watching *live = arg;
	const struct watching_id *what = what_;
	struct feed *feed = live->feed;
	struct sample *sample = &live->sample, full;

	if (!what || !what->plan) {
		feed->stats.unknown++;
		return 0;
	}
	if (header->type != PERF_RECORD_SAMPLE)
		return give_side(live, header, time, what);
	if (what->plain && header->size >= 56) {
		const uint32_t *words = (const uint32_t *)header;

		sample->header = header;
		memcpy(&sample->id, &words[2], 8);
		sample->pid = words[4];
		sample->tid = words[5];
		sample->time = time;
		sample->cpu = words[8];
		sample->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		memcpy(&sample->period, &words[10], 8);
		sample->raw_size = words[12];
		sample->raw = &words[13];
		if (sample->raw_size > header->size - 52u) {
			feed->stats.unknown++;
			return 0;
		}
	} else {
		if (sample_decode(what->plan, header, &full) < 0) {
			feed->stats.unknown++;
			return 0;
		}
		sample = &full;
	}
	note_cpu(live, sample->cpu, time);
	feed->last_ns = time;
	if (feed->first_ns == UINT64_MAX)
		feed->first_ns = time;
	if (!what->event || (what->event->test && !watching_wants(live, what->event, sample)))
		return 0;
	return feed_sample(feed, what->event, sample);
}

// ---- the loop

static void take_signals(struct watching *live)
{
	struct signalfd_siginfo info;

	while (read(live->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (live->workload.pid && workload_ended(&live->workload))
				live->feed->stop = true;
		} else {
			live->feed->stop = true;
			live->exit_signal = (int)info.ssi_signo;
		}
	}
}

static int one_round(struct watching *live, bool all)
{
	int err = merge_round(&live->merge, all);

	live->feed->stats.late = live->merge.late_n;
	live->feed->stats.bytes = live->merge.bytes;
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
	if (!err && live->merge.n)
		err = settle(live);
	if (!err && feed->hooks->tick)
		err = feed->hooks->tick(feed->arg, now);
	return err;
}

static int sleep_ms(const struct watching *live)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);
	int ms = live->merge.ordered && merge_waits(&live->merge) ? WAITING_MS : IDLE_MS;

	// Rings wake us up by their fill; what trickles is looked for twenty times a second.
	if (live->merge.n)
		ms = MIN(ms, 50);
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
	return live->target.has_tasks && !target_alive(&live->target);
}

static struct pollfd *poll_fds(const struct watching *live)
{
	size_t rings = live->opened.rings.n;
	struct pollfd *fds = xcalloc(rings + 2, sizeof(*fds));

	for (size_t i = 0; i < rings; i++)
		fds[i] = (struct pollfd){.fd = live->opened.rings.v[i].fd, .events = POLLIN};
	fds[rings + 1] = (struct pollfd){.fd = live->feed->typed_fd, .events = POLLIN};
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

static void begin_merge(struct watching *live)
{
	uint64_t late = live->merge.late_n, bytes = live->merge.bytes;

	merge_done(&live->merge);
	merge_init(&live->merge, live->opened.rings.v, live->opened.rings.n);
	live->merge.ordered = live->feed->options->ordered;
	live->merge.look = look;
	live->merge.give = give;
	live->merge.fresh = live->writer ? watching_to_fresh : NULL;
	live->merge.arg = live;
	live->merge.late_n = late;
	live->merge.bytes = bytes;
}

// Processors came back: what lies in the rings is given before they change.
static int change_cpus(struct watching *live, struct pollfd **fds)
{
	bool has_rings = live->merge.n > 0;
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

		if (poll(fds, rings + 2, sleep_ms(live)) < 0 && errno != EINTR)
			return fail(errno, "can't wait for events: %s", strerror(errno));
		feed->stats.wakeups++;
		if (live->enable_ns && time_now_ns(CLOCK_MONOTONIC) >= live->enable_ns) {
			live->enable_ns = 0;
			opened_enable(&live->opened);
		}
		take_signals(live);
		for (size_t i = 0; i < rings; i++) {
			if (fds[i].revents & (POLLHUP | POLLERR))
				fds[i].fd = -1;
		}
		if (!live->workload.pid && tasks_ended(live, fds))
			feed->stop = true;
		if (live->merge.n && !feed->stop)
			err = one_round(live, false);
		if (!err && fds[rings + 1].revents && feed->hooks->typed)
			err = feed->hooks->typed(feed->arg);
		fds[rings + 1].fd = feed->typed_fd;
		if (!err && !feed->stop)
			err = tick(live);
		if (!err && !feed->stop && watching_cpus_changed(live))
			err = change_cpus(live, &fds);
	}
	return err;
}

// What was lost behind the last record of a ring is only in the counters.
static int tell_last_losses(struct watching *live)
{
	uint64_t lost = watching_lost(live);
	struct feed *feed = live->feed;
	struct feed_loss loss = {.cpu = UINT32_MAX, .from_ns = feed->last_ns, .to_ns = UINT64_MAX};

	if (lost <= live->lost_told)
		return 0;
	loss.lost = lost - live->lost_told;
	feed->stats.lost += loss.lost;
	return feed->hooks->lost ? feed->hooks->lost(feed->arg, &loss) : 0;
}

static int start(struct watching *live)
{
	struct feed *feed = live->feed;
	const struct feed_options *options = feed->options;
	int err = feed_begin(feed);

	if (err)
		return err;
	feed->has_wall = live->has_clockid;
	feed->wall_offset_ns = (int64_t)(time_now_ns(CLOCK_REALTIME) - time_now_ns(CLOCK_MONOTONIC));
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
	if (!err && (options->needs_tasks || live->writer))
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
	if (!err && live->merge.n)
		err = one_round(live, true);
	if (!err && live->merge.n)
		err = one_round(live, true);
	if (!err)
		err = tell_last_losses(live);
	return err;
}

static int run(struct feed *feed)
{
	struct watching *live = feed->input;
	int err;

	live->signal_fd = signals_open(0);
	err = MIN(live->signal_fd, 0);

	if (!err && feed->options->workload)
		err = workload_prepare(&live->workload, (char **)(uintptr_t)feed->options->workload,
				       false);
	feed->workload_pid = live->workload.pid;
	if (!err)
		err = watching_open(live);
	feed->target = &live->target;
	if (!err && feed->options->to)
		err = watching_to_open(live);
	if (!err && feed->options->tsc)
		err = learn_tsc(live);
	if (!err && live->opened.rings.n)
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
			fail(-err, "%s", sentence);
		else if (!err)
			err = closed;
	}
	if (live->workload.pid) {
		bool ended = workload_ended(&live->workload);

		workload_done(&live->workload, true);
		if (ended)
			feed->exit_code = workload_exit_code(&live->workload);
	}
	if (live->exit_signal == SIGHUP)
		feed->exit_code = 128 + SIGHUP;
	return err < 0 ? err : 0;
}

static void close_live(struct feed *feed)
{
	struct watching *live = feed->input;

	if (!live)
		return;
	watching_filters_done(live);
	merge_done(&live->merge);
	opened_done(&live->opened);
	live_dynamic_done(&live->dynamic);
	target_done(&live->target);
	if (live->signal_fd >= 0)
		close(live->signal_fd);
	free(live->opened_specs);
	free(live->plans);
	free(live->wanted);
	free(live->id_table);
	free(live->last_counts);
	free(live->gaps);
	free(live->last_ns);
	free(live->online);
	free(live->returned);
	map_done(&live->ids);
	vec_done(&live->events);
	event_specs_done(&live->specs);
	tracepoints_free(live->formats);
	arena_done(&live->arena);
	sym_free(feed->sym);
	free(live);
	feed->sym = NULL;
	feed->input = NULL;
}

const struct input input_live = {
	.name = "live",
	.summary = "the running kernel",
	.open = open_live,
	.find = find,
	.run = run,
	.close = close_live,
};
