// SPDX-License-Identifier: GPL-2.0-or-later
// -D: the bytes of every record and what was decoded of it, as perf prints them.
#pragma once
#include "cmd/core/script/chains.h"
#include "flow/run.h"

struct dump {
	struct out *out;
	struct run *run;
	const struct chains *chains;
	size_t announced_n; // events of a pipe
	bool unordered;	    // rounds mean nothing then
	bool rounds_shown;  // they have a line anyhow
	bool counts_only;   // says "unhandled!" of what a table has no use for (report -D)
	// A sample that stands for several events is dumped once.
	const struct perf_event_header *last;
	uint64_t last_offset;
};

// Before anything else: whether records can't be put in the order of time.
void dump_order(struct out *out, const struct recording *recording);
// A record of the tools themselves (type >= 64), when it is read.
void dump_tool_record(struct dump *dump, const struct record *record);
// A kernel's record other than a sample, in time order. `shown`: it is printed anyhow.
void dump_record(struct dump *dump, const struct hit *hit, bool shown);
void dump_sample(struct dump *dump, const struct event *event, const struct sample *sample,
		 const struct record *record);
// Whose it is; after the filters of time and CPU.
void dump_place(struct dump *dump, const struct sample *sample, struct task *task);
