// SPDX-License-Identifier: GPL-2.0-or-later
// What tells rows apart and what stands in their columns.
#pragma once
#include "base/out.h"
#include "data/recording.h"
#include "hist/entry.h"

struct report;

// Widths that perf keeps per kind of column.
enum width {
	WIDTH_SYMBOL,
	WIDTH_TIME,
	WIDTH_DSO,
	WIDTH_THREAD,
	WIDTH_COMM,
	WIDTH_CGROUP_ID,
	WIDTH_CGROUP,
	WIDTH_PARENT,
	WIDTH_CPU,
	WIDTH_SOCKET,
	WIDTH_SRCLINE,
	WIDTH_SRCFILE,
	WIDTH_MISPREDICT,
	WIDTH_IN_TX,
	WIDTH_ABORT,
	WIDTH_SYMBOL_FROM,
	WIDTH_SYMBOL_TO,
	WIDTH_DSO_FROM,
	WIDTH_DSO_TO,
	WIDTH_LOCAL_WEIGHT,
	WIDTH_GLOBAL_WEIGHT,
	WIDTH_CODE_PAGE_SIZE,
	WIDTH_MEM_DADDR_SYMBOL,
	WIDTH_MEM_DADDR_DSO,
	WIDTH_MEM_PHYS_DADDR,
	WIDTH_MEM_DATA_PAGE_SIZE,
	WIDTH_MEM_LOCKED,
	WIDTH_MEM_TLB,
	WIDTH_MEM_LVL,
	WIDTH_MEM_SNOOP,
	WIDTH_MEM_DCACHELINE,
	WIDTH_MEM_IADDR_SYMBOL,
	WIDTH_TRANSACTION,
	WIDTH_CYCLES,
	WIDTH_SRCLINE_FROM,
	WIDTH_SRCLINE_TO,
	WIDTH_TRACE,
	WIDTH_SYM_SIZE,
	WIDTH_DSO_SIZE,
	WIDTH_SYMBOL_IPC,
	WIDTH_MEM_BLOCKED,
	WIDTH_LOCAL_INS_LAT,
	WIDTH_GLOBAL_INS_LAT,
	WIDTH_LOCAL_P_STAGE_CYC,
	WIDTH_GLOBAL_P_STAGE_CYC,
	WIDTH_ADDR_FROM,
	WIDTH_ADDR_TO,
	WIDTH_ADDR,
	WIDTHS
};

enum key_family { KEY_COMMON, KEY_BRANCH, KEY_MEMORY };
enum key_flags {
	KEY_OF_FRAME = 1, // depends on the place of the frame, not only on the sample
	KEY_COLLAPSES = 2,
	KEY_NO_ORDER = 4, // its comparison is no total order
};

struct key {
	const char *name, *header;
	enum width width;
	enum key_family family;
	unsigned flags;
	// Equal entries have equal hashes.
	uint64_t (*hash)(const struct report *report, const struct entry *e);
	// Rows stand in falling order of it, as perf's.
	int64_t (*compare)(const struct report *report, const struct entry *l, const struct entry *r);
	int64_t (*sort)(const struct report *report, const struct entry *l, const struct entry *r);
	// At least / at most `width` columns, as the key has it; width < 0: as long as it is.
	void (*print)(const struct report *report, const struct entry *e, struct out *out, int width);
};
const struct key *report_key_at(size_t i);	// in perf's order; NULL behind the last
const struct key *report_key(const char *name); // exact

// Numbers that every row has.
enum number {
	NUMBER_OVERHEAD,
	NUMBER_SYS,
	NUMBER_US,
	NUMBER_GUEST_SYS,
	NUMBER_GUEST_US,
	NUMBER_CHILDREN,
	NUMBER_SAMPLES,
	NUMBER_PERIOD,
	NUMBERS
};
extern const char *const report_number_names[NUMBERS], *const report_number_headers[NUMBERS];

struct column {
	const struct key *key; // one of three: a key ...
	struct event *event;   // ... a field of a tracepoint ...
	const struct tp_field *field;
	enum number number; // ... or, with neither, a number
	const char *name;
	int level, user_width, dynamic_width;
	bool elided, raw_trace;
	// Of a field: by event, the first column of the event's field of that name, NULL: it has none. `siblings_n` events.
	struct column **siblings;
	size_t siblings_n;
};

struct level {
	int level;
	VEC(struct column *) columns;
};
