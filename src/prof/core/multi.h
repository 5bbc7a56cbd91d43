// SPDX-License-Identifier: GPL-2.0-or-later
// Delays between events that belong together by a key: what multi-trace and rundelay share.
#pragma once
#include "agg/dist.h"
#include "agg/pairs.h"
#include "prof/core/history.h"
#include "prof/core/profiler.h"

enum multi_impl { MULTI_DELAY, MULTI_PAIR };

struct multi_detail {
	bool on, same_cpu, same_pid, same_tid, same_key, only_first, only_second;
	uint64_t before_ns, after_ns, hide_ns;
};

// What an event of -e does.
struct multi_event {
	struct event_value key, role;
	bool has_key, has_role, ends, begins, untraced, trigger;
	bool by_cpu, by_thread;	      // key without an expression
	uint64_t unpaired_n, first_n; // of the pair analysis
};

struct multi_shown; // a pair that waits for what follows it (--detail=+N)

// A profiler's option table points here.
struct multi_options {
	struct prof_options common;
	const char *impl, *filter;
	uint64_t than_ns, only_than_ns, lower_ns;
	struct multi_detail detail;
	bool cycle;
};

// Begins the profiler's state.
struct multi {
	const struct multi_options *options;
	uint64_t than_ns; // of --than or --only-than
	enum multi_impl impl;
	struct multi_event *events;
	struct dist *dists; // [first * n + second]
	uint64_t *over_n;   // likewise, of --than
	uint64_t *paired_n; // likewise
	struct map by_key;  // with --perins: hash of key and pair -> multi_row
	VEC(struct multi_row *) rows;
	struct pairs waiting;
	struct history history;
	struct map firsts; // by key: of multi_open.c
	uint64_t kept_to;  // how far the history had come at multi_keep_firsts
	bool keeps;	   // events are copied
	bool follow_cpu;   // rundelay: the target CPU of wake-ups and migrations
	VEC(struct multi_shown *) shown;
	uint64_t unknown_n, unknown_all; // dropped: something was lost between
	const char *key_title;
	bool default_thread; // the key of what has none: the thread; else the CPU
	bool key_is_task;
	struct arena arena;
};

struct multi_row {
	uint64_t key;
	uint32_t pair;
	struct dist dist;
	uint64_t over_n;
};

opt_call multi_opt_detail;

extern const struct opt multi_options[];
#define MULTI_OPTIONS OPT_INCLUDE(multi_options)

// After prof's events are there; sets keys and roles.
int multi_setup(struct prof *prof, struct multi *multi);
int multi_sample(struct prof *prof, struct prof_event *event, const struct sample *sample);
void multi_lost(struct prof *prof, const struct run_loss *loss);
int multi_interval(struct prof *prof, uint64_t now_ns);
int multi_finish(struct prof *prof, uint64_t now_ns);
void multi_done(struct prof *prof);

// The row of a key and a pair (first * n + second); NULL: there are too many.
struct multi_row *multi_row_of(struct multi *multi, uint64_t key, uint32_t pair);

// multi_kernel.c: has two events counted in the kernel where that gives the same; after multi_setup.
int multi_count_in_kernel(struct prof *prof, struct multi *multi);
int multi_read_kernel(struct prof *prof);

// multi_open.c: the first event of what waits; NULL: it is too long ago. Valid until the next event.
const struct history_entry *multi_first(const struct multi *multi, const struct pair_slot *slot);
// Copies the first events that the history is about to lose.
void multi_keep_firsts(struct multi *multi);
// Shows what waits for longer than --than.
void multi_show_waiting(struct prof *prof, struct multi *multi, uint64_t now_ns);
// The end of a thread ends what waits for it.
int multi_record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids);
void multi_open_done(struct multi *multi);

struct multi_waiting {
	const struct history_entry *entry; // NULL: not kept
	uint64_t now_ns;
	bool told; // with what came since, at an interval before
};

// multi_show.c: shows a pair, now or when what follows it has come; or a first event that waits.
void multi_show(struct prof *prof, struct multi *multi, const struct pair_slot *first,
		uint64_t second_at);
void multi_show_open(struct prof *prof, struct multi *multi, const struct pair_slot *slot,
		     const struct multi_waiting *waiting);
void multi_show_due(struct prof *prof, struct multi *multi, uint64_t now_ns);
void multi_show_done(struct multi *multi);
