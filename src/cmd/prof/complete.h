// SPDX-License-Identifier: GPL-2.0-or-later
// What may follow in a half typed -e of a profiler, for the completion of shells.
#pragma once
#include "prof/core/run.h"

// One line for each way to go on: the whole text, TAB, what the last word is. `profiler` NULL: any. Prints nothing where nothing is known; never fails.
void prof_complete_event(struct out *out, const struct profiler *profiler, const char *text);
