// SPDX-License-Identifier: GPL-2.0-or-later
// System calls: how often, how long, how many fail.
#include "base/err.h"
#include "prof/core/counted.h"
#include "prof/core/heat.h"
#include "prof/core/history.h"
#include "prof/core/pairing.h"
#include "sys/syscalls.h"
#include <stdio.h>
#include <sys/syscall.h>

enum { HISTORY_BYTES = 4 << 20, PERINS_ROWS = 8192, ALL_ROWS = 1024 };
enum { KEY_THREAD, KEY_CALL };
enum { CELL_CALLS, CELL_TOTAL, CELL_MIN, CELL_MAX, CELL_ERRORS, CELL_OVER };
enum { ENTER, EXIT, THREAD_END };

struct calls_options {
	struct prof_options common;
	uint64_t than_ns;
};

struct calls {
	const struct calls_options *options;
	struct history history;
	uint64_t unknown_n;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which system calls"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR",
		  "taken for perf-prof's sake: system calls belong to threads"),
	PROF_DURATION(0, "than", offsetof(struct calls_options, than_ns), "TIME",
		      "show each that takes longer; with each result also those that have not returned (`Open)"),
	PROF_FLAG(0, "perins", PROF_AT(perins), "each thread by itself"),
	PROF_TEXT(0, "heatmap", PROF_AT(heatmap), "FILE",
		  "how long over time: to FILE.lat and, as a picture, FILE.svg"),
	PROF_OPTION_NO_BPF,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof syscalls -p PID --perins -i 1000", "the system calls of each thread of a process",
	 "sonde prof syscalls --perins -- sleep 0.1 >out.txt"},
	{"sonde prof syscalls -e 'raw_syscalls:sys_enter/id==0/' -e 'raw_syscalls:sys_exit/id==0/'",
	 "read alone",
	 "sonde prof syscalls -e 'raw_syscalls:sys_enter/id==0/' -e 'raw_syscalls:sys_exit/id==0/' --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

// A row for each thread (with --perins) and call.
static int count(struct prof *prof)
{
	static const struct tally_key keys[] =
		{[KEY_THREAD] = {TALLY_NUMBER}, [KEY_CALL] = {TALLY_NUMBER, .first = true}};
	static const enum tally_cell_kind cells[] =
		{[CELL_CALLS] = TALLY_HITS, [CELL_TOTAL] = TALLY_SUM,  [CELL_MIN] = TALLY_MIN,
		 [CELL_MAX] = TALLY_MAX,    [CELL_ERRORS] = TALLY_SUM, [CELL_OVER] = TALLY_SUM};
	static const struct tally_update updates[] = {{CELL_CALLS, NULL},
						      {CELL_TOTAL, TALLY_DELAY},
						      {CELL_MIN, TALLY_DELAY},
						      {CELL_MAX, TALLY_DELAY},
						      {CELL_ERRORS, "ret < 0"}};
	const struct calls *state = PROF_STATE(struct calls, prof);
	struct tally_event *events = arena_zalloc(&prof->arena, 3 * sizeof(*events));
	struct tally_options plan = {.keys = keys,
				     .keys_n = ARRAY_SIZE(keys),
				     .cells = cells,
				     .cells_n = ARRAY_SIZE(cells),
				     .events = events,
				     .events_n = 3,
				     .rows_max = prof->options->perins ? PERINS_ROWS : ALL_ROWS};

	plan.not_in_kernel = prof_not_in_kernel(prof);
	if (!plan.not_in_kernel && (state->options->than_ns || prof->options->heatmap))
		plan.not_in_kernel = "single events are wanted (--than, --heatmap)";
	for (int i = ENTER; i <= EXIT; i++)
		events[i] = prof_tally_event(prof->events.v[i]);
	// exit and exit_group never return: they end with their thread. Here that is a record, see below.
	events[THREAD_END].event = events[EXIT].event;
	if (!plan.not_in_kernel &&
	    prof_tally_event_by_name(prof, "sched:sched_process_exit", &events[THREAD_END]) < 0)
		plan.not_in_kernel = arena_strdup(&prof->arena, str_of(err_sentence()));
	events[ENTER].role = TALLY_FIRST;
	events[ENTER].keys[KEY_CALL] = "id";
	for (int i = ENTER; i <= THREAD_END; i++) {
		events[i].pair = "_tid";
		if (i == ENTER)
			continue;
		events[i].role = TALLY_SECOND;
		events[i].keys[KEY_THREAD] = prof->options->perins ? "_tid" : "0";
		events[i].updates = updates;
		events[i].updates_n = i == EXIT ? ARRAY_SIZE(updates) : ARRAY_SIZE(updates) - 1;
	}
	events[THREAD_END].only_first[0] = SYS_exit;
	events[THREAD_END].only_first[1] = SYS_exit_group;
	events[THREAD_END].only_first_n = 2;
	return prof_tally_open(prof, &plan);
}

static int setup(struct prof *prof)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	int err;

	state->options = PROF_OPTIONS(struct calls_options, prof);
	if (prof->events.n != 2 ||
	    strcmp(prof->events.v[ENTER]->feed->event->name, "raw_syscalls:sys_enter") ||
	    strcmp(prof->events.v[EXIT]->feed->event->name, "raw_syscalls:sys_exit"))
		return fail(EINVAL,
			    "syscalls takes -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit, with filters, and no other events");
	if (state->options->than_ns)
		history_init(&state->history, HISTORY_BYTES);
	err = prof_heat_new(prof, "ns");
	return err ? err : count(prof);
}

// entered: where the history has the entry
static void show(struct prof *prof, struct calls *state, uint64_t entered, const struct sample *exit)
{
	const struct history_entry *entry = history_at(&state->history, entered);
	struct sample enter;

	if (entry && sample_decode(&prof->events.v[0]->feed->event->plan, history_record(entry),
				   &enter) == 0) {
		prof_put_time(prof, enter.time);
		out_char(prof->out, ' ');
		prof_put_event(prof, prof->events.v[0], &enter);
	}
	if (!exit)
		return;
	prof_put_time(prof, exit->time);
	out_char(prof->out, ' ');
	prof_put_event(prof, prof->events.v[1], exit);
}

// The entry of a call that has not returned, or what is known of it.
static void show_open(struct prof *prof, struct calls *state, const struct pair_slot *slot)
{
	const uint64_t number = tally_waiting_key(prof->tally, slot);
	const char *name = syscall_name(number);

	if (history_at(&state->history, slot->data)) {
		show(prof, state, slot->data, NULL);
		return;
	}
	prof_put_time(prof, slot->time_ns);
	out_printf(prof->out, " %s(%lld) of thread %llu ", name ? name : "system call",
		   (long long)number, (unsigned long long)slot->key);
	out_safe(prof->out, prof_comm(prof, UINT32_MAX, (uint32_t)slot->key));
	out_char(prof->out, '\n');
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	struct tally_hit hit = {0};

	if (event->index == ENTER && state->options->than_ns)
		hit.data = history_add(&state->history, 0, sample->tid, sample);
	if (tally_hit(prof->tally, event->index, sample, &hit) != TALLY_COUNTED)
		return 0;
	prof_heat_add(prof, sample->time, hit.delay_ns);
	if (state->options->than_ns && hit.delay_ns > state->options->than_ns) {
		++*tally_cell_at(prof->tally, hit.row, CELL_OVER);
		show(prof, state, hit.data, sample);
	}
	return 0;
}

// What a thread was in when it ended.
static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	const struct record_task *task = (const void *)header;
	const struct pair_slot *slot;
	struct tally_hit hit = {0};
	uint64_t number, ns;

	if (header->type != PERF_RECORD_EXIT || !record_is_whole(header) || prof_in_kernel(prof))
		return 0;
	slot = pairs_find(tally_waiting(prof->tally), task->tid);
	if (!slot)
		return 0;
	number = tally_waiting_key(prof->tally, slot);
	ns = task->time > slot->time_ns ? task->time - slot->time_ns : 0;
	if (number != SYS_exit && number != SYS_exit_group && state->options->than_ns &&
	    ns > state->options->than_ns) {
		show_open(prof, state, slot);
		out_printf(prof->out, "`Ended %.3f us with its thread\n", (double)ns / 1e3);
	}
	tally_hit(prof->tally, THREAD_END,
		  &(struct sample){.pid = task->pid, .tid = task->tid, .time = task->time}, &hit);
	return 0;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	PROF_STATE(struct calls, prof)->unknown_n += tally_forget_waiting(prof->tally);
}

static void put_row(struct prof *prof, struct calls *state, struct table *table, size_t row)
{
	const struct tally *tally = prof->tally;
	const uint64_t number = tally_number(tally, row, KEY_CALL),
		       tid = tally_number(tally, row, KEY_THREAD),
		       n = tally_cell(tally, row, CELL_CALLS),
		       over_n = tally_cell(tally, row, CELL_OVER);
	const char *name = syscall_name(number);
	char text[64];

	if (name)
		snprintf(text, sizeof(text), "%s(%llu)", name, (unsigned long long)number);
	else
		snprintf(text, sizeof(text), "%lld", (long long)number);
	if (prof->options->perins) {
		table_number(table, tid);
		table_text(table, prof_comm(prof, UINT32_MAX, (uint32_t)tid));
	}
	table_text(table, text);
	table_number(table, n);
	table_number(table, tally_cell(tally, row, CELL_TOTAL));
	table_number(table, tally_cell(tally, row, CELL_MIN));
	table_number(table, tally_cell(tally, row, CELL_TOTAL) / n);
	table_number(table, tally_cell(tally, row, CELL_MAX));
	table_number(table, tally_cell(tally, row, CELL_ERRORS));
	if (state->options->than_ns)
		table_share(table, over_n, over_n * 100 / n);
}

// Calls that have not returned.
static void show_all_open(struct prof *prof, struct calls *state, uint64_t now_ns)
{
	const struct pair_slot *slot;
	struct prof_open open;
	size_t n;

	prof_open_init(&open, prof, state->options->than_ns, now_ns);
	for (size_t i = 0; (slot = pairs_next(tally_waiting(prof->tally), &i));)
		prof_open_add(&open, slot);
	n = prof_open_sort(&open);
	for (size_t i = 0; i < n; i++) {
		show_open(prof, state, &open.v.v[i]);
		prof_open_put(prof, &open, &open.v.v[i]);
	}
	prof_open_done(&open, prof);
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	static const struct table_column columns[] = {
		{"syscalls", "syscall", TABLE_TEXT, 20, .left = true},
		{"calls", "calls", TABLE_COUNT, 8},
		{"total(us)", "total_us", TABLE_US, 16},
		{"min(us)", "min_us", TABLE_US, 12},
		{"avg(us)", "avg_us", TABLE_US, 12},
		{"max(us)", "max_us", TABLE_US, 12},
		{"err", "errors", TABLE_COUNT, 6},
	};
	struct calls *state = PROF_STATE(struct calls, prof);
	static const struct tally_order order[] = {{KEY_THREAD, true},
						   {CELL_TOTAL, false},
						   {KEY_CALL, true}};
	struct tally *tally = prof->tally;
	struct table table = {.rule = true};
	int err = tally_read(tally);
	auto_free uint32_t *rows = xcalloc(tally_rows(tally) + 1, sizeof(*rows));

	if (err < 0)
		return err;
	tally_sort(tally, order, ARRAY_SIZE(order), rows);
	show_all_open(prof, state, now_ns);
	if (prof->options->perins) {
		table_column(&table, (struct table_column){"thread", NULL, TABLE_COUNT, 6});
		table_column(&table,
			     (struct table_column){"comm", NULL, TABLE_TEXT, 15, .left = true});
	}
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(&table, columns[i]);
	if (state->options->than_ns)
		table_column(&table, (struct table_column){"than(reqs)", "than", TABLE_SHARE, 15});
	for (size_t i = 0; i < tally_rows(tally); i++)
		put_row(prof, state, &table, rows[i]);
	prof_put_unknown(prof, now_ns, state->unknown_n, "calls " PROF_LOST_WITHIN);
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	state->unknown_n = 0;
	prof->no_place_n += tally_stats(tally).overflow;
	tally_clear(tally);
	return 0;
}

static void done(struct prof *prof)
{
	struct calls *state = PROF_STATE(struct calls, prof);

	history_done(&state->history);
}

static const char *const default_events[] = {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit", NULL};

const struct profiler profiler_syscalls = {
	.name = "syscalls",
	.summary = "System calls: how often, how long, how many fail",
	.usage = "sonde prof syscalls [-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit] [--perins] [--than TIME] [options] [-- COMMAND]",
	.description =
		"From the entry of each system call to its return, by number. exit and exit_group, which do not return, end with their "
		"thread. Our own system calls are not seen.",
	.opts = options,
	.size = sizeof(struct calls_options),
	.state_size = sizeof(struct calls),
	.examples = examples,
	.default_events = default_events,
	.endless = true,
	.tasks = true,
	.ordered = true,
	.setup = setup,
	.sample = sample,
	.record = record,
	.lost = lost,
	.interval = interval,
	.done = done,
};
