// SPDX-License-Identifier: GPL-2.0-or-later
// --to: what comes out of the rings goes to a perf.data as well, as it lies.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "flow/synthesize.h"
#include "input/core/live.h"
#include <fcntl.h>
#include <time.h>

static int put_tasks(struct watching *live, const int *ids, size_t n)
{
	const size_t most = (UINT16_MAX - sizeof(struct record_thread_map)) /
			    sizeof(((struct record_thread_map *)NULL)->threads[0]);
	auto_free struct record_thread_map *map = NULL;
	size_t size;

	if (n > most)
		warn("%zu tasks are watched, the recording can name only %zu: --from leaves out the others",
		     n, most);
	n = MIN(n, most);
	size = sizeof(*map) + n * sizeof(map->threads[0]);
	map = xcalloc(1, size);
	map->header.type = RECORD_THREAD_MAP;
	map->header.size = (uint16_t)size;
	map->nr = n;
	for (size_t i = 0; i < n; i++)
		map->threads[i].pid = (uint64_t)(int64_t)ids[i];
	return n ? writer_records(live->writer, map, size) : 0;
}

// Whom the events are of: who reads the recording watches the same.
static int put_watched(struct watching *live)
{
	const struct feed *feed = live->feed;
	struct target_options wanted = feed->options->target;
	struct target target;
	int err;

	if (live->workload.pid)
		return put_tasks(live, &live->workload.pid, 1);
	if (!feed_has_tasks(feed))
		return 0;
	if (!feed->options->everywhere)
		return put_tasks(live, live->target.threads.v, live->target.threads.n);
	wanted.cpus = NULL;
	wanted.per_thread = true;
	err = target_init(&target, &wanted);
	if (err)
		return err;
	err = put_tasks(live, target.threads.v, target.threads.n);
	target_done(&target);
	return err;
}

int watching_to_open(struct watching *live)
{
	const struct feed_options *options = live->feed->options;
	size_t n = live->opened.events.n;
	auto_free struct writer_event *events = xcalloc(n + 1, sizeof(*events));
	struct writer_options how = {.events = events,
				     .events_n = n,
				     .command_line = options->command_line,
				     .no_buildid = true,
				     .has_clockid = live->has_clockid,
				     .clockid = CLOCK_MONOTONIC,
				     .has_sample_time = true,
				     .root = ""};
	int err;

	for (size_t i = 0; i < n; i++) {
		const struct opened_event *event = &live->opened.events.v[i];

		if (live->wanted[i] && live->wanted[i]->counts)
			return fail(EINVAL, "--to keeps events, and here they are only counted");
		events[i] = (struct writer_event){.attr = event->spec->attr,
						  .name = event->name,
						  .ids = event->ids.v,
						  .ids_n = event->ids.n,
						  .leader = (uint32_t)i,
						  .scale = 1,
						  .tp_system = event->spec->tp_system,
						  .tp_name = event->spec->tp_name};
	}
	live->to_fd = open(options->to, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (live->to_fd < 0)
		return fail(errno, "can't create %s: %s", options->to, strerror(errno));
	err = writer_new(&live->writer, live->to_fd, &how);
	return err ? err : put_watched(live);
}

int watching_to_fresh(void *arg, const struct ring *ring, const struct ring_pieces *pieces)
{
	struct watching *live = arg;

	// The file names the events' ids at its beginning.
	if (ring->cpu >= 0 && live->returned[ring->cpu])
		return 0;
	return writer_record_of_ring(live->writer, pieces);
}

int watching_to_close(struct watching *live)
{
	int err;

	if (live->feed->last_ns)
		writer_sample_time(live->writer, live->feed->first_ns, live->feed->last_ns);
	err = writer_finish(live->writer);
	writer_free(live->writer);
	live->writer = NULL;
	if (close(live->to_fd) < 0 && !err)
		err = fail(errno, "can't write %s: %s", live->feed->options->to, strerror(errno));
	live->to_fd = -1;
	return err;
}

static int learn(void *arg, const struct perf_event_header *header)
{
	struct watching *live = arg;

	sym_record(live->feed->sym, header, UINT64_MAX);
	return live->writer ? writer_records(live->writer, header, header->size) : 0;
}

static int learn_groups(const struct synth *synth)
{
	struct cgroup_mount mount;
	int err = cgroup_find_ids(&mount, "");

	if (err < 0)
		return err;
	err = synth_cgroups(synth, mount.path);
	free(mount.path);
	return err;
}

int watching_learn(struct watching *live)
{
	const struct feed_options *options = live->feed->options;
	struct synth synth = {.root = "",
			      .trailer_bytes = live->rings.sources[0].plan.trailer_size,
			      .no_mmaps = !options->needs_maps,
			      .emit = learn,
			      .arg = live};
	bool hidden = false, groups = false;
	int err = 0;

	if (options->needs_maps || live->writer) {
		live->knows_kernel = true;
		err = synth_kernel(&synth, &hidden);
	}
	if (!err)
		err = synth_all_processes(&synth);
	vec_each(struct feed_event *, wanted, &live->feed->events)
		groups |= (*wanted)->cgroup;
	if (!err && groups)
		err = learn_groups(&synth);
	return err || !live->writer ? err : writer_init_done(live->writer);
}

static int learn_name(void *arg, const struct perf_event_header *header)
{
	struct watching *live = arg;

	sym_record(live->feed->sym, header, UINT64_MAX);
	return 0;
}

void watching_learn_kernel(struct watching *live)
{
	const struct synth synth = {.root = "",
				    .trailer_bytes = live->rings.sources[0].plan.trailer_size,
				    .emit = learn_name,
				    .arg = live};
	bool hidden;

	live->knows_kernel = true;
	if (synth_kernel(&synth, &hidden) < 0)
		err_clear();
}
