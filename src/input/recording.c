// SPDX-License-Identifier: GPL-2.0-or-later
// A perf.data of any age as a source of events (--from).
#include "base/err.h"
#include "base/nearest.h"
#include "flow/filter.h"
#include "flow/run.h"
#include "input/core/input.h"
#include <time.h>

struct source {
	struct feed *feed;
	struct run *run;
	struct filter *filter; // -C -p -t
	uint64_t next_tick_ns;
};

// Was it made of some tasks? Looked up in its first records, which say so before they name all others.
static void read_tasks(struct source *source)
{
	enum { MOST_RECORDS = 1 << 14 };
	struct recording *recording = source->run->recording;
	struct feed *feed = source->feed;
	struct record record;

	if (recording->is_pipe)
		return;
	for (int i = 0; i < MOST_RECORDS && recording_next(recording, &record) > 0; i++) {
		const struct record_thread_map *map = (const void *)record.header;
		uint64_t *tasks;
		size_t n;

		if (record.header->type == PERF_RECORD_SAMPLE)
			break;
		if (record.header->type != RECORD_THREAD_MAP || map->header.size < sizeof(*map))
			continue;
		n = MIN(map->nr, (map->header.size - sizeof(*map)) / sizeof(map->threads[0]));
		tasks = arena_alloc(&feed->arena, (n + 1) * sizeof(*tasks));
		for (size_t k = 0; k < n; k++) {
			uint64_t id = map->threads[k].pid;

			if (id && id < 1u << 31)
				tasks[feed->recorded_tasks_n++] = id;
		}
		feed->recorded_tasks = tasks;
		break;
	}
	for (size_t i = 0; i < recording->events.n; i++)
		feed->recorded_children |= recording->events.v[i]->attr.inherit;
	recording_rewind(recording);
}

static int open_recording(struct feed *feed)
{
	struct source *source = NEW(struct source);
	struct run_options options = {.path = feed->options->from, .sym = {.functions = true}};
	int err;

	feed->input = source;
	source->feed = feed;
	err = run_open(&source->run, &options);
	if (err)
		return err;
	feed->run = source->run;
	feed->sym = source->run->sym;
	feed->arch = source->run->recording->info.arch;
	feed->host = source->run->recording->info.hostname;
	read_tasks(source);
	return 0;
}

// Of tracepoints the name is SYSTEM:NAME, globs; other events ("cycles:u") have no such parts.
static bool fits(const struct event *event, const char *wanted)
{
	struct str name = str_of(wanted), system = str_cut(&name, ':');
	auto_free char *system_glob = str_dup(system), *name_glob = str_dup(name);

	if (!event->tp || !strcmp(event->name, wanted))
		return !strcmp(event->name, wanted);
	return name.p && text_glob(tracepoint_system(event->tp), system_glob) &&
	       text_glob(tracepoint_name(event->tp), name_glob);
}

static int not_found(const struct recording *recording, const char *name)
{
	VEC(const char *) names = {0};
	const char *near;

	for (size_t i = 0; i < recording->events.n; i++)
		vec_push(&names, recording->events.v[i]->name);
	vec_push(&names, NULL);
	near = nearest(name, names.v);
	if (!near && names.n == 2)
		near = names.v[0];
	if (near)
		fail(ENOENT, "%s has no event %s; it has '%s'", recording->path, name, near);
	else
		fail(ENOENT, "%s has no event %s; sonde evlist -i %s lists what it has",
		     recording->path, name, recording->path);
	vec_done(&names);
	return -ENOENT;
}

// The same event once more, not another place of a static probe.
static bool seen_before(const struct recording *recording, size_t i)
{
	const struct event *event = recording->events.v[i];

	for (size_t k = 0; k < i; k++) {
		const struct event *other = recording->events.v[k];

		if (!strcmp(other->name, event->name) && other->attr.type == event->attr.type &&
		    other->attr.config == event->attr.config &&
		    other->attr.config2 == event->attr.config2)
			return true;
	}
	return false;
}

// A probe that was made for the run (event/core/dynamic) goes by another name than the kernel's.
static bool has_own_name(const struct event *event)
{
	struct str name = str_of(event->name), system;

	if (!event->tp)
		return false;
	system = str_cut(&name, ':');
	return str_is(system, tracepoint_system(event->tp)) && name.p &&
	       str_starts(name, tracepoint_name(event->tp));
}

static int find(struct feed *feed, const char *name, input_found *found, void *arg)
{
	const struct source *source = feed->input;
	struct recording *recording = source->run->recording;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < recording->events.n && !err; i++) {
		struct event *event = recording->events.v[i];

		if (!fits(event, name) || seen_before(recording, i))
			continue;
		n++;
		bool named = has_own_name(event);
		err = found(arg, event, named ? tracepoint_system(event->tp) : NULL,
			    named ? tracepoint_name(event->tp) : NULL);
	}
	return err || n ? err : not_found(recording, name);
}

// The recorded event of that name with so many others of it before; NULL: there are not so many.
static struct event *recorded(const struct recording *recording, const char *name, size_t before)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		if (!strcmp(recording->events.v[i]->name, name) && !before--)
			return recording->events.v[i];
	}
	return NULL;
}

// Each wanted event is joined to the recorded one of its name. Where the recording has as many of a name as are wanted, the
// first is the first (a recording of the same profiler); else all get the first's.
static void join(struct source *source)
{
	struct feed *feed = source->feed;
	struct recording *recording = source->run->recording;

	for (size_t i = 0; i < recording->events.n; i++)
		recording->events.v[i]->user = NULL;
	for (size_t i = feed->events.n; i-- > 0;) {
		struct feed_event *wanted = feed->events.v[i];
		const char *name = wanted->event->name;
		size_t all = 0, before = 0;
		bool as_many;

		for (size_t k = 0; k < feed->events.n; k++) {
			if (strcmp(feed->events.v[k]->event->name, name))
				continue;
			all++;
			before += k < i;
		}
		as_many = recorded(recording, name, all - 1) && !recorded(recording, name, all);
		struct event *event = recorded(recording, name, as_many ? before : 0);
		if (!event)
			continue;
		wanted->event = event;
		wanted->next_same = event->user;
		event->user = wanted;
	}
}

// ---- what the recording gives

static int give_counts(struct source *source)
{
	struct feed *feed = source->feed;
	int err = 0;

	for (size_t i = 0; i < feed->events.n && !err; i++) {
		struct feed_event *wanted = feed->events.v[i];
		struct map_slot slot;

		for (size_t at = 0; !err && map_next(&wanted->advanced, &at, &slot);) {
			if (feed->hooks->count)
				err = feed->hooks->count(feed->arg, wanted, (uint32_t)slot.key,
							 slot.value);
		}
		// What has been seen stays there with a count of 0.
		for (size_t at = 0; map_next(&wanted->advanced, &at, &slot);)
			*map_at(&wanted->advanced, slot.key, NULL) = 0;
	}
	return err;
}

static int advance(struct source *source, uint64_t time)
{
	struct feed *feed = source->feed;
	int err = 0;

	if (!feed->tick_ns || time == UINT64_MAX)
		return 0;
	if (!source->next_tick_ns)
		source->next_tick_ns = time + feed->tick_ns;
	while (!err && time >= source->next_tick_ns) {
		err = give_counts(source);
		if (!err && feed->hooks->tick)
			err = feed->hooks->tick(feed->arg, source->next_tick_ns);
		source->next_tick_ns += feed->tick_ns;
		// A hole of hours is not filled with empty intervals.
		if (time > source->next_tick_ns &&
		    (time - source->next_tick_ns) / feed->tick_ns > 1000)
			source->next_tick_ns = time;
	}
	return err;
}

// Nothing was sampled live of what is only counted.
static int count(struct feed *feed, struct feed_event *wanted, const struct hit *hit)
{
	if (wanted->test && !feed_test(feed, wanted, &hit->sample))
		return 0;
	*map_at(&wanted->advanced, feed_has_tasks(feed) ? hit->sample.tid : hit->sample.cpu, NULL) +=
		hit->event->tp ? 1 : hit->sample.period;
	return 0;
}

static int take(struct source *source, const struct hit *hit)
{
	const struct sample *sample = &hit->sample;
	struct feed *feed = source->feed;
	int err = advance(source, sample->time);

	if (err || feed->stop)
		return err ? err : 1;
	if (!hit->event->user)
		return 0;
	bool meant = filter_sample(source->filter, sample);
	feed->last_ns = sample->time;
	if (feed->first_ns == UINT64_MAX)
		feed->first_ns = sample->time;
	for (struct feed_event *wanted = hit->event->user; wanted && !err;
	     wanted = wanted->next_same) {
		if (!meant && !(wanted->everywhere && filter_cpu(source->filter, sample->cpu)))
			continue;
		err = wanted->counts ? count(feed, wanted, hit) : feed_hit(feed, wanted, hit);
	}
	return err;
}

static int take_samples(void *arg, struct run *run, const struct hit *samples, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = take(arg, &samples[i]);
	return err;
}

static int take_loss(void *arg, struct run *run, const struct run_loss *loss)
{
	struct source *source = arg;

	return feed_lost(source->feed, loss);
}

static int take_record(void *arg, struct run *run, const struct hit *hit)
{
	return feed_take_record(((struct source *)arg)->feed, run, hit);
}

static int run(struct feed *feed)
{
	static const struct run_hooks hooks = {.hits = take_samples,
					       .record = take_record,
					       .lost = take_loss};
	struct source *source = feed->input;
	const struct recording *recording = source->run->recording;
	const struct recording_info *info = &recording->info;
	const struct target_options *target = &feed->options->target;
	struct filter_options filter = {.cpus = target->cpus,
					.pids = target->pids,
					.tids = target->tids};
	int err;

	// Who is meant is the consumer's business then.
	if (feed->options->everywhere)
		filter.pids = filter.tids = NULL;
	err = filter_new(&source->filter, &filter, recording);

	if (feed->options->to)
		err = fail(EINVAL, "--to keeps what the kernel tells; --from has it already");
	if (!err && feed->options->tsc)
		err = fail(EINVAL, "--tsc is for the running kernel, a recording has its own clock");
	if (!err && feed->options->cgroups)
		err = fail(EINVAL, "--cgroups watches the running kernel, not a recording");
	if (!err && feed->options->workload)
		err = fail(EINVAL, "a recording (--from) and a command to run exclude each other");
	if (err)
		return err;
	if (info->has_clock_data) {
		feed->has_wall = true;
		feed->wall_offset_ns = (int64_t)(info->wall_clock_ns - info->clock_id_time_ns);
	}
	join(source);
	for (size_t i = 0; i < feed->events.n && !err; i++)
		err = feed_make_test(feed, feed->events.v[i]);
	if (!err)
		err = feed_begin(feed);
	if (err)
		return err;
	err = run_process(source->run, &hooks, source);
	if (!err)
		err = give_counts(source);
	feed->stats.late = source->run->stats.out_of_order;
	if (run_warn(source->run))
		feed->exit_code = 1;
	return err;
}

static void close_recording(struct feed *feed)
{
	struct source *source = feed->input;

	if (!source)
		return;
	filter_free(source->filter);
	run_close(source->run);
	free(source);
	feed->sym = NULL;
	feed->input = NULL;
}

const struct input input_recording = {
	.name = "recording",
	.summary = "a perf.data file",
	.open = open_recording,
	.find = find,
	.run = run,
	.close = close_recording,
};
