// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/table.h"
#include "base/err.h"
#include "encoder/core/encoder.h"
#include <stdio.h>

int table_format_find(const struct encoder **ret, const char *name)
{
	struct out names;
	int err;

	if (!strcmp(name, "text")) {
		*ret = NULL;
		return 0;
	}
	for (size_t i = 0; encoders[i]; i++) {
		if (encoders[i]->table && !strcmp(encoders[i]->name, name)) {
			*ret = encoders[i];
			return 0;
		}
	}
	out_init_memory(&names);
	for (size_t i = 0; encoders[i]; i++)
		if (encoders[i]->table)
			out_printf(&names, ", %s", encoders[i]->name);
	out_char(&names, 0);
	err = fail(EINVAL, "there is no format '%s' for tables: text%s", name, names.buf);
	out_done(&names);
	return err;
}

static void put_fixed(struct out *out, uint64_t v, unsigned divisor)
{
	out_u64(out, v / divisor);
	out_char(out, '.');
	out_u64_zeros(out, v % divisor / (divisor / 1000), 3);
}

void table_put_number(struct out *out, const struct table_column *column,
		      const struct table_cell *cell)
{
	if (cell->none)
		return;
	switch (column->kind) {
	case TABLE_SIGNED:
		out_i64(out, (int64_t)cell->number);
		break;
	case TABLE_US:
		put_fixed(out, cell->number, 1000);
		break;
	case TABLE_MS:
		put_fixed(out, cell->number, 1000000);
		break;
	default:
		out_u64(out, cell->number);
	}
}

// As perf's lock_stat_key_print_time.
static void put_time(struct out *out, uint64_t ns)
{
	static const struct {
		double base;
		const char *unit;
	} units[] = {{3600e9, "h "}, {60e9, "m "}, {1e9, "s "}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if ((double)ns < units[i].base)
			continue;
		out_printf(out, "%.2f %s", (double)ns / units[i].base, units[i].unit);
		return;
	}
	out_u64(out, ns);
	out_text(out, " ns");
}

static void put_cell(struct out *out, const struct table_column *column, const struct table_cell *cell)
{
	if (cell->none)
		return;
	if (column->kind == TABLE_TEXT) {
		out_escaped(out, cell->text);
		return;
	}
	if (column->kind == TABLE_TIME) {
		put_time(out, cell->number);
		return;
	}
	table_put_number(out, column, cell);
	if (column->kind != TABLE_SHARE)
		return;
	out_text(out, " (");
	out_u64_right(out, cell->second, 3);
	out_text(out, "%)");
}

static size_t width_of(const struct table *table, size_t column, const struct table_stamp *stamp)
{
	const struct table_column *c = &table->columns.v[column];
	size_t n = table->columns.n, width = MAX((size_t)c->width, strlen(c->title));
	struct out one;

	out_init_memory(&one);
	for (size_t i = column; i < table->cells.n && !stamp->streams; i += n) {
		one.n = 0;
		put_cell(&one, c, &table->cells.v[i]);
		width = MAX(width, one.n);
	}
	out_done(&one);
	return width;
}

static void put_padded(struct out *out, struct str text, size_t width, bool left)
{
	size_t pad = width > text.n ? width - text.n : 0;

	if (!left)
		out_fill(out, ' ', pad);
	out_str(out, text);
	if (left)
		out_fill(out, ' ', pad);
}

static void put_between(struct out *out, const struct table_column *column, bool blank)
{
	const char *between = column->between ? column->between : " ";

	if (blank)
		out_fill(out, ' ', strlen(between));
	else
		out_text(out, between);
}

static void put_titles(struct out *out, const struct table *table, const size_t *widths)
{
	size_t n = table->columns.n;

	for (size_t i = 0; i < n; i++) {
		const struct table_column *c = &table->columns.v[i];
		const bool ends = c->left && i + 1 == n;

		if (i)
			put_between(out, c, false);
		put_padded(out, str_of(c->title), ends ? 0 : widths[i], c->left);
	}
	out_char(out, '\n');
	for (size_t i = 0; table->rule && i < n; i++) {
		if (i)
			put_between(out, &table->columns.v[i], true);
		// Lists at the end of a line may be long.
		out_fill(out, '-',
			 i + 1 == n && table->columns.v[i].left ? strlen(table->columns.v[i].title)
								: widths[i]);
	}
	if (table->rule || table->gap)
		out_char(out, '\n');
}

static void print_text(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;
	auto_free size_t *widths = xcalloc(n + 1, sizeof(*widths));
	struct out one;

	for (size_t i = 0; i < n; i++)
		widths[i] = width_of(table, i, stamp);
	if (!stamp->streams || !stamp->no_titles)
		put_titles(out, table, widths);
	out_init_memory(&one);
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];
		const bool is_last = i % n + 1 == n;

		one.n = 0;
		put_cell(&one, c, &table->cells.v[i]);
		if (i % n)
			put_between(out, c, false);
		put_padded(out, (struct str){one.buf, one.n},
			   c->left && is_last ? 0 : widths[i % n], c->left);
		if (is_last)
			out_char(out, '\n');
	}
	out_done(&one);
}

void table_print(struct out *out, const struct table *table, const struct encoder *format,
		 const struct table_stamp *stamp)
{
	static const struct table_stamp none;

	stamp = stamp ? stamp : &none;
	if (format)
		format->table(out, table, stamp);
	else
		print_text(out, table, stamp);
}
