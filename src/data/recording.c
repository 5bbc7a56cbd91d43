// SPDX-License-Identifier: GPL-2.0-or-later
// Records one after another, of mapped files and of streams.
#include "data/recording.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/unpack_limit.h"
#include "data/private.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

enum {
	UNPACKED_SIZE = 1 << 18, // at least twice a record's 64 KB
	PAYLOAD_MAX = 1 << 30,	 // of tracing data in a stream
};

void recording_damage(struct recording *recording, bool data, const char *fmt, ...)
{
	struct recording_private *p = recording->private;
	char text[1024];
	va_list args;

	if (recording->damage && (p->data_damaged || !data))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	recording->damage = arena_fmt(&recording->arena, "%s: %s", recording->path, text);
	p->data_damaged = data;
}

static bool next_part(struct recording *recording)
{
	struct recording_private *p = recording->private;

	if (p->part + 1 >= p->parts.n)
		return false;
	p->part++;
	p->chunked = false;
	const struct part *part = &p->parts.v[p->part];
	p->base = part->file.p;
	p->base_offset = 0;
	p->at = p->base + part->start;
	p->end = p->base + part->end;
	// each file of a directory is packed on its own
	p->unpacker.at = p->unpacker.n = p->unpacker.in_size = 0;
	if (p->unpacker.zstd)
		ZSTD_initDStream(p->unpacker.zstd);
	return true;
}

static int stop(struct recording *recording)
{
	recording->private->stopped = true;
	return 0;
}

// ---- packed records

// Has the record at this offset not been read before? (after a rewind it was)
static bool is_fresh(struct recording_private *p, uint64_t offset, uint32_t size)
{
	if (p->part < p->taken_part || (p->part == p->taken_part && offset < p->taken_to))
		return false;
	p->taken_part = p->part;
	p->taken_to = offset + size;
	return true;
}

static bool unpacker_start(struct recording *recording, const struct raw_record *record)
{
	struct unpacker *u = &recording->private->unpacker;
	uint64_t n = record->size - 8;

	if (!u->zstd) {
		u->zstd = ZSTD_createDStream();
		if (!u->zstd)
			alloc_failed();
		ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, 27);
		u->capacity = UNPACKED_SIZE;
		u->buf = xmalloc(u->capacity);
	}
	struct recording_private *p = recording->private;
	u->fresh = is_fresh(p, record->offset, record->size);
	u->in = record->p + 8;
	if (record->type == RECORD_COMPRESSED2) {
		if (n < 8)
			return false;
		uint64_t data_size = load_u64(record->p + 8, recording->swap);
		if (data_size > n - 8)
			return false;
		u->in += 8;
		n = data_size;
	}
	u->in_size = n;
	u->packed_bytes += n;
	u->offset = record->offset;
	return true;
}

// More unpacked bytes behind what is left. 1: some; 0: the COMPRESSED record is used up; -1: broken.
static int unpack_more(struct unpacker *u)
{
	ZSTD_inBuffer in = {u->in, u->in_size, 0};
	ZSTD_outBuffer to;
	size_t got;

	if (u->at) {
		memmove(u->buf, u->buf + u->at, u->n - u->at);
		u->n -= u->at;
		u->at = 0;
	}
	to = (ZSTD_outBuffer){u->buf, u->capacity, u->n};
	got = ZSTD_decompressStream(u->zstd, &to, &in);
	if (ZSTD_isError(got)) {
		u->in_size = 0;
		return -1;
	}
	bool more = to.pos > u->n || in.pos;
	u->unpacked_bytes += to.pos - u->n;
	u->n = to.pos;
	u->in += in.pos;
	u->in_size -= in.pos;
	return more;
}

// A whole record of the unpacked bytes, or NULL. *ret_broken: they make no sense.
static const uint8_t *unpacked_record(struct unpacker *u, bool swap, uint32_t *ret_size,
				      bool *ret_broken)
{
	for (;;) {
		size_t left = u->n - u->at;

		if (left >= 8) {
			uint16_t size;

			memcpy(&size, u->buf + u->at + 6, 2);
			if (swap)
				size = __builtin_bswap16(size);
			if (size < 8) {
				*ret_broken = true;
				return NULL;
			}
			if (size <= left) {
				const uint8_t *record = u->buf + u->at;

				u->at += size;
				*ret_size = size;
				return record;
			}
		}
		// zstd may hold output back after all input was taken, when the buffer was full
		if (!u->in_size && (!u->zstd || u->n < u->capacity))
			return NULL;
		int got = unpack_more(u);
		if (got < 0)
			*ret_broken = true;
		if (got <= 0)
			return NULL;
	}
}

// ---- records

// Linux 3.12 to 3.15 (and kernels of RHEL 7) had MMAP2 without prot and flags: a name stands there.
static bool is_old_mmap2(const uint8_t *at, uint16_t size)
{
	enum { NAME = offsetof(struct record_mmap2, prot) };

	return size > NAME + 8 && (at[NAME] == '/' || at[NAME] == '[') &&
	       memchr(at + NAME, 0, size - NAME);
}

// The same record in the form of later kernels.
static void widen_mmap2(uint8_t *ret, const uint8_t *at, uint16_t size)
{
	struct perf_event_header header;
	uint32_t added[2] = {PROT_READ | PROT_EXEC, MAP_PRIVATE};
	size_t name = offsetof(struct record_mmap2, prot);

	memcpy(&header, at, sizeof(header));
	if (header.misc & PERF_RECORD_MISC_MMAP_DATA)
		added[0] = PROT_READ;
	header.size = (uint16_t)(size + sizeof(added));
	memcpy(ret, at, name);
	memcpy(ret, &header, sizeof(header));
	memcpy(ret + name, added, sizeof(added));
	memcpy(ret + name + sizeof(added), at + name, size - name);
}

// Hands out the record at `at`: in native order, aligned.
// `at`: in a file's mapping, which stays, or in memory.
static void hand_out(struct recording *recording, const uint8_t *at, bool in_file, struct record *ret)
{
	struct recording_private *p = recording->private;
	const struct perf_event_header *header = (const void *)at;
	uint16_t size = 0;

	ret->stable = in_file && p->parts.n;
	if (recording->swap || (uintptr_t)at & 7) {
		memcpy(&size, at + 6, 2);
		if (recording->swap)
			size = __builtin_bswap16(size);
		memcpy(p->scratch, at, size);
		header = (const void *)p->scratch;
		ret->stable = false;
	}
	if (!recording->swap && load_u32(at, false) == PERF_RECORD_MMAP2) {
		memcpy(&size, at + 6, 2);
		if (size <= UINT16_MAX - 8 && is_old_mmap2(at, size)) {
			uint8_t *scratch = (uint8_t *)p->scratch;

			// `at` may be the scratch itself only with payloads, which MMAP2 has not
			widen_mmap2(scratch, at, size);
			header = (const void *)p->scratch;
			ret->stable = false;
		}
	}
	if (recording->swap) {
		struct event *event = NULL;
		uint32_t type = load_u32(at, true);

		if (recording->events.n && type < RECORD_HEADER_ATTR) {
			int64_t id = recording_id_offset(recording, at, type, size);

			event = recording->events.n == 1 || id == ID_OF_FIRST
					? recording->events.v[0]
				: id == ID_MISSING
					? NULL
					: recording_event_by_id(recording, load_u64(at + id, true));
		}
		if (record_swap((struct perf_event_header *)p->scratch,
				event ? &event->attr : NULL) < 0)
			record_swap_header((struct perf_event_header *)p->scratch);
	}
	ret->header = header;
	ret->source = (uint8_t)p->part;
}

// What lies behind AUXTRACE and TRACING_DATA records.
static void take_payload(struct recording *recording, const struct raw_record *record, bool take)
{
	struct recording_private *p = recording->private;
	uint64_t n;

	if (record->type == RECORD_AUXTRACE && record->size >= 16) {
		n = load_u64(record->p + 8, recording->swap);
		if (!bytes_skip(recording, n)) {
			recording_damage(recording, true,
					 "it ends inside the %llu bytes of AUX data of the record "
					 "at offset %llu",
					 (unsigned long long)n, (unsigned long long)record->offset);
			p->stopped = true;
		}
		return;
	}
	if (record->type != RECORD_HEADER_TRACING_DATA || record->size < 12)
		return;
	n = ((uint64_t)load_u32(record->p + 8, recording->swap) + 7) & ~7ull;
	if (n > PAYLOAD_MAX || !bytes_ensure(recording, (size_t)n)) {
		recording_damage(recording, true,
				 "it ends inside the %llu bytes of tracing data of the record at "
				 "offset %llu",
				 (unsigned long long)n, (unsigned long long)record->offset);
		n = (uint64_t)(p->end - p->at);
		p->stopped = true;
	}
	if (take && tracing_data_take(recording, p->at, (size_t)n) < 0)
		recording_damage(recording, false, "%s", err_sentence());
	p->at += n;
}

static bool has_payload(uint32_t type)
{
	return type == RECORD_AUXTRACE || type == RECORD_HEADER_TRACING_DATA;
}

static bool is_unknown(uint32_t type)
{
	return type >= RECORD_MAX || !type ||
	       (type > SONDE_RECORD_CALLCHAIN_DEFERRED && type < RECORD_HEADER_ATTR);
}

static void take_in(struct recording *recording, const struct raw_record *record)
{
	if (is_unknown(record->type)) {
		recording->records_skipped++;
		recording->bytes_skipped += record->size;
	}
	if (record->type >= RECORD_HEADER_ATTR)
		header_record_take(recording, record);
}

// The record has been passed. Takes in and hands out.
static void take_record(struct recording *recording, const struct raw_record *record,
			struct record *ret)
{
	struct recording_private *p = recording->private;
	bool fresh = is_fresh(p, record->offset, record->size);

	if (fresh)
		take_in(recording, record);
	ret->offset = record->offset;
	if (!has_payload(record->type)) {
		hand_out(recording, record->p, true, ret);
		return;
	}
	// a stream's window moves while the payload is read
	memcpy(p->scratch, record->p, record->size);
	take_payload(recording, record, fresh);
	hand_out(recording, (const uint8_t *)p->scratch, false, ret);
}

static int next_slow(struct recording *recording, struct record *ret)
{
	struct recording_private *p = recording->private;
	uint32_t size;

	for (;;) {
		bool broken = false;
		const uint8_t *record =
			unpacked_record(&p->unpacker, recording->swap, &size, &broken);
		if (unpack_is_absurd(p->unpacker.packed_bytes, p->unpacker.unpacked_bytes)) {
			recording_damage(recording, true,
					 "its compressed records up to offset %llu unpack to more than %d times "
					 "their size, as nothing that is recorded does; the rest is not read",
					 (unsigned long long)p->unpacker.offset, UNPACK_MOST_RATIO);
			return stop(recording);
		}
		if (broken)
			recording_damage(recording, true,
					 "the compressed data of the record at offset %llu is "
					 "malformed",
					 (unsigned long long)p->unpacker.offset);
		if (broken)
			return stop(recording);
		if (record) {
			const struct raw_record unpacked = {record, load_u32(record, recording->swap),
							    size, p->unpacker.offset};

			if (p->unpacker.fresh)
				take_in(recording, &unpacked);
			ret->offset = unpacked.offset;
			hand_out(recording, record, false, ret);
			return 1;
		}
		if (p->stopped)
			return 0;
		if (!bytes_ensure(recording, 8)) {
			size_t left = (size_t)(p->end - p->at);

			left = (size_t)(p->end - p->at);
			if (p->chunked)
				left = (size_t)(p->parts.v[p->part].end - bytes_offset(p, p->at));
			if (left || p->unpacker.n > p->unpacker.at)
				recording_damage(recording, true,
						 "it ends inside a record at offset %llu",
						 (unsigned long long)(left ? bytes_offset(p, p->at)
									   : p->unpacker.offset));
			if (next_part(recording))
				continue;
			if (!recording->events.n)
				recording_damage(recording, true, "it describes no events");
			return stop(recording);
		}
		uint16_t header_size;
		memcpy(&header_size, p->at + 6, 2);
		size = recording->swap ? __builtin_bswap16(header_size) : header_size;
		if (size < 8) {
			recording_damage(recording, true,
					 "the record at offset %llu says that it has %u bytes, "
					 "which can't be; the rest is not read",
					 (unsigned long long)bytes_offset(p, p->at), size);
			return stop(recording);
		}
		if (!bytes_ensure(recording, size)) {
			recording_damage(recording, true,
					 "it ends inside the record at offset %llu: %u bytes of %u "
					 "are there",
					 (unsigned long long)bytes_offset(p, p->at),
					 (unsigned)(p->chunked ? p->parts.v[p->part].end -
									 bytes_offset(p, p->at)
							       : (uint64_t)(p->end - p->at)),
					 size);
			if (next_part(recording))
				continue;
			return stop(recording);
		}
		const struct raw_record raw = {p->at, load_u32(p->at, recording->swap), size,
					       bytes_offset(p, p->at)};
		p->at += size;
		if (raw.type == RECORD_COMPRESSED || raw.type == RECORD_COMPRESSED2) {
			if (unpacker_start(recording, &raw)) {
				recording->compressed_n += raw.type == RECORD_COMPRESSED;
				recording->compressed2_n += raw.type == RECORD_COMPRESSED2;
				continue;
			}
			recording_damage(recording, true,
					 "the compressed record at offset %llu is malformed",
					 (unsigned long long)raw.offset);
			return stop(recording);
		}
		take_record(recording, &raw, ret);
		return 1;
	}
}

bool recording_run_begin(struct recording *recording, struct sample_run *ret)
{
	const struct recording_private *p = recording->private;

	*ret = (struct sample_run){p->at, p->end, bytes_offset(p, p->at)};
	return p->fast;
}

void recording_run_end(struct recording *recording, const struct sample_run *run)
{
	recording->private->at = run->at;
}

int recording_next(struct recording *recording, struct record *ret)
{
	struct recording_private *p = recording->private;
	const uint8_t *at = p->at;
	size_t left = (size_t)(p->end - at);
	int got;

	if (p->fast && left >= 8) {
		const struct perf_event_header *header = (const void *)at;

		if (!((uintptr_t)at & 7) && header->size >= 8 && header->size <= left &&
		    header->type - 1 < PERF_RECORD_MAX - 1 && header->type != PERF_RECORD_MMAP2) {
			p->at = at + header->size;
			*ret = (struct record){.header = header,
					       .offset = p->base_offset + (uint64_t)(at - p->base),
					       .stable = true,
					       .source = (uint8_t)p->part};
			return 1;
		}
	}
	if (p->queue_at < p->queue.n) {
		*ret = p->queue.v[p->queue_at++];
		got = 1;
	} else {
		got = next_slow(recording, ret);
	}
	p->fast = p->simple && !p->stopped && p->queue_at == p->queue.n &&
		  p->unpacker.at == p->unpacker.n && !p->unpacker.in_size;
	return got;
}

static bool is_about_recording(uint32_t type)
{
	static const uint64_t types =
		1ull << (RECORD_HEADER_ATTR - 64) | 1ull << (RECORD_HEADER_EVENT_TYPE - 64) |
		1ull << (RECORD_HEADER_TRACING_DATA - 64) | 1ull << (RECORD_HEADER_BUILD_ID - 64) |
		1ull << (RECORD_ID_INDEX - 64) | 1ull << (RECORD_AUXTRACE_INFO - 64) |
		1ull << (RECORD_THREAD_MAP - 64) | 1ull << (RECORD_CPU_MAP - 64) |
		1ull << (RECORD_STAT_CONFIG - 64) | 1ull << (RECORD_EVENT_UPDATE - 64) |
		1ull << (RECORD_TIME_CONV - 64) | 1ull << (RECORD_HEADER_FEATURE - 64);

	return type >= 64 && type < 128 && types >> (type - 64) & 1;
}

// Takes in what a pipe says of itself before its first real record, so that events and features
// are known once it is open. The records are handed out later all the same.
static void read_ahead(struct recording *recording)
{
	struct recording_private *p = recording->private;
	struct record record;

	while (next_slow(recording, &record) > 0) {
		if (!record.stable)
			record.header =
				arena_memdup(&recording->arena, record.header, record.header->size);
		record.stable = true;
		vec_push(&p->queue, record);
		if (!is_about_recording(record.header->type))
			break;
	}
	recording_name_events(recording);
}

int recording_rewind(struct recording *recording)
{
	struct recording_private *p = recording->private;

	if (!p->parts.n)
		return fail(ESPIPE, "%s is read from a pipe and can't be read twice",
			    recording->path);
	bool chunked = p->chunked;
	p->part = (size_t)-1;
	next_part(recording);
	if (chunked)
		bytes_start_chunks(p, p->parts.v[0].start);
	p->stopped = false;
	p->fast = false;
	p->queue_at = p->queue.n;
	return 0;
}

void recording_start(struct recording *recording)
{
	struct recording_private *p = recording->private;

	p->scratch = xmalloc((1 << 16) + 64);
	p->simple = p->parts.n && !recording->swap;
	if (p->parts.n)
		recording_rewind(recording);
	if (recording->is_pipe)
		read_ahead(recording);
	p->queue_at = 0;
}

void recording_close(struct recording *recording)
{
	struct recording_private *p;

	if (!recording)
		return;
	p = recording->private;
	for (size_t i = 0; i < recording->events.n; i++) {
		vec_done(&recording->events.v[i]->ids);
		free(recording->events.v[i]);
	}
	vec_done(&recording->events);
	vec_done(&recording->info.command_line);
	vec_done(&recording->info.build_ids);
	tracepoints_free(recording->tracepoints);
	vec_each(struct part, part, &p->parts) {
		if (!part->borrowed)
			file_unmap(&part->file);
	}
	vec_done(&p->parts);
	vec_done(&p->queue);
	if (p->close_fd)
		close(p->fd);
	if (p->file_fd >= 0)
		close(p->file_fd);
	vec_each(struct chunk, chunk, &p->chunks)
		free(chunk->p);
	vec_each(struct chunk, chunk, &p->free_chunks)
		free(chunk->p);
	vec_done(&p->chunks);
	vec_done(&p->free_chunks);
	free(p->window);
	ZSTD_freeDStream(p->unpacker.zstd);
	free(p->unpacker.buf);
	free(p->scratch);
	map_done(&p->by_id);
	vec_done(&p->type_names);
	arena_done(&recording->arena);
	free(p);
	free(recording);
}
