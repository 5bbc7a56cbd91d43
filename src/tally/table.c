// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/table.h"
#include "base/alloc.h"

static bool is_signed(const struct tally *tally, const struct tally_column *column)
{
	return column->is_key ? tally_key_is_signed(tally, column->at)
			      : tally_cell_is_signed(tally, column->at);
}

static void put_row(const struct tally *tally, const struct tally_view *view, size_t row,
		    struct table *table)
{
	struct out text;

	out_init_memory(&text);
	for (size_t i = 0; i < view->columns_n; i++) {
		const struct tally_column *column = &view->columns[i];

		if (column->name) {
			text.n = 0;
			column->name(view->arg, row, column->at, &text);
			out_char(&text, 0);
			table_text(table, text.buf);
		} else if (column->look.kind == TABLE_TEXT) {
			table_text(table, tally_text(tally, row, column->at));
		} else {
			table_number(table, column->is_key ? tally_number(tally, row, column->at)
							   : tally_cell(tally, row, column->at));
		}
	}
	out_done(&text);
}

void tally_table(const struct tally *tally, const struct tally_view *view, struct table *ret)
{
	const size_t n = tally_rows(tally);
	auto_free uint32_t *rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < view->columns_n; i++) {
		struct table_column look = view->columns[i].look;

		if (look.kind == TABLE_COUNT && is_signed(tally, &view->columns[i]))
			look.kind = TABLE_SIGNED;
		table_column(ret, look);
	}
	tally_sort(tally, view->order, view->order_n, rows);
	for (size_t i = 0; i < n && (!view->most || i < view->most); i++)
		put_row(tally, view, rows[i], ret);
}
