// SPDX-License-Identifier: GPL-2.0-or-later
// Events as a table of SQLite: rows are copies of records, columns read them where they lie. Private to prof/sql.
#pragma once
#ifdef HAVE_SQLITE3
#include "base/map.h"
#include "prof/core/profiler.h"
#include <sqlite3.h>

enum sql_own { SQL_PID, SQL_TID, SQL_TIME, SQL_CPU, SQL_PERIOD, SQL_OWN };

struct sql_row {
	uint64_t time_ns, period;
	uint32_t pid, tid, cpu, size;
	uint8_t raw[];
};

// Rows by a column's value, made when a query first asks for one value of it.
struct sql_index {
	struct map first; // value -> row + 1
	uint32_t *next;	  // row -> row + 1
	size_t made_n;	  // rows that are in it
};

struct sql_table {
	struct prof_event *event;
	const char *name;
	const struct tp_field *fields;
	size_t fields_n;
	VEC(struct sql_row *) rows;
	struct sql_index *indexes; // by column
	VEC(char *)
	chunks; // of rows; kept from interval to interval, as new memory costs more than all else
	size_t chunk, chunk_n; // in use: which, bytes of it
	uint64_t first_ns, last_ns, all_n, bytes;
};

void sql_table_init(struct sql_table *table, struct prof_event *event);
void sql_table_done(struct sql_table *table);
// About 30 ns.
void sql_table_add(struct sql_table *table, const struct sample *sample);
void sql_table_clear(struct sql_table *table);
// Makes the module known and the table visible in `db`. -errno with a sentence.
int sql_table_attach(struct sql_table *table, sqlite3 *db);
#endif
