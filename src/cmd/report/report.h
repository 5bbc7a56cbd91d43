// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde report` share.
#pragma once
#include "cmd/core/report/report.h"
#include "encoder/core/table.h"

// text.c
void report_print(struct report *report);

// hierarchy.c
void hierarchy_print(struct hist *hist, struct out *out);

// total_cycles.c: --total-cycles, basic blocks in place of rows. After report_finish.
void report_print_blocks(struct report *report, struct hist *hist);
void report_table_of_blocks(struct report *report, const struct encoder *format);

// table.c: --format json|csv
void report_table(struct report *report);

// counts.c: --tasks --mmaps -T
void report_tasks(struct report *report, bool mmaps);
// The hook for records that are no samples.
int report_note_record(void *arg, struct run *run, const struct hit *hit);
void thread_values_print(struct report *report);
void thread_values_free(struct report *report);
