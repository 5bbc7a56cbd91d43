// SPDX-License-Identifier: GPL-2.0-or-later
// stat report: the counts of a recording that stat record made, ours or perf's.
#include <stdio.h>
#include "base/err.h"
#include "base/log.h"
#include "cmd/stat/stat.h"
#include "data/recording.h"
#include "sys/topology.h"

// CPUs times threads of one recording: more than any machine has.
enum { CELLS_MAX = 1 << 14 };

struct kept {
	struct counting *stat;
	struct recording *recording;
	struct topology topology;
	struct arena arena;
	VEC(const char *) comms; // of the threads
	enum stat_by recorded;
	bool by_given, is_read, has_rounds;
};

static void take_events(struct kept *kept)
{
	struct event_specs *specs = &kept->stat->options->specs;

	for (size_t i = 0; i < kept->recording->events.n; i++) {
		const struct event *event = kept->recording->events.v[i];
		struct event_spec spec = {
			.attr = event->attr,
			.name = event->name,
			.leader = (uint32_t)i,
			.group_n = 1,
		};

		vec_push(&specs->events, spec);
	}
	stat_counters_add(kept->stat, NULL, -1);
	for (size_t i = 0; i < kept->recording->events.n; i++)
		kept->stat->counters.v[i].supported = kept->recording->events.v[i]->ids.n > 0;
}

static void take_threads(struct kept *kept, const struct perf_event_header *header)
{
	const struct record_thread_map *map = (const void *)header;
	size_t n = header->size < sizeof(*map)
			   ? 0
			   : (header->size - sizeof(*map)) / sizeof(map->threads[0]);

	for (size_t i = 0; i < MIN(n, map->nr); i++) {
		struct str comm = {map->threads[i].comm, strnlen(map->threads[i].comm, 16)};

		vec_push(&kept->stat->target.threads, (pid_t)map->threads[i].pid);
		vec_push(&kept->comms, arena_strdup(&kept->arena, comm));
	}
}

static void take_cpus(struct kept *kept, const struct perf_event_header *header)
{
	size_t n = record_cpu_map(header, NULL, 0);
	auto_free int *cpus = xcalloc(n + 1, sizeof(*cpus));

	record_cpu_map(header, cpus, n);
	for (size_t i = 0; i < n; i++)
		vec_push(&kept->stat->target.cpus, cpus[i]);
}

static void take_config(struct kept *kept, const struct perf_event_header *header)
{
	const struct record_stat_config *config = (const void *)header;
	struct stat_options *options = kept->stat->options;
	size_t n = header->size < sizeof(*config)
			   ? 0
			   : (header->size - sizeof(*config)) / sizeof(config->terms[0]);

	for (size_t i = 0; i < MIN(n, config->nr); i++) {
		uint64_t value = config->terms[i].value;

		switch (config->terms[i].tag) {
		case STAT_CONFIG_AGGREGATION:
			kept->recorded = stat_by_of(value);
			break;
		case STAT_CONFIG_INTERVAL:
			options->interval_ms = (unsigned)MIN(value, UINT32_MAX);
			break;
		case STAT_CONFIG_SCALE:
			options->scale = value;
			break;
		}
	}
}

// Rows can be made when it is known what was counted where.
static int begin(struct kept *kept)
{
	struct counting *stat = kept->stat;
	struct stat_options *options = stat->options;

	options->by = kept->by_given ? options->by : kept->recorded;
	bool by_cpu = options->by != STAT_BY_ALL && options->by != STAT_BY_THREAD;
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	if (!cells)
		return fail(EINVAL, "%s: counts come before the CPUs and threads that they are of",
			    kept->recording->path);
	if (stat->target.cpus.n > CELLS_MAX || stat->target.threads.n > CELLS_MAX || cells > CELLS_MAX)
		return fail(EINVAL, "%s: counts of %zu CPUs and %zu threads, more than there can be",
			    kept->recording->path, stat->target.cpus.n, stat->target.threads.n);
	if (by_cpu && stat->target.cpus.v[0] < 0) {
		warn("the counts are of tasks wherever they ran: they can't be told apart by CPU");
		options->by = kept->recorded == STAT_BY_THREAD ? STAT_BY_THREAD : STAT_BY_ALL;
	}
	// Of records that stand behind the events.
	for (size_t i = 0; i < kept->recording->events.n; i++) {
		const struct event *event = kept->recording->events.v[i];

		options->specs.events.v[i].unit = event->unit && *event->unit ? event->unit : NULL;
		options->specs.events.v[i].scale = event->scale ? event->scale : 1;
	}
	recording_topology(kept->recording, &kept->topology);
	stat_rows_make(stat, &kept->topology);
	vec_each(struct stat_row, row, &stat->rows) {
		for (size_t i = 0; i < kept->comms.n; i++) {
			if (options->by == STAT_BY_THREAD && stat->target.threads.v[i] == row->thread)
				snprintf(row->comm, sizeof(row->comm), "%s", kept->comms.v[i]);
		}
	}
	kept->is_read = true;
	return stat_output_open(stat);
}

static int take_count(struct kept *kept, const struct perf_event_header *header)
{
	const struct record_stat *count = (const void *)header;
	struct counting *stat = kept->stat;
	const struct event *event;
	size_t cpu = 0;
	int err = kept->is_read ? 0 : begin(kept);

	if (err || header->size < sizeof(*count))
		return err;
	event = recording_event_by_id(kept->recording, count->id);
	while (cpu < stat->target.cpus.n && stat->target.cpus.v[cpu] != (int)count->cpu)
		cpu++;
	if (!event || cpu == stat->target.cpus.n || count->thread >= stat->target.threads.n)
		return 0;
	stat_add(stat, &stat->counters.v[event->index], cpu * stat->target.threads.n + count->thread,
		 (struct stat_count){count->value, count->enabled_ns, count->running_ns});
	return 0;
}

static int take_round(struct kept *kept, const struct perf_event_header *header)
{
	const struct record_stat_round *round = (const void *)header;
	struct counting *stat = kept->stat;
	int err = kept->is_read ? 0 : begin(kept);

	if (err || header->size < sizeof(*round))
		return err;
	kept->has_rounds = true;
	if (round->type == STAT_ROUND_FINAL)
		spread_add(&stat->elapsed, (double)round->time_ns);
	if (stat->options->interval_ms && round->time_ns) {
		stat_print_interval(stat, round->time_ns);
		stat_rows_clear(stat);
	} else if (round->type == STAT_ROUND_FINAL) {
		stat_print(stat);
	}
	return 0;
}

static int take(struct kept *kept, const struct perf_event_header *header)
{
	switch (header->type) {
	// Maps stand once; a second one would be of other cells.
	case RECORD_THREAD_MAP:
		if (!kept->stat->target.threads.n)
			take_threads(kept, header);
		return 0;
	case RECORD_CPU_MAP:
		if (!kept->stat->target.cpus.n)
			take_cpus(kept, header);
		return 0;
	case RECORD_STAT_CONFIG:
		take_config(kept, header);
		return 0;
	case RECORD_STAT:
		return take_count(kept, header);
	case RECORD_STAT_ROUND:
		return take_round(kept, header);
	default:
		return 0;
	}
}

static int read_all(struct kept *kept)
{
	struct recording *recording = kept->recording;
	struct record record;
	int err = 0;

	while (!err && recording_next(recording, &record) > 0) {
		err = take(kept, record.header);
	}
	if (!err && !kept->has_rounds)
		err = fail(ENODATA, "%s holds no counts: it was not made by stat record",
			   recording->path);
	if (recording->damage) {
		warn("%s", recording->damage);
		err = err ? err : 1;
	}
	return err;
}

int stat_report(struct counting *stat)
{
	struct stat_options *options = stat->options;
	struct kept kept = {.stat = stat, .by_given = options->by != STAT_BY_ALL};
	const struct recording_options how = {0};
	int err = recording_open(&kept.recording, options->input, &how);

	if (err)
		return err;
	take_events(&kept);
	stat->command = xcalloc(kept.recording->info.command_line.n + 2, sizeof(*stat->command));
	for (size_t i = 0; i < kept.recording->info.command_line.n; i++)
		stat->command[i] = (char *)(uintptr_t)kept.recording->info.command_line.v[i];
	if (!kept.recording->info.command_line.n)
		stat->command[0] = (char *)(uintptr_t) "pipe";
	err = read_all(&kept);
	free(stat->command);
	stat->command = NULL;
	out_flush(&stat->out);
	topology_done(&kept.topology);
	vec_done(&kept.comms);
	arena_done(&kept.arena);
	recording_close(kept.recording);
	return err;
}
