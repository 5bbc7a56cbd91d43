// SPDX-License-Identifier: GPL-2.0-or-later
// Values and expressions of a profiler's events (flow/event_value.h); both note what they ask the run for (names of symbols and tasks).
#pragma once
#include "flow/event_value.h"

struct prof;
struct prof_event;

// In setup. -EINVAL with a sentence that shows the place.
int prof_value_init(struct event_value *ret, struct prof *prof, const struct prof_event *event,
		    const char *text);
int prof_compile(struct expr **ret, struct prof *prof, const struct prof_event *event,
		 const char *text);
