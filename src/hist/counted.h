// SPDX-License-Identifier: GPL-2.0-or-later
// Count first, then make rows. Where the keys ask for no more than who ran and which function it was (report->counts_first), a sample
// adds to one pair (struct pair) of its context - what the keys ask of the sample itself: command, thread, CPU - and its stack
// (PAIR_OF_CONTEXT | context, node): no address is resolved for it and no row looked for. At the end hist_settle makes the rows of the
// innermost frames, adds what was counted, and puts their numbers into the pairs. Samples that do not lie where their stack ends, and
// those of other keys, look for their row when they come: (row, node) is the same pair. Two counters of the same key are merged by
// adding period and count and taking task and `first` of the one that was first.
#pragma once
#include "hist/report.h"

// The rows of a frame in a context, UINT32_MAX: none yet.
struct frame_rows {
	uint32_t stamp, caller, own;
};

// The rows of frames in one context after the other.
struct context_rows {
	struct hist *hist;
	struct frame_rows *of_frame; // by frame
	const struct entry *context;
	uint32_t stamp;
	bool addresses_tell; // frames without a symbol are rows of their own
};

void context_rows_init(struct context_rows *rows, struct hist *hist);
void context_rows_done(struct context_rows *rows);
// Goes on to a context; rows are made of its `n` pairs that were only counted, given in the order in which they came.
void context_rows_settle(struct context_rows *rows, uint32_t context, const uint32_t *pairs,
			 size_t n);
// The row of a caller in the context, as long as no other context is gone on to.
uint32_t context_rows_caller(struct context_rows *rows, uint32_t frame);

// May samples of the report only be counted?
bool report_may_count_first(const struct report *report);
// The number of the context of samples with the template's keys.
uint32_t hist_context_of_sample(struct hist *hist, const struct sample *sample, struct task *task);
// The pairs in the order of context and age. `ends` has room for one a context, or one: where its pairs end. The caller frees.
uint32_t *hist_sorted_pairs(const struct hist *hist, uint32_t *ends);
