// SPDX-License-Identifier: GPL-2.0-or-later
// Tables as Markdown has them, for a comment or a page.
#include "encoder/core/encoder.h"
#include "encoder/core/table.h"

static void put_text(struct out *out, const char *text)
{
	struct out clean;

	out_init_memory(&clean);
	out_escaped(&clean, text);
	for (size_t i = 0; i < clean.n; i++) {
		if (strchr("|\\`*_<>[]", clean.buf[i]))
			out_char(out, '\\');
		out_char(out, clean.buf[i]);
	}
	out_done(&clean);
}

static void markdown_table(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;

	if (stamp->time && n)
		out_printf(out, "\n%s\n\n", stamp->time);
	for (size_t i = 0; i < n; i++) {
		out_text(out, "| ");
		put_text(out, table->columns.v[i].title);
		out_text(out, i + 1 == n ? " |\n" : " ");
	}
	for (size_t i = 0; i < n; i++) {
		out_text(out, table->columns.v[i].kind == TABLE_TEXT ? "| --- " : "| ---: ");
		out_text(out, i + 1 == n ? "|\n" : "");
	}
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];
		const struct table_cell *cell = &table->cells.v[i];

		out_text(out, "| ");
		if (c->kind != TABLE_TEXT)
			table_put_number(out, c, cell);
		else if (!cell->none)
			put_text(out, cell->text);
		out_text(out, (i + 1) % n ? " " : " |\n");
	}
}

const struct encoder encoder_markdown = {
	.name = "markdown",
	.suffix = ".md",
	.summary = "tables for comments and pages",
	.table = markdown_table,
};
