// SPDX-License-Identifier: GPL-2.0-or-later
// Tables with tabs between columns, for cut, awk and spreadsheets: no quotes, control characters are escaped.
#include "encoder/core/encoder.h"
#include "encoder/core/table.h"

static void tsv_table(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	const size_t n = table->columns.n;

	for (size_t i = 0; i < n && !stamp->no_titles; i++) {
		out_text(out, i ? "\t" : stamp->time ? "time\t" : "");
		out_escaped(out, table_column_name(&table->columns.v[i]));
		out_text(out, i + 1 == n ? "\n" : "");
	}
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];
		const struct table_cell *cell = &table->cells.v[i];

		if (i % n)
			out_char(out, '\t');
		else if (stamp->time)
			out_printf(out, "%s\t", stamp->time);
		if (c->kind != TABLE_TEXT)
			table_put_number(out, c, cell);
		else if (!cell->none)
			out_escaped(out, cell->text);
		if (i % n + 1 == n)
			out_char(out, '\n');
	}
}

const struct encoder encoder_tsv = {
	.name = "tsv",
	.suffix = ".tsv",
	.summary = "tables with tabs between columns",
	.table = tsv_table,
};
