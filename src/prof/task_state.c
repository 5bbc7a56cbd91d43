// SPDX-License-Identifier: GPL-2.0-or-later
// How long tasks run, wait for a CPU, sleep.
#include "agg/dist.h"
#include "base/err.h"
#include "base/log.h"
#include "prof/core/delays.h"
#include "prof/core/flame.h"
#include "prof/core/history.h"
#include "prof/core/pairing.h"
#include "prof/core/tasks.h"
#include <stdio.h>

enum { HISTORY_BYTES = 16 << 20, MOST_ROWS = 1 << 20 };

struct state_row {
	uint32_t tid;
	struct dist dists[SCHED_STATES];
};

struct task_state_options {
	struct prof_options common;
	const char *filter;
	bool interruptible, interruptible_given, uninterruptible, uninterruptible_given;
	uint64_t than_ns;
};

struct task_state {
	const struct task_state_options *options;
	struct prof_tasks tasks;
	struct prof_event *switches, *wakeups, *new_tasks;
	struct prof *prof;
	struct sched sched; // user of a task: row + 1 with --perins
	// The hit that is at hand.
	struct prof_event *event;
	const struct sample *sample;
	bool counts[SCHED_STATES];
	struct dist dists[SCHED_STATES];
	VEC(struct state_row *) rows;
	struct history history;
	uint64_t unknown_n, hidden_n; // stays: something was lost; what ended them was not shown
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which tasks and states"),
	PROF_TEXT(0, "filter", offsetof(struct task_state_options, filter), "NAMES",
		  "tasks with these names, such as java,pyth*"),
	{.kind = OPT_FLAG,
	 .letter = 'S',
	 .name = "interruptible",
	 .offset = offsetof(struct task_state_options, interruptible),
	 .given = offsetof(struct task_state_options, interruptible_given),
	 .help = "only sleep that signals end (S); --no-interruptible: all but that"},
	{.kind = OPT_FLAG,
	 .letter = 'D',
	 .name = "uninterruptible",
	 .offset = offsetof(struct task_state_options, uninterruptible),
	 .given = offsetof(struct task_state_options, uninterruptible_given),
	 .help = "only sleep that signals don't end (D)"},
	PROF_DURATION(0, "than", offsetof(struct task_state_options, than_ns), "TIME",
		      "show the events around each stay in a state that is longer; with each result also those that go on (`Open)"),
	PROF_FLAG(0, "perins", PROF_AT(perins), "each thread by itself"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof task-state -- sleep 1", "what a command spends its time with",
	 "sonde prof task-state -- sleep 0.1 >out.txt"},
	{"sonde prof task-state -p PID --perins -i 1000",
	 "the same of each thread of a process, every second",
	 "sonde prof task-state --perins --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof task-state --filter 'java,python*' -D --than 100ms -g",
	 "where they hang in the kernel",
	 "sonde prof task-state --filter 'work*' -S --than 5ms --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static void left(void *arg, struct sched_task *task, const struct sched_hit *hit);
static bool wanted(void *arg, uint32_t tid);

static void choose_states(struct task_state *state)
{
	bool chosen = (state->options->interruptible && state->options->interruptible_given) ||
		      state->options->uninterruptible;

	for (int i = 0; i < SCHED_STATES; i++)
		state->counts[i] = !chosen;
	if (state->options->interruptible_given)
		state->counts[SCHED_SLEEPS + 0] = state->options->interruptible;
	if (state->options->uninterruptible_given)
		state->counts[SCHED_SLEEPS + 1] = state->options->uninterruptible;
}

static int add_events(struct prof *prof, struct task_state *state)
{
	const char *prev = prof_tasks_filter(&state->tasks, prof, "prev_pid", "prev_comm");
	const char *next = prof_tasks_filter(&state->tasks, prof, "next_pid", "next_comm");
	const char *woken = prof_tasks_filter(&state->tasks, prof, "pid", "comm");
	const char *both = prev ? arena_fmt(&prof->arena, "%s || %s", prev, next) : NULL;
	bool sleeps_only = !state->counts[SCHED_RUNS] && !state->counts[SCHED_WAITS];
	int err;

	// Only how a sleep begins and ends is of interest.
	if (sleeps_only)
		both = feed_and(prof->feed, prev,
				state->counts[SCHED_SLEEPS] && state->counts[SCHED_SLEEPS + 1]
					? "prev_state==1 || prev_state==2"
				: state->counts[SCHED_SLEEPS] ? "prev_state==1"
							      : "prev_state==2");
	err = prof_add_sched(prof, "sched:sched_switch", both, &state->switches);
	if (!err)
		err = prof_add_sched(prof, "sched:sched_wakeup", woken, &state->wakeups);
	if (!err && !sleeps_only)
		err = prof_add_sched(prof, "sched:sched_wakeup_new", woken, &state->new_tasks);
	for (size_t i = 0; !err && i < prof->events.n; i++) {
		if (prof->events.v[i]->feed->filter)
			inform("%s filter \"%s\"", prof->events.v[i]->feed->event->name,
			       prof->events.v[i]->feed->filter);
	}
	return err;
}

static int setup(struct prof *prof)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);
	int err;

	state->options = PROF_OPTIONS(struct task_state_options, prof);
	choose_states(state);
	err = prof_tasks_init(&state->tasks, prof, state->options->filter);
	if (!err)
		err = add_events(prof, state);
	state->prof = prof;
	state->sched = (struct sched){.arg = state,
				      .left = left,
				      .wanted = wanted,
				      .asks_again = state->tasks.by_group};
	if (state->options->than_ns)
		history_init(&state->history, HISTORY_BYTES);
	return err;
}

static struct dist *dist_of(struct prof *prof, struct task_state *state, struct sched_task *task)
{
	struct state_row *row;

	if (!prof->options->perins || (!task->user && state->rows.n >= MOST_ROWS))
		return &state->dists[task->state];
	if (!task->user) {
		row = NEW(struct state_row);
		row->tid = task->tid;
		vec_push(&state->rows, row);
		task->user = (uint32_t)state->rows.n;
	}
	return &state->rows.v[task->user - 1]->dists[task->state];
}

static const char *state_name(const struct task_state *state, uint32_t i, char buf[2])
{
	buf[0] = sched_letter(&state->switches->sched, (uint8_t)i);
	buf[1] = 0;
	return i == SCHED_WAITS ? "RD" : buf;
}

// Who, in which state, for how long, and the event that began it.
static void put_stay(struct prof *prof, const struct sched_task *task, uint64_t end_ns, bool has_ended)
{
	const struct task_state *state = PROF_STATE(struct task_state, prof);
	const struct history_entry *entry = history_at(&state->history, task->mark);
	uint64_t ns = end_ns - task->since_ns;
	struct sample first;
	char buf[2];

	prof_put_time(prof, end_ns);
	out_printf(prof->out, " task-state: %u ", task->tid);
	out_safe(prof->out, prof_comm(prof, UINT32_MAX, task->tid));
	out_printf(prof->out, " %s %llu ms\n",
		   task->state == SCHED_RUNS	 ? "RUN"
		   : task->state == SCHED_WAITS	 ? "RUNDELAY"
		   : task->state == SCHED_SLEEPS ? "WAIT"
						 : state_name(state, task->state, buf),
		   (unsigned long long)(ns / 1000000));
	if (entry && sample_decode(&prof->events.v[entry->event]->feed->event->plan,
				   history_record(entry), &first) == 0) {
		prof_put_time(prof, first.time);
		out_char(prof->out, ' ');
		prof_put_event(prof, prof->events.v[entry->event], &first);
		// In a flame graph it counts once.
		if (has_ended || !prof->flame)
			prof_add_stack(prof, &first);
	}
}

// Who ended a sleep, or began a wait for a CPU.
static void put_waker(struct prof *prof, const struct sched_task *task, const struct sched_hit *hit)
{
	const bool ends = hit->kind == SCHED_WAKEUP || hit->kind == SCHED_WAKEUP_NEW;
	const uint32_t waker = ends ? hit->by : task->waker;

	if (task->state == SCHED_RUNS || waker == SCHED_NOBODY)
		return;
	out_text(prof->out, "`Woken by ");
	if (waker == SCHED_INTERRUPT) {
		out_text(prof->out, "an interrupt\n");
		return;
	}
	out_printf(prof->out, "%u ", waker);
	out_safe(prof->out, prof_comm(prof, UINT32_MAX, waker));
	out_char(prof->out, '\n');
}

// A task leaves a state for another.
static void left(void *arg, struct sched_task *task, const struct sched_hit *hit)
{
	struct task_state *state = arg;
	struct prof *prof = state->prof;
	const struct sample *sample = state->sample;
	uint64_t ns;

	if (!state->counts[task->state])
		return;
	if (!hit) {
		state->hidden_n++;
		return;
	}
	if (!prof_delay(prof, task->since_ns, hit->time_ns, &ns))
		return;
	dist_add(dist_of(prof, state, task), ns);
	if (!state->options->than_ns && prof->flame)
		prof_flame_add(prof, sample, 1);
	if (!state->options->than_ns || ns <= state->options->than_ns)
		return;
	put_stay(prof, task, hit->time_ns, true);
	prof_put_time(prof, hit->time_ns);
	out_char(prof->out, ' ');
	prof_put_event(prof, state->event, sample);
	if (!prof->flame && sample->callchain)
		prof_put_stack(prof, sample, "    ");
	put_waker(prof, task, hit);
}

static bool wanted(void *arg, uint32_t tid)
{
	struct task_state *state = arg;

	return prof_tasks_wanted(&state->tasks, state->prof, tid);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);
	struct sched_hit hit = sched_hit_of(&event->sched, sample);

	if (state->options->than_ns)
		hit.mark = history_add(&state->history, event->index, 0, sample);
	state->event = event;
	state->sample = sample;
	sched_take(&state->sched, &hit);
	return 0;
}

static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	prof_tasks_record(&PROF_STATE(struct task_state, prof)->tasks, prof, header);
	return 0;
}

// Who knows what they did meanwhile.
static void lost(struct prof *prof, const struct run_loss *loss)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);

	state->unknown_n += sched_lost(&state->sched, UINT32_MAX);
}

static void put_states(struct task_state *state, struct table *table, struct dist *dists,
		       const struct state_row *row)
{
	char buf[2];

	for (uint32_t i = 0; i < SCHED_STATES; i++) {
		if (!dists[i].n)
			continue;
		if (row) {
			table_number(table, row->tid);
			table_text(table, prof_comm(state->prof, UINT32_MAX, row->tid));
		}
		table_text(table, state_name(state, i, buf));
		delays_cells(table, &dists[i]);
		dist_clear(&dists[i]);
	}
}

static int by_tid(const void *a, const void *b)
{
	uint32_t x = (*(struct state_row *const *)a)->tid, y = (*(struct state_row *const *)b)->tid;

	return x < y ? -1 : x > y;
}

static void free_rows(struct task_state *state)
{
	for (size_t i = 0; i < state->rows.n; i++) {
		for (int k = 0; k < SCHED_STATES; k++)
			dist_done(&state->rows.v[i]->dists[k]);
		free(state->rows.v[i]);
	}
	vec_clear(&state->rows);
	vec_each(struct sched_task, task, &state->sched.tasks)
		task->user = 0;
}

// Stays that have not ended.
static void show_open(struct prof *prof, struct task_state *state, uint64_t now_ns)
{
	struct prof_open open;
	size_t n;

	prof_open_init(&open, prof, state->options->than_ns, now_ns);
	for (size_t i = 0; i < state->sched.tasks.n; i++) {
		const struct sched_task *task = &state->sched.tasks.v[i];

		if (task->state != SCHED_UNKNOWN && state->counts[task->state])
			prof_open_add(&open,
				      &(struct pair_slot){.key = i, .time_ns = task->since_ns});
	}
	n = prof_open_sort(&open);
	for (size_t i = 0; i < n; i++) {
		const struct pair_slot *slot = &open.v.v[i];

		put_stay(prof, &state->sched.tasks.v[slot->key], open.now_ns, false);
		prof_open_put(prof, &open, slot);
	}
	prof_open_done(&open, prof);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);
	struct table table = {.rule = true};

	if (prof->options->perins) {
		table_column(&table, (struct table_column){"thread", NULL, TABLE_COUNT, 6});
		table_column(&table,
			     (struct table_column){"comm", NULL, TABLE_TEXT, 15, .left = true});
	}
	table_column(&table, (struct table_column){"St", "state", TABLE_TEXT, 2, .left = true});
	delays_columns(&table);
	if (prof->options->perins && state->rows.n) {
		qsort(state->rows.v, state->rows.n, sizeof(*state->rows.v), by_tid);
		for (size_t i = 0; i < state->rows.n; i++)
			put_states(state, &table, state->rows.v[i]->dists, state->rows.v[i]);
	}
	if (!prof->options->perins)
		put_states(state, &table, state->dists, NULL);
	show_open(prof, state, now_ns);
	prof_put_unknown(prof, now_ns, state->unknown_n, "stays " PROF_LOST_WITHIN);
	prof_put_unknown(prof, now_ns, state->hidden_n,
			 "stays are not known, as what ended them was not shown");
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	free_rows(state);
	state->unknown_n = state->hidden_n = 0;
	return 0;
}

static void done(struct prof *prof)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);

	free_rows(state);
	vec_done(&state->rows);
	for (int i = 0; i < SCHED_STATES; i++)
		dist_done(&state->dists[i]);
	prof_tasks_done(&state->tasks);
	prof_warn_sched(&state->sched);
	sched_done(&state->sched);
	history_done(&state->history);
}

const struct profiler profiler_task_state = {
	.name = "task-state",
	.summary = "How long tasks run, wait for a CPU, sleep",
	.usage = "sonde prof task-state [-S] [-D] [--than TIME [-g]] [--filter NAMES] [--perins] [options] [-- COMMAND]",
	.description =
		"R: runs; RD: could run and waits for a CPU; S: sleeps until a signal or an event; D: sleeps, signals don't end it; other "
		"letters as the kernel names them. The stay in a state counts when it ends. Of a command, all that it starts is watched. A "
		"sleep whose end is not seen, as in sandboxes that hide what idle CPUs do, ends when the task runs.\n\n"
		"--than says who woke a task up, too; what an interrupt does is nobody's.\n\n"
		"Where events were lost, or what ended a stay is not shown, it is not known how long the stay was: it is counted, told and left out.",
	.opts = options,
	.size = sizeof(struct task_state_options),
	.state_size = sizeof(struct task_state),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.endless = true,
	.ordered = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.record = record,
	.lost = lost,
	.interval = interval,
	.done = done,
};
