// SPDX-License-Identifier: GPL-2.0-or-later
// Events on their way from one sonde to another: over a port, a device, in a file. The format is ours, its description is
// docs/wire.md. One side speaks, the other listens: a HELLO, an EVENT for each kind of event with the text of its format, then
// SAMPLE, LOST, TIME and, when the speaker ends, END. Numbers have the speaker's byte order. A HELLO may come again at any
// time, so that who comes late, or lost the thread, finds in.
#pragma once
#include "base/out.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum {
	WIRE_VERSION = 1,
	WIRE_MESSAGE_MAX = 512 << 10, // bytes of one message
	WIRE_RAW_MAX = 60 << 10,      // bytes of one sample's raw data
	WIRE_EVENTS_MAX = 256,
	WIRE_CPUS_MAX = 1 << 16,
};

enum wire_type {
	WIRE_HELLO = 0x444e4f53,
	WIRE_EVENT = 1,
	WIRE_SAMPLE,
	WIRE_LOST,
	WIRE_TIME,
	WIRE_END,
};

enum wire_clock {
	WIRE_MONOTONIC = 1, // CLOCK_MONOTONIC of the speaker's kernel
	WIRE_KERNEL,	    // perf's own clock, which has no time of day
	WIRE_TSC,	    // cycles of the processor's counter
};

struct wire_hello {
	uint32_t events_n, page_size;
	uint8_t long_size, clock;
	bool big_endian;
	bool aligned; // the speaker's user gave an offset: times are meant for the listener's clock
	bool has_wall;		 // times have a time of day:
	int64_t wall_offset_ns;	 // add it to them
	char boot[40], host[64]; // of the speaker's kernel; NUL-terminated
};

struct wire_event {
	uint32_t index; // below events_n
	bool is_probe;	// without raw data
	struct str name, system, tracepoint,
		format; // the last three are empty where it is no tracepoint
};

struct wire_sample {
	uint32_t event, pid, tid, cpu;
	uint8_t cpumode;
	uint64_t time, period, ip, addr;
	char comm[16];
	uint32_t raw_size;
	const void *raw; // not aligned
};

struct wire_lost {    // times as in struct run_loss
	uint32_t cpu; // UINT32_MAX: not known
	bool by_way;  // on the way, as the listener was slow; else by the kernel
	uint64_t lost, from_ns, to_ns;
};

struct wire_end {
	uint64_t sent, lost; // events for this listener
	bool may_return;     // a signal ended the speaker; else all is said
};

struct wire_message {
	enum wire_type type;
	union {
		struct wire_hello hello;
		struct wire_event event;
		struct wire_sample sample;
		struct wire_lost lost;
		uint64_t time; // all that happened before was sent
		struct wire_end end;
	};
};

// Appended to a writer into memory.
void wire_put_hello(struct out *out, const struct wire_hello *hello);
void wire_put_event(struct out *out, const struct wire_event *event);
void wire_put_sample(struct out *out, const struct wire_sample *sample); // some 30 ns
void wire_put_lost(struct out *out, const struct wire_lost *lost);
void wire_put_time(struct out *out, uint64_t time_ns);
void wire_put_end(struct out *out, const struct wire_end *end);

// Zero-initialised knows nothing yet.
struct wire_reader {
	bool greeted, swapped;
	uint32_t events_n; // of the last HELLO
};

// The message at p. > 0: the bytes that it has, *ret points into p; ret->type is 0 for a type of a later version. 0: more bytes are
// needed. -EBADMSG with a sentence: this is no message (find the next HELLO); -EPROTONOSUPPORT: a version that is not known.
int wire_read(struct wire_reader *reader, const void *p, size_t n, struct wire_message *ret);
// The bytes before the first place where a HELLO may begin; n, less the few that a HELLO may begin with, when there is none.
size_t wire_find_hello(const void *p, size_t n);
