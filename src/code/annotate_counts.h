// SPDX-License-Identifier: GPL-2.0-or-later
// Samples in functions, by address.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "sym/sym.h"
#include "view/annotated.h"

struct counted_place {
	uint64_t offset; // from the function's start
	uint32_t event;
	struct annotated_count count;
};

// A function that has samples.
struct counted {
	const struct symbol *symbol;
	struct map by_place; // of offset and event -> index + 1 into places
	VEC(struct counted_place) places;
	struct annotated_count *totals; // by event
};

struct annotate_counts {
	uint32_t events_n;
	struct map by_symbol; // -> struct counted *
	VEC(struct counted *) all;
};

struct annotate_counts *annotate_counts_new(uint32_t events_n);
void annotate_counts_free(struct annotate_counts *counts);
// A sample of an event at location.addr of a symbol; 20 ns. Symbols are told apart by their address in memory.
void annotate_counts_add(struct annotate_counts *counts, uint32_t event,
			 const struct location *location, uint64_t period);
void annotate_counts_clear(struct annotate_counts *counts); // forgets all samples
// Leaves `keep` eighths of each count (perf top's decay is 7); what weighs nothing then is forgotten.
void annotate_counts_decay(struct annotate_counts *counts, unsigned keep);
// A function's samples; NULL: none.
const struct counted *annotate_counts_find(const struct annotate_counts *counts,
					   const struct symbol *symbol);
// Samples and period of an event in a symbol.
struct annotated_count annotate_counts_of(const struct annotate_counts *counts,
					  const struct symbol *symbol, uint32_t event);
