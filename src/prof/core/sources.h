// SPDX-License-Identifier: GPL-2.0-or-later
// Profilers as events of others: "task-state/-g/untraced/" in -e brings the events that task-state is made of, of the same tasks.
#pragma once
#include "prof/core/profiler.h"

// Is it the name of a profiler that can be an event?
bool prof_is_source(const char *name);
// The names of these, NULL behind the last.
const char *prof_source_name(size_t i);
// Adds its events to prof; they take no part in pairs. -errno with a sentence.
int prof_source_add(struct prof *prof, const struct prof_spec *spec);
// Is the sample one of the watched tasks' (events that come from all CPUs)?
bool prof_source_wants(struct prof *prof, const struct prof_event *event,
		       const struct sample *sample);
// Has the event to do with the task, though it happened in another's context?
bool prof_source_is_of(const struct prof_event *event, const struct sample *sample, uint32_t tid);
