// SPDX-License-Identifier: GPL-2.0-or-later
// A row to be.
#pragma once
#include "agg/calltree.h"
#include "agg/order.h"
#include "sym/sym.h"

struct hist;

// Where something lies: the sampled instruction, a branch's end, the data it touched.
struct place {
	struct dso *dso; // NULL: in no map
	const struct symbol *sym;
	uint64_t addr; // as perf shows it: in the dso's space, or as sampled when there is no map
	uint64_t ip;
	char level;
};

struct branch_ends {
	struct place from, to;
	uint64_t flags; // the third word of struct perf_branch_entry
};

struct memory_access {
	struct place data, code;
	uint64_t source, phys_addr, page_size;
};

// What only some sort keys look at.
struct extra {
	const struct event *event; // whose `raw` and `trace` are
	uint64_t time, weight, transaction, cgroup, cgroup_dev, cgroup_ino, code_page_size, map_size;
	uint32_t ins_lat, p_stage_cyc, raw_size;
	const char *trace, *srcline, *srcfile;
	const struct symbol *parent;
	const void *raw;
	struct branch_ends *branch;
	struct memory_access *mem;
};

// What few rows have, or few reports ask for.
struct entry_more {
	uint64_t period_sys, period_us, period_guest_sys,
		period_guest_us; // where the report has_modes
	struct call_tree *tree;	 // NULL: none
	struct entry **members;	 // of a group: the same row in each member's histogram, [0] unused
	// hierarchy
	struct entry *up;
	struct level_set *below;
	uint8_t depth;
};

// One row to be: samples that agree in all sort keys. A report may have millions: what takes room here costs time.
struct entry {
	uint64_t period, acc; // acc: with children
	struct place place;
	struct task *task; // of the first sample
	struct extra *x;   // shared by all entries when no key needs it
	struct hist *hist;
	const struct entry_more *more; // never NULL in a hist; entry_more makes one to write to
	uint32_t samples, id, comm;
	int32_t cpu;
	uint32_t context;	  // of the keys that do not depend on the frame
	uint32_t first, first_at; // sample (by number) and place in its chain that made the entry
	uint32_t max_depth;
	union {
		uint32_t met;	// scratch: the pair + 1 that was added last
		uint32_t level; // hierarchy: index into report->levels
	};
	uint8_t cpumode;
	uint8_t filtered; // bits of enum hidden
	bool dummy : 1, leaf : 1;
	bool is_alone : 1; // no sample and no other frame can agree with it: it is not in the table
};

// Why a row is not shown.
enum hidden {
	HIDDEN_TASK = 1,
	HIDDEN_DSO = 2,
	HIDDEN_SYMBOL = 4,
	HIDDEN_PARENT = 8,
	HIDDEN_SOCKET = 16,
	HIDDEN_ZOOM = 32, // by who looks at the screen
	HIDDEN_RARE = 64
};

// The rows of one place in the hierarchy.
struct level_set {
	struct order in;
	VEC(struct entry *) entries; // later in the order of the report
};
