// SPDX-License-Identifier: GPL-2.0-or-later
// The writer's inside: writer.c has its bytes, its beginning and its end, writer_records.c what it tells by records.
#pragma once
#include "base/arena.h"
#include "data/features_write.h"
#include "data/writer.h"
#include <zstd.h>

#define WRITER_MAGIC 0x32454c4946524550ull // "PERFILE2"

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4];
};

struct writer {
	int fd;
	struct writer_options options;
	struct writer_event *events; // copies; the texts and ids are copies, too
	size_t events_n;
	struct arena arena;
	uint32_t attr_size;
	struct file_header header;
	uint64_t early_bits; // features that stand before the data
	struct file_section early[FEATURE_LAST];

	uint8_t *buf;
	size_t n;
	uint64_t written; // bytes of the file in front of buf
	int error;	  // first -errno; nothing is written from then on

	ZSTD_CCtx *zstd;
	uint8_t *chunk; // waits to be packed
	size_t chunk_n, chunk_size;
	uint64_t bytes_in, bytes_packed;

	uint64_t first_sample_ns, last_sample_ns, wall_clock_ns, clock_id_time_ns;
	struct out build_ids, notes;
	VEC(struct auxtrace_entry) auxtrace;
};

// Into the buffer, and what doesn't fit to the file; -errno with a sentence.
int writer_put(struct writer *writer, const void *p, size_t n);
int writer_flush(struct writer *writer);
struct feature_facts writer_facts(const struct writer *writer);

// writer_records.c
int writer_start_pipe(struct writer *writer);
// What attrs can't say: unit and scale, and in a pipe the name.
int writer_put_updates(struct writer *writer);
