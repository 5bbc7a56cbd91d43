// SPDX-License-Identifier: GPL-2.0-or-later
// Events as tables that SQL asks.
//
// prof sql has its queries prepared before the first event, so SQLite says which columns they use; only those are kept, as
// columns of numbers (a text is the number of its text): 8 bytes a row of SELECT id, COUNT(*) ... GROUP BY id, where the record
// has 112. What sorts or groups by columns gets its rows in that order, from a sort by the digits in which the values differ;
// SQLite would make a record of each row and sort these, which took more than all else together.
#include "base/err.h"
#include "base/log.h"
#include "prof/core/print.h"
#include "prof/sql/table.h"
#include "sys/signals.h"
#include "sys/syscalls.h"
#include <stdio.h>

enum { MOST_BYTES_MB = 2048, MOST_ROWS = 1 << 30 };

struct sql_options {
	struct prof_options common;
	const char *query, *keep;
};

struct sql {
	const struct sql_options *options;
#ifdef HAVE_SQLITE3
	sqlite3 *db;
	struct sql_table *tables;
	size_t tables_n;
	uint64_t left_out_n;
	bool kept;
#endif
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to ask"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT(0, "query", offsetof(struct sql_options, query), "SQL",
		  "asked every interval and at the end; several are separated by ;"),
	PROF_TEXT(0, "output2", offsetof(struct sql_options, keep), "FILE",
		  "keep the events in an SQLite database"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof sql -e sched:sched_wakeup -i 1000 --query 'SELECT comm, COUNT(*) AS n FROM sched_wakeup GROUP BY comm ORDER BY n DESC'",
	 "which tasks are woken up, by name, every second",
	 "sonde prof sql -e sched:sched_wakeup --from \"$T/data/prof.data.gz\" --query 'SELECT comm, COUNT(*) AS n FROM sched_wakeup GROUP BY comm ORDER BY n DESC' >out.txt"},
	{"sonde prof sql -e sched:sched_wakeup,sched:sched_switch --output2 events.db -- sleep 1",
	 "keeps the events of a second for SQLite",
	 "sonde prof sql -e sched:sched_wakeup,sched:sched_switch --output2 events.db -- sleep 0.1"},
	{0},
};

static const char *const attributes[] = {NULL};

#ifdef HAVE_SQLITE3
static void ksymbol(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct prof *prof = sqlite3_user_data(context);
	struct location location;

	location = sym_resolve(prof->feed->sym, sym_task(prof->feed->sym, 0, 0),
			       PERF_RECORD_MISC_KERNEL, (uint64_t)sqlite3_value_int64(argv[0]));
	if (location.sym)
		sqlite3_result_text(context, location.sym->name, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_text(context, "??", -1, SQLITE_STATIC);
}

static void syscall_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *name = syscall_name((uint64_t)sqlite3_value_int64(argv[0]));

	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static void comm_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct prof *prof = sqlite3_user_data(context);

	sqlite3_result_text(context,
			    prof_comm(prof, UINT32_MAX, (uint32_t)sqlite3_value_int64(argv[0])), -1,
			    SQLITE_TRANSIENT);
}

// Of an event's _time: the time of day as text.
static void wall_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[40];

	prof_time_text(sqlite3_user_data(context), (uint64_t)sqlite3_value_int64(argv[0]), text);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static const struct {
	const char *name;
	void (*call)(sqlite3_context *context, int argc, sqlite3_value **argv);
} functions[] = {{"ksymbol", ksymbol},
		 {"syscall", syscall_text},
		 {"comm_of", comm_text},
		 {"wall_time", wall_text}};

static int execute(struct sql *state, const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(state->db, sql, NULL, NULL, &error) == SQLITE_OK)
		return 0;
	int err = fail(EINVAL, "SQLite: %s", error ? error : sqlite3_errmsg(state->db));
	sqlite3_free(error);
	return err;
}

// Does every statement of the query make sense? Said before the run, not after an hour.
static int check_query(struct sql *state)
{
	const char *rest = state->options->query;

	while (rest && *rest) {
		sqlite3_stmt *statement;
		const char *from = rest;

		if (sqlite3_prepare_v2(state->db, from, -1, &statement, &rest) != SQLITE_OK)
			return fail(EINVAL, "--query: %s", sqlite3_errmsg(state->db));
		sqlite3_finalize(statement);
	}
	return 0;
}

// Signals wait in the run's descriptor meanwhile: a query that is too long must not keep them there.
static int stop_query(void *arg)
{
	return signals_end_waits();
}

static int setup(struct prof *prof)
{
	enum { STEPS = 100000 }; // of SQLite's machine: some ms
	struct sql *state = PROF_STATE(struct sql, prof);
	int err = 0;

	state->options = PROF_OPTIONS(struct sql_options, prof);
	if (state->options->query && !*state->options->query)
		return fail(EINVAL, "--query '': there is no SQL in it");
	if (!state->options->query && !state->options->keep)
		return fail(EINVAL,
			    "what to do with the events? --query SQL asks them, --output2 FILE keeps them");
	if (sqlite3_open(":memory:", &state->db) != SQLITE_OK)
		return fail(EIO, "can't open SQLite: %s", sqlite3_errmsg(state->db));
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		sqlite3_create_function(state->db, functions[i].name, 1, SQLITE_UTF8, prof,
					functions[i].call, NULL, NULL);
	sqlite3_progress_handler(state->db, STEPS, stop_query, NULL);
	alloc_expect_much();
	state->tables_n = prof->events.n;
	state->tables = xcalloc(prof->events.n + 1, sizeof(*state->tables));
	for (size_t i = 0; i < prof->events.n && !err; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(prof->events.v[k]->label, prof->events.v[i]->label))
				return fail(EINVAL,
					    "two tables would be called %s: give one of the events an alias=",
					    prof->events.v[i]->label);
		}
		sql_table_init(&state->tables[i], prof->events.v[i]);
		err = sql_table_attach(&state->tables[i], state->db);
	}
	if (!err)
		err = execute(state,
			      "CREATE TABLE event_metadata(table_name TEXT PRIMARY KEY, event_system TEXT, event_name TEXT, event_id INTEGER, "
			      "filter_expression TEXT, has_stack INTEGER, max_stack INTEGER, field_count INTEGER, sample_count INTEGER, "
			      "first_sample_time INTEGER, last_sample_time INTEGER)");
	if (!err)
		err = check_query(state);
	for (size_t i = 0; i < prof->events.n && !err; i++)
		sql_table_choose(&state->tables[i], state->options->keep != NULL);
	return err;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct sql *state = PROF_STATE(struct sql, prof);
	struct sql_table *table = &state->tables[event->index];

	if (table->bytes > (uint64_t)MOST_BYTES_MB << 20 || table->n >= MOST_ROWS)
		state->left_out_n++;
	else
		sql_table_add(table, sample);
	return 0;
}

static void fill_metadata(struct sql *state)
{
	sqlite3_stmt *insert;

	execute(state, "DELETE FROM event_metadata");
	if (sqlite3_prepare_v2(state->db, "INSERT INTO event_metadata VALUES(?,?,?,?,?,?,?,?,?,?,?)",
			       -1, &insert, NULL) != SQLITE_OK)
		return;
	for (size_t i = 0; i < state->tables_n; i++) {
		const struct sql_table *table = &state->tables[i];
		const struct feed_event *feed = table->event->feed;

		sqlite3_bind_text(insert, 1, table->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 2, feed->system, -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 3, feed->name ? feed->name : feed->event->name, -1,
				  SQLITE_STATIC);
		sqlite3_bind_int64(insert, 4, feed->event->tp ? tracepoint_id(feed->event->tp) : 0);
		sqlite3_bind_text(insert, 5, feed->filter, -1, SQLITE_STATIC);
		sqlite3_bind_int(insert, 6, feed->stack);
		sqlite3_bind_int(insert, 7, (int)feed->max_stack);
		sqlite3_bind_int64(insert, 8, (sqlite3_int64)(table->columns_n - SQL_OWN));
		sqlite3_bind_int64(insert, 9, (sqlite3_int64)table->all_n);
		sqlite3_bind_int64(insert, 10, (sqlite3_int64)table->first_ns);
		sqlite3_bind_int64(insert, 11, (sqlite3_int64)table->last_ns);
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
}

static void put_cell(struct table *table, sqlite3_stmt *statement, int column)
{
	char text[64];

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		table_text(table, "NULL");
		break;
	case SQLITE_BLOB:
		snprintf(text, sizeof(text), "[BLOB:%d]", sqlite3_column_bytes(statement, column));
		table_text(table, text);
		break;
	case SQLITE_FLOAT:
		snprintf(text, sizeof(text), "%.6f", sqlite3_column_double(statement, column));
		table_text(table, text);
		break;
	default:
		table_text(table, (const char *)sqlite3_column_text(statement, column));
	}
}

static int show_result(struct prof *prof, sqlite3_stmt *statement, const char *time)
{
	struct sql *state = PROF_STATE(struct sql, prof);
	struct table_stamp stamp = {.time = time};
	struct table table = {.rule = true};
	int n = sqlite3_column_count(statement), step;

	for (int i = 0; i < n; i++)
		table_column(&table,
			     (struct table_column){sqlite3_column_name(statement, i), NULL,
						   TABLE_TEXT, .left = true, .between = " | "});
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			put_cell(&table, statement, i);
	}
	if (n && !prof->print->format)
		out_printf(prof->out, "=== %s ===\n", sqlite3_sql(statement));
	if (n)
		table_print(prof->tables, &table, prof->print->format, &stamp);
	table_done(&table);
	return step == SQLITE_DONE ? 0 : fail(EINVAL, "--query: %s", sqlite3_errmsg(state->db));
}

static int ask(struct prof *prof, uint64_t now_ns)
{
	struct sql *state = PROF_STATE(struct sql, prof);
	const char *rest = state->options->query;
	char time[40];
	int err = 0;

	prof_time_text(prof, now_ns, time);
	if (!prof->print->format) {
		out_text(prof->out, time);
		out_char(prof->out, '\n');
	}
	while (!err && rest && *rest) {
		sqlite3_stmt *statement;

		if (sqlite3_prepare_v2(state->db, rest, -1, &statement, &rest) != SQLITE_OK)
			return fail(EINVAL, "--query: %s", sqlite3_errmsg(state->db));
		if (statement)
			err = show_result(prof, statement, time);
		sqlite3_finalize(statement);
	}
	return err;
}

// Appends the interval's rows to the database's tables.
static int keep(struct sql *state)
{
	int err = 0;

	if (!state->kept) {
		auto_free char *attach = NULL;
		char *quoted = sqlite3_mprintf("ATTACH %Q AS kept", state->options->keep);

		// A database of other days may have other columns.
		if (unlink(state->options->keep) < 0 && errno != ENOENT)
			err = fail(errno, "can't replace %s: %s", state->options->keep,
				   strerror(errno));
		attach = xstrdup(quoted);
		sqlite3_free(quoted);
		if (!err)
			err = execute(state, attach);
		if (!err)
			err = execute(state,
				      "PRAGMA kept.synchronous=OFF; PRAGMA kept.journal_mode=OFF");
	}
	for (size_t i = 0; i < state->tables_n && !err; i++) {
		auto_free char *sql =
			text_dup_fmt(state->kept
					     ? "INSERT INTO kept.\"%s\" SELECT * FROM main.\"%s\""
					     : "CREATE TABLE kept.\"%s\" AS SELECT * FROM main.\"%s\"",
				     state->tables[i].name, state->tables[i].name);

		err = execute(state, sql);
	}
	if (!err)
		err = execute(state,
			      "DROP TABLE IF EXISTS kept.event_metadata; CREATE TABLE kept.event_metadata AS SELECT * FROM main.event_metadata");
	state->kept = true;
	return err;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct sql *state = PROF_STATE(struct sql, prof);
	int err = 0;

	fill_metadata(state);
	if (state->options->query)
		err = ask(prof, now_ns);
	if (!err && state->options->keep)
		err = keep(state);
	if (state->left_out_n)
		warn("%llu events are left out: more than %d MB or %d rows of an event in an interval; give -i",
		     (unsigned long long)state->left_out_n, MOST_BYTES_MB, MOST_ROWS);
	state->left_out_n = 0;
	for (size_t i = 0; i < state->tables_n; i++)
		sql_table_clear(&state->tables[i]);
	return err;
}

static void done(struct prof *prof)
{
	struct sql *state = PROF_STATE(struct sql, prof);

	sqlite3_close(state->db);
	for (size_t i = 0; state->tables && i < state->tables_n; i++)
		sql_table_done(&state->tables[i]);
	free(state->tables);
}
#else
static int setup(struct prof *prof)
{
	return fail(ENOTSUP, "this sonde was built without SQLite (Debian: libsqlite3-dev)");
}
#endif

const struct profiler profiler_sql = {
	.name = "sql",
	.summary = "Ask the events in SQL",
	.usage = "sonde prof sql -e EVENT [--query SQL] [--output2 FILE] [-i MS] [options] [-- COMMAND]",
	.description =
		"Each event is a table, called as the event (alias=NAME: otherwise), with a typed column for each field and _pid, _tid, _time "
		"(ns), _cpu and _period. Comparisons of numbers are made where the events lie, equalities by an index. After the query "
		"the tables are emptied. event_metadata tells of the tables.\n\n"
		"Functions: ksymbol(address), syscall(number), comm_of(thread), wall_time(_time).",
	.opts = options,
	.size = sizeof(struct sql_options),
	.state_size = sizeof(struct sql),
	.examples = examples,
	.attributes = attributes,
	.endless = true,
	.tasks = true,
	.setup = setup,
#ifdef HAVE_SQLITE3
	.sample = sample,
	.interval = interval,
	.done = done,
#endif
};
