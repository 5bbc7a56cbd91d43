// SPDX-License-Identifier: GPL-2.0-or-later
// Counts events, interval by interval.
#include "base/err.h"
#include "base/search.h"
#include "prof/core/profiler.h"
#include <stdio.h>

enum { MOST_IN_A_CELL = 5 };

// One event on one CPU, or of one thread.
struct stat_cell {
	uint64_t now;
	VEC(uint64_t) periods; // of this interval
};

struct stat_options {
	struct prof_options common;
	uint64_t period_ns;
};

struct stat {
	uint64_t period_ns;
	struct map cells;	 // event << 32 | instance -> pointer
	VEC(uint32_t) instances; // ascending
	struct arena arena;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to count"),
	PROF_OPTIONS_EVENTS,
	PROF_DURATION(0, "period", offsetof(struct stat_options, period_ns), "TIME",
		      "several counts in each interval, one every TIME"),
	PROF_FLAG(0, "perins", PROF_AT(perins),
		  "each CPU (with -p, -t or a command: thread) by itself"),
	PROF_OPTIONS_NO_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof stat -e sched:sched_wakeup,sched:sched_switch",
	 "counts wake-ups and switches every second",
	 "timeout 3 sonde prof stat -e sched:sched_wakeup,sched:sched_switch -i 100 -- sleep 0.3 >out.txt"},
	{"sonde prof stat -e sched:sched_switch --period 100ms -i 1000 --perins",
	 "ten counts a second for each CPU",
	 "sonde prof stat -e sched:sched_switch --period 10ms -i 100 --perins -- sleep 0.2 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	uint64_t interval = prof->options->interval_ms * 1000000;

	stat->period_ns = PROF_OPTIONS(struct stat_options, prof)->period_ns;
	if (stat->period_ns && stat->period_ns < 1000000)
		return fail(EINVAL,
			    "--period: counters are read every 1ms at most; hrcount counts finer");
	if (stat->period_ns && interval && stat->period_ns > interval)
		return fail(EINVAL, "--period is longer than the interval (-i %llu)",
			    (unsigned long long)prof->options->interval_ms);
	prof->period_ns = stat->period_ns;
	return 0;
}

static struct stat_cell *cell_of(struct stat *stat, uint32_t event, uint32_t instance)
{
	struct stat_cell *cell = map_find_ptr(&stat->cells, (uint64_t)event << 32 | instance);
	size_t at;

	if (cell)
		return cell;
	cell = arena_zalloc(&stat->arena, sizeof(*cell));
	map_set_ptr(&stat->cells, (uint64_t)event << 32 | instance, cell);
	at = SEARCH(stat->instances.n, i, stat->instances.v[i] < instance);
	if (at < stat->instances.n && stat->instances.v[at] == instance)
		return cell;
	vec_push(&stat->instances, 0);
	memmove(stat->instances.v + at + 1, stat->instances.v + at,
		(stat->instances.n - 1 - at) * sizeof(uint32_t));
	stat->instances.v[at] = instance;
	return cell;
}

static int count(struct prof *prof, struct prof_event *event, uint32_t instance, uint64_t delta)
{
	cell_of(PROF_STATE(struct stat, prof), event->index, instance)->now += delta;
	return 0;
}

static int period(struct prof *prof, uint64_t now_ns)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	struct map_slot slot;

	for (size_t i = 0; map_next(&stat->cells, &i, &slot);) {
		struct stat_cell *cell = (struct stat_cell *)(uintptr_t)slot.value;

		vec_push(&cell->periods, cell->now);
		cell->now = 0;
	}
	return 0;
}

struct counted {
	uint32_t event, instance; // UINT32_MAX: summed over all
};

// The counts of an event in one interval, n periods. False: it isn't there.
static bool sums(struct stat *stat, struct counted of, uint64_t *ret, size_t n)
{
	bool there = false;

	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < stat->instances.n; i++) {
		const struct stat_cell *cell;

		if (of.instance != UINT32_MAX && stat->instances.v[i] != of.instance)
			continue;
		cell = map_find_ptr(&stat->cells, (uint64_t)of.event << 32 | stat->instances.v[i]);
		there |= cell != NULL;
		// An instance that came late has counts for the last periods only.
		for (size_t k = 0; cell && k < cell->periods.n && k < n; k++)
			ret[n - 1 - k] += cell->periods.v[cell->periods.n - 1 - k];
	}
	return there;
}

static size_t cell_width(const struct prof_event *event, size_t n)
{
	return MAX(strlen(event->label), n * 6 - 1);
}

static void put_instance(struct prof *prof, uint32_t instance)
{
	out_char(prof->out, '[');
	out_u64_zeros(prof->out, instance, 3);
	out_text(prof->out, "] ");
}

// "|9560  10397 9488 |18244 19403 17912|": a few counts each.
static void put_cells(struct prof *prof, uint32_t instance, uint64_t *values, size_t n)
{
	struct stat *stat = PROF_STATE(struct stat, prof);

	for (size_t e = 0; e < prof->events.n; e++) {
		size_t width = cell_width(prof->events.v[e], n), from;

		out_char(prof->out, '|');
		from = prof->out->n;
		if (sums(stat, (struct counted){(uint32_t)e, instance}, values, n)) {
			for (size_t k = 0; k < n; k++)
				out_printf(prof->out, "%s%-5llu", k ? " " : "",
					   (unsigned long long)values[k]);
		}
		from = prof->out->n - from;
		out_fill(prof->out, ' ', width > from ? width - from : 0);
	}
	out_text(prof->out, "|\n");
}

static void put_titles(struct prof *prof, size_t n)
{
	for (size_t e = 0; e < prof->events.n; e++) {
		out_char(prof->out, '|');
		out_text_left(prof->out, prof->events.v[e]->label,
			      (int)cell_width(prof->events.v[e], n));
	}
	out_text(prof->out, "|\n");
}

// "  sched:sched_wakeup  5048| 4911| 5730 | total 15689": many.
static void put_lines(struct prof *prof, uint32_t instance, uint64_t *values, size_t n)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	size_t width = 0;

	for (size_t e = 0; e < prof->events.n; e++)
		width = MAX(width, strlen(prof->events.v[e]->feed->event->name));
	for (size_t e = 0; e < prof->events.n; e++) {
		uint64_t total = 0;

		if (!sums(stat, (struct counted){(uint32_t)e, instance}, values, n))
			continue;
		if (instance != UINT32_MAX)
			put_instance(prof, instance);
		out_text_right(prof->out, prof->events.v[e]->feed->event->name, (int)width);
		for (size_t k = 0; k < n; k++) {
			out_char(prof->out, k ? '|' : ' ');
			out_u64_right(prof->out, values[k], 5);
			total += values[k];
		}
		out_text(prof->out, " | total ");
		out_u64(prof->out, total);
		out_char(prof->out, '\n');
	}
}

static void put_text(struct prof *prof, uint64_t *values, size_t n, uint64_t now_ns)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	bool many = n > MOST_IN_A_CELL;

	prof_put_time(prof, now_ns);
	out_char(prof->out, '\n');
	if (!prof->options->perins) {
		if (!many)
			put_titles(prof, n);
		(many ? put_lines : put_cells)(prof, UINT32_MAX, values, n);
		return;
	}
	if (!many) {
		out_text(prof->out, feed_has_tasks(prof->feed) ? "[TID] " : "[CPU] ");
		put_titles(prof, n);
	}
	for (size_t i = 0; i < stat->instances.n; i++) {
		if (!many)
			put_instance(prof, stat->instances.v[i]);
		(many ? put_lines : put_cells)(prof, stat->instances.v[i], values, n);
	}
}

static void put_table(struct prof *prof, uint64_t *values, size_t n, uint64_t now_ns)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	size_t rows = prof->options->perins ? stat->instances.n : 1;
	struct table table = {0};

	if (prof->options->perins)
		table_column(&table,
			     (struct table_column){.title = feed_has_tasks(prof->feed) ? "thread"
										       : "cpu",
						   .kind = TABLE_COUNT});
	table_column(&table, (struct table_column){.title = "event", .kind = TABLE_TEXT});
	table_column(&table, (struct table_column){.title = "count", .kind = TABLE_COUNT});
	for (size_t i = 0; i < rows; i++) {
		uint32_t instance = prof->options->perins ? stat->instances.v[i] : UINT32_MAX;

		for (size_t e = 0; e < prof->events.n; e++) {
			uint64_t total = 0;

			if (!sums(stat, (struct counted){(uint32_t)e, instance}, values, n))
				continue;
			for (size_t k = 0; k < n; k++)
				total += values[k];
			if (prof->options->perins)
				table_number(&table, instance);
			table_text(&table, prof->events.v[e]->label);
			table_number(&table, total);
		}
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	struct map_slot slot;
	bool rest = false;
	size_t n = 0;

	for (size_t i = 0; map_next(&stat->cells, &i, &slot);)
		rest |= ((struct stat_cell *)(uintptr_t)slot.value)->now != 0;
	if (!stat->period_ns || rest)
		period(prof, now_ns);
	for (size_t i = 0; map_next(&stat->cells, &i, &slot);)
		n = MAX(n, ((struct stat_cell *)(uintptr_t)slot.value)->periods.n);
	if (!n)
		return 0;
	auto_free uint64_t *values = xcalloc(n, sizeof(*values));
	if (prof->options->format && strcmp(prof->options->format, "text"))
		put_table(prof, values, n, now_ns);
	else
		put_text(prof, values, n, now_ns);
	for (size_t i = 0; map_next(&stat->cells, &i, &slot);)
		vec_clear(&((struct stat_cell *)(uintptr_t)slot.value)->periods);
	return 0;
}

static void done(struct prof *prof)
{
	struct stat *stat = PROF_STATE(struct stat, prof);
	struct map_slot slot;

	for (size_t i = 0; map_next(&stat->cells, &i, &slot);)
		vec_done(&((struct stat_cell *)(uintptr_t)slot.value)->periods);
	map_done(&stat->cells);
	vec_done(&stat->instances);
	arena_done(&stat->arena);
}

const struct profiler profiler_stat = {
	.name = "stat",
	.summary = "Count events, interval by interval",
	.usage = "sonde prof stat -e EVENT [--period TIME] [--perins] [options] [-- COMMAND]",
	.description =
		"The kernel counts and sonde reads the counters: nothing is sampled, so it costs next to nothing. Up to five counts of "
		"an interval stand side by side, more on a line for each event with their total. The attribute cpus=LIST counts an event "
		"on these CPUs only.",
	.opts = options,
	.size = sizeof(struct stat_options),
	.state_size = sizeof(struct stat),
	.examples = examples,
	.counts = true,
	.setup = setup,
	.count = count,
	.period = period,
	.interval = interval,
	.done = done,
};
