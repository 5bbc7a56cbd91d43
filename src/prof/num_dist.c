// SPDX-License-Identifier: GPL-2.0-or-later
// How a number of an event is distributed.
#include "agg/dist.h"
#include "base/err.h"
#include "base/log.h"
#include "expr/bpf.h"
#include "prof/core/flame.h"
#include "prof/core/heat.h"
#include "prof/core/kernel.h"
#include "prof/core/profiler.h"

struct num_row {
	uint32_t event, instance;
	struct dist dist;
	uint64_t over_n;
};

struct num_dist {
	struct prof_options common;
	uint64_t than;
	struct event_value *nums; // by event
	struct map by_place;	  // event << 32 | instance -> row
	VEC(struct num_row *) rows;
	uint64_t negative_n;
	struct arena arena;
};

static int than_option(void *options, const struct opt *opt, const char *arg, bool negated)
{
	uint64_t *than = &((struct num_dist *)options)->than;

	if (num_parse_u64(str_of(arg), than) && num_parse_duration(str_of(arg), 1, than))
		return fail(EINVAL, "--than %s: that is no number", arg);
	return 0;
}

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which number of which events"),
	PROF_OPTIONS_EVENTS,
	PROF_FLAG(0, "perins", PROF_AT(perins),
		  "each CPU (with -p, -t or a command: thread) by itself"),
	{.kind = OPT_CALL,
	 .name = "than",
	 .arg = "N",
	 .call = than_option,
	 .no_negation = true,
	 .help = "show events with a greater number (us, ms, s: of ns)"},
	PROF_TEXT(0, "heatmap", PROF_AT(heatmap), "FILE",
		  "the numbers over time go to FILE.lat and, as a picture, FILE.svg"),
	PROF_OPTION_NO_BPF,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof num-dist -e sched:sched_stat_runtime//num=runtime/ -i 1000",
	 "how long tasks run at a time",
	 "sonde prof num-dist -e sched:sched_switch//num=prev_prio/ --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

// ---- counted in the kernel: a row for each event, instance and bucket of numbers

static void count_in_kernel(struct prof *prof)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0},
					      {BPF_KEY_NUMBER, 0},
					      {BPF_KEY_BUCKET, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false},
						{BPF_CELL_SUM, false},
						{BPF_CELL_MIN, false},
						{BPF_CELL_MAX, false}};
	const struct num_dist *state = PROF_STATE(struct num_dist, prof);
	const struct prof_kernel_rows rows = {keys, ARRAY_SIZE(keys), cells, ARRAY_SIZE(cells)};
	struct prof_kernel_event *events;

	if (!prof_kernel_may(prof))
		return;
	if (state->than || prof->options->heatmap) {
		inform("num-dist counts in sonde, not in the kernel: single events are wanted (--than, --heatmap)");
		return;
	}
	events = arena_zalloc(&prof->arena, prof->events.n * sizeof(*events));
	for (size_t i = 0; i < prof->events.n; i++) {
		const char *num = prof_spec_attr(prof->events.v[i]->spec, "num");

		events[i] = (struct prof_kernel_event){
			.event = prof->events.v[i],
			.keys = {arena_fmt(&prof->arena, "%zu", i),
				 prof->options->perins ? "_cpu" : "0", num},
			.updates = {{0, NULL}, {1, num}, {2, num}, {3, num}},
			.updates_n = ARRAY_SIZE(cells),
		};
	}
	prof_kernel_open(prof, &rows, events, prof->events.n);
}

static int setup(struct prof *prof)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);
	int err = 0;

	state->nums = xcalloc(prof->events.n + 1, sizeof(*state->nums));
	for (size_t i = 0; i < prof->events.n && !err; i++) {
		const struct prof_event *event = prof->events.v[i];
		const char *num = prof_spec_attr(event->spec, "num");

		if (!num || !*num)
			err = fail(EINVAL, "which number of %s? Give it as num=FIELD: '%s//num=.../'",
				   event->feed->event->name, event->feed->event->name);
		else
			err = prof_value_init(&state->nums[i], prof, event, num);
		if (!err && state->nums[i].is_text)
			err = fail(EINVAL, "num=%s of %s is a text", num, event->feed->event->name);
	}
	if (!err)
		err = prof_heat_new(prof, NULL);
	if (!err)
		count_in_kernel(prof);
	return err;
}

static struct num_row *row_of(struct num_dist *state, uint32_t event, uint32_t instance)
{
	struct num_row *row = map_find_ptr(&state->by_place, (uint64_t)event << 32 | instance);

	if (row)
		return row;
	row = arena_zalloc(&state->arena, sizeof(*row));
	row->event = event;
	row->instance = instance;
	map_set_ptr(&state->by_place, (uint64_t)event << 32 | instance, row);
	vec_push(&state->rows, row);
	return row;
}

static int take_row(void *arg, const void *key, const uint64_t *cells)
{
	struct num_dist *state = arg;
	const struct dist_part part = {cells[0], cells[1], cells[2], cells[3]};
	uint64_t keys[3]; // event, instance, bucket

	memcpy(keys, key, sizeof(keys));
	if (state->nums[keys[0]].is_signed && keys[2] >= expr_bucket((uint64_t)1 << 63))
		state->negative_n += part.n;
	else
		dist_add_part(&row_of(state, (uint32_t)keys[0], (uint32_t)keys[1])->dist, &part);
	return 0;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);
	const struct event_value *value = &state->nums[event->index];
	uint64_t num = event_value_number(value, sample);
	uint32_t instance = !prof->options->perins	 ? 0
			    : feed_has_tasks(prof->feed) ? sample->tid
							 : sample->cpu;
	struct num_row *row = row_of(state, event->index, instance);

	if (value->is_signed && (int64_t)num < 0) {
		state->negative_n++;
		return 0;
	}
	dist_add(&row->dist, num);
	prof_heat_add(prof, sample->time, num);
	if (!state->than || num <= state->than)
		return 0;
	row->over_n++;
	prof_put_time(prof, sample->time);
	out_char(prof->out, ' ');
	prof_put_event(prof, event, sample);
	prof_add_stack(prof, sample);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct num_row *x = *(struct num_row *const *)a, *y = *(struct num_row *const *)b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	static const struct table_column columns[] = {
		{"event", "event", TABLE_TEXT, .left = true},
		{"calls", "calls", TABLE_COUNT, 8},
		{"total", "total", TABLE_COUNT, 16},
		{"min", "min", TABLE_COUNT, 12},
		{"avg", "avg", TABLE_COUNT, 12},
		{"p50", "p50", TABLE_COUNT, 12},
		{"p95", "p95", TABLE_COUNT, 12},
		{"p99", "p99", TABLE_COUNT, 12},
		{"max", "max", TABLE_COUNT, 12},
	};
	struct num_dist *state = PROF_STATE(struct num_dist, prof);
	struct table table = {.rule = true};
	int err = prof->kernel ? prof_kernel_read(prof, take_row, state) : 0;

	if (err < 0)
		return err;
	if (prof->options->perins)
		table_column(&table,
			     (struct table_column){feed_has_tasks(prof->feed) ? "THREAD" : "CPU",
						   "instance", TABLE_COUNT, 3});
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(&table, columns[i]);
	if (state->than)
		table_column(&table, (struct table_column){"than(reqs)", "than", TABLE_SHARE, 15});
	if (state->rows.n)
		qsort(state->rows.v, state->rows.n, sizeof(*state->rows.v), by_place);
	for (size_t i = 0; i < state->rows.n; i++) {
		struct num_row *row = state->rows.v[i];
		const struct dist *dist = &row->dist;

		if (!dist->n)
			continue;
		if (prof->options->perins)
			table_number(&table, row->instance);
		table_text(&table, prof->events.v[row->event]->label);
		table_number(&table, dist->n);
		table_number(&table, dist->sum);
		table_number(&table, dist->min);
		table_number(&table, dist->sum / dist->n);
		table_number(&table, dist_quantile(dist, 0.5));
		table_number(&table, dist_quantile(dist, 0.95));
		table_number(&table, dist_quantile(dist, 0.99));
		table_number(&table, dist->max);
		if (state->than)
			table_share(&table, row->over_n, row->over_n * 100 / dist->n);
		dist_clear(&row->dist);
		row->over_n = 0;
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	if (state->negative_n && !prof->options->quiet) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " num-dist: %llu negative numbers are left out\n",
			   (unsigned long long)state->negative_n);
	}
	state->negative_n = 0;
	return 0;
}

static void done(struct prof *prof)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);

	for (size_t i = 0; state->nums && i < prof->events.n; i++)
		event_value_done(&state->nums[i]);
	for (size_t i = 0; i < state->rows.n; i++)
		dist_done(&state->rows.v[i]->dist);
	free(state->nums);
	vec_done(&state->rows);
	map_done(&state->by_place);
	arena_done(&state->arena);
}

static const char *const attributes[] = {"num", NULL};

const struct profiler profiler_num_dist = {
	.name = "num-dist",
	.summary = "How a number of an event is distributed",
	.usage = "sonde prof num-dist -e EVENT//num=EXPR/ [--perins] [--than N] [options] [-- COMMAND]",
	.description =
		"The attribute num=EXPR says which number: a field, or an expression over fields.",
	.opts = options,
	.size = sizeof(struct num_dist),
	.examples = examples,
	.attributes = attributes,
	.tasks = true,
	.in_context = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
