// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of `sonde top`: a report that goes on. Samples come from the rings into the rows of a report; at each refresh what is there
// is shown, and an older, lighter copy of it takes the samples that follow.
#pragma once
#include "cmd/core/record/record.h"
#include "cmd/core/report/report.h"
#include "event/core/dynamic.h"
#include "flow/rings.h"
#include <poll.h>

struct top_options {
	struct record_options record; // first: the calls of record's options are for both
	struct report_options report;
	double delay_s;
	int entries; // of a page of text; 0: as many as fit
	uint64_t least_samples;
	bool hide_kernel, hide_user, zero, tui, ignored;
	int verbose;
	const char *ignored_text;
};

// Since the last page of text, as perf counts them.
struct top_counts {
	uint64_t samples, kernel, exact, lost;
};

struct top {
	struct top_options o;
	struct report report;
	struct run *run; // the report's
	struct target target;
	struct opened opened;
	struct rings rings;
	struct event_dynamic dynamic; // probes among the events
	struct pollfd *fds;	      // of the rings
	struct hist **shown;	      // by event, NULL before the first refresh
	struct top_counts counts;
	uint64_t lost_n, samples_n;
	bool frozen, ended, kernel_hidden, forget;
	uint64_t started_over_n; // what only grows was full
};

// rings.c
// Opens the events. -errno with a sentence.
int top_open(struct top *top);
// Switches them on and learns what runs already: some 0.1 ms a process.
int top_start(struct top *top);
void top_close(struct top *top);
// Takes what lies in the rings. Negative with a sentence.
int top_drain(struct top *top);
// Makes new rows of what came so far, in top->shown.
int top_refresh(struct top *top);
// Is none of the watched tasks there any more?
bool top_ended(struct top *top);

// title.c: "4000 Hz", "(all, 2 CPUs)"
void top_put_target(const struct top *top, struct out *out);
void top_put_rate(const struct top *top, struct out *out);

// text.c: --stdio
int top_run_text(struct top *top);

// screen.c
int top_run_screen(struct top *top);
