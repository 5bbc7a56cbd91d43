// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/rows.h"
#include "prof/core/print.h"

bool prof_rows_begin(struct prof *prof, struct prof_rows *rows, bool stacks)
{
	static const struct table_column columns[] = {
		{"comm", NULL, TABLE_TEXT},  {"tid", NULL, TABLE_COUNT},
		{"cpu", NULL, TABLE_COUNT},  {"time_ns", NULL, TABLE_COUNT},
		{"event", NULL, TABLE_TEXT}, {"fields", NULL, TABLE_TEXT},
	};

	if (!prof->print->format)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(&rows->table, columns[i]);
	rows->stacks = stacks && !prof->options->flame_graph;
	vec_each(struct prof_event *, event, &prof->events)
		rows->foreign |= (*event)->feed->foreign != NULL;
	if (rows->stacks)
		table_column(&rows->table, (struct table_column){"stack", NULL, TABLE_TEXT});
	if (rows->foreign)
		table_column(&rows->table, (struct table_column){"from", NULL, TABLE_TEXT});
	out_init_memory(&rows->fields);
	return true;
}

struct out *prof_rows_fields(struct prof_rows *rows)
{
	rows->fields.n = 0;
	return &rows->fields;
}

static void put_text(struct prof_rows *rows)
{
	out_char(&rows->fields, 0);
	table_text(&rows->table, rows->fields.buf);
}

void prof_rows_put_as(struct prof *prof, struct prof_rows *rows, const struct prof_event *event,
		      const struct sample *sample)
{
	struct table *table = &rows->table;

	table_clear(table);
	table_text(table, prof_comm(prof, sample->pid, sample->tid));
	table_number(table, sample->tid);
	table_number(table, sample->cpu);
	table_number(table, prof_event_clock(prof, event, sample->time));
	table_text(table, event->feed->event->name);
	put_text(rows);
	if (rows->stacks) {
		prof_stack_text(prof, sample, prof_rows_fields(rows));
		put_text(rows);
	}
	if (rows->foreign)
		table_text(table, event->feed->foreign ? event->feed->foreign->where : "");
	prof_put_table(prof, table, sample->time);
}

void prof_rows_put(struct prof *prof, struct prof_rows *rows, const struct prof_event *event,
		   const struct sample *sample)
{
	prof_event_text(event, sample, prof_rows_fields(rows));
	prof_rows_put_as(prof, rows, event, sample);
}

void prof_rows_done(struct prof_rows *rows)
{
	if (!prof_rows_on(rows))
		return;
	table_done(&rows->table);
	out_done(&rows->fields);
}
