// SPDX-License-Identifier: GPL-2.0-or-later
// The order of entries: by their keys, and as rows. Both are perf's, which keeps them in red-black trees: where its comparisons are no
// total order, what comes out depends on the tree. Nodes carry what most comparisons need, as a look at the entries would miss the
// caches at each step.
#pragma once
#include "hist/report.h"

enum { HIST_AHEAD = 16 }; // entries that are asked of memory before their turn
static inline void hist_expect_entry(const struct hist *hist, uint32_t id)
{
	__builtin_prefetch(hist->entries.v[id]);
	__builtin_prefetch((const char *)hist->entries.v[id] + 64);
}

// hist->sorted: perf's tree of entries, and a second time when a key collapses. The tree matters where the keys give no total order,
// and where rows of a group's other events are to be found and added (hist->in); else the order alone does.
void hist_sort_keys(struct hist *hist);
void hist_insert(struct hist *hist, uint32_t id); // into hist->in
void hist_list_again(struct hist *hist); // hist->sorted, with those that were added for a group's other events
// Puts the ids, which are in the order of the keys, in that of rows.
void hist_sort_rows(const struct hist *hist, uint32_t *ids, size_t n);
void hist_sorting_free(struct hist *hist);
