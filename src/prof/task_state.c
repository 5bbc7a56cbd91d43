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

// R, then the sleeping ones by bit of prev_state, RD last.
enum { STATE_R, STATE_SLEEPS, STATE_RD = STATE_SLEEPS + SCHED_STATES, STATES, UNKNOWN = STATES };
enum { HISTORY_BYTES = 16 << 20, MOST_TASKS = 1 << 20 };

struct task_rec {
	uint64_t since_ns, started_at; // position in the history
	uint32_t tid, row;	       // row + 1: with --perins, 0: none
	uint8_t state;
};

struct state_row {
	uint32_t tid;
	struct dist dists[STATES];
};

struct task_state {
	struct prof_options common;
	const char *filter;
	bool interruptible, interruptible_given, uninterruptible, uninterruptible_given;
	uint64_t than_ns;
	struct prof_tasks tasks;
	struct prof_event *switches, *wakeups, *new_tasks;
	struct event_value prev_pid, next_pid, prev_state, woken_pid, new_pid;
	bool counts[STATES];
	struct map by_tid; // -> index of recs
	VEC(struct task_rec) recs;
	VEC(uint32_t) free_recs;
	struct dist dists[STATES];
	VEC(struct state_row *) rows;
	struct history history;
	uint64_t unknown_n;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which tasks and states"),
	PROF_TEXT(0, "filter", offsetof(struct task_state, filter), "NAMES",
		  "tasks with these names, such as java,pyth*"),
	{.kind = OPT_FLAG,
	 .letter = 'S',
	 .name = "interruptible",
	 .offset = offsetof(struct task_state, interruptible),
	 .given = offsetof(struct task_state, interruptible_given),
	 .help = "only sleep that signals end (S); --no-interruptible: all but that"},
	{.kind = OPT_FLAG,
	 .letter = 'D',
	 .name = "uninterruptible",
	 .offset = offsetof(struct task_state, uninterruptible),
	 .given = offsetof(struct task_state, uninterruptible_given),
	 .help = "only sleep that signals don't end (D)"},
	PROF_DURATION(0, "than", offsetof(struct task_state, than_ns), "TIME",
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

static void choose_states(struct task_state *state)
{
	bool chosen = (state->interruptible && state->interruptible_given) || state->uninterruptible;

	for (int i = 0; i < STATES; i++)
		state->counts[i] = !chosen;
	if (state->interruptible_given)
		state->counts[STATE_SLEEPS + 0] = state->interruptible;
	if (state->uninterruptible_given)
		state->counts[STATE_SLEEPS + 1] = state->uninterruptible;
}

static int add_events(struct prof *prof, struct task_state *state)
{
	const char *prev = prof_tasks_filter(&state->tasks, prof, "prev_pid", "prev_comm");
	const char *next = prof_tasks_filter(&state->tasks, prof, "next_pid", "next_comm");
	const char *woken = prof_tasks_filter(&state->tasks, prof, "pid", "comm");
	const char *both = prev ? arena_fmt(&prof->arena, "%s || %s", prev, next) : NULL;
	bool sleeps_only = !state->counts[STATE_R] && !state->counts[STATE_RD];
	int err;

	// Only how a sleep begins and ends is of interest.
	if (sleeps_only)
		both = feed_and(prof->feed, prev,
				state->counts[STATE_SLEEPS] && state->counts[STATE_SLEEPS + 1]
					? "prev_state==1 || prev_state==2"
				: state->counts[STATE_SLEEPS] ? "prev_state==1"
							      : "prev_state==2");
	err = prof_add(prof, "sched:sched_switch", both, &state->switches);
	if (!err)
		err = prof_add(prof, "sched:sched_wakeup", woken, &state->wakeups);
	if (!err && !sleeps_only)
		err = prof_add(prof, "sched:sched_wakeup_new", woken, &state->new_tasks);
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

	choose_states(state);
	err = prof_tasks_init(&state->tasks, prof, state->filter);
	if (!err)
		err = add_events(prof, state);
	if (!err)
		err = prof_value_init(&state->prev_pid, prof, state->switches, "prev_pid");
	if (!err)
		err = prof_value_init(&state->next_pid, prof, state->switches, "next_pid");
	if (!err)
		err = prof_value_init(&state->prev_state, prof, state->switches, "prev_state");
	if (!err)
		err = prof_value_init(&state->woken_pid, prof, state->wakeups, "pid");
	if (!err && state->new_tasks)
		err = prof_value_init(&state->new_pid, prof, state->new_tasks, "pid");
	if (state->than_ns)
		history_init(&state->history, HISTORY_BYTES);
	return err;
}

static void forget(struct task_state *state, struct task_rec *rec)
{
	vec_push(&state->free_recs, (uint32_t)(rec - state->recs.v));
	map_remove(&state->by_tid, rec->tid);
	rec->state = UNKNOWN;
}

// NULL: nobody asked for this task. Who has a record is wanted: most are found at the first look.
static struct task_rec *rec_of(struct prof *prof, struct task_state *state, uint32_t tid)
{
	uint64_t *at = map_find(&state->by_tid, tid);

	if (at && !state->tasks.by_group)
		return &state->recs.v[*at];
	if (!prof_tasks_wanted(&state->tasks, prof, tid)) {
		if (at) // it went to another group
			forget(state, &state->recs.v[*at]);
		return NULL;
	}
	if (at)
		return &state->recs.v[*at];
	at = map_at(&state->by_tid, tid, NULL);
	if (state->free_recs.n) {
		*at = vec_pop(&state->free_recs);
	} else {
		*at = state->recs.n;
		vec_push(&state->recs, (struct task_rec){0});
	}
	state->recs.v[*at] = (struct task_rec){.tid = tid, .state = UNKNOWN};
	return &state->recs.v[*at];
}

static struct dist *dist_of(struct prof *prof, struct task_state *state, struct task_rec *rec)
{
	struct state_row *row;

	if (!prof->options->perins)
		return &state->dists[rec->state];
	if (!rec->row) {
		if (state->rows.n >= MOST_TASKS)
			return &state->dists[rec->state];
		row = NEW(struct state_row);
		row->tid = rec->tid;
		vec_push(&state->rows, row);
		rec->row = (uint32_t)state->rows.n;
	}
	return &state->rows.v[rec->row - 1]->dists[rec->state];
}

static const char *state_name(const struct task_state *state, uint32_t i, char buf[2])
{
	buf[0] = i == STATE_R	? 'R'
		 : i < STATE_RD ? state->switches->sched.letters[i - STATE_SLEEPS]
				: 0;
	buf[1] = 0;
	return i == STATE_RD ? "RD" : buf;
}

// Who, in which state, for how long, and the event that began it.
static void put_stay(struct prof *prof, const struct task_rec *rec, uint64_t end_ns, bool has_ended)
{
	const struct task_state *state = PROF_STATE(struct task_state, prof);
	const struct history_entry *entry = history_at(&state->history, rec->started_at);
	uint64_t ns = end_ns - rec->since_ns;
	struct sample first;
	char buf[2];

	prof_put_time(prof, end_ns);
	out_printf(prof->out, " task-state: %u ", rec->tid);
	out_safe(prof->out, prof_comm(prof, UINT32_MAX, rec->tid));
	out_printf(prof->out, " %s %llu ms\n",
		   rec->state == STATE_R	? "RUN"
		   : rec->state == STATE_RD	? "RUNDELAY"
		   : rec->state == STATE_SLEEPS ? "WAIT"
						: state_name(state, rec->state, buf),
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

static void show(struct prof *prof, const struct task_rec *rec, struct prof_event *event,
		 const struct sample *sample)
{
	put_stay(prof, rec, sample->time, true);
	prof_put_time(prof, sample->time);
	out_char(prof->out, ' ');
	prof_put_event(prof, event, sample);
	if (!prof->flame && sample->callchain)
		prof_put_stack(prof, sample, "    ");
}

// The task leaves its state for another.
static void go(struct prof *prof, struct task_state *state, struct task_rec *rec, uint8_t to,
	       struct prof_event *event, const struct sample *sample, uint64_t at)
{
	uint64_t ns;

	if (rec->state != UNKNOWN && state->counts[rec->state] &&
	    prof_delay(prof, rec->since_ns, sample->time, &ns)) {
		dist_add(dist_of(prof, state, rec), ns);
		if (state->than_ns && ns > state->than_ns)
			show(prof, rec, event, sample);
		else if (prof->flame && !state->than_ns)
			prof_flame_add(prof, sample, 1);
	}
	rec->state = to;
	rec->since_ns = sample->time;
	rec->started_at = at;
}

static void on_switch(struct prof *prof, struct task_state *state, const struct sample *sample,
		      uint64_t at)
{
	uint32_t prev = (uint32_t)event_value_number(&state->prev_pid, sample);
	uint32_t next = (uint32_t)event_value_number(&state->next_pid, sample);
	uint64_t bits = event_value_number(&state->prev_state, sample) & ((1 << SCHED_STATES) - 1);

	struct task_rec *rec = prev ? rec_of(prof, state, prev) : NULL;

	if (rec) {
		int bit = bits ? __builtin_ctzll(bits) : 0;
		char letter = bits ? state->switches->sched.letters[bit] : 'R';

		go(prof, state, rec, bits ? (uint8_t)(STATE_SLEEPS + bit) : STATE_RD,
		   state->switches, sample, at);
		// The dead don't come back.
		if (letter == 'X' || letter == 'Z' || letter == 'x')
			forget(state, rec);
	}
	rec = next ? rec_of(prof, state, next) : NULL;
	if (rec) {
		// Who runs sleeps no longer, also where nothing told what woke it up: a sandbox may hide events of idle CPUs. Who ran
		// before has left meanwhile, nobody knows when.
		if (rec->state == STATE_R)
			rec->state = UNKNOWN;
		go(prof, state, rec, STATE_R, state->switches, sample, at);
	}
}

static void on_wakeup(struct prof *prof, struct task_state *state, struct prof_event *event,
		      const struct sample *sample, uint32_t tid, uint64_t at)
{
	struct task_rec *rec = tid ? rec_of(prof, state, tid) : NULL;

	if (!rec || rec->state == STATE_R || rec->state == STATE_RD)
		return;
	go(prof, state, rec, STATE_RD, event, sample, at);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);
	uint64_t at = state->than_ns ? history_add(&state->history, event->index, 0, sample) : 0;

	if (event == state->switches)
		on_switch(prof, state, sample, at);
	else
		on_wakeup(prof, state, event, sample,
			  (uint32_t)event_value_number(event == state->wakeups ? &state->woken_pid
									       : &state->new_pid,
						       sample),
			  at);
	return 0;
}

static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	prof_tasks_record(&PROF_STATE(struct task_state, prof)->tasks, prof, header);
	return 0;
}

// Who knows what they did meanwhile.
static void lost(struct prof *prof, const struct feed_loss *loss)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);

	for (size_t i = 0; i < state->recs.n; i++) {
		state->unknown_n += state->recs.v[i].state != UNKNOWN;
		state->recs.v[i].state = UNKNOWN;
	}
}

static void put_states(struct prof *prof, struct task_state *state, struct table *table,
		       struct dist *dists, const struct state_row *row)
{
	char buf[2];

	for (uint32_t i = 0; i < STATES; i++) {
		if (!dists[i].n)
			continue;
		if (row) {
			table_number(table, row->tid);
			table_text(table, prof_comm(prof, UINT32_MAX, row->tid));
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
		for (int k = 0; k < STATES; k++)
			dist_done(&state->rows.v[i]->dists[k]);
		free(state->rows.v[i]);
	}
	vec_clear(&state->rows);
	for (size_t i = 0; i < state->recs.n; i++)
		state->recs.v[i].row = 0;
}

// Stays that have not ended.
static void show_open(struct prof *prof, struct task_state *state, uint64_t now_ns)
{
	struct prof_open open;
	size_t n;

	prof_open_init(&open, prof, state->than_ns, now_ns);
	for (size_t i = 0; i < state->recs.n; i++) {
		const struct task_rec *rec = &state->recs.v[i];

		if (rec->state != UNKNOWN && state->counts[rec->state])
			prof_open_add(&open, &(struct pair_slot){.key = i, .time_ns = rec->since_ns});
	}
	n = prof_open_sort(&open);
	for (size_t i = 0; i < n; i++) {
		const struct pair_slot *slot = &open.v.v[i];

		put_stay(prof, &state->recs.v[slot->key], open.now_ns, false);
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
			put_states(prof, state, &table, state->rows.v[i]->dists, state->rows.v[i]);
	}
	if (!prof->options->perins)
		put_states(prof, state, &table, state->dists, NULL);
	show_open(prof, state, now_ns);
	prof_put_unknown(prof, now_ns, state->unknown_n, "stays");
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	free_rows(state);
	state->unknown_n = 0;
	return 0;
}

static void done(struct prof *prof)
{
	struct task_state *state = PROF_STATE(struct task_state, prof);

	free_rows(state);
	vec_done(&state->rows);
	for (int i = 0; i < STATES; i++)
		dist_done(&state->dists[i]);
	event_value_done(&state->prev_pid);
	event_value_done(&state->next_pid);
	event_value_done(&state->prev_state);
	event_value_done(&state->woken_pid);
	event_value_done(&state->new_pid);
	prof_tasks_done(&state->tasks);
	map_done(&state->by_tid);
	vec_done(&state->recs);
	vec_done(&state->free_recs);
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
		"Where events were lost, what tasks did meanwhile is not known and left out.",
	.opts = options,
	.size = sizeof(struct task_state),
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
