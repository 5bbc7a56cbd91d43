// SPDX-License-Identifier: GPL-2.0-or-later
// A report: what is asked for, the histograms of its events, and how samples become their rows.
#pragma once
#include "base/arena.h"
#include "base/intern.h"
#include "code/annotate.h"
#include "code/blocks.h"
#include "flow/run.h"
#include "hist/key.h"
#include "hist/options.h"
#include "sym/stacks.h"
#include <regex.h>

struct history;
struct sorting;

enum report_mode { MODE_NORMAL, MODE_BRANCH, MODE_MEMORY, MODE_TRACEPOINT };

// Samples of one entry with one stack; of one context with one stack, where no entry was looked for yet (hist/counted.h).
enum { PAIR_OF_CONTEXT = 1u << 31 };
struct pair {
	uint32_t entry; // or PAIR_OF_CONTEXT | context: the entry is that of the stack's innermost frame there
	uint32_t stack;
	uint64_t period;
	struct task *task; // of the first sample
	uint32_t count, first;
	uint8_t filtered;
};

// Where a sample was lately, and whose entry it is.
struct recent_entry {
	struct entry *entry; // NULL: empty
	const struct dso *dso;
	uint64_t at; // the symbol, else the address
	uint32_t comm;
	bool has_symbol;
};
enum { HIST_RECENT = 1 << 12 }; // slots of hist.recent

// Which context samples of a task had lately.
struct recent_context {
	const struct task *task; // NULL: empty
	uint32_t tid, comm, cpu, context;
};
enum { HIST_RECENT_CONTEXTS = 1 << 8 };

struct entry_slot {
	uint32_t id; // + 1; 0: empty
	uint32_t hash;
};
struct entry_table {
	struct entry_slot *slots;
	size_t mask, n;
};

struct hist {
	struct report *report;
	struct event *event;
	struct arena arena; // of the entries
	VEC(struct entry *) entries;
	struct entry_table by_key, by_context;
	struct recent_entry *recent; // of samples, by their places; NULL: keys look at more than places
	VEC(struct entry *) contexts; // a sample of each
	struct recent_context *recent_contexts;
	bool has_nowhere; // a sample made an entry that lies in no file
	VEC(struct pair) pairs;
	size_t counted_n;     // pairs of contexts: without an entry
	uint32_t *pair_slots; // index + 1
	size_t pair_mask;
	struct order in;  // the entries in the order of the keys, where a tree is needed
	uint32_t *sorted; // the same as a list
	size_t sorted_n;
	struct sorting *sorting; // what both orders are made with (hist/sort.h)
	struct level_set top;	 // of the hierarchy
	struct entry **rows;	 // in the order of the report
	size_t rows_n;
	uint64_t total_period, total_shown_period, chain_period, chain_shown_period;
	uint32_t samples, shown_samples, lost_samples, seen;
	uint16_t widths[WIDTHS];
	bool has_chains;
	uint64_t chain_least; // what a call graph's branch must weigh
};

struct report {
	struct report_options o;
	struct chain_options chain;
	struct run *run;
	struct filter *skip;		   // samples that do not exist for the report: times, CPUs
	struct filter *hide, *hide_symbol; // rows that are not shown
	bool has_hide, has_skip;
	bool no_places;	  // nobody asks where samples lie
	bool only_counts; // samples are added to their entries and to nothing else
	bool counts_first; // most samples are added to (context, stack), rows are made at the end: hist/counted.h
	struct event_switch event_switch;
	struct annotate_counts *addresses; // samples by address, for a screen; NULL: not wanted
	struct blocks *blocks;		   // of branch stacks; NULL: not wanted
	struct ipcs *ipcs;		   // of functions that were asked for; NULL: none yet
	struct stacks stacks;
	struct history *history; // of --branch-history; NULL: it wasn't asked for
	struct sources *sources;
	struct map srclines; // (dso, address) -> text, 0: not known
	struct arena arena;
	struct intern texts;
	struct out scratch;
	struct out out;
	enum report_mode mode;
	bool children, use_chains, pipe, grouped, quiet, ready;
	bool no_children_column; // -F +overhead_children where there are no chains: left out, as in perf
	bool escape;		 // control characters in cells: text for a terminal
	bool colors;		 // of shares, in text
	bool has_sym, has_dso, has_parent, has_trace, has_dynamic, has_mem_size, has_cgroup_id,
		needs_extra, needs_collapse, has_modes, no_order, has_srcline;
	int verbose;
	char separator;
	const char *separator_text;
	const char *sort_order; // as typed, with what perf appends
	// Of who shows rows: each row that is not hidden, in the order of the keys, as they are made. NULL: not wanted.
	void (*measure)(struct hist *hist, const struct entry *e);
	const char *own_order; // of a command that is not report: default keys, no ipc columns
	bool no_rows; // set by who needs no more than the entries in the order of their keys
	bool joins_unresolved; // likewise, of who takes all addresses of a file without symbols for one: the least is shown
	VEC(struct column *) sorts, fields;
	VEC(struct column *) context_keys; // sort keys that do not depend on the frame
	VEC(struct level) levels;	   // hierarchy; the first holds the numbers
	regex_t parent_regex, ignore_regex;
	bool has_parent_regex, has_ignore_regex;
	uint8_t *frame_parent, *frame_ignored; // by frame: 0 unknown, 1 no, 2 yes
	size_t frame_flags_n;
	VEC(int32_t) sockets; // by CPU
	uint64_t quantum_ns;
	struct extra no_extra;
	VEC(uint64_t) dso_hashes; // of the name, by id; 0: not known yet
	uint64_t branch_types[16], branch_new_types[16], branch_forward, branch_backward, branch_4k,
		branch_2m;
	struct thread_values *thread_values;
	struct map cgroup_devs, cgroup_inos; // of the cgroup namespace, by tid
	VEC(uint32_t) tids;		     // that --tasks shows
};

// prepare.c
// Defaults of the options, and what report_done frees.
void report_init(struct report *report);
// Opens the recording of the options; what is open when it fails, report_done closes.
int report_open(struct report *report);
// Columns, filters and stacks, by the options and the recording.
int report_prepare(struct report *report);
void report_init_stacks(struct report *report);
bool report_has_branches(const struct report *report); // does the recording have branch stacks?
// For the branch stacks of an open recording; the caller frees.
struct blocks *report_blocks_new(const struct report *report);
uint64_t report_sample_types(const struct recording *recording); // of all events together
// The hook for records that are no samples.
int report_record(void *arg, struct run *run, const struct hit *hit);
void report_done(struct report *report);

// columns.c: what perf calls sorting: -s, -F and the rest become columns. -EINVAL with a sentence.
int report_setup_columns(struct report *report);
// The events of a group share a table, which has a column for each name of a field that one of them has.
bool column_skipped(const struct column *column, const struct hist *hist);
// Where the entry's value of the column's field is: the field of that name of the event that the entry is of, which differs from
// the column's where events of a group share rows. NULL: it has none.
const struct column *column_of_entry(const struct column *column, const struct entry *e);
// A text of variable length that perf compared with another row's makes its column as wide as it is with its NUL.
void column_was_compared(struct column *column, const struct entry *e);
// As column_compare; of rows of the same event 0 for the fields of others.
int64_t column_field_compare(const struct column *column, const struct entry *l,
			     const struct entry *r);
int64_t entry_compare(const struct report *report, const struct entry *l, const struct entry *r);
int64_t column_compare(const struct column *column, const struct entry *l, const struct entry *r);
int64_t entry_compare_from(size_t from, const struct entry *l,
			   const struct entry *r); // from that sort key on
int64_t entry_sort(const struct report *report, const struct entry *l, const struct entry *r);
// The bytes of a tracepoint's field in the entry's raw data; 0 when they do not fit.
int column_field_part(const struct column *column, const struct entry *e, const uint8_t **ret);
uint64_t entry_number(const struct entry *e, enum number number);

// entries.c: the tables of a histogram.
bool report_keys_are_among(const struct report *report, const char *const *names, size_t n);
bool report_keys_are_of_place(const struct report *report); // tell no more than comm, file and symbol
bool report_keys_are_of_task(const struct report *report); // no more than who ran and on which CPU
struct hist *report_hist(struct report *report, struct event *event);
struct hist *hist_new(struct report *report, struct event *event);
void hist_free(struct hist *hist);
// The entry that agrees with the template in all sort keys; a new one is a copy of it.
struct entry *hist_entry(struct hist *hist, struct entry *template);
// Likewise, of a caller in the context of the template, without samples of its own; `is_alone`: this is not asked for again.
struct entry *hist_caller(struct hist *hist, struct entry *template, bool is_alone);
struct entry *hist_find(struct hist *hist, const struct entry *template);
// A number for its keys, the same whenever they are. As long as these take.
uint64_t entry_hash(const struct entry *e);
extern const struct entry_more entry_no_more;
struct entry_more *entry_more(struct entry *e);
// As one that has no samples yet.
void entry_clear(struct entry *e);
// The number of the context that agrees with the template in the keys that do not depend on the frame; a new one is a copy of it.
uint32_t hist_context(struct hist *hist, const struct entry *template);
// The pair, a new one without counts. Valid until the next is made.
struct pair *hist_pair(struct hist *hist, uint32_t entry, uint32_t stack, bool *ret_new);
void hist_expect_pair(const struct hist *hist, uint32_t entry, uint32_t stack);	 // soon: a prefetch
void hist_expect_known(const struct hist *hist, uint32_t entry, uint32_t stack); // sooner
void hist_forget_pairs(struct hist *hist); // no more are looked for; the pairs stay
// counted.c: every pair has its entry.
void hist_settle(struct hist *hist);

// collect.c: samples become entries.
// The hook of a run.
int report_samples(void *arg, struct run *run, const struct hit *samples, size_t n);
void place_of(struct place *ret, const struct location *location);
// Who ran, and where.
void entry_take_task(struct entry *template, const struct sample *sample, struct task *task);
int32_t entry_socket(const struct report *report, const struct entry *e); // -1: not known
// Samples in the mode (cpumode) weigh so much.
void entry_add(struct entry *e, uint8_t cpumode, uint32_t samples, uint64_t period);
void frame_template(const struct report *report, struct entry *template,
		    const struct entry *context, uint32_t frame);

// finish.c: entries become rows.
void report_finish(struct report *report);
// Likewise, and samples may still come (into other hists: see age.c).
void report_make_rows(struct report *report);
uint64_t hist_total(const struct hist *hist);
float entry_percent(const struct entry *e);

// age.c: reports that go on for days. Entries of another hist of the same event as they weigh some time later: `keep_eighths` of 8. What
// weighs nothing any more is gone. `hist` must not have been finished. About 3 us an entry.
struct hist *hist_aged(struct hist *hist, unsigned keep_eighths);
// Stacks, and texts of samples, as if none had come. No hist is left that has any.
void report_forget_stacks(struct report *report);

// chains.c: accumulation over callers and the call graphs.
void hist_chains(struct hist *hist);

// hierarchy.c
void hierarchy_build(struct hist *hist);
void hierarchy_match(struct hist *leader, struct hist *other);
void hierarchy_sort(struct hist *hist);
void hierarchy_done(struct hist *hist);

// ipc.c: instructions per cycle of a function, and the share of its instructions for which they are known, in percent; 0: not
// known. Disassembles the function when it is asked for first.
struct function_ipc {
	double ipc, coverage;
};
struct function_ipc report_ipc(struct report *report, const struct place *place);
void report_ipc_free(struct report *report);

// history.c: what kinds of branches are called; by PERF_BR_*, and the newer ones.
extern const char *const report_branch_names[16], *const report_new_branch_names[8];
