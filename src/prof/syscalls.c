// SPDX-License-Identifier: GPL-2.0-or-later
// System calls: how often, how long, how many fail.
#include "agg/pairs.h"
#include "base/err.h"
#include "base/log.h"
#include "prof/core/heat.h"
#include "prof/core/history.h"
#include "prof/core/kernel.h"
#include "prof/core/pairing.h"
#include "sys/syscalls.h"
#include <stdio.h>
#include <sys/syscall.h>

enum { MOST_NUMBERS = 1024, HISTORY_BYTES = 4 << 20, MOST_ROWS = 1 << 20 };

struct call_stat {
	uint64_t n, total, min, max, errors, over_n;
};

struct calls {
	struct prof_options common;
	uint64_t than_ns;
	struct event_value enter_id, exit_ret;
	struct call_stat calls[MOST_NUMBERS];
	struct map by_thread; // tid << 32 | number -> row + 1
	struct call_row {
		uint32_t tid, number;
		struct call_stat stat;
	} * rows;
	size_t rows_n, rows_capacity;
	struct pairs waiting; // by tid; data: number | position in the history << 16
	struct history history;
	uint64_t unknown_n, strange_n;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which system calls"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR",
		  "taken for perf-prof's sake: system calls belong to threads"),
	PROF_DURATION(0, "than", offsetof(struct calls, than_ns), "TIME",
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

// ---- counted in the kernel: a row for each thread (with --perins) and number

static void count_in_kernel(struct prof *prof)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0}, {BPF_KEY_REMEMBERED, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false},
						{BPF_CELL_SUM, false},
						{BPF_CELL_MIN, false},
						{BPF_CELL_MAX, false},
						{BPF_CELL_SUM, false}};
	const struct calls *state = PROF_STATE(struct calls, prof);
	const struct prof_kernel_rows rows = {keys, ARRAY_SIZE(keys), cells, ARRAY_SIZE(cells),
					      prof->options->perins ? 8192 : MOST_NUMBERS};
	const char *thread = prof->options->perins ? "_tid" : "0";
	const struct prof_kernel_event events[] = {
		{.event = prof->events.v[0], .begins = true, .pair = "_tid", .remember = "id"},
		{.event = prof->events.v[1],
		 .ends = true,
		 .pair = "_tid",
		 .keys = {thread},
		 .updates = {{0},
			     {1, .delay = true},
			     {2, .delay = true},
			     {3, .delay = true},
			     {4, "ret < 0"}},
		 .updates_n = 5},
		// exit and exit_group never return.
		{.name = "sched:sched_process_exit",
		 .ends = true,
		 .pair = "_tid",
		 .only_remembered = {SYS_exit, SYS_exit_group},
		 .only_remembered_n = 2,
		 .keys = {thread},
		 .updates = {{0}, {1, .delay = true}, {2, .delay = true}, {3, .delay = true}},
		 .updates_n = 4},
	};

	if (!prof_kernel_may(prof))
		return;
	if (state->than_ns || prof->options->heatmap) {
		inform("syscalls counts in sonde, not in the kernel: single events are wanted (--than, --heatmap)");
		return;
	}
	prof_kernel_open(prof, &rows, events, ARRAY_SIZE(events));
}

static int setup(struct prof *prof)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	int err = 0;

	if (prof->events.n != 2 ||
	    strcmp(prof->events.v[0]->feed->event->name, "raw_syscalls:sys_enter") ||
	    strcmp(prof->events.v[1]->feed->event->name, "raw_syscalls:sys_exit"))
		return fail(EINVAL,
			    "syscalls takes -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit, with filters, and no other events");
	err = prof_value_init(&state->enter_id, prof, prof->events.v[0], "id");
	if (!err)
		err = prof_value_init(&state->exit_ret, prof, prof->events.v[1], "ret");
	if (state->than_ns)
		history_init(&state->history, HISTORY_BYTES);
	if (!err)
		err = prof_heat_new(prof, "ns");
	if (!err)
		count_in_kernel(prof);
	return err;
}

static struct call_stat *stat_of(struct prof *prof, struct calls *state, uint32_t tid, uint32_t number)
{
	uint64_t *row;

	if (!prof->options->perins)
		return &state->calls[number];
	row = map_at(&state->by_thread, (uint64_t)tid << 32 | number, NULL);
	if (!*row) {
		if (state->rows_n == state->rows_capacity) {
			state->rows_capacity = state->rows_capacity ? state->rows_capacity * 2 : 64;
			state->rows = xreallocarray(state->rows, state->rows_capacity,
						    sizeof(*state->rows));
		}
		state->rows[state->rows_n] = (struct call_row){.tid = tid, .number = number};
		*row = ++state->rows_n;
	}
	return &state->rows[*row - 1].stat;
}

static struct call_stat *took(struct prof *prof, struct calls *state, const struct pair_slot *slot,
			      uint64_t ns)
{
	struct call_stat *stat = stat_of(prof, state, (uint32_t)slot->key, slot->event);

	stat->total += ns;
	if (!stat->n || ns < stat->min)
		stat->min = ns;
	if (ns > stat->max)
		stat->max = ns;
	stat->n++;
	return stat;
}

static int take_row(void *arg, const void *key, const uint64_t *cells)
{
	struct prof *prof = arg;
	struct calls *state = PROF_STATE(struct calls, prof);
	struct call_stat *stat;
	uint64_t keys[2]; // thread, number

	memcpy(keys, key, sizeof(keys));
	if (keys[1] >= MOST_NUMBERS) {
		state->strange_n += cells[0];
		return 0;
	}
	stat = stat_of(prof, state, (uint32_t)keys[0], (uint32_t)keys[1]);
	*stat = (struct call_stat){.n = cells[0],
				   .total = cells[1],
				   .min = cells[2],
				   .max = cells[3],
				   .errors = cells[4]};
	return 0;
}

static void show(struct prof *prof, struct calls *state, const struct pair_slot *slot,
		 const struct sample *exit)
{
	const struct history_entry *entry = history_at(&state->history, slot->data);
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
	const char *name = syscall_name(slot->event);

	if (history_at(&state->history, slot->data)) {
		show(prof, state, slot, NULL);
		return;
	}
	prof_put_time(prof, slot->time_ns);
	out_printf(prof->out, " %s(%u) of thread %llu ", name ? name : "system call", slot->event,
		   (unsigned long long)slot->key);
	out_safe(prof->out, prof_comm(prof, UINT32_MAX, (uint32_t)slot->key));
	out_char(prof->out, '\n');
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	struct pair_slot *slot;
	struct call_stat *stat;
	uint64_t ns;
	bool replaced;

	if (event->index == 0) {
		uint64_t number = event_value_number(&state->enter_id, sample);

		if (number >= MOST_NUMBERS) {
			state->strange_n++;
			return 0;
		}
		slot = pairs_put(&state->waiting, sample->tid, &replaced);
		slot->time_ns = sample->time;
		slot->event = (uint32_t)number;
		slot->data =
			state->than_ns ? history_add(&state->history, 0, sample->tid, sample) : 0;
		return 0;
	}
	slot = pairs_find(&state->waiting, sample->tid);
	if (!slot)
		return 0;
	if (!prof_delay(prof, slot->time_ns, sample->time, &ns))
		return 0;
	stat = took(prof, state, slot, ns);
	stat->errors += (int64_t)event_value_number(&state->exit_ret, sample) < 0;
	prof_heat_add(prof, sample->time, ns);
	if (state->than_ns && ns > state->than_ns) {
		stat->over_n++;
		show(prof, state, slot, sample);
	}
	pairs_remove(&state->waiting, slot);
	return 0;
}

// exit and exit_group never return: they end with their thread.
static int record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	struct calls *state = PROF_STATE(struct calls, prof);
	const struct record_task *task = (const void *)header;
	struct pair_slot *slot;
	uint64_t ns;

	if (header->type != PERF_RECORD_EXIT || !record_is_whole(header))
		return 0;
	slot = pairs_find(&state->waiting, task->tid);
	if (!slot)
		return 0;
	if (prof_delay(prof, slot->time_ns, task->time, &ns)) {
		if (slot->event == SYS_exit || slot->event == SYS_exit_group) {
			took(prof, state, slot, ns);
		} else if (state->than_ns && ns > state->than_ns) {
			show_open(prof, state, slot);
			out_printf(prof->out, "`Ended %.3f us with its thread\n", (double)ns / 1e3);
		}
	}
	pairs_remove(&state->waiting, slot);
	return 0;
}

static void lost(struct prof *prof, const struct feed_loss *loss)
{
	struct calls *state = PROF_STATE(struct calls, prof);

	state->unknown_n += state->waiting.n;
	pairs_clear(&state->waiting);
}

static int by_total(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->stat.total != y->stat.total)
		return x->stat.total > y->stat.total ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void put_row(struct prof *prof, struct calls *state, struct table *table,
		    const struct call_row *row)
{
	const char *name = syscall_name(row->number);
	char text[64];

	if (name)
		snprintf(text, sizeof(text), "%s(%u)", name, row->number);
	else
		snprintf(text, sizeof(text), "%u", row->number);
	if (prof->options->perins) {
		table_number(table, row->tid);
		table_text(table, prof_comm(prof, UINT32_MAX, row->tid));
	}
	table_text(table, text);
	table_number(table, row->stat.n);
	table_number(table, row->stat.total);
	table_number(table, row->stat.min);
	table_number(table, row->stat.total / row->stat.n);
	table_number(table, row->stat.max);
	table_number(table, row->stat.errors);
	if (state->than_ns)
		table_share(table, row->stat.over_n, row->stat.over_n * 100 / row->stat.n);
}

static void gather(struct prof *prof, struct calls *state)
{
	if (prof->options->perins)
		return;
	state->rows = xreallocarray(state->rows, MOST_NUMBERS, sizeof(*state->rows));
	state->rows_n = 0;
	for (uint32_t i = 0; i < MOST_NUMBERS; i++) {
		if (state->calls[i].n)
			state->rows[state->rows_n++] =
				(struct call_row){.number = i, .stat = state->calls[i]};
	}
	memset(state->calls, 0, sizeof(state->calls));
}

// Calls that have not returned.
static void show_all_open(struct prof *prof, struct calls *state, uint64_t now_ns)
{
	const struct pair_slot *slot;
	struct prof_open open;
	size_t n;

	prof_open_init(&open, prof, state->than_ns, now_ns);
	for (size_t i = 0; (slot = pairs_next(&state->waiting, &i));)
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
	struct table table = {.rule = true};
	int err = prof->kernel ? prof_kernel_read(prof, take_row, prof) : 0;

	if (err < 0)
		return err;
	gather(prof, state);
	show_all_open(prof, state, now_ns);
	if (prof->options->perins) {
		table_column(&table, (struct table_column){"thread", NULL, TABLE_COUNT, 6});
		table_column(&table,
			     (struct table_column){"comm", NULL, TABLE_TEXT, 15, .left = true});
	}
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(&table, columns[i]);
	if (state->than_ns)
		table_column(&table, (struct table_column){"than(reqs)", "than", TABLE_SHARE, 15});
	if (state->rows_n)
		qsort(state->rows, state->rows_n, sizeof(*state->rows), by_total);
	for (size_t i = 0; i < state->rows_n; i++) {
		if (state->rows[i].stat.n)
			put_row(prof, state, &table, &state->rows[i]);
	}
	prof_put_unknown(prof, now_ns, state->unknown_n, "calls");
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	state->unknown_n = 0;
	state->rows_n = 0;
	map_clear(&state->by_thread);
	return 0;
}

static void done(struct prof *prof)
{
	struct calls *state = PROF_STATE(struct calls, prof);

	event_value_done(&state->enter_id);
	event_value_done(&state->exit_ret);
	map_done(&state->by_thread);
	pairs_done(&state->waiting);
	history_done(&state->history);
	free(state->rows);
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
	.size = sizeof(struct calls),
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
