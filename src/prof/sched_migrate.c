// SPDX-License-Identifier: GPL-2.0-or-later
// Which tasks move from CPU to CPU.
#include "prof/core/flame.h"
#include "prof/core/profiler.h"
#include <stdio.h>

enum { MOST_ROWS = 1 << 18 };

struct move_row {
	uint32_t tid, from, to;
	uint64_t n;
	char comm[17];
};

struct sched_migrate_options {
	struct prof_options common;
	bool detail;
};

struct sched_migrate {
	const struct sched_migrate_options *options;
	struct prof_event *event;
	struct map by_move;
	VEC(struct move_row) rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to show"),
	PROF_FLAG(0, "detail", offsetof(struct sched_migrate_options, detail),
		  "each migration as well"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof sched-migrate -i 1000",
	 "which tasks were moved from which CPU to which, every second",
	 "sonde prof sched-migrate --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct sched_migrate *state = PROF_STATE(struct sched_migrate, prof);

	state->options = PROF_OPTIONS(struct sched_migrate_options, prof);
	return prof_add_sched(prof, "sched:sched_migrate_task", NULL, &state->event);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct sched_migrate *state = PROF_STATE(struct sched_migrate, prof);
	const struct sched_hit hit = sched_hit_of(&event->sched, sample);
	uint64_t *at = map_at(&state->by_move,
			      (uint64_t)hit.tid << 32 | (hit.from_cpu & 0xffff) << 16 |
				      (hit.to_cpu & 0xffff),
			      NULL);

	if (state->options->detail) {
		prof_put_time(prof, sample->time);
		out_char(prof->out, ' ');
		prof_put_event(prof, event, sample);
		if (sample->callchain && !prof->flame)
			prof_put_stack(prof, sample, "    ");
	}
	prof_flame_add(prof, sample, 1);
	if (!*at && state->rows.n < MOST_ROWS) {
		struct str comm = sched_comm(&event->sched, sample);
		struct move_row row = {.tid = hit.tid, .from = hit.from_cpu, .to = hit.to_cpu};

		snprintf(row.comm, sizeof(row.comm), "%.*s", (int)MIN(comm.n, sizeof(row.comm) - 1),
			 comm.p ? comm.p : "");
		vec_push(&state->rows, row);
		*at = state->rows.n;
	}
	if (*at)
		state->rows.v[*at - 1].n++;
	else
		prof->no_place_n++;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct move_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct sched_migrate *state = PROF_STATE(struct sched_migrate, prof);
	struct table table = {.rule = true};

	table_column(&table, (struct table_column){"thread", NULL, TABLE_COUNT, 6});
	table_column(&table, (struct table_column){"comm", NULL, TABLE_TEXT, 15, .left = true});
	table_column(&table, (struct table_column){"from", NULL, TABLE_COUNT, 5});
	table_column(&table, (struct table_column){"to", NULL, TABLE_COUNT, 5});
	table_column(&table, (struct table_column){"migrations", NULL, TABLE_COUNT, 10});
	if (state->rows.n)
		qsort(state->rows.v, state->rows.n, sizeof(*state->rows.v), by_count);
	for (size_t i = 0; i < state->rows.n; i++) {
		const struct move_row *row = &state->rows.v[i];

		table_number(&table, row->tid);
		table_text(&table, row->comm);
		table_number(&table, row->from);
		table_number(&table, row->to);
		table_number(&table, row->n);
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	vec_clear(&state->rows);
	map_clear(&state->by_move);
	return 0;
}

static void done(struct prof *prof)
{
	struct sched_migrate *state = PROF_STATE(struct sched_migrate, prof);

	vec_done(&state->rows);
	map_done(&state->by_move);
}

const struct profiler profiler_sched_migrate = {
	.name = "sched-migrate",
	.summary = "Which tasks move from CPU to CPU",
	.usage = "sonde prof sched-migrate [--detail] [-g [--flame-graph FILE]] [options] [-- COMMAND]",
	.description = "Counts migrations by task, from where and to where.",
	.opts = options,
	.size = sizeof(struct sched_migrate_options),
	.state_size = sizeof(struct sched_migrate),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.done = done,
};
