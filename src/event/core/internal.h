// SPDX-License-Identifier: GPL-2.0-or-later
// Between the files of event/core only.
#pragma once
#include "event/core/event_kind.h"

// Reads "/.../" at p->pos, applies it to the events from `first` on.
int event_read_terms(struct event_parser *p, size_t first);

// "u k h G H p ..." as bits to be set in an attr, by perf's rules (tools/perf/Documentation/perf-list.txt).
struct event_modifiers {
	bool user, kernel, hypervisor, guest, host; // seen
	bool idle, pinned, exclusive, weak, read, precise_max, bpf, retire;
	unsigned precise;
};
int event_read_modifiers(struct event_parser *p, struct str text, struct event_modifiers *ret);
// `added`: of a group, on top of what the event has.
void event_apply_modifiers(const struct event_modifiers *mods, struct event_spec *spec, bool added,
			   bool is_leader);

// A sentence's tail "; did you mean 'x'?" from candidates; "" when none is near. The caller frees it.
struct event_names {
	VEC(const char *) v;
	struct arena arena;
};
void event_names_add(void *arg, const char *name);
char *event_names_hint(struct event_names *names, struct str word);
void event_names_done(struct event_names *names);
