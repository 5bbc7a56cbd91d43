// SPDX-License-Identifier: GPL-2.0-or-later
// From the rings to the file: records are written from where they lie; on the way their headers are read, to count samples
// and losses and to note which files were mapped.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "cmd/core/record/drain.h"
#include "cmd/core/record/unwinding.h"
#include "cmd/core/record/readers.h"
#include "cmd/core/record/record.h"
#include <stdio.h>

enum { LARGEST_RECORD = 1 << 16 };

void collect_note_map(struct recorder *recorder, const struct perf_event_header *header)
{
	const char *name = NULL;

	if (header->misc & PERF_RECORD_MISC_MMAP_DATA || !record_is_whole(header))
		return;
	bool kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (header->type == PERF_RECORD_MMAP)
		name = record_text(header,
				   ((const struct record_mmap *)(const void *)header)->filename);
	else if (header->type == PERF_RECORD_MMAP2)
		name = record_text(header,
				   ((const struct record_mmap2 *)(const void *)header)->filename);
	if (!name)
		return;
	if (!kernel && header->type == PERF_RECORD_MMAP2 &&
	    (text_starts(name, "//anon") || text_starts(name, "/memfd:")))
		held_note_code(recorder->held,
			       ((const struct record_mmap2 *)(const void *)header)->pid);
	if (kernel && !text_starts(name, "[kernel.kallsyms]"))
		intern_text(&recorder->modules, name);
	else if (!kernel && name[0] == '/' && name[1] != '/' &&
		 (header->type != PERF_RECORD_MMAP2 ||
		  !held_note(recorder->held, (const void *)header, name)))
		held_note_name(recorder->held, name);
}

static size_t event_of_id(const struct recorder *recorder, uint64_t id)
{
	const uint64_t *found = map_find(&recorder->events_by_id, id);

	return found ? *found : 0;
}

size_t collect_event(const struct recorder *recorder, const struct perf_event_header *header)
{
	int at = sample_id_offset(&recorder->opened.events.v[0].spec->attr);
	uint64_t id;

	if (at <= 0 || recorder->opened.events.n < 2 || (size_t)at + 8 > header->size)
		return 0;
	memcpy(&id, (const char *)header + at, 8);
	return event_of_id(recorder, id);
}

static struct loss *loss_of(struct recorder *recorder, size_t event, int cpu)
{
	for (size_t i = 0; i < recorder->losses_n; i++) {
		if (recorder->losses[i].event == event && recorder->losses[i].cpu == cpu)
			return &recorder->losses[i];
	}
	recorder->losses =
		xreallocarray(recorder->losses, recorder->losses_n + 1, sizeof(*recorder->losses));
	recorder->losses[recorder->losses_n] =
		(struct loss){.event = event, .cpu = cpu, .first_ns = UINT64_MAX};
	return &recorder->losses[recorder->losses_n++];
}

static void note_loss(struct recorder *recorder, const struct ring *ring,
		      const struct perf_event_header *header)
{
	struct sample ids = {.id = UINT64_MAX, .time = UINT64_MAX};
	struct loss *loss;
	size_t event;

	if (!record_is_whole(header))
		return;
	sample_decode_trailer(&recorder->plans[0], header, &ids);
	if (header->type == PERF_RECORD_LOST) {
		const struct record_lost *lost = (const void *)header;

		event = event_of_id(recorder, lost->id);
		loss = loss_of(recorder, event, ring->cpu);
		loss->records += lost->lost;
	} else {
		const struct record_lost_samples *lost = (const void *)header;

		event = event_of_id(recorder, ids.id);
		loss = loss_of(recorder, event, ring->cpu);
		loss->samples += lost->lost;
	}
	if (ids.time != UINT64_MAX) {
		loss->first_ns = MIN(loss->first_ns, ids.time);
		loss->last_ns = MAX(loss->last_ns, ids.time);
	}
}

static void note_record(struct recorder *recorder, const struct ring *ring,
			const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		recorder->samples++;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		collect_note_map(recorder, header);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		note_loss(recorder, ring, header);
		break;
	default:
		break;
	}
}

// The times of the first and last sample, for the header; all plans have TIME at the same place but for IDENTIFIER, so the first
// and the last sample of a ring are enough.
static void note_time(struct recorder *recorder, const struct perf_event_header *header)
{
	struct sample sample;

	if (header->type != PERF_RECORD_SAMPLE ||
	    sample_decode(&recorder->plans[collect_event(recorder, header)], header, &sample) < 0 ||
	    sample.time == UINT64_MAX)
		return;
	if (sample.time < recorder->first_ns)
		recorder->first_ns = sample.time;
	if (sample.time > recorder->last_ns)
		recorder->last_ns = sample.time;
}

// Code of a file that a program moved to anonymous memory is the file's, as the next record says then.
static void follow(struct recorder *recorder, const struct perf_event_header *header)
{
	const struct perf_event_header *next =
		header->type == PERF_RECORD_MMAP2
			? moved_texts_record(&recorder->moved, header, recorder->plans[0].trailer_size)
			: NULL;

	if (next && recorder->live)
		live_add(recorder->live, live_copy(recorder->live, next));
	else if (next)
		out_bytes(&recorder->behind, next, next->size);
}

static int write_behind(struct recorder *recorder)
{
	int err = 0;

	if (recorder->behind.n)
		err = writer_records(recorder->writer, recorder->behind.buf, recorder->behind.n);
	recorder->behind.n = 0;
	return err;
}

int collect_account(struct recorder *recorder, const struct ring *ring,
		    const struct ring_pieces *pieces)
{
	const struct perf_event_header *last = NULL;
	size_t total = pieces->n[0] + pieces->n[1], at = 0;

	while (at + sizeof(struct perf_event_header) <= total) {
		const struct perf_event_header *header =
			at < pieces->n[0] ? (const void *)(pieces->p[0] + at)
					  : (const void *)(pieces->p[1] + (at - pieces->n[0]));
		size_t size = header->size;

		if (size < sizeof(*header) || at + size > total)
			return fail(EIO,
				    "the ring of CPU %d holds a record of %zu bytes that can't be",
				    ring->cpu, size);
		if (at < pieces->n[0] && at + size > pieces->n[0]) {
			size_t first = pieces->n[0] - at;

			memcpy(recorder->straddle, header, first);
			memcpy((char *)recorder->straddle + first, pieces->p[1], size - first);
			header = recorder->straddle;
		}
		if (recorder->live && header == recorder->straddle)
			header = live_copy(recorder->live, header);
		note_record(recorder, ring, header);
		if (recorder->live)
			live_add(recorder->live, header);
		follow(recorder, header);
		if (header->type == PERF_RECORD_SAMPLE) {
			if (!last && header != recorder->straddle)
				note_time(recorder, header);
			if (header != recorder->straddle)
				last = header;
		}
		at += size;
	}
	if (last)
		note_time(recorder, last);
	return 0;
}

static void release(struct ring *ring, uint64_t end)
{
	if (ring->overwrite)
		ring->tail = end;
	else
		ring_release(ring, end);
}

// Stacks are unwound over all rings at once, so what lies in them goes only then.
static int collect_live(struct recorder *recorder, const uint64_t *ends)
{
	int err = live_round(recorder->live);

	for (size_t i = 0; i < recorder->opened.rings.n && !recorder->drain; i++) {
		if (ends[i] != UINT64_MAX)
			release(&recorder->opened.rings.v[i], ends[i]);
	}
	return err;
}

static size_t read_ring(struct recorder *recorder, size_t index, struct ring_pieces *ret)
{
	struct ring *ring = &recorder->opened.rings.v[index];

	if (recorder->drain) {
		*ret = drain_pieces(recorder->drain, index);
		return ret->n[0];
	}
	return ring->overwrite ? ring_read_backward(ring, ret) : ring_read(ring, ret);
}

int collect_rings(struct recorder *recorder, uint64_t *ret_bytes)
{
	uint64_t flush = recorder->options->mmap_flush;
	auto_free uint64_t *ends = xreallocarray(NULL, recorder->opened.rings.n + 1, sizeof(*ends));
	int err = 0;

	*ret_bytes = 0;
	if (recorder->drain)
		drain_take(recorder->drain);
	for (size_t i = 0; i < recorder->opened.rings.n && !err; i++) {
		struct ring *ring = &recorder->opened.rings.v[i];
		struct ring_pieces pieces;
		size_t n = read_ring(recorder, i, &pieces);

		ends[i] = UINT64_MAX;
		if (!n || (n < flush && !recorder->drain))
			continue;
		affinity_go(recorder->affinity, ring);
		err = collect_account(recorder, ring, &pieces);
		for (int k = 0; k < 2 && !err && !recorder->live; k++) {
			if (pieces.n[k])
				err = writer_records(recorder->writer, pieces.p[k], pieces.n[k]);
		}
		if (!err)
			err = write_behind(recorder);
		if (recorder->live)
			ends[i] = pieces.end;
		else
			release(ring, pieces.end);
		*ret_bytes += n;
	}
	if (recorder->live && !err)
		err = collect_live(recorder, ends);
	if (*ret_bytes && !err)
		err = writer_round(recorder->writer);
	return err;
}

// Trailing ids in the order of struct sample_id: include/uapi/linux/perf_event.h.
static size_t put_trailer(const struct perf_event_attr *attr, uint64_t id, uint32_t cpu, uint64_t *to)
{
	uint64_t types = attr->sample_type;
	size_t n = 0;

	if (types & PERF_SAMPLE_TID)
		to[n++] = 0;
	if (types & PERF_SAMPLE_TIME)
		to[n++] = 0;
	if (types & PERF_SAMPLE_ID)
		to[n++] = id;
	if (types & PERF_SAMPLE_STREAM_ID)
		to[n++] = 0;
	if (types & PERF_SAMPLE_CPU)
		to[n++] = cpu;
	if (types & PERF_SAMPLE_IDENTIFIER)
		to[n++] = id;
	return n * 8;
}

static uint64_t read_lost(int fd, const struct perf_event_attr *attr)
{
	uint64_t values[512], format = attr->read_format;
	ssize_t got = read(fd, values, sizeof(values));
	size_t at = 1;

	if (!(format & PERF_FORMAT_LOST) || got < 16)
		return 0;
	at += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	// value, id, lost: alone behind the times; of a group the first is that of the descriptor read.
	at += format & PERF_FORMAT_GROUP ? 1 : 0;
	at += format & PERF_FORMAT_ID ? 1 : 0;
	return (at + 1) * 8 <= (size_t)got ? values[at] : 0;
}

int collect_lost(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->opened.events.n; i++) {
		const struct opened_event *event = &recorder->opened.events.v[i];
		size_t id = 0, threads = recorder->target.threads.n;

		for (size_t k = 0; k < event->fds.n && !err; k++) {
			struct {
				struct record_lost_samples lost;
				uint64_t trailer[8];
			} record = {.lost.header.type = PERF_RECORD_LOST_SAMPLES};
			int cpu = recorder->target.cpus.v[k / threads];
			struct loss *loss;

			if (event->fds.v[k] < 0)
				continue;
			uint64_t lost = read_lost(event->fds.v[k], &event->spec->attr);
			uint64_t event_id = id < event->ids.n ? event->ids.v[id++] : 0;

			if (!lost)
				continue;
			record.lost.lost = lost;
			record.lost.header.size =
				(uint16_t)(sizeof(record.lost) +
					   put_trailer(&event->spec->attr, event_id, (uint32_t)cpu,
						       record.trailer));
			loss = loss_of(recorder, i, cpu);
			loss->samples += lost;
			err = writer_records(recorder->writer, &record, record.lost.header.size);
		}
	}
	return err;
}

// Was anything lost of an event that comes by count and is unwound?
static bool copies_for_each(const struct recorder *recorder)
{
	for (size_t i = 0; recorder->live && i < recorder->losses_n; i++) {
		const struct opened_event *event =
			&recorder->opened.events.v[recorder->losses[i].event];

		if (!event->spec->attr.freq && event->spec->attr.sample_stack_user)
			return true;
	}
	return false;
}

void collect_report(const struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->losses_n; i++) {
		const struct loss *loss = &recorder->losses[i];
		const char *name = recorder->opened.events.v[loss->event].name;
		char cpu[32] = "", when[80] = "";

		if (loss->cpu >= 0)
			snprintf(cpu, sizeof(cpu), " on CPU %d", loss->cpu);
		if (loss->first_ns != UINT64_MAX)
			snprintf(when, sizeof(when), ", between %.6f s and %.6f s",
				 (double)loss->first_ns / 1e9, (double)loss->last_ns / 1e9);
		// The kernel counts lost samples in both ways where it can; the larger is the whole.
		say("lost %llu of event %s%s%s",
		    (unsigned long long)MAX(loss->records, loss->samples), name, cpu, when);
	}
	if (recorder->losses_n && copies_for_each(recorder))
		warn("the stack is copied for each event, and they came faster than copies could be taken: -c N records every Nth, "
		     "-m 64M holds more of them, --call-graph fp copies none but follows frame pointers alone");
	else if (recorder->losses_n)
		warn("records came faster than they could be written: a larger ring helps (-m 16M), or a lower rate (-F), or -z");
}
