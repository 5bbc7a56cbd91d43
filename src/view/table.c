// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/table.h"

void table_done(struct table *table)
{
	vec_done(&table->columns);
	vec_done(&table->cells);
	arena_done(&table->arena);
}

void table_clear(struct table *table)
{
	vec_clear(&table->cells);
	arena_reset(&table->arena);
}

void table_column(struct table *table, struct table_column column)
{
	vec_push(&table->columns, column);
}

void table_number(struct table *table, uint64_t v)
{
	vec_push(&table->cells, (struct table_cell){.number = v});
}

void table_share(struct table *table, uint64_t n, uint64_t percent)
{
	vec_push(&table->cells, (struct table_cell){.number = n, .second = percent});
}

void table_text(struct table *table, const char *text)
{
	vec_push(&table->cells,
		 (struct table_cell){.text = arena_strdup(&table->arena, str_of(text))});
}

void table_none(struct table *table)
{
	vec_push(&table->cells, (struct table_cell){.none = true});
}

void table_text_or_none(struct table *table, const char *text)
{
	if (text)
		table_text(table, text);
	else
		table_none(table);
}

void table_number_if(struct table *table, bool known, uint64_t v)
{
	if (known)
		table_number(table, v);
	else
		table_none(table);
}
