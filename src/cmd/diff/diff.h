// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde diff` share.
#pragma once
#include "cmd/core/report/report.h"
#include "view/table.h"

enum diff_compute { DIFF_DELTA, DIFF_DELTA_ABS, DIFF_RATIO, DIFF_WDIFF, DIFF_CYCLES };

struct diff_options {
	const char *compute, *sort, *separator, *dsos, *comms, *symbols, *pids, *tids, *cpus, *time;
	const char *percentage, *symfs, *kallsyms, *format;
	int order, verbose;
	bool period, formula, baseline_only, quiet, force, modules, dump, stream, cycles_hist;
};

// What a row is in one file.
struct diff_value {
	bool there;
	const struct entry *entry; // the first one; NULL: none
	uint64_t period;
	double percent, delta, ratio;
	int64_t weighted;
};

struct diff_row {
	const struct entry *shown; // of the first file that has it
	const struct hist *hist;   // that one's
	bool dummy;		   // the baseline doesn't have it
	bool matched;		   // some other file has it too
	bool hidden;
	struct diff_value *values; // by file; [0] is the baseline
	const char **texts;	   // by key column: what makes the row
};

struct diff_rows {
	VEC(struct diff_row) v; // in the order in which they are shown
	struct hist **hists;	// by file; NULL: the file has no such event
	uint64_t *totals;	// by file
	uint64_t shown_total;	// of the baseline, without what -b leaves out
	struct arena arena;
};

struct diff_file {
	const char *path;
	struct report report;
};

struct diff {
	struct diff_options o;
	enum diff_compute compute;
	int64_t new_weight, base_weight;
	struct diff_file *files;
	size_t files_n;
	VEC(size_t) keys; // columns of reports that are shown: indices into report->fields
	struct out out;
};

static inline bool diff_is_of_blocks(const struct diff *diff)
{
	return diff->compute == DIFF_CYCLES;
}

// The rows of an event of the baseline and of its likes in the other files.
void diff_rows_init(struct diff_rows *ret, const struct diff *diff, const struct event *event);
void diff_rows_done(struct diff_rows *rows);
void diff_print(struct diff *diff, const struct event *event, struct diff_rows *rows, bool first);
// The columns of a table, and a row for each row; of -c cycles a row for each block in each file but the baseline.
void diff_table_start(const struct diff *diff, struct table *table, struct arena *arena);
void diff_table(struct diff *diff, const struct event *event, const struct diff_rows *rows,
		struct table *table);
