// SPDX-License-Identifier: GPL-2.0-or-later
// What a run prints with. Private to the run and print.c.
#pragma once
#include "base/map.h"
#include "encoder/core/table.h"
#include "prof/core/profiler.h"

struct prof_print {
	const struct encoder *format;
	struct out beside;
	bool titles_shown; // csv
	int64_t hour;	   // the local time is worked out once an hour
	long hour_offset_s;
	char hour_text[16]; // "2024-02-21 14:"
	bool has_hour;
	char number[16];  // of a task without a name
	struct map asked; // tasks whose name /proc was asked for
};

// The path of a control group; "unknown" where it is gone.
void prof_put_cgroup(struct prof *prof, uint64_t id, struct out *out);
// The time of day of an event as text; "123.456789" of its own clock where the day is not known.
void prof_time_text(struct prof *prof, uint64_t time_ns, char ret[40]);
