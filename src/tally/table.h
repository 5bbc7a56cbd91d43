// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of a tally as those of a table.
#pragma once
#include "base/out.h"
#include "tally/tally.h"
#include "view/table.h"

// A column shows a key (TALLY_NUMBER or TALLY_TEXT), or a cell that is no distribution. Signed numbers are shown as such.
struct tally_column {
	struct table_column look;
	uint32_t at; // which key or cell
	bool is_key;
	// What is shown of it as a text; NULL: it itself.
	void (*name)(void *arg, size_t row, uint32_t key, struct out *out);
};

struct tally_view {
	const struct tally_column *columns;
	size_t columns_n;
	const struct tally_order *order;
	size_t order_n;
	uint64_t most; // rows; 0: all
	void *arg;     // of name
};

// Adds the columns and the sorted rows.
void tally_table(const struct tally *tally, const struct tally_view *view, struct table *ret);
