// SPDX-License-Identifier: GPL-2.0-or-later
// A source of events: one const struct in src/input/NAME.c, called input_NAME.
#pragma once
#include "flow/feed.h"

// Gets each event that a name stands for.
typedef int input_found(void *arg, struct event *event, const char *system, const char *name);

struct input {
	const char *name, *summary;
	// To be called once, in this order: open, find as often as needed, run, close (also after an error).
	int (*open)(struct feed *feed);
	// All events that SYSTEM:NAME (globs are allowed) or the name of a counter stands for; their formats are known
	// then. -ENOENT, -EACCES with a sentence.
	int (*find)(struct feed *feed, const char *name, input_found *found, void *arg);
	// Likewise of what another sonde pushes (flow/wire.h); NULL: there is no such thing. May wait for it.
	int (*pull)(struct feed *feed, const struct feed_pull *pull);
	// Opens the feed's events, then gives what happens to its hooks until all tasks have ended, the recording ends,
	// a signal comes, or a hook says so.
	int (*run)(struct feed *feed);
	void (*close)(struct feed *feed);
};

extern const struct input *const inputs[]; // by name, ends with NULL; made by src/registry.c
const struct input *input_by_name(const char *name);
