// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/table.h"
#include "base/err.h"
#include "base/json.h"
#include <stdio.h>

int table_format_find(enum table_format *ret, const char *name)
{
	static const char *const names[] = {"text", "csv", "json"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name)) {
			*ret = (enum table_format)i;
			return 0;
		}
	}
	return fail(EINVAL, "there is no format '%s' for tables: text, csv or json", name);
}

static void put_fixed(struct out *out, uint64_t v, unsigned divisor)
{
	out_u64(out, v / divisor);
	out_char(out, '.');
	out_u64_zeros(out, v % divisor / (divisor / 1000), 3);
}

static void put_cell(struct out *out, const struct table_column *column, const struct table_cell *cell)
{
	if (cell->none)
		return;
	switch (column->kind) {
	case TABLE_TEXT:
		out_escaped(out, cell->text);
		break;
	case TABLE_COUNT:
		out_u64(out, cell->number);
		break;
	case TABLE_SIGNED:
		out_i64(out, (int64_t)cell->number);
		break;
	case TABLE_US:
		put_fixed(out, cell->number, 1000);
		break;
	case TABLE_MS:
		put_fixed(out, cell->number, 1000000);
		break;
	case TABLE_SHARE:
		out_u64(out, cell->number);
		out_text(out, " (");
		out_u64_right(out, cell->second, 3);
		out_text(out, "%)");
		break;
	}
}

static size_t width_of(const struct table *table, size_t column)
{
	const struct table_column *c = &table->columns.v[column];
	size_t n = table->columns.n, width = MAX((size_t)c->width, strlen(c->title));
	struct out one;

	out_init_memory(&one);
	for (size_t i = column; i < table->cells.n; i += n) {
		one.n = 0;
		put_cell(&one, c, &table->cells.v[i]);
		width = MAX(width, one.n);
	}
	out_done(&one);
	return width;
}

static void put_padded(struct out *out, struct str text, size_t width, bool left, bool last)
{
	size_t pad = width > text.n ? width - text.n : 0;

	if (!left)
		out_fill(out, ' ', pad);
	out_str(out, text);
	if (left && !last)
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

static void print_text(struct out *out, const struct table *table)
{
	size_t n = table->columns.n;
	auto_free size_t *widths = xcalloc(n + 1, sizeof(*widths));
	struct out one;

	for (size_t i = 0; i < n; i++) {
		const struct table_column *c = &table->columns.v[i];

		widths[i] = width_of(table, i);
		if (i)
			put_between(out, c, false);
		put_padded(out, str_of(c->title), widths[i], c->left, i + 1 == n);
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
	if (table->rule)
		out_char(out, '\n');
	out_init_memory(&one);
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];

		one.n = 0;
		put_cell(&one, c, &table->cells.v[i]);
		if (i % n)
			put_between(out, c, false);
		put_padded(out, (struct str){one.buf, one.n}, widths[i % n], c->left, i % n + 1 == n);
		if (i % n + 1 == n)
			out_char(out, '\n');
	}
	out_done(&one);
}

static const char *name_of(const struct table_column *column)
{
	return column->name ? column->name : column->title;
}

static void print_csv(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;

	for (size_t i = 0; i < n && !stamp->no_titles; i++) {
		if (i == 0 && stamp->time)
			out_text(out, "time,");
		out_csv(out, str_of(name_of(&table->columns.v[i])));
		out_char(out, i + 1 == n ? '\n' : ',');
	}
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];
		const struct table_cell *cell = &table->cells.v[i];

		if (i % n == 0 && stamp->time) {
			out_text(out, stamp->time);
			out_char(out, ',');
		}
		if (c->kind == TABLE_TEXT && !cell->none)
			out_csv(out, str_of(cell->text));
		else if (c->kind == TABLE_SHARE)
			out_u64(out, cell->number);
		else
			put_cell(out, c, cell);
		out_char(out, (i + 1) % n ? ',' : '\n');
	}
}

// With its decimals as they are shown, not as the nearest double has them.
static void json_fixed(struct json *j, uint64_t v, unsigned divisor)
{
	put_fixed(j->out, v, divisor);
	j->after_key = false;
	j->comma = true;
}

static void put_json(struct json *j, const struct table_column *column, const struct table_cell *cell)
{
	if (cell->none)
		json_null(j);
	else if (column->kind == TABLE_TEXT)
		json_text(j, cell->text);
	else if (column->kind == TABLE_SIGNED)
		json_i64(j, (int64_t)cell->number);
	else if (column->kind == TABLE_US || column->kind == TABLE_MS)
		json_fixed(j, cell->number, column->kind == TABLE_US ? 1000 : 1000000);
	else
		json_u64(j, cell->number);
}

static void print_json(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;
	struct json j;

	json_init(&j, out);
	for (size_t i = 0; i < table->cells.n; i++) {
		if (i % n == 0) {
			json_object(&j);
			if (stamp->time)
				json_field_text(&j, "time", stamp->time);
		}
		json_key(&j, name_of(&table->columns.v[i % n]));
		put_json(&j, &table->columns.v[i % n], &table->cells.v[i]);
		if ((i + 1) % n == 0) {
			json_end(&j);
			json_line(&j);
		}
	}
}

void table_print(struct out *out, const struct table *table, enum table_format format,
		 const struct table_stamp *stamp)
{
	static const struct table_stamp none;

	stamp = stamp ? stamp : &none;
	if (format == TABLE_FORMAT_TEXT)
		print_text(out, table);
	else if (format == TABLE_FORMAT_CSV)
		print_csv(out, table, stamp);
	else
		print_json(out, table, stamp);
}
