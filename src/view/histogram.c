// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/histogram.h"

int histogram_last(const struct histogram *histogram)
{
	int last = HISTOGRAM_ROWS - 1;

	while (last >= 0 && !histogram->counts[last])
		last--;
	return last;
}

void histogram_columns(struct table *table, const struct histogram *histogram)
{
	if (histogram->of)
		table_column(table, (struct table_column){histogram->of, NULL, TABLE_TEXT});
	table_column(table, (struct table_column){"unit", NULL, TABLE_TEXT});
	table_column(table, (struct table_column){"from", NULL, TABLE_COUNT});
	table_column(table, (struct table_column){"to", NULL, TABLE_COUNT});
	table_column(table, (struct table_column){"count", NULL, TABLE_COUNT});
}

void histogram_rows(struct table *table, const struct histogram *histogram)
{
	const int last = histogram_last(histogram);

	for (int i = 0; i <= last; i++) {
		if (histogram->of)
			table_text(table, histogram->is);
		table_text(table, histogram->unit);
		table_number(table, histogram_from((unsigned)i));
		table_number(table, histogram_to((unsigned)i));
		table_number(table, histogram->counts[i]);
	}
}
