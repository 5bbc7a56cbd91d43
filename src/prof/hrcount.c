// SPDX-License-Identifier: GPL-2.0-or-later
// How events bunch: counts in periods down to microseconds.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "prof/core/kernel.h"

enum { MOST_PERIODS = 10000, MOST_INSTANCES = 4096, MOST_KERNEL_ROWS = 1 << 16 };

// A row of the kernel: the periods of all clocks that begin at 0.
struct hrcount_kernel {
	uint64_t event, instance, period, n;
};

struct hrcount_row {
	uint32_t instance;
	uint64_t *counts; // [event * periods + period]
};

struct hrcount {
	struct prof_options common;
	uint64_t period_ns;
	uint32_t periods_n;
	uint64_t start_ns; // of the interval; 0: not begun
	struct map by_instance;
	VEC(struct hrcount_row) rows;
	VEC(struct hrcount_kernel) counted;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to count"),
	PROF_OPTIONS_EVENTS,
	PROF_DURATION(0, "period", offsetof(struct hrcount, period_ns), "TIME",
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

static void count_in_kernel(struct prof *prof)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0},
					      {BPF_KEY_NUMBER, 0},
					      {BPF_KEY_NUMBER, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false}};
	const struct hrcount *state = PROF_STATE(struct hrcount, prof);
	// An interval may end late, and at its seams lie parts of periods.
	const uint64_t cpus = prof->options->perins ? (uint64_t)sysconf(_SC_NPROCESSORS_CONF) : 1,
		       rows_n = (state->periods_n * 5ull / 4 + 16) * prof->events.n * cpus;
	const struct prof_kernel_rows rows = {keys, ARRAY_SIZE(keys), cells, ARRAY_SIZE(cells),
					      (uint32_t)rows_n};
	struct prof_kernel_event *events;

	if (!prof_kernel_may(prof))
		return;
	if (rows_n > MOST_KERNEL_ROWS) {
		inform("hrcount counts in sonde, not in the kernel: it is about %llu numbers",
		       (unsigned long long)rows_n);
		return;
	}
	events = arena_zalloc(&prof->arena, prof->events.n * sizeof(*events));
	for (size_t i = 0; i < prof->events.n; i++)
		events[i] = (struct prof_kernel_event){
			.event = prof->events.v[i],
			.keys = {arena_fmt(&prof->arena, "%zu", i),
				 prof->options->perins ? "_cpu" : "0",
				 arena_fmt(&prof->arena, "_time / %llu",
					   (unsigned long long)state->period_ns)},
			.updates = {{0, NULL}},
			.updates_n = 1,
		};
	prof_kernel_open(prof, &rows, events, prof->events.n);
}

static int setup(struct prof *prof)
{
	struct hrcount *state = PROF_STATE(struct hrcount, prof);
	uint64_t interval =
		prof->options->interval_ms ? prof->options->interval_ms * 1000000 : NSEC_PER_SEC;

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
	count_in_kernel(prof);
	return 0;
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

static int take_row(void *arg, const void *key, const uint64_t *cells)
{
	struct hrcount *state = arg;
	struct hrcount_kernel row = {.n = cells[0]};

	memcpy(&row, key, 3 * sizeof(uint64_t));
	vec_push(&state->counted, row);
	return 0;
}

static int read_kernel(struct prof *prof, struct hrcount *state)
{
	int err = prof_kernel_read(prof, take_row, state);
	uint64_t first = UINT64_MAX;

	vec_each(struct hrcount_kernel, row, &state->counted)
		first = MIN(first, row->period * state->period_ns);
	if (!state->start_ns)
		state->start_ns = first;
	vec_each(struct hrcount_kernel, row, &state->counted) {
		uint64_t from = row->period * state->period_ns, period = 0;

		if (from > state->start_ns)
			period = (from - state->start_ns + state->period_ns / 2) / state->period_ns;
		period = MIN(period, (uint64_t)state->periods_n - 1);
		row_of(prof, state, (uint32_t)row->instance)
			->counts[row->event * state->periods_n + period] += row->n;
	}
	vec_clear(&state->counted);
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
	if (state->rows.n >= MOST_INSTANCES && !map_find(&state->by_instance, instance))
		return 0;
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
	int err = prof->kernel ? read_kernel(prof, state) : 0;

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
	vec_done(&state->counted);
	map_done(&state->by_instance);
}

const struct profiler profiler_hrcount = {
	.name = "hrcount",
	.summary = "How events bunch: counts in short periods",
	.usage = "sonde prof hrcount -e EVENT [--period TIME] [-i MS] [--perins] [options] [-- COMMAND]",
	.description =
		"Each event is counted in the period of its own time, so periods may be as short as microseconds, and idle CPUs count, too.",
	.opts = options,
	.size = sizeof(struct hrcount),
	.examples = examples,
	.in_context = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
