// SPDX-License-Identifier: GPL-2.0-or-later
// push= (prof/core/push) makes messages of samples (flow/wire, docs/wire.md) that flow/sender brings to who listens, without
// waiting for anyone; pull= (input/core/live_pull, pull_source, flow/receiver) makes records of them again, in a ring of our
// own that looks like the kernel's. So the merge takes both kinds, and nothing behind it knows the difference but by
// feed_event.foreign: names of tasks are kept apart, as their numbers are those of other tasks here, and kernel addresses are
// not resolved. A sender says from time to time up to when it has said all; the merge holds younger events of this kernel back
// until then (merge.hold_ns).
#include "flow/wire.h"
#include "base/alloc.h"
#include "base/err.h"
#include <byteswap.h>

static const char magic[8] = "\x89sonde\r\n";

enum {
	BYTE_ORDER_MARK = 0x01020304,
	FLAG_ALIGNED = 1,
	FLAG_WALL = 2,
	FLAG_PROBE = 1,
	FLAG_BY_WAY = 1,
	FLAG_MAY_RETURN = 1,
};

struct wire_header {
	uint32_t type, size; // with the header, a multiple of 8
};

struct hello_bytes {
	struct wire_header header;
	char magic[8];
	uint32_t byte_order, version, events_n, page_size;
	uint8_t long_size, clock, flags, reserved[5];
	uint64_t wall_offset_ns;
	char boot[40], host[64];
};

struct event_bytes {
	struct wire_header header;
	uint32_t index, flags, name_n, system_n, tracepoint_n, format_n;
	// the texts, without NUL
};

struct sample_bytes {
	struct wire_header header;
	uint32_t event, pid, tid, cpu, cpumode, raw_size;
	uint64_t time, period, ip, addr;
	char comm[16];
	// raw data
};

struct lost_bytes {
	struct wire_header header;
	uint32_t cpu, flags;
	uint64_t lost, from_ns, to_ns;
};

struct time_bytes {
	struct wire_header header;
	uint64_t time;
};

struct end_bytes {
	struct wire_header header;
	uint64_t sent, lost, flags;
};

// ---- speaking

static uint32_t padded(size_t n)
{
	return (uint32_t)((n + 7) & ~(size_t)7);
}

enum { TEXTS = 4 };

// A message of a fixed part, with the header set, and texts behind it, where it has such.
static void put(struct out *out, void *fixed, size_t n, const struct str texts[TEXTS])
{
	struct wire_header *header = fixed;
	size_t size = n, at = out->n;

	for (size_t i = 0; texts && i < TEXTS; i++)
		size += texts[i].n;
	header->size = padded(size);
	out_bytes(out, fixed, n);
	for (size_t i = 0; texts && i < TEXTS; i++)
		out_str(out, texts[i]);
	out_fill(out, 0, header->size - (out->n - at));
}

void wire_put_hello(struct out *out, const struct wire_hello *hello)
{
	struct hello_bytes bytes = {
		.header.type = WIRE_HELLO,
		.byte_order = BYTE_ORDER_MARK,
		.version = WIRE_VERSION,
		.events_n = hello->events_n,
		.page_size = hello->page_size,
		.long_size = hello->long_size,
		.clock = hello->clock,
		.flags = (uint8_t)((hello->aligned ? FLAG_ALIGNED : 0) |
				   (hello->has_wall ? FLAG_WALL : 0)),
		.wall_offset_ns = (uint64_t)hello->wall_offset_ns,
	};

	memcpy(bytes.magic, magic, sizeof(magic));
	memcpy(bytes.boot, hello->boot, sizeof(bytes.boot));
	memcpy(bytes.host, hello->host, sizeof(bytes.host));
	put(out, &bytes, sizeof(bytes), NULL);
}

void wire_put_event(struct out *out, const struct wire_event *event)
{
	const struct str texts[TEXTS] = {event->name, event->system, event->tracepoint,
					 event->format};
	struct event_bytes bytes = {
		.header.type = WIRE_EVENT,
		.index = event->index,
		.flags = event->is_probe ? FLAG_PROBE : 0,
		.name_n = (uint32_t)event->name.n,
		.system_n = (uint32_t)event->system.n,
		.tracepoint_n = (uint32_t)event->tracepoint.n,
		.format_n = (uint32_t)event->format.n,
	};

	put(out, &bytes, sizeof(bytes), texts);
}

void wire_put_sample(struct out *out, const struct wire_sample *sample)
{
	uint32_t size = padded(sizeof(struct sample_bytes) + sample->raw_size);
	char *to = out_room(out, size);
	struct sample_bytes bytes = {
		.header = {WIRE_SAMPLE, size},
		.event = sample->event,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.cpumode = sample->cpumode,
		.raw_size = sample->raw_size,
		.time = sample->time,
		.period = sample->period,
		.ip = sample->ip,
		.addr = sample->addr,
	};

	memcpy(bytes.comm, sample->comm, sizeof(bytes.comm));
	memset(to + size - 8, 0, 8);
	memcpy(to, &bytes, sizeof(bytes));
	if (sample->raw_size)
		memcpy(to + sizeof(bytes), sample->raw, sample->raw_size);
	out->n += size;
}

void wire_put_lost(struct out *out, const struct wire_lost *lost)
{
	struct lost_bytes bytes = {
		.header.type = WIRE_LOST,
		.cpu = lost->cpu,
		.flags = lost->by_way ? FLAG_BY_WAY : 0,
		.lost = lost->lost,
		.from_ns = lost->from_ns,
		.to_ns = lost->to_ns,
	};

	put(out, &bytes, sizeof(bytes), NULL);
}

void wire_put_time(struct out *out, uint64_t time_ns)
{
	struct time_bytes bytes = {.header.type = WIRE_TIME, .time = time_ns};

	put(out, &bytes, sizeof(bytes), NULL);
}

void wire_put_end(struct out *out, const struct wire_end *end)
{
	struct end_bytes bytes = {
		.header.type = WIRE_END,
		.sent = end->sent,
		.lost = end->lost,
		.flags = end->may_return ? FLAG_MAY_RETURN : 0,
	};

	put(out, &bytes, sizeof(bytes), NULL);
}

// ---- listening

static uint32_t u32(const struct wire_reader *reader, uint32_t v)
{
	return reader->swapped ? bswap_32(v) : v;
}

static uint64_t u64(const struct wire_reader *reader, uint64_t v)
{
	return reader->swapped ? bswap_64(v) : v;
}

static int too_short(const char *what)
{
	return fail(EBADMSG, "%s is too short", what);
}

static int read_hello(struct wire_reader *reader, const void *p, uint32_t size, struct wire_hello *ret)
{
	struct hello_bytes bytes;
	uint32_t version, events_n;

	memcpy(&bytes, p, MIN(size, (uint32_t)sizeof(bytes)));
	version = u32(reader, bytes.version);
	events_n = u32(reader, bytes.events_n);
	if (version != WIRE_VERSION)
		return fail(EPROTONOSUPPORT,
			    "it speaks version %u of the format, this sonde knows version %d: "
			    "use the same sonde on both sides",
			    version, WIRE_VERSION);
	if (size < sizeof(bytes))
		return too_short("a HELLO");
	if (!events_n || events_n > WIRE_EVENTS_MAX)
		return fail(EBADMSG, "a HELLO names %u events", events_n);
	if ((bytes.long_size != 4 && bytes.long_size != 8) || bytes.clock < WIRE_MONOTONIC ||
	    bytes.clock > WIRE_TSC)
		return fail(EBADMSG, "a HELLO of an unknown machine or clock");
	*ret = (struct wire_hello){
		.events_n = events_n,
		.page_size = u32(reader, bytes.page_size),
		.long_size = bytes.long_size,
		.clock = bytes.clock,
		.big_endian = reader->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.aligned = bytes.flags & FLAG_ALIGNED,
		.has_wall = bytes.flags & FLAG_WALL,
		.wall_offset_ns = (int64_t)u64(reader, bytes.wall_offset_ns),
	};
	memcpy(ret->boot, bytes.boot, sizeof(ret->boot) - 1);
	memcpy(ret->host, bytes.host, sizeof(ret->host) - 1);
	reader->events_n = events_n;
	reader->greeted = true;
	return 0;
}

static bool is_text(struct str s)
{
	return !s.n || !memchr(s.p, 0, s.n);
}

static int read_event(const struct wire_reader *reader, const void *p, uint32_t size,
		      struct wire_event *ret)
{
	enum { NAME_MAX_BYTES = 4096 };
	struct event_bytes bytes;
	const char *at = (const char *)p + sizeof(bytes);
	size_t left = size - sizeof(bytes);
	struct str texts[4];
	uint32_t sizes[4];

	if (size < sizeof(bytes))
		return too_short("an EVENT");
	memcpy(&bytes, p, sizeof(bytes));
	memcpy(sizes, &bytes.name_n, sizeof(sizes));
	for (int i = 0; i < 4; i++) {
		uint32_t n = u32(reader, sizes[i]);

		if (n > left || (i < 3 && n > NAME_MAX_BYTES))
			return too_short("an EVENT");
		texts[i] = (struct str){at, n};
		at += n;
		left -= n;
		if (!is_text(texts[i]))
			return fail(EBADMSG, "an EVENT has a text with a NUL in it");
	}
	*ret = (struct wire_event){.index = u32(reader, bytes.index),
				   .is_probe = u32(reader, bytes.flags) & FLAG_PROBE,
				   .name = texts[0],
				   .system = texts[1],
				   .tracepoint = texts[2],
				   .format = texts[3]};
	if (ret->index >= reader->events_n || !ret->name.n)
		return fail(EBADMSG, "an EVENT without a name or a place");
	return 0;
}

static int read_sample(const struct wire_reader *reader, const void *p, uint32_t size,
		       struct wire_sample *ret)
{
	struct sample_bytes bytes;

	if (size < sizeof(bytes))
		return too_short("a SAMPLE");
	memcpy(&bytes, p, sizeof(bytes));
	*ret = (struct wire_sample){
		.event = u32(reader, bytes.event),
		.pid = u32(reader, bytes.pid),
		.tid = u32(reader, bytes.tid),
		.cpu = u32(reader, bytes.cpu),
		.cpumode = (uint8_t)(u32(reader, bytes.cpumode) & 7),
		.raw_size = u32(reader, bytes.raw_size),
		.time = u64(reader, bytes.time),
		.period = u64(reader, bytes.period),
		.ip = u64(reader, bytes.ip),
		.addr = u64(reader, bytes.addr),
		.raw = (const char *)p + sizeof(bytes),
	};
	memcpy(ret->comm, bytes.comm, sizeof(ret->comm) - 1);
	if (ret->raw_size > size - sizeof(bytes) || ret->raw_size > WIRE_RAW_MAX)
		return too_short("a SAMPLE");
	if (ret->event >= reader->events_n || ret->cpu >= WIRE_CPUS_MAX)
		return fail(EBADMSG, "a SAMPLE of an unknown event or CPU");
	return 0;
}

static int read_rest(const struct wire_reader *reader, const void *p, uint32_t size,
		     struct wire_message *ret)
{
	struct lost_bytes lost;
	struct end_bytes end;
	struct time_bytes time;

	switch (ret->type) {
	case WIRE_LOST:
		if (size < sizeof(lost))
			return too_short("a LOST");
		memcpy(&lost, p, sizeof(lost));
		ret->lost = (struct wire_lost){.cpu = u32(reader, lost.cpu),
					       .by_way = u32(reader, lost.flags) & FLAG_BY_WAY,
					       .lost = u64(reader, lost.lost),
					       .from_ns = u64(reader, lost.from_ns),
					       .to_ns = u64(reader, lost.to_ns)};
		return 0;
	case WIRE_TIME:
		if (size < sizeof(time))
			return too_short("a TIME");
		memcpy(&time, p, sizeof(time));
		ret->time = u64(reader, time.time);
		return 0;
	case WIRE_END:
		if (size < sizeof(end))
			return too_short("an END");
		memcpy(&end, p, sizeof(end));
		ret->end = (struct wire_end){.sent = u64(reader, end.sent),
					     .lost = u64(reader, end.lost),
					     .may_return = u64(reader, end.flags) & FLAG_MAY_RETURN};
		return 0;
	default:
		ret->type = 0;
		return 0;
	}
}

// Whose byte order it has is said by each HELLO.
static bool is_hello(struct wire_reader *reader, const void *p, size_t n)
{
	struct hello_bytes bytes;
	const size_t most = offsetof(struct hello_bytes, byte_order) + sizeof(bytes.byte_order);

	if (n < most)
		return false;
	memcpy(&bytes, p, most);
	if (memcmp(bytes.magic, magic, sizeof(magic)) != 0)
		return false;
	if (bytes.header.type == WIRE_HELLO && bytes.byte_order == BYTE_ORDER_MARK)
		reader->swapped = false;
	else if (bswap_32(bytes.header.type) == WIRE_HELLO &&
		 bswap_32(bytes.byte_order) == BYTE_ORDER_MARK)
		reader->swapped = true;
	else
		return false;
	return true;
}

int wire_read(struct wire_reader *reader, const void *p, size_t n, struct wire_message *ret)
{
	enum { HEAD = offsetof(struct hello_bytes, version) };
	struct wire_header header;
	bool hello = is_hello(reader, p, n);
	uint32_t size;
	int err;

	if (n < sizeof(header))
		return 0;
	memcpy(&header, p, sizeof(header));
	ret->type = u32(reader, header.type);
	size = u32(reader, header.size);
	// What begins like one may be a HELLO when more of it is there.
	if (!hello && n < HEAD && (header.type == WIRE_HELLO || bswap_32(header.type) == WIRE_HELLO))
		return 0;
	if (!hello && (ret->type == WIRE_HELLO || !reader->greeted))
		return fail(EBADMSG, "these are no events of sonde");
	if (size < sizeof(header) || size % 8 || size > WIRE_MESSAGE_MAX)
		return fail(EBADMSG, "a message of %u bytes", size);
	if (n < size)
		return 0;
	if (hello)
		err = read_hello(reader, p, size, &ret->hello);
	else if (ret->type == WIRE_EVENT)
		err = read_event(reader, p, size, &ret->event);
	else if (ret->type == WIRE_SAMPLE)
		err = read_sample(reader, p, size, &ret->sample);
	else
		err = read_rest(reader, p, size, ret);
	return err ? err : (int)size;
}

size_t wire_find_hello(const void *p, size_t n)
{
	const size_t before = offsetof(struct hello_bytes, magic);
	const char *at = p, *found;
	const size_t keep = before + sizeof(magic) - 1;

	if (n < before + sizeof(magic))
		return 0;
	found = memmem(at + before, n - before, magic, sizeof(magic));
	if (found)
		return (size_t)(found - at) - before;
	return n - keep;
}
