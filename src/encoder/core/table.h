// SPDX-License-Identifier: GPL-2.0-or-later
// Tables as text, csv and json.
#pragma once
#include "base/out.h"
#include "view/table.h"

enum table_format { TABLE_FORMAT_TEXT, TABLE_FORMAT_CSV, TABLE_FORMAT_JSON };

struct table_stamp {
	const char *time; // NULL: none; a column of csv, a field of each json object
	bool no_titles;	  // csv: they stand above already
};

// -EINVAL with a sentence that names the formats.
int table_format_find(enum table_format *ret, const char *name);
void table_print(struct out *out, const struct table *table, enum table_format format,
		 const struct table_stamp *stamp);
