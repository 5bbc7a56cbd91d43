// SPDX-License-Identifier: GPL-2.0-or-later
// What comes from another system, in pieces: the first byte says how large they are.
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "flow/event_fields.h"
#include "input/core/pull_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, struct feed_event *event, const struct sample *sample)
{
	char number[16];
	struct out out;

	out_init_memory(&out);
	if (event->event->tp)
		tracepoint_print(&out, event->event->tp, sample->raw, sample->raw_size);
	out_text(&out, foreign_name(event->foreign, sample->tid, number));
	out_done(&out);
	return 0;
}

// All that lies in the ring.
static void drain(struct pull_source *source, struct feed *feed)
{
	static char record[1 << 16] __attribute__((aligned(8)));
	struct ring *ring = &source->ring;
	struct ring_pieces pieces;

	while (ring_read(ring, &pieces)) {
		struct perf_event_header header;
		uint16_t size;

		memcpy(&header, pieces.p[0], sizeof(header));
		size = header.size;
		if (size % 8 || size < sizeof(header) || size > pieces.n[0] + pieces.n[1])
			abort();
		memcpy(record, pieces.p[0], MIN(size, pieces.n[0]));
		if (size > pieces.n[0])
			memcpy(record + pieces.n[0], pieces.p[1], size - pieces.n[0]);
		pull_time((void *)record);
		pull_source_give(source, (void *)record, feed);
		ring_release(ring, ring->tail + size);
	}
}

// Each event is wanted as soon as it is known.
static void want(struct pull_source *source, struct feed_event *wanted)
{
	for (uint32_t i = 0; source->greeted && i < source->hello.events_n; i++) {
		struct sent_event *sent = &source->events[i];

		if (!sent->event || sent->wanted)
			continue;
		wanted[i].event = sent->event;
		wanted[i].foreign = &source->foreign;
		sent->wanted = &wanted[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct feed_hooks hooks = {.sample = take};
	auto_free struct feed_event *wanted = xcalloc(WIRE_EVENTS_MAX, sizeof(*wanted));
	struct feed_options options = {0};
	struct feed feed;
	struct pull_source source;
	size_t piece = size ? 64 + data[0] * 64u : 1, at = 1;
	auto_free uint8_t *waiting = xmalloc(size + 1);
	size_t n = 0;

	log_set_level(LOG_QUIET);
	feed_init(&feed, &options);
	feed.hooks = &hooks;
	pull_source_init(&source, 0, "fuzz");
	pull_source_align(&source, &(struct pull_clock){.offset_ns = 5, .mixed = true});
	while (at < size) {
		size_t more = MIN(piece, size - at);
		ssize_t done;

		memcpy(waiting + n, data + at, more);
		n += more;
		at += more;
		// exactly as long as it says
		auto_free uint8_t *exact = xmemdup(waiting, n);
		done = pull_source_hear(&source, exact, n);
		if (done < 0)
			break;
		if ((size_t)done > n)
			abort();
		memmove(waiting, waiting + done, n - (size_t)done);
		n -= (size_t)done;
		want(&source, wanted);
		drain(&source, &feed);
	}
	drain(&source, &feed);
	pull_source_done(&source);
	feed_done(&feed);
	err_clear();
	return 0;
}
