// SPDX-License-Identifier: GPL-2.0-or-later
// Events as a table of SQLite: columns of numbers, and only those that a query asks for. Private to prof/sql.
#pragma once
#ifdef HAVE_SQLITE3
#include "base/intern.h"
#include "base/map.h"
#include "prof/core/profiler.h"
#include <sqlite3.h>

enum sql_own { SQL_PID, SQL_TID, SQL_TIME, SQL_CPU, SQL_PERIOD, SQL_OWN };
enum sql_kind { SQL_NUMBER, SQL_TEXT, SQL_BYTES };

struct sql_column {
	const char *name;
	const struct tp_field *field; // NULL: of the sample (enum sql_own)
	enum sql_kind kind;
	bool kept;
	uint32_t slot; // of the kept ones, which
};

// Rows by a column's value, made when a query first asks for one value of it.
struct sql_index {
	struct map first; // value -> row + 1
	uint32_t *next;	  // row -> row + 1
	size_t made_n;	  // rows that are in it
};

enum { SQL_MOST_TERMS = 4 };

// Rows in the order of columns, the first one first; made when a query first sorts or groups so.
struct sql_order {
	struct sql_term {
		uint32_t column;
		bool down;
	} terms[SQL_MOST_TERMS];
	size_t terms_n;
	uint32_t *rows;
};

enum { SQL_BLOCK_BITS = 15 };

struct sql_table {
	struct prof_event *event;
	const char *name;
	struct sql_column *columns;
	size_t columns_n;
	uint32_t *kept; // columns by slot
	size_t kept_n;
	size_t n; // rows
	// 1 << SQL_BLOCK_BITS rows each, slot after slot; kept from interval to interval, as new memory costs more than all else
	VEC(int64_t *) blocks;
	struct intern texts;	   // of the rows there are
	struct sql_index *indexes; // by column
	VEC(struct sql_order) orders;
	uint64_t first_ns, last_ns, all_n, bytes;
};

void sql_table_init(struct sql_table *table, struct prof_event *event);
void sql_table_done(struct sql_table *table);
// Queries are known: columns that none of them uses are not kept (all: all are). Before the first row.
void sql_table_choose(struct sql_table *table, bool all);
// About 10 ns, and 20 for each text. At most UINT32_MAX rows.
void sql_table_add(struct sql_table *table, const struct sample *sample);
void sql_table_clear(struct sql_table *table);
// Makes the module known and the table visible in `db`. -errno with a sentence.
int sql_table_attach(struct sql_table *table, sqlite3 *db);

// The value of a kept column: a number, or the text's id, SQL_NULL.
#define SQL_NULL INT64_MIN
static inline int64_t sql_table_cell(const struct sql_table *table, size_t row, uint32_t column)
{
	const size_t rows = (size_t)1 << SQL_BLOCK_BITS;

	return table->blocks
		.v[row >> SQL_BLOCK_BITS][table->columns[column].slot * rows + (row & (rows - 1))];
}

// order.c: of all rows; n log n at most, some 10 ns a row for numbers that differ in few bits. Equal rows stay as they came.
const struct sql_order *sql_order_of(struct sql_table *table, const struct sql_term *terms, size_t n);
void sql_orders_drop(struct sql_table *table);
#endif
