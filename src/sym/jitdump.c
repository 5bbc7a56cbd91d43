// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/jitdump.h"
#include <errno.h>
#include "base/map.h"
#include "base/num.h"

enum {
	MAGIC = 0x4a695444,
	HEADER_SIZE = 40,
	RECORD_SIZE = 16,
	OWN_CLOCK = 1, // a flag of the header
};

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct reader {
	const uint8_t *p;
	size_t n;
	bool swap;
};

static uint32_t take_u32(struct reader *r)
{
	uint32_t v = 0;

	if (r->n >= 4) {
		memcpy(&v, r->p, 4);
		r->p += 4;
		r->n -= 4;
	}
	return r->swap ? __builtin_bswap32(v) : v;
}

static uint64_t take_u64(struct reader *r)
{
	uint64_t v = 0;

	if (r->n >= 8) {
		memcpy(&v, r->p, 8);
		r->p += 8;
		r->n -= 8;
	}
	return r->swap ? __builtin_bswap64(v) : v;
}

// What stands before the LOAD that it belongs to.
struct pending {
	struct str lines, eh_frame, eh_frame_hdr;
};

struct reading {
	struct jitdump *dump;
	const uint8_t *start; // of the file
	struct pending pending;
	struct map loaded; // codes by the file's index
	uint64_t time;	   // of the record
};

static bool read_load(struct reading *reading, struct reader r)
{
	enum { FIXED = 40 };
	struct jitdump *dump = reading->dump;
	struct jit_code code = {.kind = JIT_LOAD,
				.time = reading->time,
				.lines = reading->pending.lines,
				.eh_frame = reading->pending.eh_frame,
				.eh_frame_hdr = reading->pending.eh_frame_hdr};
	const uint8_t *end;

	if (r.n < FIXED)
		return false;
	code.pid = take_u32(&r);
	code.tid = take_u32(&r);
	code.addr = take_u64(&r);
	take_u64(&r); // code_addr
	code.size = take_u64(&r);
	code.index = take_u64(&r);
	end = r.n ? memchr(r.p, '\0', r.n) : NULL;
	if (!end)
		return false;
	code.name = (const char *)r.p;
	r.n -= (size_t)(end + 1 - r.p);
	code.offset = (uint64_t)(end + 1 - reading->start);
	if (code.size <= r.n)
		code.code = (struct str){(const char *)end + 1, code.size};
	else if (r.n)
		return false;
	if (code.addr + code.size < code.addr)
		return false;
	vec_push(&dump->codes, code);
	return true;
}

static bool read_move(struct reading *reading, struct reader r)
{
	enum { FIXED = 48 };
	struct jitdump *dump = reading->dump;
	struct jit_code code;
	uint64_t *from, addr, size, index;
	uint32_t pid, tid;

	if (r.n < FIXED)
		return false;
	pid = take_u32(&r);
	tid = take_u32(&r);
	addr = take_u64(&r);
	take_u64(&r); // old_code_addr
	take_u64(&r); // new_code_addr
	size = take_u64(&r);
	index = take_u64(&r);
	from = map_find(&reading->loaded, index);
	// Moved before it was told of: no name is known.
	if (!from)
		return true;
	code = dump->codes.v[*from];
	if (addr + size < addr || size > code.size)
		return false;
	code.kind = JIT_MOVE;
	code.time = reading->time;
	code.pid = pid;
	code.tid = tid;
	code.addr = addr;
	code.lines = code.eh_frame = code.eh_frame_hdr = (struct str){0};
	vec_push(&dump->codes, code);
	return true;
}

static bool read_unwinding(struct reader r, struct pending *pending)
{
	uint64_t size, header_size;

	if (r.n < 24)
		return false;
	size = take_u64(&r);
	header_size = take_u64(&r);
	take_u64(&r); // mapped_size
	if (size > r.n || header_size > size)
		return false;
	// In this order, whatever the record's name for the size suggests.
	pending->eh_frame = (struct str){(const char *)r.p, size - header_size};
	pending->eh_frame_hdr = (struct str){(const char *)r.p + size - header_size, header_size};
	return true;
}

static bool read_record(struct reading *reading, uint32_t id, struct reader r)
{
	struct pending *pending = &reading->pending;
	struct jitdump *dump = reading->dump;
	bool is_good = true;

	switch (id) {
	case CODE_LOAD:
		is_good = read_load(reading, r);
		if (is_good)
			*map_at(&reading->loaded, vec_last(&dump->codes).index, NULL) =
				dump->codes.n - 1;
		*pending = (struct pending){0};
		break;
	case CODE_MOVE:
		is_good = read_move(reading, r);
		break;
	case CODE_DEBUG_INFO:
		take_u64(&r); // code_addr
		take_u64(&r); // nr_entry: the record's size says it as well
		pending->lines = (struct str){(const char *)r.p, r.n};
		break;
	case CODE_UNWINDING_INFO:
		is_good = read_unwinding(r, pending);
		break;
	default: // those of later versions have a size as well
		break;
	}
	return is_good;
}

int jitdump_read(struct jitdump *ret, const uint8_t *p, size_t n)
{
	struct jitdump dump = {0};
	struct reader r = {p, n, false};
	struct reading reading = {.dump = &dump, .start = p};
	uint32_t magic, header_size;

	if (n < HEADER_SIZE)
		return -EINVAL;
	magic = take_u32(&r);
	if (magic != MAGIC && magic != __builtin_bswap32(MAGIC))
		return -EINVAL;
	dump.swap = r.swap = magic != MAGIC;
	take_u32(&r); // version
	header_size = take_u32(&r);
	dump.machine = take_u32(&r);
	take_u32(&r);
	dump.pid = take_u32(&r);
	take_u64(&r);
	dump.own_clock = take_u64(&r) & OWN_CLOCK;
	if (header_size < HEADER_SIZE || header_size > n)
		return -EINVAL;
	r = (struct reader){p + header_size, n - header_size, dump.swap};
	while (r.n >= RECORD_SIZE) {
		struct reader body = r;
		uint32_t id = take_u32(&body), size = take_u32(&body);

		reading.time = take_u64(&body);
		if (size < RECORD_SIZE || size > r.n) {
			dump.damaged = true;
			break;
		}
		body.n = size - RECORD_SIZE;
		if (id == CODE_CLOSE)
			break;
		if (!read_record(&reading, id, body)) {
			dump.damaged = true;
			break;
		}
		r.p += size;
		r.n -= size;
	}
	map_done(&reading.loaded);
	*ret = dump;
	return 0;
}

void jitdump_done(struct jitdump *dump)
{
	vec_done(&dump->codes);
}

bool jit_line_next(const struct jitdump *dump, struct str *rest, struct jit_line *ret)
{
	enum { ENTRY = 16 };
	struct reader r = {(const uint8_t *)rest->p, rest->n, dump->swap};
	const uint8_t *end;

	if (rest->n < ENTRY + 1)
		return false;
	ret->addr = take_u64(&r);
	ret->line = take_u32(&r);
	ret->column = take_u32(&r);
	end = memchr(r.p, '\0', r.n);
	if (!end)
		return false;
	ret->file = (const char *)r.p;
	rest->p = (const char *)end + 1;
	rest->n = r.n - (size_t)(end + 1 - r.p);
	return true;
}

bool jitdump_is_path(const char *path, uint32_t *ret_pid)
{
	const char *name = text_base_name(path);
	struct str digits = str_of(name);
	uint64_t pid;

	if (!text_starts(name, "jit-") || !text_ends(name, ".dump"))
		return false;
	digits = (struct str){name + 4, digits.n - 9};
	if (!digits.n || digits.n > 10 || *digits.p < '0' || *digits.p > '9' ||
	    num_parse_u64(digits, &pid) < 0 || pid > INT32_MAX)
		return false;
	*ret_pid = (uint32_t)pid;
	return true;
}
