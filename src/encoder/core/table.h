// SPDX-License-Identifier: GPL-2.0-or-later
// Tables as text; other formats are encoders with the hook `table`, and use what stands below.
#pragma once
#include "base/out.h"
#include "view/table.h"

struct encoder;

struct table_stamp {
	const char *time; // NULL: none; a column of csv, a field of each json object
	bool no_titles;	  // they stand above already
	bool streams; // text form: rows come one by one: columns are as wide as they say, titles stand once
};

// For help texts; each encoder with the hook `table` is named.
#define TABLE_FORMATS "text, csv, json, markdown or tsv"
// -EINVAL with a sentence that names the formats.
// NULL is text.
int table_format_find(const struct encoder **ret, const char *name);
void table_print(struct out *out, const struct table *table, const struct encoder *format,
		 const struct table_stamp *stamp);

// The name of a column for programs.
static inline const char *table_column_name(const struct table_column *column)
{
	return column->name ? column->name : column->title;
}
// A number as programs read it: us and ms with three decimals, of SHARE the count; nothing when it is not known. No texts.
void table_put_number(struct out *out, const struct table_column *column,
		      const struct table_cell *cell);
