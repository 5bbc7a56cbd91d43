// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the records of a recording into time order. A perf.data file is a sequence of rounds, each round a
// sequence of runs (one per ring buffer) that are in time order already: so the queue merges runs, it
// does not sort records. Equal times keep their order in the file.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "data/recording.h"

struct queued {
	uint64_t time;
	const struct perf_event_header *header;
	uint64_t offset;
	struct event *event;
};

struct queue {
	VEC(struct queued) entries, scratch;
	VEC(size_t) runs;
	size_t sorted_n; // entries before this one are in order already
	uint64_t newest_ns, limit_ns, delivered_ns;
	uint64_t late_n; // records older than what had been delivered when they came
	struct arena copies, next_copies; // of records that do not stay where they are
	bool has_copies;
	// May be NULL: who was given records still looks at them until this is called; then their copies go.
	int (*delivered)(void *arg);
};

void queue_done(struct queue *queue);
void queue_add(struct queue *queue, uint64_t time, const struct record *record, struct event *event);
// The same of a record that stays where it is.
static inline void queue_add_stable(struct queue *queue, const struct queued *queued)
{
	const uint64_t time = queued->time;

	if (time < queue->delivered_ns)
		queue->late_n++;
	if (time > queue->newest_ns)
		queue->newest_ns = time;
	if (queue->sorted_n == queue->entries.n &&
	    (!queue->entries.n || vec_last(&queue->entries).time <= time))
		queue->sorted_n++;
	vec_push(&queue->entries, *queued);
}

typedef int queue_deliver(void *arg, const struct queued *queued);
// A FINISHED_ROUND: all up to the newest time of the round before are complete and go out, in order.
int queue_round(struct queue *queue, queue_deliver *deliver, void *arg);
// The end: all that is left goes out.
int queue_finish(struct queue *queue, queue_deliver *deliver, void *arg);
