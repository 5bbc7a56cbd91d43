// SPDX-License-Identifier: GPL-2.0-or-later
// A table: columns with titles, rows of numbers and texts. How it looks is the encoder's business; a column says what its
// numbers are.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

enum table_kind {
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_SIGNED,
	TABLE_US,    // ns, shown in us with three decimals
	TABLE_MS,    // ns, shown in ms with three decimals
	TABLE_TIME,  // ns; as text in the unit that fits, "1.17 ms"; else ns
	TABLE_SHARE, // two numbers: a count and its percentage ("than(reqs)")
};

struct table_column {
	const char *title, *name; // name: in csv and json; NULL: the title
	enum table_kind kind;
	uint8_t width;	     // least
	bool left;	     // text form: to the left
	const char *between; // text form: before the column; NULL: a space
};

struct table_cell {
	union {
		uint64_t number;
		const char *text; // lives in the table
	};
	uint64_t second; // of TABLE_SHARE: the percentage
	bool none;	 // not known: nothing is shown
};

struct table {
	VEC(struct table_column) columns;
	VEC(struct table_cell) cells; // row by row
	struct arena arena;
	bool rule; // text form: a line of dashes below the titles
	bool gap;  // text form: an empty line there
};

void table_done(struct table *table);
// Forgets the rows.
void table_clear(struct table *table);
void table_column(struct table *table, struct table_column column);
void table_number(struct table *table, uint64_t v);
void table_share(struct table *table, uint64_t n, uint64_t percent);
void table_text(struct table *table, const char *text); // copied
void table_none(struct table *table);
void table_text_or_none(struct table *table, const char *text); // NULL: not known
void table_number_if(struct table *table, bool known, uint64_t v);
static inline size_t table_rows(const struct table *table)
{
	return table->columns.n ? table->cells.n / table->columns.n : 0;
}
