// SPDX-License-Identifier: GPL-2.0-or-later
// Single events in csv and json: a row each, where text has a line.
#pragma once
#include "prof/core/profiler.h"

// Zero-initialised; unused where the format is text.
struct prof_rows {
	struct table table;
	struct out fields;
	bool stacks, foreign; // has the last columns
};

// In setup. False: the format is text, and the profiler prints lines. `stacks`: samples have some that are to be shown.
bool prof_rows_begin(struct prof *prof, struct prof_rows *rows, bool stacks);
static inline bool prof_rows_on(const struct prof_rows *rows)
{
	return rows->table.columns.n > 0;
}
// Empty, for who knows better than the event's own text what its fields are: then prof_rows_put_as.
struct out *prof_rows_fields(struct prof_rows *rows);
void prof_rows_put_as(struct prof *prof, struct prof_rows *rows, const struct prof_event *event,
		      const struct sample *sample);
void prof_rows_put(struct prof *prof, struct prof_rows *rows, const struct prof_event *event,
		   const struct sample *sample);
void prof_rows_done(struct prof_rows *rows);
