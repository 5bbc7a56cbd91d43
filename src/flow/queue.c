// SPDX-License-Identifier: GPL-2.0-or-later
// A file is a sequence of rounds, a round a sequence of runs, each in time order: one per ring. The queue keeps 32 bytes a
// record (time, place) and merges neighbouring runs in passes, so a round of n records from k rings costs n log k sequential
// moves and no copy of a record. At a FINISHED_ROUND all up to the newest time of the round before goes out. Equal times keep
// the order of the file, as perf does. Records that came too late are delivered and counted.
#include "flow/queue.h"

enum { PREFETCH_AHEAD = 6 };

void queue_done(struct queue *queue)
{
	vec_done(&queue->entries);
	vec_done(&queue->scratch);
	vec_done(&queue->runs);
	arena_done(&queue->copies);
	arena_done(&queue->next_copies);
}

void queue_add(struct queue *queue, uint64_t time, const struct record *record, struct event *event)
{
	const struct perf_event_header *header = record->header;

	if (!record->stable) {
		header = arena_memdup(&queue->copies, header, header->size);
		queue->has_copies = true;
	}
	queue_add_stable(queue, &(struct queued){time, header, record->offset, event});
}

// Records in order.
struct span {
	const struct queued *v;
	size_t n;
};

static void merge(struct span a, struct span b, struct queued *to)
{
	while (a.n && b.n) {
		if (b.v->time < a.v->time) {
			*to++ = *b.v++;
			b.n--;
		} else {
			*to++ = *a.v++;
			a.n--;
		}
	}
	memcpy(to, a.n ? a.v : b.v, (a.n ? a.n : b.n) * sizeof(*to));
}

// Natural merge sort: passes over pairs of neighbouring runs, so log2(rings) passes over the round.
static void sort(struct queue *queue)
{
	size_t n = queue->entries.n;

	if (queue->sorted_n == n)
		return;
	vec_clear(&queue->runs);
	vec_push(&queue->runs, 0);
	for (size_t i = MAX(queue->sorted_n, (size_t)1); i < n; i++) {
		if (queue->entries.v[i].time < queue->entries.v[i - 1].time)
			vec_push(&queue->runs, i);
	}
	if (queue->scratch.capacity < n)
		vec_reserve(&queue->scratch, n);
	while (queue->runs.n > 1) {
		struct queued *from = queue->entries.v, *to = queue->scratch.v;
		size_t kept = 0;

		for (size_t r = 0; r < queue->runs.n; r += 2) {
			size_t start = queue->runs.v[r];
			size_t middle = r + 1 < queue->runs.n ? queue->runs.v[r + 1] : n;
			size_t end = r + 2 < queue->runs.n ? queue->runs.v[r + 2] : n;

			merge((struct span){from + start, middle - start},
			      (struct span){from + middle, end - middle}, to + start);
			queue->runs.v[kept++] = start;
		}
		queue->runs.n = kept;
		queue->entries.v = to;
		queue->scratch.v = from;
		size_t capacity = queue->entries.capacity;
		queue->entries.capacity = queue->scratch.capacity;
		queue->scratch.capacity = capacity;
	}
	queue->sorted_n = n;
}

// Moves the copies that are still needed away and frees the others.
static void keep_copies(struct queue *queue)
{
	struct arena old;

	if (!queue->has_copies)
		return;
	vec_each(struct queued, entry, &queue->entries)
		entry->header = arena_memdup(&queue->next_copies, entry->header, entry->header->size);
	old = queue->copies;
	queue->copies = queue->next_copies;
	queue->next_copies = old;
	arena_reset(&queue->next_copies);
	queue->has_copies = queue->entries.n > 0;
}

static int flush(struct queue *queue, uint64_t limit, queue_deliver *deliver, void *arg)
{
	size_t done = 0;
	int err = 0;

	sort(queue);
	while (done < queue->entries.n && queue->entries.v[done].time <= limit) {
		// The records lie apart in the file: what comes soon is on its way meanwhile.
		if (done + PREFETCH_AHEAD < queue->entries.n) {
			const char *soon =
				(const char *)queue->entries.v[done + PREFETCH_AHEAD].header;

			__builtin_prefetch(soon);
			__builtin_prefetch(soon + 64);
			__builtin_prefetch(soon + 128);
		}
		err = deliver(arg, &queue->entries.v[done++]);
		if (err)
			break;
	}
	if (done)
		queue->delivered_ns = queue->entries.v[done - 1].time;
	queue->entries.n -= done;
	if (queue->entries.n)
		memmove(queue->entries.v, queue->entries.v + done,
			queue->entries.n * sizeof(*queue->entries.v));
	queue->sorted_n = queue->entries.n;
	if (done && !err && queue->delivered)
		err = queue->delivered(arg);
	keep_copies(queue);
	return err;
}

int queue_round(struct queue *queue, queue_deliver *deliver, void *arg)
{
	int err = 0;

	if (queue->limit_ns)
		err = flush(queue, queue->limit_ns, deliver, arg);
	queue->limit_ns = queue->newest_ns;
	return err;
}

int queue_finish(struct queue *queue, queue_deliver *deliver, void *arg)
{
	return flush(queue, UINT64_MAX, deliver, arg);
}
