// SPDX-License-Identifier: GPL-2.0-or-later
// How events bunch: counts in periods down to microseconds.
#include "base/err.h"
#include "base/time.h"
#include "prof/core/counted.h"

enum { MOST_PERIODS = 10000, MOST_INSTANCES = 4096, MOST_KERNEL_ROWS = 1 << 16 };

// Of what the kernel counts; its periods begin at 0.
enum { KEY_EVENT, KEY_INSTANCE, KEY_PERIOD };

struct hrcount_row {
	uint32_t instance;
	uint64_t *counts; // [event * periods + period]
};

struct hrcount_options {
	struct prof_options common;
	uint64_t period_ns;
};

struct hrcount {
	uint64_t period_ns;
	uint32_t periods_n;
	uint64_t start_ns; // of the interval; 0: not begun
	struct map by_instance;
	VEC(struct hrcount_row) rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to count"),
	PROF_OPTIONS_EVENTS,
	PROF_DURATION(0, "period", offsetof(struct hrcount_options, period_ns), "TIME",
		      "a count for each TIME (default: a twentieth of the interval)"),
	PROF_FLAG(0, "perins", PROF_AT(perins),
		  "each CPU (with -p, -t or a command: thread) by itself"),
	PROF_OPTION_NO_BPF,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof hrcount -e sched:sched_wakeup -C 0 --period 1ms -i 20",
	 "how many wake-ups in each millisecond",
	 "sonde prof hrcount -e sched:sched_wakeup --period 10ms -i 100 --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static int count_in_kernel(struct prof *prof)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}, {TALLY_NUMBER}, {TALLY_NUMBER}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS};
	static const struct tally_update update = {0, NULL};
	const struct hrcount *state = PROF_STATE(struct hrcount, prof);
	const size_t n = prof->events.n;
	// An interval may end late, and at its seams lie parts of periods.
	const uint64_t cpus = prof->options->perins ? (uint64_t)sysconf(_SC_NPROCESSORS_CONF) : 1,
		       rows_n = (state->periods_n * 5ull / 4 + 16) * n * cpus;
	struct tally_event *events = arena_zalloc(&prof->arena, (n + 1) * sizeof(*events));
	struct tally_options plan = {.keys = keys,
				     .keys_n = ARRAY_SIZE(keys),
				     .cells = cells,
				     .cells_n = ARRAY_SIZE(cells),
				     .events = events,
				     .events_n = (uint32_t)n,
				     .rows_max = (uint32_t)MIN(rows_n, (uint64_t)MOST_KERNEL_ROWS),
				     .kernel_or_none = true};
	int err;

	if (rows_n > MOST_KERNEL_ROWS)
		plan.not_in_kernel = arena_fmt(&prof->arena, "it is about %llu numbers",
					       (unsigned long long)rows_n);
	for (size_t i = 0; i < n; i++) {
		events[i] = prof_tally_event(prof->events.v[i]);
		events[i].keys[KEY_EVENT] = arena_fmt(&prof->arena, "%zu", i);
		events[i].keys[KEY_INSTANCE] = prof->options->perins ? "_cpu" : "0";
		events[i].keys[KEY_PERIOD] = arena_fmt(&prof->arena, "_time / %llu",
						       (unsigned long long)state->period_ns);
		events[i].updates = &update;
		events[i].updates_n = 1;
	}
	err = prof_tally_open(prof, &plan);
	return MIN(err, 0);
}

static int setup(struct prof *prof)
{
	struct hrcount *state = PROF_STATE(struct hrcount, prof);
	uint64_t interval =
		prof->options->interval_ms ? prof->options->interval_ms * 1000000 : NSEC_PER_SEC;

	state->period_ns = PROF_OPTIONS(struct hrcount_options, prof)->period_ns;
	if (!state->period_ns)
		state->period_ns = interval / 20;
	if (!state->period_ns || state->period_ns > interval)
		return fail(EINVAL, "--period has to be shorter than the interval (-i)");
	if (interval / state->period_ns > MOST_PERIODS)
		return fail(EINVAL,
			    "more than %d periods in an interval: make -i shorter or --period longer",
			    MOST_PERIODS);
	prof->interval_ns = interval;
	state->periods_n = (uint32_t)((interval + state->period_ns - 1) / state->period_ns);
	return count_in_kernel(prof);
}

static struct hrcount_row *row_of(struct prof *prof, struct hrcount *state, uint32_t instance)
{
	bool is_new;
	uint64_t *at = map_at(&state->by_instance, instance, &is_new);

	if (is_new) {
		*at = state->rows.n;
		vec_push(&state->rows, (struct hrcount_row){.instance = instance});
		vec_last(&state->rows).counts =
			xcalloc(prof->events.n * state->periods_n, sizeof(uint64_t));
	}
	return &state->rows.v[*at];
}

static int read_kernel(struct prof *prof, struct hrcount *state)
{
	struct tally *tally = prof->tally;
	int err = tally_read(tally);
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < tally_rows(tally); i++)
		first = MIN(first, tally_number(tally, i, KEY_PERIOD) * state->period_ns);
	if (!state->start_ns)
		state->start_ns = first;
	for (size_t i = 0; i < tally_rows(tally); i++) {
		const uint64_t from = tally_number(tally, i, KEY_PERIOD) * state->period_ns;
		uint64_t period = 0;

		if (from > state->start_ns)
			period = (from - state->start_ns + state->period_ns / 2) / state->period_ns;
		period = MIN(period, (uint64_t)state->periods_n - 1);
		row_of(prof, state, (uint32_t)tally_number(tally, i, KEY_INSTANCE))
			->counts[tally_number(tally, i, KEY_EVENT) * state->periods_n + period] +=
			tally_cell(tally, i, 0);
	}
	tally_clear(tally);
	return err;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct hrcount *state = PROF_STATE(struct hrcount, prof);
	uint32_t instance = !prof->options->perins	 ? 0
			    : feed_has_tasks(prof->feed) ? sample->tid
							 : sample->cpu;
	uint64_t period;

	if (!state->start_ns)
		state->start_ns = prof->feed->is_live ? sample->time - sample->time % state->period_ns
						      : sample->time;
	// What comes at the seams of intervals belongs to the nearest period.
	period = sample->time > state->start_ns ? (sample->time - state->start_ns) / state->period_ns
						: 0;
	if (period >= state->periods_n)
		period = state->periods_n - 1;
	if (state->rows.n >= MOST_INSTANCES && !map_find(&state->by_instance, instance)) {
		prof->no_place_n++;
		return 0;
	}
	row_of(prof, state, instance)->counts[event->index * state->periods_n + period]++;
	return 0;
}

static int by_instance(const void *a, const void *b)
{
	uint32_t x = ((const struct hrcount_row *)a)->instance,
		 y = ((const struct hrcount_row *)b)->instance;

	return x < y ? -1 : x > y;
}

static void put_text(struct prof *prof, struct hrcount *state)
{
	size_t width = 0;

	for (size_t e = 0; e < prof->events.n; e++)
		width = MAX(width, strlen(prof->events.v[e]->feed->event->name));
	for (size_t i = 0; i < state->rows.n; i++) {
		for (size_t e = 0; e < prof->events.n; e++) {
			const uint64_t *counts = state->rows.v[i].counts + e * state->periods_n;
			uint64_t total = 0;

			if (prof->options->perins) {
				out_char(prof->out, '[');
				out_u64_zeros(prof->out, state->rows.v[i].instance, 3);
				out_text(prof->out, "] ");
			}
			out_text_right(prof->out, prof->events.v[e]->feed->event->name, (int)width);
			for (uint32_t k = 0; k < state->periods_n; k++) {
				out_char(prof->out, k ? '|' : ' ');
				out_u64_right(prof->out, counts[k], 4);
				total += counts[k];
			}
			out_text(prof->out, " | total ");
			out_u64(prof->out, total);
			out_char(prof->out, '\n');
		}
	}
}

static void put_table(struct prof *prof, struct hrcount *state, uint64_t now_ns)
{
	struct table table = {0};

	if (prof->options->perins)
		table_column(&table, (struct table_column){"instance", NULL, TABLE_COUNT});
	table_column(&table, (struct table_column){"event", NULL, TABLE_TEXT});
	table_column(&table, (struct table_column){"period", NULL, TABLE_COUNT});
	table_column(&table, (struct table_column){"count", NULL, TABLE_COUNT});
	for (size_t i = 0; i < state->rows.n; i++) {
		for (size_t k = 0; k < prof->events.n * state->periods_n; k++) {
			if (prof->options->perins)
				table_number(&table, state->rows.v[i].instance);
			table_text(&table, prof->events.v[k / state->periods_n]->label);
			table_number(&table, k % state->periods_n);
			table_number(&table, state->rows.v[i].counts[k]);
		}
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct hrcount *state = PROF_STATE(struct hrcount, prof);
	int err = prof->tally ? read_kernel(prof, state) : 0;

	if (err < 0)
		return err;
	if (state->rows.n)
		qsort(state->rows.v, state->rows.n, sizeof(*state->rows.v), by_instance);
	if (prof->options->format && strcmp(prof->options->format, "text")) {
		put_table(prof, state, now_ns);
	} else {
		prof_put_time(prof, now_ns);
		out_char(prof->out, '\n');
		put_text(prof, state);
	}
	for (size_t i = 0; i < state->rows.n; i++)
		free(state->rows.v[i].counts);
	vec_clear(&state->rows);
	map_clear(&state->by_instance);
	state->start_ns = now_ns;
	return 0;
}

static void done(struct prof *prof)
{
	struct hrcount *state = PROF_STATE(struct hrcount, prof);

	for (size_t i = 0; i < state->rows.n; i++)
		free(state->rows.v[i].counts);
	vec_done(&state->rows);
	map_done(&state->by_instance);
}

const struct profiler profiler_hrcount = {
	.name = "hrcount",
	.summary = "How events bunch: counts in short periods",
	.usage = "sonde prof hrcount -e EVENT [--period TIME] [-i MS] [--perins] [options] [-- COMMAND]",
	.description =
		"Each event is counted in the period of its own time, so periods may be as short as microseconds, and idle CPUs count, too.",
	.opts = options,
	.size = sizeof(struct hrcount_options),
	.state_size = sizeof(struct hrcount),
	.examples = examples,
	.in_context = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
