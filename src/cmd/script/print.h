// SPDX-License-Identifier: GPL-2.0-or-later
// A sample as perf script prints it. The fields of an event are compiled into a list of steps once.
#pragma once
#include "base/map.h"
#include "cmd/core/script/chains.h"
#include "cmd/core/script/fields.h"
#include "cmd/script/insns.h"
#include "flow/run.h"

struct print_options {
	bool latency;	      // -L
	bool ns;	      // --ns
	bool relative, delta; // --reltime, --deltatime
	bool per_event;	      // --per-event-dump
	uint32_t max_blocks;  // --max-blocks, 0: all
};

struct printer; // of one event, in event->user

struct print {
	struct run *run;
	struct fields *fields;
	struct chains *chains;
	struct print_options options;
	struct out *out;
	struct arena arena;
	VEC(struct printer *) printers;
	int name_width;
	size_t data_src_width;
	uint64_t initial_ns, previous_ns;
	struct source_texts *texts; // of srccode, made when needed
	struct map code_shown;	    // by the task's index: the line that was shown last
	struct insns *insns;	    // made when needed
	int err;		    // of the instructions
};

void print_init(struct print *print, struct run *run, struct fields *fields, struct chains *chains);
// Closes what --per-event-dump opened.
int print_done(struct print *print, int err);
// "[ sonde script: Wrote ... ]" for each file of --per-event-dump.
void print_dump_summary(struct print *print);
// -errno with a sentence when a file of --per-event-dump can't be made.
int print_sample(struct print *print, struct event *event, const struct sample *sample,
		 struct task *task);
// What stands before the text of a sample or record: comm, pid, cpu, time as the event's fields say.
// task NULL: not known.
int print_start(struct print *print, struct event *event, const struct sample *sample,
		struct task *task);
