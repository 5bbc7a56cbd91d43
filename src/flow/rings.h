// SPDX-License-Identifier: GPL-2.0-or-later
// The rings of opened events as the input of a run: their records are taken in the order of time, applied to tasks and maps, decoded, and
// given to the hooks. What a record is for is looked up once, by its id.
#pragma once
#include "flow/merge.h"
#include "flow/moved_text.h"
#include "flow/opened.h"
#include "flow/run.h"

// Who writes the records of an id.
struct rings_source {
	struct event *event; // NULL: one that only tells of tasks
	struct sample_plan plan;
	bool plain; // its samples hold RINGS_PLAIN, nothing else
};

#define RINGS_PLAIN                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |           \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

struct rings {
	struct run *run; // its hooks get what comes
	bool tasks;	 // hits have their task; else it is for those to look up who want it
	struct merge merge;
	struct moved_texts moved;
	struct rings_source *sources; // by index of the opened events
	size_t first;		      // of them that has something in the rings
	struct map ids;		      // id -> index of sources
	const struct rings_source **by_id;
	uint64_t first_id,
		ids_n; // the kernel gives numbers in a row, so they are places in a table; 0: they were not
	int id_at, id_before_end; // where a record's id lies; 0: there is but one event
	struct hit hit;		  // what all plain ones share
};

// An event of the run as the spec says it. The format of a tracepoint is read; -errno with a sentence.
int rings_add_event(struct run *run, const struct event_spec *spec, const struct tracefs *tracefs,
		    struct event **ret);
// Likewise a format alone, of an event that may be there already: the run's tracepoints have it then.
int rings_read_format(struct run *run, const struct tracefs *tracefs, const char *system,
		      const char *name);

void rings_init(struct rings *rings, struct run *run);
void rings_done(struct rings *rings);
// Whose the ids are: events[i] (may be NULL) is that of opened->events.v[i]. Again when they were opened anew.
void rings_learn(struct rings *rings, const struct opened *opened, struct event *const *events);
// rings->merge takes the rings as they are now.
void rings_begin(struct rings *rings, const struct opened *opened);

// For the merge.
merge_look rings_look;
merge_give rings_give;
