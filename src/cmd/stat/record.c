// SPDX-License-Identifier: GPL-2.0-or-later
// stat record: what counters stood at goes to a recording (tools/perf/Documentation/perf.data-file-format.txt; records THREAD_MAP,
// CPU_MAP, STAT_CONFIG, STAT, STAT_ROUND of tools/lib/perf/include/perf/event.h).
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include "base/err.h"
#include "cmd/core/output.h"
#include "cmd/stat/stat.h"
#include "data/writer.h"

struct stat_file {
	struct writer *writer;
	const char *path;
	int fd;
	uint64_t **ids; // by counter, cell; 0: not open
	size_t counters_n;
};

// perf's numbers of enum aggr_mode, up to 6.2.
static const uint8_t aggregations[] = {
	[STAT_BY_CPU] = 0,  [STAT_BY_ALL] = 1,	  [STAT_BY_SOCKET] = 2, [STAT_BY_DIE] = 3,
	[STAT_BY_CORE] = 4, [STAT_BY_THREAD] = 5, [STAT_BY_NODE] = 7,
};

enum stat_by stat_by_of(uint64_t aggregation)
{
	for (unsigned by = 0; by < ARRAY_SIZE(aggregations); by++) {
		if (aggregations[by] == aggregation)
			return (enum stat_by)by;
	}
	return STAT_BY_ALL;
}

static size_t cells_of(const struct counting *stat)
{
	return stat->target.cpus.n * stat->target.threads.n;
}

static int open_file(struct stat_file *file, const char *output)
{
	file->path = output_path(output);
	if (!file->path)
		return -EINVAL;
	file->fd = 1;
	if (output_is_pipe(output))
		return 0;
	int kept = output_keep_old(file->path);
	if (kept < 0)
		return kept;
	file->fd = open(file->path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	return file->fd < 0 ? fail(errno, "can't create %s: %s", file->path, strerror(errno)) : 0;
}

static int write_threads(struct counting *stat)
{
	const size_t n = stat->target.threads.n;
	struct record_thread_map *map;
	size_t size = sizeof(*map) + n * sizeof(map->threads[0]);
	int err;

	if (size > UINT16_MAX)
		return fail(E2BIG, "%zu threads are more than a recording of counts can name", n);
	map = xcalloc(1, size);
	map->header = (struct perf_event_header){.type = RECORD_THREAD_MAP, .size = (uint16_t)size};
	map->nr = n;
	for (size_t i = 0; i < n; i++) {
		map->threads[i].pid = (uint64_t)(int64_t)stat->target.threads.v[i];
		// Rows have names where they are threads.
		snprintf(map->threads[i].comm, sizeof(map->threads[i].comm), "%.15s",
			 stat->rows.v[stat->row_of[i]].comm);
	}
	err = writer_records(stat->file->writer, map, size);
	free(map);
	return err;
}

static int write_cpus(struct counting *stat)
{
	const size_t n = stat->target.cpus.n;
	size_t size = (sizeof(struct perf_event_header) + 4 + n * 2 + 7) & ~(size_t)7;
	struct {
		struct perf_event_header header;
		uint16_t type, nr, cpus[];
	} * map;
	int err;

	if (size > UINT16_MAX)
		return fail(E2BIG, "%zu CPUs are more than a recording of counts can name", n);
	map = xcalloc(1, size);
	map->header = (struct perf_event_header){.type = RECORD_CPU_MAP, .size = (uint16_t)size};
	map->nr = (uint16_t)n;
	for (size_t i = 0; i < n; i++)
		map->cpus[i] = (uint16_t)stat->target.cpus.v[i];
	err = writer_records(stat->file->writer, map, size);
	free(map);
	return err;
}

static int write_config(struct counting *stat)
{
	const struct {
		struct perf_event_header header;
		uint64_t nr, terms[3][2];
	} config = {
		{.type = RECORD_STAT_CONFIG, .size = sizeof(config)},
		3,
		{{STAT_CONFIG_AGGREGATION, aggregations[stat->options->by]},
		 {STAT_CONFIG_INTERVAL, stat->options->interval_ms},
		 {STAT_CONFIG_SCALE, stat->options->scale}},
	};

	return writer_records(stat->file->writer, &config, sizeof(config));
}

static int make_writer(struct counting *stat)
{
	struct stat_file *file = stat->file;
	auto_free struct writer_event *events = xcalloc(stat->counters.n + 1, sizeof(*events));
	const struct writer_options how = {
		.events = events,
		.events_n = stat->counters.n,
		.pipe = stat->file->fd == 1,
		.no_buildid = true,
		.counts = true,
		.command_line = stat->options->command_line,
		.root = "",
	};
	size_t cells = cells_of(stat);

	for (size_t i = 0; i < stat->counters.n; i++) {
		const struct stat_counter *counter = &stat->counters.v[i];
		struct writer_event *event = &events[i];

		// The ids of what is open stand together for the header, by cell for us.
		uint64_t *known = xcalloc(cells, sizeof(*known));
		*event = (struct writer_event){
			.attr = counter->spec->attr,
			.name = counter->spec->name,
			.ids = known,
			.leader = counter->leader,
			.unit = counter->spec->unit	 ? counter->spec->unit
				: stat_is_clock(counter) ? "msec"
							 : NULL,
			.scale = stat_is_clock(counter) ? 1e-6 : counter->spec->scale,
			.tp_system = counter->spec->tp_system,
			.tp_name = counter->spec->tp_name,
		};
		event->attr.sample_type = PERF_SAMPLE_IDENTIFIER;
		if (counter->spec->tool)
			// Not the kernel's: any number that the kernel won't come to, for the one cell that has it.
			known[event->ids_n++] = file->ids[i][0] = UINT64_MAX - 1 - i;
		for (size_t cell = 0; cell < cells; cell++) {
			uint64_t id;

			if (counter->fds[cell] < 0 ||
			    ioctl(counter->fds[cell], PERF_EVENT_IOC_ID, &id) < 0)
				continue;
			file->ids[i][cell] = id;
			known[event->ids_n++] = id;
		}
	}
	int err = writer_new(&file->writer, file->fd, &how);

	for (size_t i = 0; i < stat->counters.n; i++)
		free((void *)(uintptr_t)events[i].ids);
	return err;
}

int stat_file_open(struct counting *stat)
{
	struct stat_file *file = stat->file = NEW(struct stat_file);
	int err;

	file->counters_n = stat->counters.n;
	file->ids = xcalloc(stat->counters.n + 1, sizeof(*file->ids));
	for (size_t i = 0; i < stat->counters.n; i++)
		file->ids[i] = xcalloc(cells_of(stat), sizeof(*file->ids[i]));
	err = open_file(file, stat->options->output);
	if (!err)
		err = make_writer(stat);
	if (err >= 0)
		err = write_threads(stat);
	if (err >= 0)
		err = write_cpus(stat);
	return err < 0 ? err : write_config(stat);
}

int stat_file_round(struct counting *stat, uint64_t since_ns, bool is_final)
{
	const struct record_stat_round round = {
		{.type = RECORD_STAT_ROUND, .size = sizeof(round)},
		is_final ? STAT_ROUND_FINAL : STAT_ROUND_INTERVAL,
		since_ns,
	};
	struct stat_file *file = stat->file;
	int err = 0;

	if (!file)
		return 0;
	for (size_t cell = 0; cell < cells_of(stat); cell++) {
		for (size_t i = 0; i < file->counters_n && err >= 0; i++) {
			const struct stat_count *now = &stat->counters.v[i].before[cell];
			const struct record_stat record = {
				{.type = RECORD_STAT, .size = sizeof(record)},
				file->ids[i][cell],
				(uint32_t)stat->target.cpus.v[cell / stat->target.threads.n],
				(uint32_t)(cell % stat->target.threads.n),
				now->value,
				now->enabled_ns,
				now->running_ns,
			};

			if (record.id)
				err = writer_records(file->writer, &record, sizeof(record));
		}
	}
	return err < 0 ? err : writer_records(file->writer, &round, sizeof(round));
}

int stat_file_close(struct counting *stat)
{
	struct stat_file *file = stat->file;
	int err = 0;

	if (!file)
		return 0;
	if (file->writer)
		err = writer_finish(file->writer);
	writer_free(file->writer);
	if (file->fd > 1)
		close(file->fd);
	for (size_t i = 0; i < file->counters_n; i++)
		free(file->ids[i]);
	free(file->ids);
	free(file);
	stat->file = NULL;
	return err;
}
