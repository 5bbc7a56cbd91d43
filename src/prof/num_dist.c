// SPDX-License-Identifier: GPL-2.0-or-later
// How a number of an event is distributed.
#include "agg/dist.h"
#include "base/err.h"
#include "prof/core/counted.h"
#include "prof/core/flame.h"
#include "prof/core/heat.h"

struct num_dist_options {
	struct prof_options common;
	uint64_t than;
};

struct num_dist {
	const struct num_dist_options *options;
	struct event_value *nums; // by event
};

enum { KEY_INSTANCE, KEY_EVENT };
enum { CELL_DIST, CELL_OVER };

static int than_option(void *options, const struct opt *opt, const char *arg, bool negated)
{
	uint64_t *than = &((struct num_dist_options *)options)->than;

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

static int count(struct prof *prof)
{
	static const struct tally_key keys[] =
		{[KEY_INSTANCE] = {TALLY_NUMBER}, [KEY_EVENT] = {TALLY_NUMBER}};
	static const enum tally_cell_kind cells[] = {[CELL_DIST] = TALLY_DIST, [CELL_OVER] = TALLY_SUM};
	const struct num_dist *state = PROF_STATE(struct num_dist, prof);
	const size_t n = prof->events.n;
	struct tally_event *events = arena_zalloc(&prof->arena, (n + 1) * sizeof(*events));
	struct tally_options plan = {.keys = keys,
				     .keys_n = ARRAY_SIZE(keys),
				     .cells = cells,
				     .cells_n = ARRAY_SIZE(cells),
				     .events = events,
				     .events_n = (uint32_t)n};

	if (state->options->than || prof->options->heatmap)
		plan.not_in_kernel = "single events are wanted (--than, --heatmap)";
	for (size_t i = 0; i < n; i++) {
		struct tally_update *update = arena_zalloc(&prof->arena, sizeof(*update));

		events[i] = prof_tally_event(prof->events.v[i]);
		events[i].keys[KEY_INSTANCE] = !prof->options->perins	    ? "0"
					       : feed_has_tasks(prof->feed) ? "_tid"
									    : "_cpu";
		events[i].keys[KEY_EVENT] = arena_fmt(&prof->arena, "%zu", i);
		*update = (struct tally_update){CELL_DIST,
						prof_spec_attr(prof->events.v[i]->spec, "num")};
		events[i].updates = update;
		events[i].updates_n = 1;
	}
	return prof_tally_open(prof, &plan);
}

static int setup(struct prof *prof)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);
	int err = 0;

	state->options = PROF_OPTIONS(struct num_dist_options, prof);
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
	return err ? err : count(prof);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);
	struct tally_hit hit = {0};
	uint64_t num;

	if (tally_hit(prof->tally, event->index, sample, &hit) != TALLY_COUNTED ||
	    (!state->options->than && !prof->heat))
		return 0;
	num = event_value_number(&state->nums[event->index], sample);
	prof_heat_add(prof, sample->time, num);
	if (!state->options->than || num <= state->options->than)
		return 0;
	++*tally_cell_at(prof->tally, hit.row, CELL_OVER);
	prof_put_time(prof, sample->time);
	out_char(prof->out, ' ');
	prof_put_event(prof, event, sample);
	prof_add_stack(prof, sample);
	return 0;
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
	static const struct tally_order order[] = {{KEY_INSTANCE, true}, {KEY_EVENT, true}};
	const struct num_dist *state = PROF_STATE(struct num_dist, prof);
	struct tally *tally = prof->tally;
	struct table table = {.rule = true};
	int err = tally_read(tally);
	auto_free uint32_t *rows = xcalloc(tally_rows(tally) + 1, sizeof(*rows));
	const uint64_t negative_n = tally_stats(tally).negative;

	if (err < 0)
		return err;
	tally_sort(tally, order, ARRAY_SIZE(order), rows);
	if (prof->options->perins)
		table_column(&table,
			     (struct table_column){feed_has_tasks(prof->feed) ? "THREAD" : "CPU",
						   "instance", TABLE_COUNT, 3});
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(&table, columns[i]);
	if (state->options->than)
		table_column(&table, (struct table_column){"than(reqs)", "than", TABLE_SHARE, 15});
	for (size_t i = 0; i < tally_rows(tally); i++) {
		const struct dist *dist = tally_dist(tally, rows[i]);
		const uint64_t over_n = tally_cell(tally, rows[i], CELL_OVER);

		if (prof->options->perins)
			table_number(&table, tally_number(tally, rows[i], KEY_INSTANCE));
		table_text(&table, prof->events.v[tally_number(tally, rows[i], KEY_EVENT)]->label);
		table_number(&table, dist->n);
		table_number(&table, dist->sum);
		table_number(&table, dist->min);
		table_number(&table, dist->sum / dist->n);
		table_number(&table, dist_quantile(dist, 0.5));
		table_number(&table, dist_quantile(dist, 0.95));
		table_number(&table, dist_quantile(dist, 0.99));
		table_number(&table, dist->max);
		if (state->options->than)
			table_share(&table, over_n, over_n * 100 / dist->n);
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	if (negative_n && !prof->options->quiet) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " num-dist: %llu negative numbers are left out\n",
			   (unsigned long long)negative_n);
	}
	prof->no_place_n += tally_stats(tally).overflow;
	tally_clear(tally);
	return 0;
}

static void done(struct prof *prof)
{
	struct num_dist *state = PROF_STATE(struct num_dist, prof);

	for (size_t i = 0; state->nums && i < prof->events.n; i++)
		event_value_done(&state->nums[i]);
	free(state->nums);
}

static const char *const attributes[] = {"num", NULL};

const struct profiler profiler_num_dist = {
	.name = "num-dist",
	.summary = "How a number of an event is distributed",
	.usage = "sonde prof num-dist -e EVENT//num=EXPR/ [--perins] [--than N] [options] [-- COMMAND]",
	.description =
		"The attribute num=EXPR says which number: a field, or an expression over fields.",
	.opts = options,
	.size = sizeof(struct num_dist_options),
	.state_size = sizeof(struct num_dist),
	.examples = examples,
	.attributes = attributes,
	.tasks = true,
	.in_context = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
