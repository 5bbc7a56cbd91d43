// SPDX-License-Identifier: GPL-2.0-or-later
// --branch-history: the branches of a sample in its call graph, with what is known of them.
#pragma once
#include "hist/report.h"

struct history;

struct history *history_new(struct report *report);
void history_free(struct history *history);
// The sample's branches and call chain as a path of report->stacks, the first to be shown at the root; 0: there are none. The
// location of each place is resolved: some 50 ns each.
uint32_t history_stack(struct history *history, struct task *task, const struct sample *sample);
// Counts the path that was made last for a row.
void history_count(struct history *history, const struct entry *e);
// What is known of the branches at a node of report->stacks in a row's graph: " (cycles:12 iter:3 avg_cycles:5)".
void history_put(const struct history *history, const struct entry *e, uint32_t node,
		 struct out *out);
