// SPDX-License-Identifier: GPL-2.0-or-later
#include "input/core/pull_source.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include <sys/mman.h>

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

enum {
	RING_BYTES = 8 << 20,
	FORMATS_BYTES = 4 << 20,
};

// As SAMPLE_TYPE has it: include/uapi/linux/perf_event.h. Raw data and the name of the task stand behind.
struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, addr;
	uint32_t cpu, reserved;
	uint64_t period;
	uint32_t raw_size;
};
enum { SAMPLE_BYTES = offsetof(struct sample_record, raw_size) + 4, COMM_BYTES = 16 };

struct lost_record {
	struct perf_event_header header;
	uint64_t time, lost, from_ns, to_ns, cpu, id;
};

void pull_source_init(struct pull_source *source, uint32_t index, const char *where)
{
	struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE};

	*source = (struct pull_source){.index = index};
	sample_plan_init(&source->plan, &attr);
	source->foreign.where = arena_strdup(&source->arena, str_of(where));
	source->ring.page = xcalloc(1, sizeof(*source->ring.page));
	// Takes memory only as far as it is used.
	source->ring.data =
		mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (source->ring.data == MAP_FAILED)
		alloc_failed();
	source->ring.size = RING_BYTES;
	source->ring.cpu = source->ring.fd = -1;
}

void pull_source_done(struct pull_source *source)
{
	tracepoints_free(source->formats);
	foreign_done(&source->foreign);
	free(source->ring.page);
	munmap(source->ring.data, RING_BYTES);
	arena_done(&source->arena);
}

void pull_source_again(struct pull_source *source)
{
	source->reader = (struct wire_reader){0};
	source->received = source->garbage = source->watermark = 0;
	source->damaged = source->said_end = source->has_hello = false;
}

// ---- times

static uint64_t time_of(const struct pull_source *source, uint64_t time)
{
	const struct feed_tsc *tsc = &source->clock.tsc;

	if (source->hello.clock == WIRE_TSC && tsc->mult)
		return tsc->zero +
		       (uint64_t)(((unsigned __int128)(time - (uint64_t)source->clock.offset_ns) *
				   tsc->mult) >>
				  tsc->shift);
	return time + (uint64_t)source->foreign.shift_ns;
}

static bool same_boot(const struct wire_hello *hello)
{
	auto_free char *boot = NULL;

	return file_read("/proc/sys/kernel/random/boot_id", 256, &boot, NULL) >= 0 &&
	       !strncmp(boot, hello->boot, strcspn(boot, "\n")) && hello->boot[0];
}

static void align(struct pull_source *source)
{
	const struct wire_hello *hello = &source->hello;
	int64_t *shift = &source->foreign.shift_ns;

	if (hello->clock == WIRE_TSC)
		*shift = 0;
	else if (hello->aligned && source->clock.mixed)
		*shift = -source->clock.offset_ns;
	else if (hello->has_wall && (hello->aligned || !same_boot(hello)))
		*shift = (int64_t)((uint64_t)hello->wall_offset_ns -
				   (uint64_t)source->clock.wall_offset_ns);
	else
		*shift = 0;
	if (*shift && !hello->aligned && source->clock.mixed)
		warn("%s has another clock: its events are placed by the time of day; to place them exactly, push with --clock-offset",
		     source->foreign.where);
}

void pull_source_align(struct pull_source *source, const struct pull_clock *clock)
{
	source->clock = *clock;
	align(source);
}

// ---- what a source says

static int hear_hello(struct pull_source *source, const struct wire_hello *hello)
{
	const struct wire_hello *before = &source->hello;
	bool wants_tsc = source->wants_tsc;

	if (source->greeted) {
		if (before->events_n != hello->events_n || before->clock != hello->clock ||
		    before->big_endian != hello->big_endian || before->long_size != hello->long_size)
			return fail(EINVAL, "%s sends other events than before: start again",
				    source->foreign.where);
		if (strcmp(before->boot, hello->boot) != 0) {
			source->hello = *hello;
			align(source);
		}
		return 0;
	}
	if (wants_tsc != (hello->clock == WIRE_TSC))
		return fail(EINVAL, "%s sends times of %s: --tsc on both sides or on none",
			    source->foreign.where,
			    wants_tsc ? "its clock" : "the processor's counter");
	source->hello = *hello;
	source->greeted = true;
	source->events = arena_zalloc(&source->arena, hello->events_n * sizeof(*source->events));
	source->formats = tracepoints_new(&(struct tp_options){.big_endian = hello->big_endian,
							       .long_size = hello->long_size,
							       .page_size = hello->page_size});
	return 0;
}

static int make_event(struct pull_source *source, struct sent_event *sent,
		      const struct wire_event *said)
{
	struct event *event = arena_zalloc(&source->arena, sizeof(*event));
	int err;

	event->index = said->index;
	event->name = sent->name;
	event->leader = event;
	event->scale = 1;
	event->attr = (struct perf_event_attr){
		.type = said->is_probe ? PERF_TYPE_MAX : PERF_TYPE_SOFTWARE,
		.size = sizeof(event->attr),
		.sample_type = SAMPLE_TYPE,
	};
	event->plan = source->plan;
	sent->event = event;
	if (!said->format.n)
		return 0;
	event->attr.type = PERF_TYPE_TRACEPOINT;
	err = tracepoints_add(source->formats, sent->system, said->format);
	event->tp = tracepoints_by_name(source->formats, sent->system, sent->tracepoint);
	if (!err && !event->tp)
		err = fail(EINVAL, "its format is of another event");
	if (err < 0)
		return fail_context(err, "%s: event %s", source->foreign.where, sent->name);
	event->attr.config = tracepoint_id(event->tp);
	return 0;
}

static int hear_event(struct pull_source *source, const struct wire_event *said)
{
	struct sent_event *sent = &source->events[said->index];

	if (said->index >= source->hello.events_n)
		return 0;
	if (sent->event) {
		if (!str_is(said->name, sent->name) || !str_eq(said->format, sent->format))
			return fail(EINVAL, "%s sends other events than before (%s): start again",
				    source->foreign.where, sent->name);
		return 0;
	}
	source->formats_bytes += said->format.n + said->name.n;
	if (source->formats_bytes > FORMATS_BYTES)
		return fail(EINVAL, "%s describes its events in more than %d bytes",
			    source->foreign.where, FORMATS_BYTES);
	sent->name = arena_strdup(&source->arena, said->name);
	sent->system = arena_strdup(&source->arena, said->system);
	sent->tracepoint = arena_strdup(&source->arena, said->tracepoint);
	sent->format = (struct str){arena_strdup(&source->arena, said->format), said->format.n};
	source->known_n++;
	return make_event(source, sent, said);
}

static void put_in_ring(struct pull_source *source, const void *p, size_t n)
{
	struct ring *ring = &source->ring;
	uint64_t head = ring->page->data_head;
	size_t at = head & (ring->size - 1), first = MIN(n, ring->size - at);

	memcpy(ring->data + at, p, first);
	memcpy(ring->data, (const char *)p + first, n - first);
	ring->page->data_head = head + n;
}

size_t pull_source_room(const struct pull_source *source)
{
	const struct ring *ring = &source->ring;

	return ring->size - (ring->page->data_head - ring->page->data_tail);
}

static uint64_t id_of(const struct pull_source *source, uint32_t event)
{
	return 1ull << 62 | (uint64_t)source->index << 32 | event;
}

static void hear_sample(struct pull_source *source, const struct wire_sample *said)
{
	const struct sent_event *sent = &source->events[said->event];
	uint32_t raw_size = ((said->raw_size + 4 + 7) & ~7u) - 4; // as the kernel pads it
	union {
		struct sample_record record;
		char bytes[SAMPLE_BYTES + WIRE_RAW_MAX + 8 + COMM_BYTES];
	} all;
	size_t n = SAMPLE_BYTES + raw_size + COMM_BYTES;

	source->received++;
	if (said->event >= source->hello.events_n || !sent->wanted)
		return;
	if (pull_source_room(source) < n) // PULL_ROOM_BYTES see to it
		return;
	all.record = (struct sample_record){
		.header = {PERF_RECORD_SAMPLE, said->cpumode, (uint16_t)n},
		.id = id_of(source, said->event),
		.ip = said->ip,
		.pid = said->pid,
		.tid = said->tid,
		.time = time_of(source, said->time),
		.addr = said->addr,
		.cpu = said->cpu,
		.period = said->period,
		.raw_size = raw_size,
	};
	memset(all.bytes + n - COMM_BYTES - 8, 0, 8);
	memcpy(all.bytes + offsetof(struct sample_record, raw_size), &raw_size, sizeof(raw_size));
	memcpy(all.bytes + SAMPLE_BYTES, said->raw, said->raw_size);
	memcpy(all.bytes + n - COMM_BYTES, said->comm, COMM_BYTES);
	put_in_ring(source, all.bytes, n);
}

static void hear_lost(struct pull_source *source, const struct wire_lost *said)
{
	struct lost_record record = {
		.header = {PERF_RECORD_LOST, 0, sizeof(record)},
		.lost = said->lost,
		.from_ns = said->from_ns ? time_of(source, said->from_ns) : 0,
		.to_ns = said->to_ns == UINT64_MAX ? UINT64_MAX : time_of(source, said->to_ns),
		.cpu = said->cpu,
		.id = id_of(source, 0),
	};

	record.time = record.to_ns == UINT64_MAX ? record.from_ns : record.to_ns;
	if (pull_source_room(source) >= sizeof(record))
		put_in_ring(source, &record, sizeof(record));
	if (said->by_way)
		inform("%s: %llu events were lost on the way, as we were too slow",
		       source->foreign.where, (unsigned long long)said->lost);
}

static void hear_end(struct pull_source *source, const struct wire_end *end)
{
	inform("%s sent %llu events, %llu arrived, %llu were lost on the way",
	       source->foreign.where, (unsigned long long)end->sent,
	       (unsigned long long)source->received, (unsigned long long)end->lost);
	source->said_end = true;
	source->ended = !end->may_return;
}

static int hear(struct pull_source *source, const struct wire_message *message)
{
	source->heard_ns = time_now_ns(CLOCK_MONOTONIC);
	switch (message->type) {
	case WIRE_HELLO:
		return hear_hello(source, &message->hello);
	case WIRE_EVENT:
		return hear_event(source, &message->event);
	case WIRE_SAMPLE:
		hear_sample(source, &message->sample);
		return 0;
	case WIRE_LOST:
		hear_lost(source, &message->lost);
		return 0;
	case WIRE_TIME:
		source->watermark = time_of(source, message->time);
		return 0;
	case WIRE_END:
		hear_end(source, &message->end);
		return 0;
	default:
		return 0;
	}
}

// ---- bytes

// What is no message is passed over up to where one may begin. Returns the bytes.
static size_t pass_over(struct pull_source *source, const uint8_t *p, size_t n)
{
	size_t passed = 1 + wire_find_hello(p + 1, n - 1);

	if (source->reader.greeted && !source->damaged) {
		warn("%s: what it sends is damaged (%s); what is between this and its next greeting is left out",
		     source->foreign.where, err_sentence());
		source->damaged = true;
	}
	err_clear();
	source->reader = (struct wire_reader){0};
	source->garbage += passed;
	return passed;
}

ssize_t pull_source_hear(struct pull_source *source, const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n && !(source->starting && pull_source_ready(source)) && !source->ended) {
		struct wire_message message;
		int took = wire_read(&source->reader, p + at, n - at, &message), err;

		if (!took)
			break;
		if (took == -EBADMSG) {
			at += pass_over(source, p + at, n - at);
			continue;
		}
		if (took < 0)
			return fail_context(took, "%s", source->foreign.where);
		if (message.type == WIRE_HELLO) {
			source->damaged = false;
			source->has_hello = true;
		}
		err = hear(source, &message);
		if (err < 0)
			return err;
		at += (size_t)took;
	}
	return (ssize_t)at;
}

// ---- records of the rings

uint64_t pull_time(const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_SAMPLE ? ((const struct sample_record *)header)->time
						  : ((const struct lost_record *)header)->time;
}

static int give_lost(struct feed *feed, const struct lost_record *record)
{
	struct run_loss loss = {.cpu = (uint32_t)record->cpu,
				.lost = record->lost,
				.from_ns = record->from_ns,
				.to_ns = record->to_ns};

	return feed_lost(feed, &loss);
}

int pull_source_give(struct pull_source *source, const struct perf_event_header *header,
		     struct feed *feed)
{
	const struct sample_record *record = (const void *)header;
	struct hit hit;
	int err = 0;

	if (header->type != PERF_RECORD_SAMPLE)
		return give_lost(feed, (const void *)header);
	if (sample_decode(&source->plan, header, &hit.sample) < 0)
		return 0;
	hit.task = NULL;
	foreign_set_name(&source->foreign, hit.sample.tid,
			 (const char *)header + header->size - COMM_BYTES);
	feed->last_ns = hit.sample.time;
	if (feed->first_ns == UINT64_MAX)
		feed->first_ns = hit.sample.time;
	for (struct feed_event *wanted = source->events[record->id & 0xffff].wanted; wanted && !err;
	     wanted = wanted->next_same)
		err = feed_hit(feed, wanted, &hit);
	return err;
}
