// SPDX-License-Identifier: GPL-2.0-or-later
// One system that pushes events (pull=): what it says (flow/wire.h) becomes records of a ring, as the kernel's are.
#pragma once
#include "flow/feed.h"
#include "flow/wire.h"
#include "sys/ring.h"

struct sent_event {
	const char *name, *system, *tracepoint; // the last two are "" where it is none
	struct str format;
	struct event *event;	   // NULL: not described yet
	struct feed_event *wanted; // who takes it, by next_same
};

// How times of other systems become those of this run.
struct pull_clock {
	bool mixed;		// there are events of this kernel, too
	int64_t offset_ns;	// --clock-offset
	int64_t wall_offset_ns; // of CLOCK_MONOTONIC here
	struct feed_tsc tsc;	// of --tsc; mult 0: not known
};

struct pull_source {
	uint32_t index;
	struct foreign foreign;
	bool wants_tsc, starting; // starting: to stop when all events are known
	struct pull_clock clock;
	struct sample_plan plan;
	struct ring ring;

	struct wire_hello hello;
	struct sent_event *events; // [hello.events_n]
	uint32_t known_n;	   // of them were described
	struct tracepoints *formats;
	bool greeted, said_end, ended; // ended: nothing more comes; said_end: of this connection
	bool has_hello;		       // this connection
	uint64_t received, garbage;    // events, bytes without sense; of this connection
	uint64_t watermark, heard_ns; // what it saw before was given; CLOCK_MONOTONIC of its last word

	struct wire_reader reader; // private from here on
	size_t formats_bytes;
	bool damaged;
	struct arena arena;
};

enum {
	PULL_ROOM_BYTES = 4 << 20, // what the bytes of one call may become in the ring, at most
};

// `where` is for messages. Memory that a source takes is bounded, whatever it says.
void pull_source_init(struct pull_source *source, uint32_t index, const char *where);
void pull_source_done(struct pull_source *source);
// A new connection: it begins with a greeting.
void pull_source_again(struct pull_source *source);
static inline bool pull_source_ready(const struct pull_source *source)
{
	return source->greeted && source->known_n == source->hello.events_n;
}
// The ring's place that is free.
size_t pull_source_room(const struct pull_source *source);
// Takes the messages at p; the ring must have PULL_ROOM_BYTES of room. Returns the bytes that are done with, or -errno with a sentence: it
// says what can't go on.
ssize_t pull_source_hear(struct pull_source *source, const uint8_t *p, size_t n);
// Once, before the first sample is heard.
void pull_source_align(struct pull_source *source, const struct pull_clock *clock);

static inline uint64_t pull_id(const struct perf_event_header *header)
{
	bool is_sample = header->type == PERF_RECORD_SAMPLE;
	uint64_t id;

	memcpy(&id, (const char *)header + (is_sample ? 8 : header->size - 8), sizeof(id));
	return id;
}
// A record of such a ring? By its id; which one's, which event.
static inline bool pull_is(uint64_t id)
{
	return id >> 62 == 1;
}
static inline uint32_t pull_index(uint64_t id)
{
	return (uint32_t)(id >> 32 & 0xffff);
}
uint64_t pull_time(const struct perf_event_header *header);
// Gives it to the hooks of the feed. As these, or 0.
int pull_source_give(struct pull_source *source, const struct perf_event_header *header,
		     struct feed *feed);
