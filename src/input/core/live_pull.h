// SPDX-License-Identifier: GPL-2.0-or-later
// Events that another sonde pushes (pull=) become records of rings as the kernel's are, so the merge takes both.
#pragma once
#include "input/core/input.h"
#include "input/core/pull_source.h"

struct live_pull; // all sources

// NULL is allowed as `pull` from here on where nothing else is said.
void live_pull_free(struct live_pull *pull);
// Waits for the other when it is not there yet: until then nothing is known of its events. *pull is made when it is NULL. -ENOENT,
// -EINVAL with a sentence.
int live_pull_find(struct live_pull **pull, struct feed *feed, const struct feed_pull *find);
// Before the loop: whose events go where.
void live_pull_begin(struct live_pull *pull, const struct pull_clock *clock);

size_t live_pull_sources(const struct live_pull *pull);
struct ring *live_pull_ring(struct live_pull *pull, size_t source);
// Puts what has come into the rings. -errno with a sentence: a source says what can't go on.
int live_pull_read(struct live_pull *pull);
// All sources said that they have ended, or their files were read.
bool live_pull_ended(const struct live_pull *pull);
// What happened here at this time or later waits until others have told what they saw before. UINT64_MAX: nothing waits.
uint64_t live_pull_hold(const struct live_pull *pull);
struct pollfd;
// Fills as many as there are sources; returns ms, when live_pull_read is due at the latest.
int live_pull_poll(const struct live_pull *pull, struct pollfd *fds);

// A record of one of the rings, see pull_source_give.
int live_pull_give(struct live_pull *pull, const struct perf_event_header *header, struct feed *feed);
