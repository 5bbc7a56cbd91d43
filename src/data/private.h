// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of the reader know of each other. Not for others.
#pragma once
#include "base/file.h"
#include "base/map.h"
#include "data/cursor.h"
#include "data/recording.h"
#include <zstd.h>

// Records that COMPRESSED ones hold, unpacked bit by bit: [at, n) of buf is ready, `in` waits.
struct unpacker {
	ZSTD_DStream *zstd;
	uint64_t packed_bytes, unpacked_bytes; // so far
	uint8_t *buf;
	size_t at, n, capacity;
	const uint8_t *in; // in the COMPRESSED record, which stays where it is until in_size is 0
	size_t in_size;
	uint64_t offset; // of that record
	bool fresh;	 // it was not read before
};

struct event_type_name {
	uint64_t id;
	const char *name;
};

// Before the features that sonde writes ahead of the data: this, the bits of features, their sections. The
// header's event types point to it while the recording is being made.
static const uint64_t recording_early_magic = 0x3154464544464e53ull; // "SNFDEFT1"

// A file of the recording: perf.data itself, or one of a directory.
struct part {
	const char *path;
	struct mapped file;
	bool borrowed; // the bytes are not ours
	uint64_t start, end;
};

// A stretch of a file, read(2) into memory: several times cheaper than the page faults of a mapping.
struct chunk {
	uint8_t *p;
	size_t size;	     // of the memory
	uint64_t start, end; // file offsets of what it holds
};

struct recording_private {
	VEC(struct part) parts; // mapped files; empty when a stream is read
	size_t part;		// the one being read
	const uint8_t *base;	// the bytes that at and end point into
	uint64_t base_offset;	// file offset of base
	const uint8_t *at, *end;
	bool simple;  // mapped, native byte order: records are handed out where they lie
	bool fast;    // simple, and nothing else is waiting
	bool stopped; // nothing more to be read
	VEC(struct record) queue; // read ahead, when a pipe was opened
	size_t queue_at;

	int file_fd;		  // of the mapped file, or -1
	bool chunked;		  // the file is read in chunks; base, at and end lie in the newest
	VEC(struct chunk) chunks; // in use, oldest first
	VEC(struct chunk) free_chunks;
	size_t chunk_bytes; // of those in use

	int fd; // of a stream, else -1
	bool close_fd;
	uint8_t *window; // base of a stream
	size_t window_size;
	bool fd_ended;

	uint64_t taken_to; // header records before this offset have been taken in already
	size_t taken_part;
	struct unpacker unpacker;
	uint64_t *scratch; // of one record

	struct map by_id;
	uint64_t last_id;
	struct event *last_event;
	int id_offset, trailer_id_offset;
	VEC(struct event_type_name) type_names;
	bool data_damaged; // damage tells of the data, not only of features
};

// Names those without one: tracepoints by their formats.
void recording_name_events(struct recording *recording);
// Where in a record at h (of either byte order) its id is; ID_OF_FIRST: it has none, the first event is meant; ID_MISSING: it should
// have one.
enum { ID_OF_FIRST = -1, ID_MISSING = -2 };
int64_t recording_id_offset(const struct recording *recording, const uint8_t *h, uint32_t type,
			    uint32_t size);

// A record as it was read: of either byte order, perhaps not aligned.
struct raw_record {
	const uint8_t *p;
	uint32_t type, size;
	uint64_t offset; // where it stands, or what it was packed in
};
// Takes in a HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE, ... record; others are left alone.
void header_record_take(struct recording *recording, const struct raw_record *record);
// Sets the sentence (once; what the data lacks goes before what the features lack).
void recording_damage(struct recording *recording, bool data, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// Where in the file, or the stream, a byte of the window lies.
static inline uint64_t bytes_offset(const struct recording_private *p, const uint8_t *at)
{
	return p->base_offset + (uint64_t)(at - p->base);
}
// Are there n more bytes at `at`, together? Reads more; they may move. False: the end, or (with the damage told) an error.
bool bytes_ensure(struct recording *recording, size_t n);
// Goes over n bytes that are of no interest. False when they end before.
bool bytes_skip(struct recording *recording, uint64_t n);
// From this offset on in chunks, none of which is read yet.
void bytes_start_chunks(struct recording_private *p, uint64_t offset);

// Takes in a feature section. -EINVAL when it is malformed (without a sentence).
int feature_take(struct recording *recording, uint32_t id, const uint8_t *data, size_t size);
const char *feature_name(uint32_t id); // as perf names it in messages ("TRACING_DATA"), "unknown"
int build_id_take(struct recording *recording, const uint8_t *record, size_t size);

// The lines of FEATURE_BPF_PROG_INFO.
struct out;
void header_print_bpf(struct out *out, struct recording *recording, struct cursor *c);

// Everything is known: goes to the first record.
void recording_start(struct recording *recording);

// Parses the "\x17\x08\x44tracing" blob. -EINVAL with a sentence; what was parsed is kept.
int tracing_data_take(struct recording *recording, const uint8_t *data, size_t size);

// Unpacks gzip or zstd (by magic) from `first`, then from fd (-1: none) into an unlinked temporary
// file, mapped. 1: done, 0: it is neither; -errno with a sentence.
int source_unpack(struct mapped *ret, struct str first, int fd, const char *name);
// All of `first` and then of fd, into an unlinked temporary file, mapped.
int source_spool(struct mapped *ret, struct str first, int fd, const char *name);
