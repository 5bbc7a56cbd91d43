// SPDX-License-Identifier: GPL-2.0-or-later
// The probes that the kernel has, by tracefs.
#pragma once
#include "probe/event.h"
#include "sys/probe_line.h"

struct tracefs;

// One line of uprobe_events or kprobe_events.
struct probe_stored {
	const char *line; // whole
	struct probe_line is;
	VEC(struct str) names; // of arguments
};

struct probe_store {
	struct tracefs *tracefs;
	struct arena arena;
	VEC(struct probe_stored) v; // sorted as perf sorts them
};
int probe_store_open(struct probe_store *ret);
void probe_store_done(struct probe_store *store);
const struct probe_stored *probe_store_find(const struct probe_store *store, const char *group,
					    const char *event);
int probe_store_add(struct probe_store *store, const struct probe_event *event);
// As if it were added.
int probe_store_note(struct probe_store *store, const struct probe_event *event);
void probe_store_sort_by_name(struct probe_store *store);
int probe_store_remove(struct probe_store *store, const struct probe_stored *stored);
