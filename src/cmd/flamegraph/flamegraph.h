// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde flamegraph` share: where stacks come from.
#pragma once
#include "base/str.h"
#include "flow/filter.h"
#include "sym/sym.h"
#include "view/flame.h"

// Which samples count and under which frames they stand.
struct stack_options {
	const char *event; // only this one: its name, its name without modifiers, or a glob; NULL: the first that is seen
	bool all_events;       // each under a frame of its own
	bool per_pid, per_tid; // base frames "comm-PID", "comm-PID/TID" in place of "comm"
	bool no_base;	       // no base frame for the command's name
	bool by_period;	       // a sample counts its period, else 1
	bool reverse;	       // innermost frame first
	unsigned side;	       // FLAME_BEFORE or FLAME_AFTER
	bool force;
	bool no_inline; // functions that were inlined are no frames
	unsigned jobs;	// processes that unwind; 0: as many as pay
	struct filter_options filter;
	struct sym_options sym;
};

// What was there, to be told with the result.
struct stack_counts {
	uint64_t samples;		    // in the tree
	uint64_t filtered;		    // not wanted by the filter
	uint64_t other_events;		    // of events that were not asked for
	uint64_t used_lines;		    // of text
	uint64_t bad_lines, first_bad_line; // of text: neither used nor known to be something else
	char *events;			    // names of the other events, ", " between; heap
	char *event;			    // the one that was taken, when it was one; heap
	char *host;			    // where it was recorded; NULL: not known; heap
	bool damaged;			    // the recording, or text, stops in the middle
	bool ends_in_line;		    // text has no newline at its end
};
void stack_counts_done(struct stack_counts *counts);

enum stack_format { STACKS_UNKNOWN, STACKS_RECORDING, STACKS_FOLDED, STACKS_SCRIPT, STACKS_TRACER };
// By content.
enum stack_format stack_format_of(struct str bytes);

// All stacks of a file, "-" for stdin, into the tree. -errno with a sentence; nothing in it is no error here.
int stacks_from_file(struct flame *flame, const char *path, const struct stack_options *options,
		     struct stack_counts *ret);
// `perf script` text, whatever its fields are (see script_layout.h).
int stacks_from_script(struct flame *flame, struct str text, const struct stack_options *options,
		       struct stack_counts *ret);
// What bpftrace prints of a map with stacks as keys, or DTrace of such an aggregation.
void stacks_from_tracer(struct flame *flame, struct str text, const struct stack_options *options,
			struct stack_counts *ret);
bool stacks_is_bpftrace(struct str text);
bool stacks_is_dtrace(struct str text);
int stacks_from_recording(struct flame *flame, const char *path,
			  const struct stack_options *options, struct stack_counts *ret);

// Notes an event that was left out.
void stack_counts_other(struct stack_counts *counts, struct str event);

// A temporary file, without a name where the file system can.
struct live_file {
	char *path; // by which it is opened while fd is open
	int fd;
	bool named; // it is to be removed
};
void live_file_done(struct live_file *file);

// Records a command with call graphs into a new temporary file.
struct live_options {
	const char *frequency, *event, *call_graph; // as typed, NULL: default
	bool all_cpus;
};
int flamegraph_record(const struct live_options *options, char **command, struct live_file *ret);
