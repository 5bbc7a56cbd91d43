// SPDX-License-Identifier: GPL-2.0-or-later
// Tells at once of files that are mapped: a second event that samples nothing, with rings of its own that wake up at each record. The
// others wake up when they are half full, and by then a short process is gone, and with it the way to its files.
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/record/unwinding.h"
#include "cmd/core/record/record.h"
#include <stdio.h>

enum { PAGES = 4 };

void early_open(struct recorder *recorder)
{
	struct opened *early = &recorder->early;
	int err;

	if (recorder->options->no_buildid && !recorder->live)
		return;
	recorder->early_spec = (struct event_spec){
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_DUMMY,
			 .size = sizeof(struct perf_event_attr),
			 .exclude_kernel = 1,
			 .mmap = 1,
			 .mmap2 = 1,
			 .watermark = 1,
			 .wakeup_watermark = 1,
			 .inherit = !recorder->options->no_inherit && recorder->target.cpus.v[0] >= 0},
		.name = "dummy:u",
		.group_n = 1,
	};
	opened_add(early, &recorder->early_spec);
	err = opened_open(early, &recorder->target);
	if (!err)
		err = opened_map(early, PAGES, false);
	// What it would have told is seen later, mostly soon enough.
	if (err) {
		inform("files are opened late: %s", err_sentence());
		err_clear();
		opened_done(early);
		*early = (struct opened){0};
	}
}

static void take_records(struct recorder *recorder, const struct ring_pieces *pieces)
{
	const size_t total = pieces->n[0] + pieces->n[1];
	// Room for all of it, so that a record that the ring's end cuts is whole.
	auto_free uint8_t *all = xmalloc(total + 1);

	memcpy(all, pieces->p[0], pieces->n[0]);
	if (pieces->n[1])
		memcpy(all + pieces->n[0], pieces->p[1], pieces->n[1]);
	for (size_t at = 0; at + sizeof(struct perf_event_header) <= total;) {
		const struct perf_event_header *header = (const void *)(all + at);

		if (header->size < sizeof(*header) || header->size > total - at)
			break;
		if (header->type == PERF_RECORD_MMAP2) {
			collect_note_map(recorder, header);
			moved_texts_look(&recorder->moved, header);
		}
		at += header->size;
	}
}

void early_take(struct recorder *recorder)
{
	vec_each(struct ring, ring, &recorder->early.rings) {
		struct ring_pieces pieces;

		if (!ring_read(ring, &pieces))
			continue;
		take_records(recorder, &pieces);
		ring_release(ring, pieces.end);
	}
}
