// SPDX-License-Identifier: GPL-2.0-or-later
// Lines that are typed while a profiler runs.
#pragma once
#include "prof/core/profiler.h"

// Reads what is typed from now on, when there is a terminal and the profiler has use for it.
void prof_typed_begin(struct prof *prof);
// The feed's hook: there is something to read.
int prof_typed_read(struct prof *prof);
// What stands beside a title: "  filter: pid==12", or why the last line was refused; "" when nothing was typed.
const char *prof_typed_note(const struct prof *prof);
void prof_typed_free(struct prof_typed *typed);
