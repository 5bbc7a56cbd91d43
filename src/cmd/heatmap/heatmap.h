// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde heatmap` share: where points come from.
#pragma once
#include "base/str.h"
#include "flow/filter.h"
#include "view/heat.h"

struct point_options {
	const char *event;     // name or glob; NULL: all
	const char *value;     // field, or period addr weight cpu pid tid; NULL: none
	const char *latency;   // the name of a pair that is known
	const char *from, *to; // a pair of events
	const char *key; // fields of the pair, "a,b"; NULL: what is known of it, else the thread
	bool subsecond, force;
	double units_a_second; // of times in text
	struct filter_options filter;
};

struct point_result {
	bool from_recording;
	bool subsecond; // values are ms within the second, times are seconds
	bool damaged;
	uint64_t bad_lines, first_bad_line, filtered, unpaired;
	double highest;
	// of a recording
	char *title;	     // of a latency that is known; heap
	char *events, *host; // heap; NULL: not known
	const char *hint;    // a latency that could be drawn
};
void point_result_done(struct point_result *result);

// Points of a file, "-" for stdin. -errno with a sentence; no points are no error here.
int points_from_file(struct heat *heat, const char *path, const struct point_options *options,
		     struct point_result *ret);
// "TIME VALUE" lines, "TIME" lines, or perf script text (its times).
void points_from_text(struct heat *heat, struct str text, const struct point_options *options,
		      struct point_result *ret);
int points_from_recording(struct heat *heat, const char *path, const struct point_options *options,
			  struct point_result *ret);
