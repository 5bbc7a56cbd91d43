// SPDX-License-Identifier: GPL-2.0-or-later
// Writing perf.data: file mode (header last, sections behind the data) and pipe mode; readable up to where it stops
// after a kill -9 or on a full disk (the header is written first with data size 0, as perf's).
#pragma once
#include "abi/record.h"
#include "base/out.h"
#include "data/recording.h"
#include "sys/ring.h"

struct writer_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t ids_n;
	uint32_t leader; // index of its group's leader (itself: alone or leading)
	const char *unit;
	double scale;
	const char *tp_system, *tp_name; // of tracepoints, else NULL
	const char *group_name;		 // of a leader whose group has a name, else NULL
};

struct writer_options {
	const struct writer_event *events; // copied
	size_t events_n;
	bool pipe;
	int zstd_level;		      // 0: not compressed
	uint32_t compress_mmap_bytes; // what HEADER_COMPRESSED says
	bool no_buildid, buildid_all, buildid_mmap;
	const char *const *command_line; // NULL-terminated; without the program's path ("record", ...)
	bool has_clockid;
	uint32_t clockid;
	bool branch_stack;
	bool has_sample_time;
	bool dir_format;  // the recording is a folder
	bool beside;	  // and has data.0, data.1, ... (perf: directory data version 1)
	bool counts;	  // STAT records, no samples
	const char *root; // of /proc and /sys, "" normally
};

struct writer;
// fd stays the caller's. Writes the header, attrs and (pipe) attrs, features and tracing data.
int writer_new(struct writer **ret, int fd, const struct writer_options *options);
// Bytes of whole records (any number of them), gathered into large writes; packed when zstd_level is set.
int writer_records(struct writer *writer, const void *records, size_t size);
// One record where it lies in a ring, perhaps in two pieces.
int writer_record_of_ring(struct writer *writer, const struct ring_pieces *record);
// A FINISHED_ROUND / FINISHED_INIT.
int writer_round(struct writer *writer);
int writer_init_done(struct writer *writer);
uint64_t writer_bytes(const struct writer *writer); // written so far (for --max-size, --switch-output)
void writer_sample_time(struct writer *writer, uint64_t first_ns, uint64_t last_ns);
// A DSO that was hit, for the build-id table (misc: cpumode; name; id).
void writer_build_id(struct writer *writer, const struct recorded_build_id *id);
// A line of recording_info.notes; not in a pipe.
void writer_note(struct writer *writer, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Flushes, writes feature sections and the final header. The caller closes fd.
int writer_finish(struct writer *writer);
void writer_free(struct writer *writer);
