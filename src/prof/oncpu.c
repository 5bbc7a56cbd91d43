// SPDX-License-Identifier: GPL-2.0-or-later
// Which tasks run on which CPUs, and how long.
#include "base/err.h"
#include "prof/core/tasks.h"
#include <stdio.h>

enum { MOST_ROWS = 1 << 18 };

struct on_row {
	uint32_t cpu, tid, comm; // interned
	uint64_t ns, n, longest_ns;
};

struct oncpu_options {
	struct prof_options common;
	bool detail, only_comm;
	const char *filter;
};

struct oncpu {
	const struct oncpu_options *options;
	bool of_task; // a row for each task, not for each CPU
	struct prof *prof;
	struct prof_event *switches;
	const struct sample *sample; // the one that is at hand
	struct sched sched;
	struct prof_tasks tasks;
	struct prof_event *runtime; // NULL: by switches
	struct event_value ran_ns, ran_pid;
	struct map by_place; // cpu << 32 | tid (or comm) -> row + 1
	VEC(struct on_row) rows;
	struct intern comms;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to show"),
	PROF_FLAG(0, "detail", offsetof(struct oncpu_options, detail),
		  "also how often, and the longest at a time"),
	PROF_FLAG(0, "only-comm", offsetof(struct oncpu_options, only_comm),
		  "tasks of a name together"),
	PROF_TEXT(0, "filter", offsetof(struct oncpu_options, filter), "FILTER",
		  "of sched_switch, such as next_prio<100||prev_prio<100"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof oncpu -C 0-3 --detail", "what runs on four CPUs, every second",
	 "sonde prof oncpu --detail --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof oncpu -p PID", "on which CPUs the threads of a process run",
	 "sonde prof oncpu -- sleep 0.1 >out.txt"},
	{0},
};

static int by_runtime(struct prof *prof, struct oncpu *state)
{
	int err = prof_add(prof, "sched:sched_stat_runtime", NULL, &state->runtime);

	if (!err)
		err = prof_value_init(&state->ran_ns, prof, state->runtime, "runtime");
	return err ? err : prof_value_init(&state->ran_pid, prof, state->runtime, "pid");
}

static int by_switches(struct prof *prof, struct oncpu *state)
{
	// A task is switched to in another's context.
	bool chosen = state->of_task || prof->options->cgroups;
	int err = chosen ? prof_tasks_init(&state->tasks, prof, NULL) : 0;

	if (err)
		return err;
	return prof_add_sched(prof, "sched:sched_switch",
			      state->options->filter
				      ? prof_filter_quoted(&prof->arena, state->options->filter)
				      : NULL,
			      &state->switches);
}

static void ran(void *arg, const struct sched_hit *hit, uint64_t ns);

static int setup(struct prof *prof)
{
	struct oncpu *state = PROF_STATE(struct oncpu, prof);
	bool live = prof->feed->is_live;
	int err = -ENOENT;

	state->options = PROF_OPTIONS(struct oncpu_options, prof);
	intern_init(&state->comms);
	state->prof = prof;
	state->sched = (struct sched){.arg = state, .ran = ran};
	state->of_task = feed_has_tasks(prof->feed);
	// In a task's own context its switches away are seen, not those to it; but how long it ran.
	if (state->of_task)
		err = by_runtime(prof, state);
	if (err == -ENOENT && !(state->of_task && live)) {
		err_clear();
		err = by_switches(prof, state);
	}
	// A recording of tasks has what was live their source.
	if (err == -ENOENT && !live && !state->of_task) {
		auto_free char *sentence = xstrdup(err_sentence());

		state->of_task = true;
		err = by_runtime(prof, state);
		if (err == -ENOENT)
			fail_again(err, sentence);
	}
	return err;
}

// NULL: there are too many.
static struct on_row *row_of(struct oncpu *state, uint32_t cpu, uint32_t tid, struct str name)
{
	uint32_t comm = intern_str(&state->comms, name);
	uint64_t key = (uint64_t)cpu << 32 | (state->options->only_comm ? comm : tid);
	uint64_t *at = map_at(&state->by_place, key, NULL);

	if (!*at && state->rows.n < MOST_ROWS) {
		vec_push(&state->rows, (struct on_row){.cpu = cpu, .tid = tid});
		*at = state->rows.n;
	}
	if (!*at)
		return NULL;
	state->rows.v[*at - 1].comm = comm;
	return &state->rows.v[*at - 1];
}

static void add(struct prof *prof, struct on_row *row, uint64_t ns)
{
	if (!row) {
		prof->no_place_n++;
		return;
	}
	row->ns += ns;
	row->n++;
	row->longest_ns = MAX(row->longest_ns, ns);
}

static void ran(void *arg, const struct sched_hit *hit, uint64_t ns)
{
	struct oncpu *state = arg;

	if (hit->tid && prof_tasks_wanted(&state->tasks, state->prof, hit->tid))
		add(state->prof,
		    row_of(state, hit->cpu, hit->tid,
			   sched_comm(&state->switches->sched, state->sample)),
		    ns);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct oncpu *state = PROF_STATE(struct oncpu, prof);

	if (event == state->runtime) {
		// A wake-up may account for another task.
		if (event_value_number(&state->ran_pid, sample) == sample->tid)
			add(prof,
			    row_of(state, sample->cpu, sample->tid,
				   str_of(prof_comm(prof, sample->pid, sample->tid))),
			    event_value_number(&state->ran_ns, sample));
	} else {
		const struct sched_hit hit = sched_hit_of(&event->sched, sample);

		state->sample = sample;
		sched_take(&state->sched, &hit);
	}
	return 0;
}

static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	prof_tasks_record(&PROF_STATE(struct oncpu, prof)->tasks, prof, header);
	return 0;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	sched_lost(&PROF_STATE(struct oncpu, prof)->sched, loss->cpu);
}

static int by_cpu(const void *a, const void *b)
{
	const struct on_row *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_tid(const void *a, const void *b)
{
	const struct on_row *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_ms(struct out *out, uint64_t ns)
{
	out_printf(out, "%.1f", (double)ns / 1e6);
}

// "nginx:5678(512.4ms/49/35.2ms)"
static void put_who(struct out *list, const struct oncpu *state, const struct on_row *row,
		    bool of_task)
{
	if (of_task) {
		out_printf(list, "%u(", row->cpu);
		put_ms(list, row->ns);
		out_text(list, "ms)");
		return;
	}
	out_text(list, intern_get(&state->comms, row->comm));
	if (!state->options->only_comm)
		out_printf(list, ":%u", row->tid);
	out_char(list, '(');
	put_ms(list, row->ns);
	if (state->options->detail) {
		out_printf(list, "ms/%llu/", (unsigned long long)row->n);
		put_ms(list, row->longest_ns);
	}
	out_text(list, "ms)");
}

static void put_group(struct oncpu *state, struct table *table, const struct on_row *rows, size_t n)
{
	uint64_t sum = 0, times = 0;
	bool of_task = state->of_task;
	struct out list;
	char head[16];

	out_init_memory(&list);
	for (size_t i = 0; i < n; i++) {
		if (i)
			out_char(&list, ' ');
		put_who(&list, state, &rows[i], of_task);
		sum += rows[i].ns;
		times += rows[i].n;
	}
	out_char(&list, 0);
	if (of_task) {
		table_number(table, rows->tid);
		table_text(table, intern_get(&state->comms, rows->comm));
	} else {
		snprintf(head, sizeof(head), "%03u", rows->cpu);
		table_text(table, head);
	}
	table_number(table, sum);
	if (state->options->detail && !of_task)
		table_number(table, times);
	table_text(table, list.buf);
	out_done(&list);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct oncpu *state = PROF_STATE(struct oncpu, prof);
	bool of_task = state->of_task;
	struct table table = {.rule = true};

	if (of_task) {
		table_column(&table, (struct table_column){"THREAD", "thread", TABLE_COUNT, 6,
							   .left = true});
		table_column(&table,
			     (struct table_column){"COMM", "comm", TABLE_TEXT, 16, .left = true});
	} else {
		table_column(&table, (struct table_column){"CPU", "cpu", TABLE_TEXT, 3});
	}
	table_column(&table, (struct table_column){"SUM(ms)", "sum_ms", TABLE_MS, 10});
	if (state->options->detail && !of_task)
		table_column(&table, (struct table_column){"sws", "switches", TABLE_COUNT, 6});
	table_column(&table, (struct table_column){of_task		    ? "CPUS(ms)"
						   : state->options->detail ? "COMM:TID(ms/sws/max_ms)"
									    : "COMM:TID(ms)",
						   "who", TABLE_TEXT, .left = true});
	if (state->rows.n)
		qsort(state->rows.v, state->rows.n, sizeof(*state->rows.v),
		      of_task ? by_tid : by_cpu);
	for (size_t i = 0, n; i < state->rows.n; i += n) {
		const struct on_row *rows = &state->rows.v[i];

		for (n = 1; i + n < state->rows.n &&
			    (of_task ? rows[n].tid == rows->tid : rows[n].cpu == rows->cpu);
		     n++)
			;
		put_group(state, &table, rows, n);
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	vec_clear(&state->rows);
	map_clear(&state->by_place);
	if (state->comms.strings.n > MOST_ROWS) {
		intern_done(&state->comms);
		intern_init(&state->comms);
	}
	return 0;
}

static void done(struct prof *prof)
{
	struct oncpu *state = PROF_STATE(struct oncpu, prof);

	prof_warn_sched(&state->sched);
	sched_done(&state->sched);
	prof_tasks_done(&state->tasks);
	event_value_done(&state->ran_ns);
	event_value_done(&state->ran_pid);
	vec_done(&state->rows);
	map_done(&state->by_place);
	intern_done(&state->comms);
}

const struct profiler profiler_oncpu = {
	.name = "oncpu",
	.summary = "Which tasks run on which CPUs, and how long",
	.usage = "sonde prof oncpu [-C LIST | -p PIDS | -t TIDS] [--detail] [--only-comm] [options] [-- COMMAND]",
	.description =
		"For CPUs: the tasks that ran there, by how long. For tasks: the CPUs where they ran.",
	.opts = options,
	.size = sizeof(struct oncpu_options),
	.state_size = sizeof(struct oncpu),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.record = record,
	.lost = lost,
	.interval = interval,
	.done = done,
};
