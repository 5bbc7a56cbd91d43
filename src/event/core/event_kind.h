// SPDX-License-Identifier: GPL-2.0-or-later
// A kind of event: one const struct in src/event/NAME.c, called event_kind_NAME. The spec parser asks the
// kinds in turn whose the name is; `sonde list` and the search for near names ask them for all names.
#pragma once
#include "base/err.h"
#include "event/core/spec.h"

struct event_parser;

// A term between the slashes. Positions count bytes of the whole text.
struct event_term {
	struct str name, value; // value without its quotes
	bool has_value;
	uint32_t at, value_at;
};

// One name for `sonde list`. Borrowed for the call.
struct event_entry {
	const char *name;
	const char *alias;	 // "context-switches OR cs"; NULL: none
	const char *label;	 // "Software event"
	const char *description; // NULL: none
	const char *encoding;	 // "msr/event=0/"; NULL: none
	const char *pmu, *unit;	 // NULL: none
	bool is_form;		 // "rNNN": shows how it is written, isn't a name
};

struct event_lister {
	const struct event_context *ctx;
	struct event_specs *specs; // its pmus and tracefs are used
	bool all;		   // also what this machine doesn't count
	void (*add)(void *arg, const struct event_entry *entry);
	void *arg;
};

struct event_kind {
	const char *name;	// "hardware"
	const char *short_name; // "hw", what `sonde list` takes
	unsigned rank;		// smaller is asked first
	unsigned list_rank;	// its place in `sonde list`
	// The parser stands behind `head`, the text up to one of , / : { }. Returns 1 when the name was
	// this kind's: events were added and what belongs to the name was read; 0: not its; or what
	// event_fail returned.
	int (*take)(struct event_parser *p, struct str head);
	// No kind knew the name: a sentence that says more than the usual one, or 0. NULL: none.
	int (*missing)(struct event_parser *p, struct str head);
	// Reads the whole text in a grammar of its own (event_context.pfm); NULL: has none.
	int (*parse_list)(struct event_parser *p);
	// A term that the core doesn't know. 1: done, 0: there is no such term, or event_fail.
	int (*term)(struct event_parser *p, struct event_spec *spec, const struct event_term *term);
	// Calls add with what can be written there; for the nearest name in errors. NULL: nothing.
	void (*term_names)(struct event_parser *p, const struct event_spec *spec,
			   void (*add)(void *arg, const char *name), void *arg);
	// Every name; 0 or -errno with a sentence.
	int (*list)(struct event_lister *lister);
	bool no_config_terms; // config= and the like are not for it
};

enum { EVENT_RANKS = 16 };
// What a tracepoint's sample can't do without.
enum {
	EVENT_TRACEPOINT_SAMPLE =
		PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD
};

extern const struct event_kind *const event_kinds[]; // ends with NULL; made by src/registry.c

struct event_parser {
	const char *text;
	size_t n, pos;
	struct event_specs *specs;
	const struct event_context *ctx;
	const struct event_kind *kind; // of the item that is read
	size_t item;		       // its first event
	size_t item_at;		       // where it begins
};

// Adds an event of p->kind; the address is valid until the next one.
struct event_spec *event_add(struct event_parser *p, uint32_t type, uint64_t config);
// The sentence with the text and a caret below `where`; returns -EINVAL.
int event_fail(struct event_parser *p, struct str where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));
// Likewise of what isn't there; returns -ENOENT.
int event_fail_absent(struct event_parser *p, struct str where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));
static inline struct str event_where(const struct event_parser *p, size_t at, size_t n)
{
	return (struct str){p->text + at, n};
}
static inline char event_peek(const struct event_parser *p)
{
	return p->pos < p->n ? p->text[p->pos] : 0;
}
// The text from pos up to one of the stop characters, which is not read.
struct str event_until(struct event_parser *p, const char *stop);
// The i-th term that every kind of event takes, NULL behind the last.
const char *event_common_term(size_t i, bool *ret_needs_value);
// Reads what `text` holds ("a=1,b=2", no slashes) one term after the other; *at moves on. 1: a term,
// 0: the end.
int event_next_term(struct str text, size_t *at, struct event_term *ret);

struct pmus *event_pmus(struct event_specs *specs, const struct event_context *ctx);
// -ENOENT, -EACCES with a sentence.
int event_tracefs(struct event_specs *specs, const struct event_context *ctx, struct tracefs **ret);
// Does perf_event_open take it here (counting, this process, any exclude bits)?
bool event_opens(const struct perf_event_attr *attr);

// Adds type/config for each kind of core when the machine has several (hybrid), else once.
void event_add_core(struct event_parser *p, uint32_t type, uint64_t config);
