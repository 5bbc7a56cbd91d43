// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/merge.h"
#include "base/alloc.h"
#include <string.h>

enum { LARGEST = 1 << 16, PREFETCH_AHEAD = 1024 };

static void init_ring(struct merge_ring *r, struct ring *ring)
{
	*r = (struct merge_ring){.ring = ring, .cut = xmalloc(LARGEST)};
	r->at = r->settled = r->head = r->released = ring->tail;
}

void merge_init(struct merge *merge, struct ring *rings, size_t n)
{
	*merge = (struct merge){.n = n, .hold_ns = UINT64_MAX};
	merge->rings = xcalloc(n + 1, sizeof(*merge->rings));
	merge->heap = xcalloc(n + 1, sizeof(*merge->heap));
	for (size_t i = 0; i < n; i++)
		init_ring(&merge->rings[i], &rings[i]);
}

void merge_add(struct merge *merge, struct ring *ring)
{
	size_t n = ++merge->n;

	merge->rings = xreallocarray(merge->rings, n, sizeof(*merge->rings));
	merge->heap = xreallocarray(merge->heap, n, sizeof(*merge->heap));
	init_ring(&merge->rings[n - 1], ring);
}

void merge_done(struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++)
		free(merge->rings[i].cut);
	free(merge->rings);
	free(merge->heap);
	*merge = (struct merge){0};
}

bool merge_waits(const struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++) {
		if (merge->rings[i].at != merge->rings[i].head)
			return true;
	}
	return false;
}

static void release(struct merge_ring *r)
{
	ring_release(r->ring, r->at);
	r->released = r->at;
}

// At the end of the ring a record goes on at its beginning.
static const struct perf_event_header *join(struct merge_ring *r, size_t offset, size_t first)
{
	const uint8_t *data = (const uint8_t *)r->ring->data;
	const struct perf_event_header *header = (const void *)(data + offset);

	memcpy(r->cut, header, first);
	memcpy((char *)r->cut + first, data, header->size - first);
	return r->cut;
}

// The record at r->at; false: there is none up to the head.
static inline bool load(struct merge *merge, struct merge_ring *r)
{
	struct ring *ring = r->ring;
	size_t offset = r->at & (ring->size - 1), first = ring->size - offset;
	uint64_t left = r->head - r->at;
	const struct perf_event_header *header = (const void *)(ring->data + offset);

	if (!left)
		return false;
	// Records are multiples of 8 bytes, so a header is never cut.
	if (header->size < sizeof(*header) || header->size > left) {
		merge->broken_n++;
		r->at = r->head;
		return false;
	}
	if (header->size > first)
		header = join(r, offset, first);
	// The ring was written by another processor: its lines are on their way meanwhile.
	__builtin_prefetch(ring->data + ((offset + PREFETCH_AHEAD) & (ring->size - 1)));
	__builtin_prefetch(ring->data + ((offset + PREFETCH_AHEAD + 64) & (ring->size - 1)));
	r->record = header;
	r->time = merge->look(merge->arg, header, &r->what);
	return true;
}

static inline int give(struct merge *merge, struct merge_ring *r)
{
	int err;

	if (r->time < merge->newest_ns)
		merge->late_n++;
	else
		merge->newest_ns = r->time;
	err = merge->give(merge->arg, r->record, r->time, r->what);
	r->at += r->record->size;
	// The kernel gets room before the whole round is through.
	if (r->at - r->released > r->ring->size / 8)
		release(r);
	return err;
}

static int take_heads(struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++) {
		struct merge_ring *r = &merge->rings[i];
		uint64_t from = r->head;
		struct ring_pieces pieces;

		r->settled = r->head;
		ring_read(r->ring, &pieces);
		r->head = pieces.end;
		merge->bytes += r->head - from;
		if (!merge->fresh || r->head == from)
			continue;
		// what is new begins where the head was
		struct ring view = *r->ring;
		view.tail = from;
		ring_read(&view, &pieces);
		uint64_t beyond = pieces.end - r->head; // came meanwhile
		if (beyond > pieces.n[1]) {
			pieces.n[0] -= beyond - pieces.n[1];
			pieces.n[1] = 0;
		} else {
			pieces.n[1] -= beyond;
		}
		int err = merge->fresh(merge->fresh_arg, r->ring, &pieces);
		if (err)
			return err;
	}
	return 0;
}

static int ring_by_ring(struct merge *merge)
{
	int err = 0;

	for (size_t i = 0; i < merge->n && !err; i++) {
		struct merge_ring *r = &merge->rings[i];

		// Order is kept in each ring only.
		merge->newest_ns = 0;
		while (!err && load(merge, r))
			err = give(merge, r);
		if (r->at != r->released)
			release(r);
	}
	return err;
}

static bool before(const struct merge *merge, size_t a, size_t b)
{
	const struct merge_ring *x = &merge->rings[a], *y = &merge->rings[b];

	return x->time != y->time ? x->time < y->time : a < b;
}

static void sift(struct merge *merge, size_t at)
{
	size_t *heap = merge->heap, n = merge->heap_n;

	for (;;) {
		size_t least = at, child = 2 * at + 1, kept;

		if (child < n && before(merge, heap[child], heap[least]))
			least = child;
		if (child + 1 < n && before(merge, heap[child + 1], heap[least]))
			least = child + 1;
		if (least == at)
			return;
		kept = heap[at];
		heap[at] = heap[least];
		heap[least] = kept;
		at = least;
	}
}

// Up to which time: what waits must not take the place of what is to come.
static uint64_t hold(const struct merge *merge, bool all)
{
	for (size_t i = 0; i < merge->n; i++) {
		const struct merge_ring *r = &merge->rings[i];

		if (all || r->head - r->at > r->ring->size / 2)
			return UINT64_MAX;
	}
	return merge->hold_ns;
}

static int by_time(struct merge *merge, bool all)
{
	const uint64_t end = hold(merge, all);
	size_t waiting = 0;
	int err = 0;

	merge->heap_n = 0;
	for (size_t i = 0; i < merge->n; i++) {
		struct merge_ring *r = &merge->rings[i];

		if (all)
			r->settled = r->head;
		if (!load(merge, r))
			continue;
		waiting += r->at < r->settled;
		merge->heap[merge->heap_n++] = i;
	}
	for (size_t i = merge->heap_n / 2; i-- > 0;)
		sift(merge, i);
	while (waiting && !err) {
		struct merge_ring *r = &merge->rings[merge->heap[0]];
		uint64_t limit = end; // other rings have nothing before it
		bool more;

		if (r->time >= end && end != UINT64_MAX)
			break;
		for (size_t i = 1; i < merge->heap_n && i < 3; i++) {
			uint64_t time = merge->rings[merge->heap[i]].time;

			limit = time < limit ? time : limit;
		}
		do {
			bool waited = r->at < r->settled;

			err = give(merge, r);
			more = load(merge, r);
			waiting -= waited && r->at >= r->settled;
		} while (more && !err && waiting && r->time < limit);
		if (!more)
			merge->heap[0] = merge->heap[--merge->heap_n];
		sift(merge, 0);
	}
	for (size_t i = 0; i < merge->n; i++) {
		if (merge->rings[i].at != merge->rings[i].released)
			release(&merge->rings[i]);
	}
	return err;
}

int merge_round(struct merge *merge, bool all)
{
	int err = take_heads(merge);

	if (err)
		return err;
	return merge->ordered ? by_time(merge, all) : ring_by_ring(merge);
}
