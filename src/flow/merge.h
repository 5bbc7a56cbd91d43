// SPDX-License-Identifier: GPL-2.0-or-later
// The records of several rings, where they lie, in the order of time or ring by ring. Each ring is in time order; a round
// gives all that is older than what any ring held when the round before began: nothing older can come any more, but
// what the kernel was just writing then. So no clock is needed and no record is copied.
#pragma once
#include "sys/ring.h"

// Looks at a record: its time, and what it is for `give` (so that this is found once).
typedef uint64_t merge_look(void *arg, const struct perf_event_header *header, void **ret_what);
typedef int merge_give(void *arg, const struct perf_event_header *header, uint64_t time, void *what);
// Bytes that came into a ring since the round before, before any of them is given; NULL: not wanted.
typedef int merge_fresh(void *arg, const struct ring *ring, const struct ring_pieces *pieces);

struct merge_ring {
	struct ring *ring;
	uint64_t at, settled, head; // next record; head of the round before; head of this one
	uint64_t released, time;
	const struct perf_event_header *record; // at `at`
	void *what, *cut;			// cut: room for a record that the ring's end cuts
};

struct merge {
	struct merge_ring *rings;
	size_t n;
	bool ordered;
	merge_look *look;
	merge_give *give;
	void *arg;
	merge_fresh *fresh;
	void *fresh_arg;
	uint64_t hold_ns;   // in order of time: what happened then or later waits for another round
	uint64_t newest_ns; // given last
	uint64_t late_n;    // given behind a newer one
	uint64_t bytes, broken_n;
	size_t *heap, heap_n;
};

// The rings must stay where they are. Other fields are the caller's to set.
void merge_init(struct merge *merge, struct ring *rings, size_t n);
void merge_done(struct merge *merge);
// One more, behind the others.
void merge_add(struct merge *merge, struct ring *ring);
// One round. `all`: what is in the rings now, whatever may still come. > 0 or < 0 is what `give` said. Some ns a record.
int merge_round(struct merge *merge, bool all);
// Does something wait for the next round?
bool merge_waits(const struct merge *merge);
