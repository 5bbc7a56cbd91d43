// SPDX-License-Identifier: GPL-2.0-or-later
// The columns that all tables of delays end with.
#pragma once
#include "agg/dist.h"
#include "view/table.h"

// calls, total, min, p50, p95, p99, max, in us.
void delays_columns(struct table *table);
void delays_cells(struct table *table, const struct dist *dist);
