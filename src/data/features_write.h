// SPDX-License-Identifier: GPL-2.0-or-later
// Feature sections of a new recording: facts of this machine from /proc and /sys, and what the writer
// knows. Layout of each: tools/perf/Documentation/perf.data-file-format.txt.
#pragma once
#include "base/vec.h"
#include "data/writer.h"

struct auxtrace_entry {
	uint64_t offset, size;
};

// What the writer has gathered by the time that features are written.
struct feature_facts {
	const struct writer_event *events;
	size_t events_n;
	const struct writer_options *options;
	uint32_t attr_size; // bytes of an attr as they are written
	uint64_t first_sample_ns, last_sample_ns;
	uint64_t bytes_in, bytes_packed;
	uint64_t wall_clock_ns, clock_id_time_ns; // of clock_data
	const struct out *build_ids;		  // records, ready to be written
	const struct auxtrace_entry *auxtrace;
	size_t auxtrace_n;
};

// Appends the section to `out`. False: there is no such thing here, and nothing was written.
bool feature_write(struct out *out, const struct feature_facts *facts, uint32_t id);
// Does perf send this feature in a pipe?
bool feature_in_pipe(uint32_t id);
// The number of bytes of the attr that are in use (128, or all when newer fields are set).
uint32_t attr_write_size(const struct writer_event *events, size_t n);
// The tracefs copy of the events' formats. -errno with a sentence.
int tracing_data_write(struct out *out, const struct writer_event *events, size_t n,
		       const char *root);
