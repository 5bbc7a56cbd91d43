// SPDX-License-Identifier: GPL-2.0-or-later
// Copies of the events of the last moments, so that what led to a long wait can be shown when its end is seen. Bounded: the
// oldest give way.
#pragma once
#include "abi/sample.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_entry {
	uint32_t size; // of the whole entry, a multiple of 8; event UINT32_MAX: only fills the end
	uint32_t event;
	uint64_t time_ns, key;
	uint32_t cpu, pid, tid, unused;
	// the record follows
};

struct history {
	uint8_t *bytes;
	size_t size;	   // a power of two
	uint64_t from, to; // positions only grow; from: the oldest that is kept
};

void history_init(struct history *history, size_t size);
void history_done(struct history *history);
// Copies the sample's record; its position. About 20 ns.
uint64_t history_add(struct history *history, uint32_t event, uint64_t key,
		     const struct sample *sample);
// The entry at a position, NULL when it is not kept any more (or at the end). Valid until the next history_add.
const struct history_entry *history_at(const struct history *history, uint64_t at);
// The position behind.
uint64_t history_next(const struct history *history, uint64_t at);
static inline const struct perf_event_header *history_record(const struct history_entry *entry)
{
	return (const struct perf_event_header *)(entry + 1);
}
