// SPDX-License-Identifier: GPL-2.0-or-later
// diff for programs: --format json and csv.
#include "cmd/diff/cycles.h"
#include <stdio.h>

static void start_blocks(struct table *table)
{
	static const struct table_column columns[] = {
		{.title = "file", .kind = TABLE_COUNT},
		{.title = "from", .kind = TABLE_COUNT},
		{.title = "to", .kind = TABLE_COUNT},
		{.title = "from_line", .kind = TABLE_TEXT},
		{.title = "to_line", .kind = TABLE_TEXT},
		{.title = "cycles_0", .kind = TABLE_COUNT},
		{.title = "cycles", .kind = TABLE_COUNT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(table, columns[i]);
}

static const char *key_name(const struct column *column)
{
	return column->key ? column->key->name : column->field->name;
}

void diff_table_start(const struct diff *diff, struct table *table, struct arena *arena)
{
	const struct report *report = &diff->files[0].report;

	table_column(table, (struct table_column){.title = "event", .kind = TABLE_TEXT});
	for (size_t i = 0; i < diff->keys.n; i++)
		table_column(table, (struct table_column){.title = key_name(
								  report->fields.v[diff->keys.v[i]]),
							  .kind = TABLE_TEXT});
	if (diff_is_of_blocks(diff)) {
		start_blocks(table);
		return;
	}
	for (size_t i = 0; i < diff->files_n; i++) {
		table_column(table, (struct table_column){.title = arena_fmt(arena, "period_%zu", i),
							  .kind = TABLE_COUNT});
		table_column(table, (struct table_column){.title = arena_fmt(arena, "change_%zu", i),
							  .kind = TABLE_TEXT});
	}
}

static void add_value(struct table *table, const struct diff *diff, const struct diff_row *row,
		      size_t file)
{
	const struct diff_value *value = &row->values[file];
	char text[64];

	if (!value->there) {
		table_none(table);
		table_none(table);
		return;
	}
	table_number(table, value->period);
	switch (file ? diff->compute : DIFF_DELTA) {
	case DIFF_RATIO:
		snprintf(text, sizeof(text), "%.6f", value->ratio);
		break;
	case DIFF_WDIFF:
		snprintf(text, sizeof(text), "%lld", (long long)value->weighted);
		break;
	default:
		snprintf(text, sizeof(text), "%.4f", file ? value->delta : value->percent);
	}
	if (file && row->dummy && (diff->compute == DIFF_RATIO || diff->compute == DIFF_WDIFF))
		table_none(table);
	else
		table_text(table, text);
}

static void add_keys(struct table *table, const struct diff *diff, const struct event *event,
		     const struct diff_row *row)
{
	table_text(table, event->name);
	for (size_t i = 0; i < diff->keys.n; i++)
		table_text_or_none(table, column_skipped(row->hist->report->fields.v[diff->keys.v[i]],
							 row->hist) &&
							  !*row->texts[i]
						  ? NULL
						  : row->texts[i]);
}

static void add_blocks(struct table *table, const struct diff *diff, const struct event *event,
		       const struct diff_row *row)
{
	for (size_t i = 1; i < diff->files_n; i++) {
		struct block_changes changes;

		block_changes_init(&changes, diff, row, i);
		vec_each(const struct block_change, change, &changes.v) {
			const struct block *block = change->block, *base = change->base;

			add_keys(table, diff, event, row);
			table_number(table, i);
			table_number_if(table, block->has_start, block->start);
			table_number(table, block->end);
			table_text_or_none(table,
					   block->has_start
						   ? report_block_line(changes.report,
								       changes.place, block->start)
						   : NULL);
			table_text_or_none(table, report_block_line(changes.report, changes.place,
								    block->end));
			table_number_if(table, base && !row->dummy,
					base ? base->cycles_all / base->n_all : 0);
			table_number(table, block->cycles_all / block->n_all);
		}
		block_changes_done(&changes);
	}
}

void diff_table(struct diff *diff, const struct event *event, const struct diff_rows *rows,
		struct table *table)
{
	vec_each(const struct diff_row, row, &rows->v) {
		if (row->hidden)
			continue;
		if (diff_is_of_blocks(diff)) {
			add_blocks(table, diff, event, row);
			continue;
		}
		add_keys(table, diff, event, row);
		for (size_t i = 0; i < diff->files_n; i++)
			add_value(table, diff, row, i);
	}
}
