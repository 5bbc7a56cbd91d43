// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/delays.h"

void delays_columns(struct table *table)
{
	static const struct table_column columns[] = {
		{"calls", "calls", TABLE_COUNT, 8},  {"total(us)", "total_us", TABLE_US, 16},
		{"min(us)", "min_us", TABLE_US, 12}, {"p50(us)", "p50_us", TABLE_US, 12},
		{"p95(us)", "p95_us", TABLE_US, 12}, {"p99(us)", "p99_us", TABLE_US, 12},
		{"max(us)", "max_us", TABLE_US, 12},
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(table, columns[i]);
}

void delays_cells(struct table *table, const struct dist *dist)
{
	table_number(table, dist->n);
	table_number(table, dist->sum);
	table_number(table, dist->min);
	table_number(table, dist_quantile(dist, 0.5));
	table_number(table, dist_quantile(dist, 0.95));
	table_number(table, dist_quantile(dist, 0.99));
	table_number(table, dist->max);
}
