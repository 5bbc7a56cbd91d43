// SPDX-License-Identifier: GPL-2.0-or-later
// Which attrs the wanted events get, and their descriptors and rings.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "input/core/live.h"
#include "sys/cgroup.h"
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

enum {
	RING_BYTES = 16 << 20,	 // 1.3 million events a second are 150 MB/s
	RINGS_BYTES = 256 << 20, // in all
	LEAST_RING_BYTES = 512 << 10,
	WAKE_BYTES = 512 << 10, // what the second cache holds
};

// Probes that are made for the run go by another name than the kernel's.
static const char *system_of(const struct feed_event *wanted)
{
	return wanted->event->tp ? tracepoint_system(wanted->event->tp) : NULL;
}

static const char *without_us(struct watching *live, const struct feed_event *wanted,
			      const char *filter)
{
	const char *system = system_of(wanted);

	if (!system || wanted->counts || feed_is_of_system(system))
		return filter;
	return feed_and(live->feed, filter,
			arena_fmt(&live->arena, "common_pid != %d", (int)getpid()));
}

// A clock that is read without leaving the processor, so that events can be dated for nothing.
static bool clock_is_fast(void)
{
	auto_free char *text = NULL;

	if (file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", 256,
		      &text, NULL) < 0)
		return false;
	return text_starts(text, "tsc") || text_starts(text, "kvm-clock") ||
	       text_starts(text, "arch_sys_counter") || text_starts(text, "hyperv_clocksource");
}

// Each event, but of what happens millions of times a second so many samples.
static void set_period(struct perf_event_attr *attr)
{
	bool counts_time =
		attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						     attr->config == PERF_COUNT_SW_TASK_CLOCK);

	if (counts_time || attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	    attr->type == PERF_TYPE_RAW) {
		attr->freq = 1;
		attr->sample_freq = 1000;
	} else {
		attr->sample_period = 1;
	}
}

static void set_attr(struct watching *live, const struct feed_event *wanted,
		     struct perf_event_attr *attr)
{
	const struct feed_options *options = live->feed->options;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->enable_on_exec = options->workload && !options->everywhere && !options->delay_ms &&
			       !(wanted && wanted->everywhere);
	attr->inherit = options->inherit && !(wanted && wanted->everywhere) &&
			live->target.has_tasks + live->target.has_workload;
	attr->exclude_user |= options->no_user;
	attr->exclude_kernel |= options->no_kernel;
	attr->exclude_guest |= options->no_guest;
	attr->exclude_host |= options->no_host;
	if (wanted && wanted->in_kernel) { // costs nothing
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_DUMMY;
	}
	// All that share a ring have one clock.
	attr->use_clockid = live->has_clockid && !(wanted && wanted->counts && !wanted->in_kernel);
	attr->clockid = attr->use_clockid ? CLOCK_MONOTONIC : 0;
	if (wanted && wanted->counts) {
		attr->sample_type = 0;
		attr->sample_period = 0;
		attr->freq = 0;
		attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		return;
	}
	attr->sample_id_all = 1;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	// Without PERF_SAMPLE_PERIOD an event that counts (sched_stat_runtime: ns) would come once for each:
	// kernel/events/core.c, perf_swevent_event.
	attr->sample_type |= RINGS_PLAIN & ~(uint64_t)PERF_SAMPLE_RAW;
	if (wanted && attr->type != PERF_TYPE_TRACEPOINT)
		attr->sample_type |= PERF_SAMPLE_IP;
	if (wanted && wanted->stack) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IP;
		attr->sample_max_stack = (uint16_t)wanted->max_stack;
		attr->exclude_callchain_user = options->no_user_chain;
		attr->exclude_callchain_kernel = options->no_kernel_chain;
	}
	if (wanted && wanted->addresses)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	if (wanted && wanted->cgroup)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (wanted && wanted->period_ns)
		attr->sample_period = wanted->period_ns;
	if (wanted && wanted->frequency) {
		attr->freq = 1;
		attr->sample_freq = wanted->frequency;
	}
	if (wanted && !attr->sample_period)
		set_period(attr);
	attr->watermark = 1;
}

static bool wants_cgroups(const struct feed *feed)
{
	bool wants = false;

	vec_each(struct feed_event *, wanted, &feed->events)
		wants |= (*wanted)->cgroup;
	return wants;
}

static void set_dummy(struct watching *live, struct event_spec *spec)
{
	const struct feed_options *options = live->feed->options;

	spec->attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					      .config = PERF_COUNT_SW_DUMMY,
					      .sample_period = 1};
	spec->name = "dummy:HG";
	set_attr(live, NULL, &spec->attr);
	// Changes nothing for events of CPUs, but is in the recording of --to.
	if (options->everywhere)
		spec->attr.inherit = options->follows;
	spec->attr.task = spec->attr.comm = spec->attr.comm_exec = 1;
	if (options->needs_maps)
		spec->attr.mmap = spec->attr.mmap2 = spec->attr.ksymbol = 1;
	vec_each(struct feed_event *, wanted, &live->feed->events) // what they were about may be data
		spec->attr.mmap_data |= options->needs_maps && (*wanted)->addresses;
	spec->attr.cgroup = wants_cgroups(live->feed); // new ones are named
}

static int add_cpu(struct event_spec *spec, struct arena *arena, struct str text)
{
	struct cpu_list {
		uint32_t *v, n;
	};
	struct str rest = text;
	uint32_t n = 0, *list = arena_alloc(arena, sizeof(*list) * 4096);

	// "0,2" or "1-3"
	while (rest.p) {
		struct str word = str_trim(str_cut(&rest, ',')), first = str_cut(&word, '-');
		uint64_t from, to;

		if (num_parse_u64(first, &from))
			return fail(EINVAL, "cpus=%.*s is no list of CPUs such as 0,2-3",
				    STR_FMT(text));
		to = from;
		if (word.p && num_parse_u64(word, &to))
			return fail(EINVAL, "cpus=%.*s is no list of CPUs such as 0,2-3",
				    STR_FMT(text));
		for (; from <= to && n < 4096; from++)
			list[n++] = (uint32_t)from;
	}
	spec->cpus = list;
	spec->cpus_n = n;
	return 0;
}

static int select_cgroups(struct watching *live)
{
	struct feed *feed = live->feed;
	int err = cgroup_find_mount(&live->cgroup_mount, "");

	if (!err)
		err = cgroup_select(&live->cgroup_mount, feed->options->cgroups, &live->cgroups);
	if (err)
		return err;
	// A group's events are those of the groups below it, too: what is wanted twice comes once.
	cgroup_names_drop_below(&live->cgroups);
	feed->cgroups = &live->cgroups;
	feed->cgroup_mount = &live->cgroup_mount;
	return 0;
}

static int add_events(struct watching *live)
{
	const struct cgroup_names *groups = &live->cgroups;
	struct feed *feed = live->feed;
	size_t per_event = groups->v.n ? groups->v.n : 1, n = feed->events.n * per_event + 1, at = 0;
	bool counts_only = true, in_kernel = false;
	const char *filter = NULL; // what the kernel gets
	int err = 0;

	live->opened_specs = xcalloc(n, sizeof(*live->opened_specs));
	live->wanted = xcalloc(n, sizeof(struct feed_event *));
	for (size_t i = 0; i < feed->events.n * per_event && !err; i++) {
		struct feed_event *wanted = feed->events.v[i / per_event];
		struct event_spec *spec = &live->opened_specs[at];

		// Of all groups and of none.
		if (i % per_event && wanted->everywhere)
			continue;
		if (wanted->foreign) {
			err = i % per_event ? 0 : feed_make_test(live->feed, wanted);
			continue;
		}
		// Its own attr and plan, though others may want the same kernel event.
		if (i % per_event == 0) {
			wanted->event =
				arena_memdup(&live->arena, wanted->event, sizeof(*wanted->event));
			err = wanted->in_kernel ? 0 : watching_filter(live, wanted, &filter);
		}
		live->wanted[at++] = wanted;
		spec->attr = wanted->event->attr;
		spec->name = wanted->event->name;
		spec->filter = without_us(live, wanted, filter);
		spec->scale = 1;
		spec->tp_system = system_of(wanted);
		spec->tp_name = wanted->event->tp ? tracepoint_name(wanted->event->tp) : NULL;
		set_attr(live, wanted, &spec->attr);
		counts_only &= wanted->counts;
		in_kernel |= wanted->in_kernel;
		if (wanted->cpus && !err)
			err = add_cpu(spec, &live->arena, str_of(wanted->cpus));
		struct opened_event *opened = opened_add(&live->opened, spec);
		opened->system_wide = wanted->everywhere;
		if (groups->v.n && !wanted->everywhere && !err) {
			int fd = cgroup_open(&live->cgroup_mount, groups->v.v[i % per_event]);

			opened->cgroup_fd = fd < 0 ? -1 : fd;
			err = fd < 0 ? fd : 0;
		}
	}
	if (err || !at || (counts_only && !(in_kernel && feed->options->needs_tasks)))
		return err;
	if (feed->options->needs_tasks || feed->options->needs_maps || feed->options->to) {
		struct event_spec *spec = &live->opened_specs[live->opened.events.n];

		set_dummy(live, spec);
		opened_add(&live->opened, spec);
	}
	return 0;
}

size_t watching_pages(const struct watching *live)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = RING_BYTES;
	size_t rings = live->target.cpus.v[0] < 0 ? live->target.threads.n : live->target.cpus.n;
	struct rlimit limit;

	if (live->feed->options->mmap_pages)
		return live->feed->options->mmap_pages;
	while (size > LEAST_RING_BYTES && size * rings > RINGS_BYTES)
		size /= 2;
	if (geteuid() == 0)
		return size / page;
	// perf_event_mlock_kb for each CPU, and beyond that what the user may lock at all.
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return 0;
	while (size > LEAST_RING_BYTES && size * rings > limit.rlim_cur)
		size /= 2;
	return size > LEAST_RING_BYTES ? size / page : 0;
}

static void choose_wakeups(struct watching *live)
{
	size_t pages = watching_pages(live), page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = pages ? pages * page : LEAST_RING_BYTES;
	unsigned percent = live->feed->options->watermark_percent;
	size_t wake = percent ? size / 100 * percent : MIN(size / 2, (size_t)WAKE_BYTES);

	for (size_t i = 0; i < live->opened.events.n; i++) {
		struct perf_event_attr *attr = &live->opened_specs[i].attr;

		if (attr->watermark)
			attr->wakeup_watermark = (uint32_t)MAX(wake, (size_t)1);
	}
}

void watching_note_ids(struct watching *live)
{
	size_t n = live->opened.events.n;
	auto_free struct event **events = xcalloc(n + 1, sizeof(struct event *));

	// What is counted in the kernel stays what it is; a dummy stands for it here.
	for (size_t i = 0; i < n; i++)
		events[i] = live->wanted[i] && !live->wanted[i]->in_kernel ? live->wanted[i]->event
									   : NULL;
	rings_learn(&live->rings, &live->opened, events);
	for (size_t i = 0; i < n; i++) {
		if (!events[i])
			continue;
		events[i]->plan = live->rings.sources[i].plan;
		events[i]->attr = live->opened.events.v[i].spec->attr;
		events[i]->user = live->wanted[i];
	}
}

static void prepare_counts(struct watching *live)
{
	size_t n = 0;

	live->counts_stride = MAX(live->target.cpus.n, live->cpus_n) * live->target.threads.n;
	for (size_t i = 0; i < live->opened.events.n; i++)
		n += live->wanted[i] && live->wanted[i]->counts;
	live->counts_n = n;
	live->last_counts = xcalloc(n * live->counts_stride + 1, sizeof(*live->last_counts));
}

static int make_target(struct watching *live)
{
	const struct feed_options *options = live->feed->options;
	struct target_options wanted = options->target;
	struct target_options all = {.cpus = options->target.cpus, .all_cpus = true};
	bool counts = live->feed->events.n > 0;
	int err;

	for (size_t i = 0; i < live->feed->events.n; i++)
		counts &= live->feed->events.v[i]->counts;
	if (options->cgroups && feed_has_tasks(live->feed))
		return fail(EINVAL,
			    "--cgroups watches groups, -p, -t or a command tasks: choose one");
	if (!feed_has_tasks(live->feed))
		wanted.all_cpus = true;
	wanted.workload = live->workload.pid;
	wanted.per_thread = counts && feed_has_tasks(live->feed);
	err = target_init(&live->target, options->everywhere ? &all : &wanted);
	if (!err && options->everywhere && live->feed->options->workload)
		live->target.has_workload = true;
	// What they start lives on, and is wanted then.
	if (!err && options->everywhere && !options->follows && (wanted.pids || wanted.tids)) {
		wanted.per_thread = true;
		err = target_init(&live->asked, &wanted);
	}
	return err;
}

int watching_tell_opened(struct watching *live, size_t first, size_t n)
{
	const struct feed_hooks *hooks = live->feed->hooks;
	size_t threads = live->target.threads.n;
	int err = 0;

	live->feed->target = &live->target;
	for (size_t i = 0; i < live->opened.events.n && hooks->opened; i++) {
		const struct opened_event *event = &live->opened.events.v[i];

		size_t end = event->system_wide ? MIN(event->fds.n, (first + n) * threads) : 0;

		for (size_t k = first * threads; k < end && !err; k++) {
			if (event->fds.v[k] >= 0)
				err = hooks->opened(live->feed->arg, live->wanted[i],
						    (uint32_t)live->target.cpus.v[k / threads],
						    event->fds.v[k]);
		}
	}
	return err;
}

int watching_open(struct watching *live)
{
	bool samples = false;
	int err;

	live->has_clockid =
		(clock_is_fast() || live->feed->options->monotonic) && !live->feed->options->tsc;
	err = make_target(live);
	if (!err && live->feed->options->cgroups)
		err = select_cgroups(live);
	if (!err)
		err = add_events(live);
	if (err)
		return err;
	// Without the right to watch the kernel: user space alone, and said so.
	live->opened.specs = &live->specs;
	choose_wakeups(live);
	err = opened_open(&live->opened, &live->target);
	if (!err)
		err = opened_filter(&live->opened);
	if (err)
		return err;
	live->has_clockid &= !live->opened.missing.clockid;
	for (size_t i = 0; i < live->opened.events.n; i++)
		samples |= !live->wanted[i] || !live->wanted[i]->counts;
	if (samples && live->opened.events.n)
		err = opened_map(&live->opened, watching_pages(live), false);
	if (err)
		return err;
	watching_note_ids(live);
	live->cpus_n = (size_t)MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
	for (size_t i = 0; i < live->target.cpus.n; i++)
		live->cpus_n = MAX(live->cpus_n, (size_t)(live->target.cpus.v[i] + 1));
	prepare_counts(live);
	watching_cpus_init(live);
	return watching_tell_opened(live, 0, live->target.cpus.n);
}

// The count so far of one of the event's cells. False: it can't be read.
static bool read_count(struct watching *live, const struct opened_event *event, size_t at,
		       uint64_t *ret)
{
	struct {
		uint64_t value, enabled, running;
	} count;

	if (event->fds.v[at] < 0 || read(event->fds.v[at], &count, sizeof(count)) != sizeof(count))
		return false;
	if (count.enabled && !count.running && !live->warned_not_running) {
		live->warned_not_running = true;
		warn("event %s did not count: the processor's counters were all taken", event->name);
	}
	if (count.running && count.running < count.enabled)
		count.value = (uint64_t)((double)count.value * (double)count.enabled /
					 (double)count.running);
	*ret = count.value;
	return true;
}

// The thread of a cell, or its CPU.
static uint32_t instance_of(const struct target *target, size_t at)
{
	const size_t threads = target->threads.n;
	const pid_t thread = target->threads.v[at % threads];

	return thread >= 0 ? (uint32_t)thread : (uint32_t)target->cpus.v[at / threads];
}

int watching_counts(struct watching *live)
{
	const struct feed_hooks *hooks = live->feed->hooks;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < live->opened.events.n && !err; i++) {
		const struct opened_event *event = &live->opened.events.v[i];
		struct feed_event *wanted = live->wanted[i];

		if (!wanted || !wanted->counts)
			continue;
		for (size_t k = 0; k < event->fds.n && !err; k++) {
			uint64_t *last = &live->last_counts[n * live->counts_stride + k], now, before;

			if (!read_count(live, event, k, &now))
				continue;
			before = *last;
			*last = now;
			if (hooks->count)
				err = hooks->count(live->feed->arg, wanted,
						   instance_of(&live->target, k),
						   now > before ? now - before : 0);
		}
		n++;
	}
	return err;
}

uint64_t watching_lost(const struct watching *live)
{
	uint64_t all = 0;

	for (size_t i = 0; i < live->opened.events.n; i++) {
		const struct opened_event *event = &live->opened.events.v[i];
		uint64_t values[3]; // value, id, lost

		if ((event->spec->attr.read_format & PERF_FORMAT_LOST) == 0 || !live->wanted[i])
			continue;
		for (size_t k = 0; k < event->fds.n; k++) {
			if (event->fds.v[k] >= 0 &&
			    read(event->fds.v[k], values, sizeof(values)) == sizeof(values))
				all += values[2];
		}
	}
	return all;
}
