// SPDX-License-Identifier: GPL-2.0-or-later
// Event specs: perf's -e language in, perf_event_attr and what record and stat must know besides out.
//
//	specs    := item {"," item}
//	item     := event | [NAME] "{" specs "}" [":" modifiers]
//	event    := name ["/" term {"," term} "/"] [[":"] modifiers]
//	term     := NAME ["=" value]
//
// The names are the business of the kinds (event_kind.h); groups, terms, modifiers and errors are
// handled here once for all of them.
#pragma once
#include "base/arena.h"
#include "base/perf_event.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct event_kind;
struct event_probe;
struct pmus;
struct tracefs;

// Terms of an event that override what the command line says for all events. A field of
// struct event_spec counts only when its bit is in .given.
enum event_given {
	EVENT_PERIOD = 1 << 0,	    // attr.sample_period
	EVENT_FREQ = 1 << 1,	    // attr.sample_freq (attr.freq is set)
	EVENT_TIME = 1 << 2,	    // .time
	EVENT_CALL_GRAPH = 1 << 3,  // .call_graph
	EVENT_STACK_SIZE = 1 << 4,  // .stack_size_bytes
	EVENT_MAX_STACK = 1 << 5,   // .max_stack
	EVENT_INHERIT = 1 << 6,	    // .inherit
	EVENT_OVERWRITE = 1 << 7,   // .overwrite
	EVENT_MAX_EVENTS = 1 << 8,  // .max_events
	EVENT_PERCORE = 1 << 9,	    // .percore
	EVENT_AUX_OUTPUT = 1 << 10, // .aux_output
	EVENT_AUX_SAMPLE = 1 << 11, // .aux_sample_size_bytes
	EVENT_BRANCH = 1 << 12,	    // .branch_type
	EVENT_NAME = 1 << 13,	    // name= stood in the terms
	EVENT_EXCLUDE = 1 << 14, // modifiers u k h G H chose the exclude_ bits (--all-user ... lose)
	EVENT_PRECISE = 1 << 15, // modifier p pp ppp P chose precise_ip
	EVENT_GUEST = 1 << 17,	 // modifiers G or H
	EVENT_CONFIG = 1 << 16, // config bits were changed by terms (config, config1..3, PMU fields)
};

enum event_call_graph {
	EVENT_CALL_GRAPH_NONE, // call-graph=no
	EVENT_CALL_GRAPH_FP,
	EVENT_CALL_GRAPH_DWARF,
	EVENT_CALL_GRAPH_LBR,
};

// Counters that are no perf_event but the tool's own (perf stat's duration_time).
enum event_tool { EVENT_TOOL_NONE, EVENT_TOOL_DURATION, EVENT_TOOL_USER, EVENT_TOOL_SYSTEM };

// All pointers belong to the event_specs that it stands in.
struct event_spec {
	// type, config*, bp_*, the exclude_ bits, precise_ip, pinned, exclusive, and what the terms say.
	// Tracepoints, breakpoints and bpf-output have sample_period 1 and (not breakpoints) the
	// sample_type bits that they can't do without. size is sizeof(attr); read_format, inherit,
	// sampling, clock and the like are for the caller.
	struct perf_event_attr attr;
	const char *name; // as perf names the event: "cycles:u", "sched:sched_switch", "msr/tsc/"
	const struct event_kind *kind;
	const char *filter; // for PERF_EVENT_IOC_SET_FILTER, or NULL
	uint32_t given;	    // bits of enum event_given

	bool time, inherit, overwrite, percore, aux_output;
	enum event_call_graph call_graph;
	uint32_t stack_size_bytes, max_stack;
	uint32_t max_events;
	uint32_t aux_sample_size_bytes;
	uint64_t branch_type; // PERF_SAMPLE_BRANCH_*

	uint32_t leader;	// index of its group's leader; its own when alone or leading
	uint32_t group_n;	// leaders: members with the leader; 1 when alone; members: 0
	const char *group_name; // "foo{...}", or NULL
	bool group_read;	// S: members are read with the leader's sample
	bool weak;		// W: the group may be broken up
	bool precise_max;	// P: the highest precise_ip that opens
	bool bpf_counter;	// b
	bool metric_retire;	// R
	enum event_tool tool;	// not to be opened

	const char *pmu_name; // "cpu", "msr", "uncore_imc_0"; NULL for tracepoints and other built-in kinds
	const uint32_t *cpus; // the PMU's cpumask: open on these CPUs only; NULL: all
	uint32_t cpus_n;
	bool cpus_are_uncore; // cpus comes from "cpumask" (open -a like), not from "cpus" (hybrid core)
	const char *unit;     // "Joules", or NULL
	double scale;	      // 1.0 when the PMU says nothing
	bool per_package, snapshot;

	const char *tp_system, *tp_name; // of tracepoints, else NULL
	const struct event_probe *probe; // a tracepoint once event_dynamic_make has made it; else NULL
	uint32_t at, length;		 // where it stands in its text (bytes)
	uint32_t text;			 // which text: 0 for the first event_parse on these specs
};

struct event_specs {
	VEC(struct event_spec) events; // in the order of the text; groups are contiguous
	struct arena arena;
	uint32_t texts;
	size_t last;		 // index of the first event of the last event_parse
	struct pmus *pmus;	 // read on first need; owned
	struct tracefs *tracefs; // found on first need; owned
};

struct event_context {
	const char *root;    // of /sys and /proc in tests; NULL or "": the real one
	const char *tracefs; // where tracefs is; NULL: found (or privately mounted as root)
	bool no_search;	     // never looks for or mounts tracefs (fuzzers)
	// attr.exclude_guest of events without modifiers is 1 unless this is set (perf kvm).
	bool count_guests;
	// Names from libpfm4 ("SKL::INST_RETIRED:ANY_P"), as with --pfm-events: the text is one such list.
	bool pfm;
	bool no_hints; // sentences without near names, which cost a listing of all events
};

// Zero-initialised is empty, too.
void event_specs_init(struct event_specs *specs);
void event_specs_done(struct event_specs *specs);

// Appends the events of one -e text. On failure specs is as before, and the sentence shows the text with
// a caret below the place and the nearest names. -EINVAL: grammar, term or modifier; -ENOENT: no such
// event; -EACCES: tracefs can't be read (whether there is such an event isn't known).
int event_parse(struct event_specs *into, const char *text, const struct event_context *ctx);

// --filter: of the events of the last event_parse that are tracepoints (or of a PMU with address
// filters). A second filter for the same event is and-ed. -EINVAL with a sentence when there are none.
int event_filter(struct event_specs *specs, const char *filter);
// --exclude-perf: as event_filter, on all tracepoints, with common_pid != pid.
void event_exclude_pid(struct event_specs *specs, int pid);

// The event of a command without -e: cycles (with the highest precision that opens when `precise`) if
// a hardware PMU counts here, else cpu-clock; with :u when the kernel may not be sampled.
int event_default(struct event_specs *into, const struct event_context *ctx, bool precise);

// For cycles on a machine that can't count them: makes it cpu-clock (with the name as perf's); false when
// spec is another event.
bool event_fall_back(struct event_specs *specs, struct event_spec *spec);
// For a kernel that may not be sampled: user space only, ":u" in its name; false when that is not what was asked for
// (modifiers, --all-kernel), can't be told apart (tracepoints), or is so already.
bool event_user_only(struct event_specs *specs, struct event_spec *spec);

// The PERF_SAMPLE_BRANCH_* bit of a name as branch_type= and record's -j take it ("any", "u"); 0: there is none.
uint64_t event_branch_bit(struct str name);

// Room for `spec`'s own texts.
const char *event_text(struct event_specs *specs, struct str s);
