// SPDX-License-Identifier: GPL-2.0-or-later
// Unwinding while recording: samples come from the kernel with registers and a copy of the stack, and go to the file
// with the whole call chain instead. The records of all rings pass in the order of time, so that the maps are those
// of the sample's moment.
#pragma once
#include "cmd/core/record/record.h"

struct live;

// NULL without an error when no event has stacks to unwind.
int live_new(struct live **ret, struct recorder *recorder);
void live_free(struct live *live);
// Now and then: files of programs that have ended are closed, whether stacks are unwound or not.
void live_age(struct recorder *recorder);
// The attr as the file shall have it: chains, no stacks.
struct perf_event_attr live_file_attr(const struct recorder *recorder, size_t event);
// A record that tells what was there before the recording.
void live_learn(struct live *live, const struct perf_event_header *header);

// One round: records are added ring by ring as they lie, then looked at in the order of time, then written in the order
// in which they were added. What lies apart must be copied by the caller with live_copy.
void live_add(struct live *live, const struct perf_event_header *header);
const struct perf_event_header *live_copy(struct live *live, const struct perf_event_header *header);
int live_round(struct live *live);
// How the stacks ended since the last note, for who reads the file.
void live_note(struct live *live, struct writer *writer);
// How the stacks ended, on stderr.
void live_report(const struct live *live);
