// SPDX-License-Identifier: GPL-2.0-or-later
// What may follow in a half typed -e of perf's commands, for the completion of shells.
#pragma once
#include "base/out.h"
#include "base/str.h"

// Prints `before` and the name for each event whose name begins with `begin`, a line each: TEXT, TAB, what it is. Never fails;
// prints nothing where nothing can be listed. Cost: a listing of all events.
void complete_event_names(struct out *out, struct str before, const char *begin);

// The same for a whole text of -e, of which the last event is half typed. `command`: "record", ...; trace's takes system
// calls, too.
void complete_event(struct out *out, const char *command, const char *text);
