// SPDX-License-Identifier: GPL-2.0-or-later
// A recording written again: its header, events and features as they are, other records.
#pragma once
#include "base/out.h"
#include "data/recording.h"

struct inject_output {
	struct out out;
	struct recording *recording;
	const char *path; // "-": standard output
	bool pipe;
	uint64_t data_at;
	struct out build_ids; // further entries for the table of a file
};

// A pipe is written for a pipe, a file for a file. -errno with a sentence.
int inject_output_open(struct inject_output *output, struct recording *recording, const char *path);
void inject_output_record(struct inject_output *output, const struct perf_event_header *header);
// A file that was hit: into the table of a file, as a record of a pipe.
void inject_output_build_id(struct inject_output *output, const struct recorded_build_id *id);
// err: of what was put into it; then it takes no file's place.
int inject_output_close(struct inject_output *output, int err);
