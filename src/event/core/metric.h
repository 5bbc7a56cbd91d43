// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics by name: figures that a formula makes of several events' counts, as stat -M computes them and list shows them.
#pragma once
#include "base/str.h"
#include <stdbool.h>

struct event_specs;
struct event_context;

enum { METRIC_FORMS = 3 };

// A row of the table in metric_table.c.
//
// Formulas have +, -, *, /, parentheses, "max( A , B )", "min( A , B )", numbers and events; blanks stand between all of them, as events
// have - and / in their names. An event is what -e takes, counted in its own unit (clocks and duration_time: ns). `clock` is the
// software clock of what is watched: task-clock, of whole CPUs cpu-clock.
struct metric {
	const char *name, *alias; // alias NULL: none
	const char *groups;	  // "Default;Cache"
	const char *unit;	  // of what the formula gives; NULL: none
	const char *format;	  // "%8.2f"
	const char *description;
	const char *forms[METRIC_FORMS]; // the first one whose events this machine counts is taken
};

extern const struct metric metric_table[]; // ends with a row without name

// Is it the metric's name, alias, one of its groups, or "all"? Capitals are the same as small letters.
bool metric_matches(const struct metric *metric, struct str word);
// The form for this machine: whose events all open; else (*ret_opens false) whose events all have a name here; NULL: there is none.
// Cost: a few system calls an event.
const char *metric_form(const struct metric *metric, struct event_specs *specs,
			const struct event_context *ctx, bool *ret_opens);
// Calls event for each event of the formula, in its order, an event that stands twice is given twice.
void metric_events(const char *formula, void (*event)(void *arg, struct str name), void *arg);
// NAN: a count isn't known (value gave NAN), or a division by zero.
double metric_value(const char *formula, double (*value)(void *arg, struct str name), void *arg);
