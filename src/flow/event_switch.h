// SPDX-License-Identifier: GPL-2.0-or-later
// --switch-on and --switch-off: samples count from one event on, up to another, and again.
#pragma once
#include "data/recording.h"

struct event_switch_options {
	const char *on, *off; // names of events as typed, borrowed; NULL: not given
	bool show;	      // those two events count too
};

struct event_switch {
	const struct event *on, *off;
	bool show, is_off;
};

// -ENOENT with a sentence when the recording has no such event. The events of a pipe must be known.
int event_switch_init(struct event_switch *ret, const struct event_switch_options *options,
		      const struct recording *recording);
// Does this sample count? Asked for each sample that the other filters let pass, in their order.
bool event_switch_passes(struct event_switch *event_switch, const struct event *event);
