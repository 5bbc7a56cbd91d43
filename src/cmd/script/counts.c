// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/script/counts.h"
#include "base/alloc.h"
#include "base/log.h"

// CPUs times threads of one recording: more than any machine has.
enum { CELLS_MAX = 1 << 14 };

static void take_cpus(struct counts *counts, const struct perf_event_header *header)
{
	size_t n = record_cpu_map(header, NULL, 0);
	auto_free int *cpus = xcalloc(n + 1, sizeof(*cpus));

	if (counts->cpus.n)
		return;
	record_cpu_map(header, cpus, n);
	for (size_t i = 0; i < n; i++)
		vec_push(&counts->cpus, cpus[i]);
}

static void take_threads(struct counts *counts, const struct perf_event_header *header)
{
	const struct record_thread_map *map = (const void *)header;
	size_t n = header->size < sizeof(*map)
			   ? 0
			   : (header->size - sizeof(*map)) / sizeof(map->threads[0]);

	if (counts->threads.n)
		return;
	for (size_t i = 0; i < MIN(n, map->nr); i++)
		vec_push(&counts->threads, (int)map->threads[i].pid);
}

// Maps stand once, before the counts; a second one would be of other cells.
static struct counts_value *values_of(struct counts *counts, struct recording *recording, size_t event)
{
	size_t cells = counts->cpus.n * counts->threads.n;

	if (!cells || counts->cpus.n > CELLS_MAX || counts->threads.n > CELLS_MAX || cells > CELLS_MAX)
		return NULL;
	if (!counts->values) {
		counts->events_n = recording->events.n;
		counts->values = xcalloc(counts->events_n * cells + 1, sizeof(*counts->values));
	}
	return event < counts->events_n ? counts->values + event * cells : NULL;
}

static void take_count(struct counts *counts, struct recording *recording,
		       const struct perf_event_header *header)
{
	const struct record_stat *count = (const void *)header;
	struct counts_value *values;
	const struct event *event;
	size_t cpu = 0;

	if (header->size < sizeof(*count))
		return;
	event = recording_event_by_id(recording, count->id);
	values = event ? values_of(counts, recording, event->index) : NULL;
	while (cpu < counts->cpus.n && counts->cpus.v[cpu] != (int)count->cpu)
		cpu++;
	if (!values || cpu == counts->cpus.n || count->thread >= counts->threads.n)
		return;
	values[cpu * counts->threads.n + count->thread] =
		(struct counts_value){count->value, count->enabled_ns, count->running_ns};
}

static void print(struct counts *counts, struct out *out, struct recording *recording,
		  uint64_t time_ns)
{
	typedef unsigned long long ull;

	if (!counts->has_heading)
		out_printf(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			   "RUN", "TIME", "EVENT");
	counts->has_heading = true;
	for (size_t e = 0; e < recording->events.n; e++) {
		const struct counts_value *values = values_of(counts, recording, e);

		for (size_t t = 0; values && t < counts->threads.n; t++) {
			for (size_t c = 0; c < counts->cpus.n; c++) {
				const struct counts_value *value = values + c * counts->threads.n + t;

				out_printf(out, "%3d %8d %15llu %15llu %15llu %15llu ",
					   counts->cpus.v[c], counts->threads.v[t],
					   (ull)value->value, (ull)value->enabled_ns,
					   (ull)value->running_ns, (ull)time_ns);
				out_safe(out, recording->events.v[e]->name);
				out_char(out, '\n');
			}
		}
	}
}

void counts_take(struct counts *counts, struct out *out, struct recording *recording,
		 const struct perf_event_header *header)
{
	const struct record_stat_round *round = (const void *)header;

	switch (header->type) {
	case RECORD_CPU_MAP:
		take_cpus(counts, header);
		break;
	case RECORD_THREAD_MAP:
		take_threads(counts, header);
		break;
	case RECORD_STAT:
		take_count(counts, recording, header);
		break;
	case RECORD_STAT_ROUND:
		if (header->size >= sizeof(*round))
			print(counts, out, recording, round->time_ns);
		break;
	default:
		break;
	}
}

void counts_done(struct counts *counts)
{
	vec_done(&counts->cpus);
	vec_done(&counts->threads);
	free(counts->values);
}
