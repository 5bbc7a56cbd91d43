// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/writer.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "data/private.h"
#include "data/writer_private.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <zstd.h>

enum {
	BUFFER_SIZE = 1 << 18,
	PACKED_RECORD_MAX = 65535 - 64, // whole COMPRESSED records
	DEFAULT_CHUNK = 1 << 17,
};

static int failed(struct writer *writer, int err)
{
	if (!writer->error)
		writer->error = err;
	if (err == -ENOSPC || err == -EDQUOT) {
		struct stat st;
		bool is_file = fstat(writer->fd, &st) == 0 && S_ISREG(st.st_mode);

		return fail(-err, "can't write the recording: the disk is full%s",
			    is_file ? "; what was written so far can be read" : "");
	}
	if (err == -EPIPE)
		return fail(EPIPE, "can't write the recording: its reader is gone");
	return fail(-err, "can't write the recording: %s", strerror(-err));
}

// How far do whole records (with the AUX data behind them) go in `n` bytes?
static size_t whole_records(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (n - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		uint64_t size, extra = 0;

		memcpy(&header, p + at, sizeof(header));
		size = header.size;
		if (header.type == RECORD_AUXTRACE && n - at >= 16)
			memcpy(&extra, p + at + 8, sizeof(extra));
		if (size < sizeof(header) || size > n - at || extra > n - at - size)
			break;
		at += size + extra;
	}
	return at;
}

// As write_all, but says how much was written.
static int write_some(int fd, const uint8_t *p, size_t n, size_t *ret_done)
{
	*ret_done = 0;
	while (*ret_done < n) {
		ssize_t got = write(fd, p + *ret_done, n - *ret_done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		*ret_done += (size_t)got;
	}
	return 0;
}

static int write_out(struct writer *writer, const uint8_t *p, size_t n)
{
	size_t done;
	int err;

	if (writer->error)
		return writer->error;
	err = write_some(writer->fd, p, n, &done);
	writer->written += done;
	return err < 0 ? failed(writer, err) : 0;
}

int writer_flush(struct writer *writer)
{
	size_t n = writer->n;

	writer->n = 0;
	return n ? write_out(writer, writer->buf, n) : writer->error;
}

int writer_put(struct writer *writer, const void *p, size_t n)
{
	bool is_large = n >= BUFFER_SIZE / 2;
	int err;

	if (is_large || writer->n + n > BUFFER_SIZE) {
		err = writer_flush(writer);
		if (err < 0)
			return err;
	}
	if (is_large)
		return write_out(writer, p, n);
	memcpy(writer->buf + writer->n, p, n);
	writer->n += n;
	return 0;
}

// ---- packing

static int pack(struct writer *writer)
{
	ZSTD_inBuffer in = {writer->chunk, writer->chunk_n, 0};
	uint8_t record[PACKED_RECORD_MAX];
	size_t left;
	int err;

	if (!writer->chunk_n)
		return writer->error;
	do {
		struct perf_event_header header = {.type = RECORD_COMPRESSED};
		ZSTD_outBuffer out = {record + sizeof(header), sizeof(record) - sizeof(header), 0};

		left = ZSTD_compressStream2(writer->zstd, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return failed(writer, -EIO);
		if (!out.pos)
			break;
		header.size = (uint16_t)(sizeof(header) + out.pos);
		memcpy(record, &header, sizeof(header));
		writer->bytes_packed += header.size;
		err = writer_put(writer, record, header.size);
		if (err < 0)
			return err;
	} while (left || in.pos < in.size);
	writer->bytes_in += writer->chunk_n;
	writer->chunk_n = 0;
	return 0;
}

int writer_records(struct writer *writer, const void *records, size_t size)
{
	const uint8_t *p = records;
	int err = writer->error;

	if (!writer->zstd)
		return err < 0 ? err : writer_put(writer, records, size);
	while (size && err >= 0) {
		size_t n = MIN(size, writer->chunk_size - writer->chunk_n);

		memcpy(writer->chunk + writer->chunk_n, p, n);
		writer->chunk_n += n;
		p += n;
		size -= n;
		if (writer->chunk_n == writer->chunk_size)
			err = pack(writer);
	}
	return err;
}

int writer_record_of_ring(struct writer *writer, const struct ring_pieces *record)
{
	struct perf_event_header header;
	int err = pack(writer);

	memcpy(&header, record->p[0], sizeof(header));
	if (err >= 0 && header.type == RECORD_AUXTRACE && !writer->options.pipe)
		vec_push(&writer->auxtrace, ((struct auxtrace_entry){
						    .offset = writer->written + writer->n,
						    .size = header.size,
					    }));
	if (err >= 0 && writer->n + record->n[0] + record->n[1] > BUFFER_SIZE)
		err = writer_flush(writer);
	if (err >= 0)
		err = writer_put(writer, record->p[0], record->n[0]);
	return err < 0 ? err : writer_put(writer, record->p[1], record->n[1]);
}

static int put_mark(struct writer *writer, uint32_t type)
{
	struct perf_event_header header = {.type = type, .size = sizeof(header)};
	int err = pack(writer);

	if (err >= 0)
		err = writer_put(writer, &header, sizeof(header));
	// a reader of the pipe shall see it now, and a kill -9 shall cost little
	return err < 0 ? err : writer_flush(writer);
}

int writer_round(struct writer *writer)
{
	return put_mark(writer, RECORD_FINISHED_ROUND);
}

int writer_init_done(struct writer *writer)
{
	return put_mark(writer, RECORD_FINISHED_INIT);
}

uint64_t writer_bytes(const struct writer *writer)
{
	return writer->written + writer->n + writer->chunk_n;
}

void writer_sample_time(struct writer *writer, uint64_t first_ns, uint64_t last_ns)
{
	writer->first_sample_ns = first_ns;
	writer->last_sample_ns = last_ns;
	writer->options.has_sample_time = true;
}

void writer_build_id(struct writer *writer, const struct recorded_build_id *id)
{
	size_t n = strlen(id->name) + 1, padded = (n + 63) & ~(size_t)63;
	struct {
		struct perf_event_header header;
		int32_t pid;
		uint8_t id[24]; // 20, the size, 3 unused
	} record = {
		.header = {.type = RECORD_HEADER_BUILD_ID,
			   .misc = id->misc | 1 << 15, // PERF_RECORD_MISC_BUILD_ID_SIZE
			   .size = (uint16_t)(sizeof(record) + padded)},
		.pid = id->pid,
	};

	if (padded > 4096 + 64)
		return;
	memcpy(record.id, id->id, sizeof(id->id));
	record.id[20] = id->id_size;
	if (!writer->options.pipe) {
		record.header.type = 0; // as perf leaves it in the table
		out_bytes(&writer->build_ids, &record, sizeof(record));
		out_bytes(&writer->build_ids, id->name, n);
		out_fill(&writer->build_ids, 0, padded - n);
		return;
	}
	uint8_t bytes[sizeof(record) + 4096 + 64] = {0};
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), id->name, n);
	writer_records(writer, bytes, record.header.size);
}

// ---- the beginning

static void copy_events(struct writer *writer, const struct writer_event *events)
{
	for (size_t i = 0; i < writer->events_n; i++) {
		struct writer_event *event = &writer->events[i];
		struct arena *arena = &writer->arena;

		*event = events[i];
		if (event->ids_n)
			event->ids = arena_memdup(arena, event->ids, event->ids_n * sizeof(uint64_t));
		event->name = event->name ? arena_strdup(arena, str_of(event->name)) : "";
		event->unit = event->unit ? arena_strdup(arena, str_of(event->unit)) : NULL;
		event->tp_system =
			event->tp_system ? arena_strdup(arena, str_of(event->tp_system)) : NULL;
		event->tp_name = event->tp_name ? arena_strdup(arena, str_of(event->tp_name)) : NULL;
		event->group_name =
			event->group_name ? arena_strdup(arena, str_of(event->group_name)) : NULL;
		event->attr.size = writer->attr_size;
	}
}

struct feature_facts writer_facts(const struct writer *writer)
{
	return (struct feature_facts){
		.events = writer->events,
		.events_n = writer->events_n,
		.options = &writer->options,
		.attr_size = writer->attr_size,
		.first_sample_ns = writer->first_sample_ns,
		.last_sample_ns = writer->last_sample_ns,
		.bytes_in = writer->bytes_in,
		.bytes_packed = writer->bytes_packed,
		.wall_clock_ns = writer->wall_clock_ns,
		.clock_id_time_ns = writer->clock_id_time_ns,
		.build_ids = &writer->build_ids,
		.auxtrace = writer->auxtrace.v,
		.auxtrace_n = writer->auxtrace.n,
	};
}

// Facts that are known at the start stand before the data, and until the end the header's section of event
// types, which no perf since 3.11 looks at, points to them: so a recording whose end was never written
// keeps its names, formats and command line. See recording_early_magic.
static bool is_early(uint32_t id)
{
	return id != FEATURE_BUILD_ID && id != FEATURE_SAMPLE_TIME && id != FEATURE_AUXTRACE;
}

static void add_early_features(struct writer *writer, struct out *out)
{
	struct feature_facts facts = writer_facts(writer);
	size_t start = out->n, table;
	uint64_t bits[4] = {0};
	unsigned n = 0;
	struct out body;

	out_init_memory(&body);
	for (uint32_t id = 1; id < FEATURE_LAST; id++) {
		size_t before = body.n;

		if (!is_early(id) || !feature_write(&body, &facts, id))
			continue;
		bits[0] |= 1ull << id;
		writer->early[id] = (struct file_section){before, body.n - before};
		n++;
	}
	table = start + sizeof(recording_early_magic) + sizeof(bits);
	out_bytes(out, &recording_early_magic, sizeof(recording_early_magic));
	out_bytes(out, bits, sizeof(bits));
	for (uint32_t id = 1; id < FEATURE_LAST; id++) {
		if (!(bits[0] & 1ull << id))
			continue;
		writer->early[id].offset += table + n * sizeof(struct file_section);
		out_bytes(out, &writer->early[id], sizeof(struct file_section));
	}
	out_bytes(out, body.buf, body.n);
	out_fill(out, 0, -out->n & 7);
	out_done(&body);
	writer->early_bits = bits[0];
	writer->header.event_types = (struct file_section){start, out->n - start};
}

// The header, the ids of each event, the attrs: as perf lays them out.
static int start_file(struct writer *writer)
{
	struct file_header *header = &writer->header;
	struct out out;
	int err;

	*header = (struct file_header){
		.magic = WRITER_MAGIC,
		.size = sizeof(*header),
		.attr_size = writer->attr_size + sizeof(struct file_section),
	};
	out_init_memory(&out);
	out_bytes(&out, header, sizeof(*header));
	for (size_t i = 0; i < writer->events_n; i++)
		out_bytes(&out, writer->events[i].ids, writer->events[i].ids_n * sizeof(uint64_t));
	header->attrs.offset = out.n;
	header->attrs.size = writer->events_n * header->attr_size;
	for (size_t i = 0, at = sizeof(*header); i < writer->events_n; i++) {
		struct file_section ids = {at, writer->events[i].ids_n * sizeof(uint64_t)};

		at += ids.size;
		out_bytes(&out, &writer->events[i].attr, writer->attr_size);
		out_bytes(&out, &ids, sizeof(ids));
	}
	add_early_features(writer, &out);
	header->data.offset = out.n;
	memcpy(out.buf, header, sizeof(*header));
	err = write_all(writer->fd, out.buf, out.n);
	writer->written = out.n;
	out_done(&out);
	return err < 0 ? failed(writer, err) : 0;
}

static void start_clocks(struct writer *writer)
{
	struct timespec wall, own;

	if (!writer->options.has_clockid)
		return;
	clock_gettime(CLOCK_REALTIME, &wall);
	if (clock_gettime((clockid_t)writer->options.clockid, &own) < 0)
		own = (struct timespec){0};
	writer->wall_clock_ns = (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec;
	writer->clock_id_time_ns = (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
}

int writer_new(struct writer **ret, int fd, const struct writer_options *options)
{
	struct writer *writer = NEW(struct writer);
	int err;

	writer->fd = fd;
	writer->options = *options;
	writer->attr_size = attr_write_size(options->events, options->events_n);
	writer->events_n = options->events_n;
	writer->events = xcalloc(writer->events_n + 1, sizeof(*writer->events));
	copy_events(writer, options->events);
	writer->buf = xmalloc(BUFFER_SIZE);
	out_init_memory(&writer->build_ids);
	start_clocks(writer);
	if (options->zstd_level) {
		uint32_t size = options->compress_mmap_bytes;

		// perf unpacks each record into as many bytes as the header says
		if (!size)
			size = writer->options.compress_mmap_bytes = DEFAULT_CHUNK * 4;
		writer->chunk_size = MIN(size, (uint32_t)DEFAULT_CHUNK);
		writer->chunk = xmalloc(writer->chunk_size);
	}
	err = options->pipe ? writer_start_pipe(writer) : start_file(writer);
	if (err >= 0 && !options->pipe)
		err = writer_put_updates(writer);
	if (err >= 0 && options->zstd_level) {
		writer->zstd = ZSTD_createCCtx();
		if (!writer->zstd)
			alloc_failed();
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, options->zstd_level);
	}
	if (err < 0) {
		writer_free(writer);
		return err;
	}
	*ret = writer;
	return 0;
}

// ---- the end

// After a failed write the file's end may lie inside a record: goes back to the last whole one.
static void back_to_whole_record(struct writer *writer)
{
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", writer->fd);
	uint64_t start = writer->header.data.offset;
	struct mapped file;

	if (file_map(&file, path) < 0)
		return;
	if (file.n >= writer->written && writer->written >= start)
		writer->written = start + whole_records(file.p + start, writer->written - start);
	file_unmap(&file);
}

// Sections that are ready for the end of the file.
struct sections {
	struct file_section v[FEATURE_LAST + 1];
	uint64_t bits[4], late; // late: those that are yet to be written, by their place in v
	unsigned n;
	struct out bytes;
};

static void add_section(struct sections *sections, uint32_t id, size_t before)
{
	sections->bits[id / 64] |= 1ull << id % 64;
	sections->late |= 1ull << sections->n;
	sections->v[sections->n++] = (struct file_section){before, sections->bytes.n - before};
}

static void make_sections(struct writer *writer, struct sections *ret, bool only_early)
{
	struct feature_facts facts = writer_facts(writer);

	*ret = (struct sections){0};
	out_init_memory(&ret->bytes);
	for (uint32_t id = 1; id < FEATURE_LAST; id++) {
		size_t before = ret->bytes.n;

		// how well it packed is known only now
		if (writer->early_bits & 1ull << id && id != FEATURE_COMPRESSED) {
			ret->bits[0] |= 1ull << id;
			ret->v[ret->n++] = writer->early[id];
		} else if (!only_early && feature_write(&ret->bytes, &facts, id)) {
			add_section(ret, id, before);
		}
	}
	if (writer->notes.n || writer->error) {
		size_t before = ret->bytes.n;

		out_bytes(&ret->bytes, writer->notes.buf, writer->notes.n);
		if (writer->error)
			out_printf(&ret->bytes, "cut %s\n", strerror(-writer->error));
		add_section(ret, FEATURE_NOTES, before);
	}
}

// The table of sections, then the sections.
static int write_sections(struct writer *writer, struct sections *sections, uint64_t at)
{
	size_t table = sections->n * sizeof(*sections->v);
	int err;

	for (unsigned i = 0; i < sections->n; i++)
		if (sections->late & 1ull << i)
			sections->v[i].offset += at + table;
	// behind a partly written record (full disk) nothing else may stand
	if (ftruncate(writer->fd, (off_t)at) < 0 || lseek(writer->fd, (off_t)at, SEEK_SET) < 0)
		debug("the recording's end can't be moved: %s", strerror(errno));
	err = write_all(writer->fd, sections->v, table);
	if (err >= 0)
		err = write_all(writer->fd, sections->bytes.buf, sections->bytes.n);
	if (err >= 0)
		memcpy(writer->header.features, sections->bits, sizeof(sections->bits));
	return err;
}

static int end_file(struct writer *writer)
{
	int err = 0;

	if (writer->error)
		back_to_whole_record(writer);
	// On a full disk there may be room for the table alone, as most sections stand before the data.
	for (int only_early = 0; only_early < 2; only_early++) {
		struct sections sections;

		make_sections(writer, &sections, only_early);
		err = write_sections(writer, &sections, writer->written);
		out_done(&sections.bytes);
		if (err >= 0)
			break;
		failed(writer, err);
	}
	if (err < 0) {
		// Without an end the header stays as it was: readers then take it for cut, which it is.
		if (ftruncate(writer->fd, (off_t)writer->written) < 0)
			debug("the recording can't be cut: %s", strerror(errno));
		return failed(writer, err);
	}
	writer->header.data.size = writer->written - writer->header.data.offset;
	writer->header.event_types = (struct file_section){0};
	if (pwrite(writer->fd, &writer->header, sizeof(writer->header), 0) != sizeof(writer->header))
		return fail(errno, "can't complete the recording's header: %s", strerror(errno));
	return writer->error ? failed(writer, writer->error) : 0;
}

void writer_note(struct writer *writer, const char *fmt, ...)
{
	va_list args;
	char text[2 * 4096 + 256]; // two paths

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!writer->notes.buf)
		out_init_memory(&writer->notes);
	out_text(&writer->notes, text);
	out_char(&writer->notes, '\n');
}

int writer_finish(struct writer *writer)
{
	int err = pack(writer), end;

	if (err >= 0)
		err = writer_flush(writer);
	if (writer->options.pipe)
		return err;
	end = end_file(writer);
	return err < 0 ? failed(writer, err) : end; // the first error's sentence again
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	free(writer->events);
	free(writer->buf);
	free(writer->chunk);
	ZSTD_freeCCtx(writer->zstd);
	out_done(&writer->build_ids);
	out_done(&writer->notes);
	vec_done(&writer->auxtrace);
	arena_done(&writer->arena);
	free(writer);
}
