// SPDX-License-Identifier: GPL-2.0-or-later
// One run of a profiler over a feed. `sonde prof` picks the input, this does the rest.
#pragma once
#include "prof/core/profiler.h"

// What the feed needs to know of a profiler's options. The result's texts are those of the options.
struct feed_options prof_feed_options(const struct profiler *profiler,
				      const struct prof_options *options);
// The events of -e, then the profiler's setup; the feed is open. Then feed->hooks are set.
int prof_setup(struct prof *prof);
// The last result, and what was lost.
int prof_finish(struct prof *prof);
void prof_done(struct prof *prof);
// NULL: there is none.
const struct profiler *prof_find(const char *name);
