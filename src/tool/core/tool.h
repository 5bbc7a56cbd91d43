// SPDX-License-Identifier: GPL-2.0-or-later
// A tool answers one question: one const struct in src/tool/NAME.c, called tool_NAME. It says which events it needs and what is to be
// counted of them (tally/tally.h); where that happens, and how the run goes, is not its business. See docs/howto-tool.md.
#pragma once
#include "base/opt.h"
#include "prof/core/profiler.h"
#include "tally/table.h"

// One of the events that are counted together.
struct tool_event {
	const char *name; // "block:block_rq_issue"; NULL ends the list
	enum tally_role role;
	const char *pair;   // of first and second: the number by which they belong together
	bool keeps;	    // of a first: one that waits already stays
	const char *filter; // in the kernel's syntax; NULL: none
};

struct tool_run;

struct tool {
	const char *name;    // as typed: "biolatency", or two words: "lock contention"
	const char *summary; // one line, no full stop
	const char *usage;   // "sonde biolatency [options] [INTERVAL [COUNT]]"
	const char *description;
	const struct opt *opts; // ends with OPT_END; offsets into a struct that begins with struct prof_options
	size_t opts_size; // of that struct
	const struct command_example *examples;
	const char *banner; // before the first result of the running kernel as text, NULL: none
	bool symbols;	    // shows names of the kernel's functions
	bool recorded;	    // shows a recording: perf.data where none is named
	bool gap;	    // tables as text have an empty line below their titles
	bool everybody; // what is counted happens to whoever runs: a command says how long to watch, not whom
	const char *pairs; // "requests": what first events begin that stay unknown where something was lost
	bool tells_open; // says of pairs that began long ago and have not ended that there are some
	// Says what is counted, with the functions below. -errno with a sentence.
	int (*plan)(struct tool_run *run);
	// One result from run->prof->tally, which is forgotten then. NULL: tool_show_histograms.
	int (*show)(struct tool_run *run, uint64_t now_ns);
};

extern const struct tool *const tools[]; // by name, ends with NULL; made by src/registry.c

// The name of a key's value, for what is shown; run: struct tool_run.
typedef void tool_name(void *run, size_t row, uint32_t key, struct out *out);

struct tool_run {
	const struct tool *tool;
	struct prof *prof;
	const void *options;   // the tool's
	uint64_t results_left; // 0: no end
	bool ended;
	// The plan.
	const struct tool_event *events; // chosen
	const char *filter;		 // of all events; NULL: none
	struct tally_key keys[TALLY_KEYS];
	const char *key_texts[TALLY_KEYS];
	const char *section; // the title of the key that divides histograms; NULL: none does
	uint32_t section_key;
	tool_name *section_name;
	const char *unit; // of the histogram
	enum tally_cell_kind cells[TALLY_CELLS];
	struct tally_update updates[TALLY_CELLS];
	uint32_t keys_n, cells_n, updates_n;
	bool (*skips_frame)(void *arg, uint64_t ip); // of stacks, see tally_options; arg is the run
	bool knows_lock_text;
	uint64_t lock_text[4]; // of callers.c
	uint64_t unknown_n;    // firsts that something was lost behind
};

// ---- the plan

// The first of these lists (NULL ends) whose events are all there. -ENOENT, -EACCES with a sentence.
int tool_events(struct tool_run *run, const struct tool_event *const *choices);
// All events are filtered by this, in the kernel's syntax.
void tool_filter(struct tool_run *run, const char *filter);
// A key of the rows, told by `text`: an expression over the fields of the events that say it (seconds and those that are alone; with
// .first firsts), or TALLY_DELAY. Returns its number.
uint32_t tool_key(struct tool_run *run, struct tally_key key, const char *text);
// A number of the rows, counted of `text`; of others than HITS NULL: the tool works it out itself. Returns its number.
uint32_t tool_cell(struct tool_run *run, enum tally_cell_kind kind, const char *text);
// The first key is a LOG2: how often the number came, by powers of two.
void tool_histogram(struct tool_run *run, const char *text, uint32_t unit, const char *unit_name);
// A histogram for each value of this key.
struct tool_section {
	const char *title;	  // "disk"
	enum tally_key_kind kind; // NUMBER or TEXT
	const char *text;
	tool_name *name; // NULL: the value itself
};
void tool_sections(struct tool_run *run, const struct tool_section *section);

// ---- results

int tool_show_histograms(struct tool_run *run, uint64_t now_ns);

// The rows as a table, with the time before it where there is an interval. arg of names is the run.
int tool_show_table(struct tool_run *run, uint64_t now_ns, struct tally_view view);

// Of a key that is a TALLY_CGROUP.
tool_name tool_cgroup_name;

// ---- the run

const struct tool *tool_find(const char *name);
// The tool as a profiler, which the run takes. Options are the tool's.
struct profiler tool_profiler(const struct tool *tool);

// An option that command lines for another program have, and that asks for what is so anyway.
#define TOOL_IS_SO(c, n, at)                                                                       \
	{                                                                                          \
		.kind = OPT_FLAG, .letter = (c), .name = (n), .offset = (at), .hidden = true,      \
		.help = "taken for others' sake: it is so"                                         \
	}

// The rows of a tool's option table that all tools have.
extern const struct opt tool_options[];
#define TOOL_OPTIONS OPT_INCLUDE(tool_options)
