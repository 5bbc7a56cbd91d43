// SPDX-License-Identifier: GPL-2.0-or-later
// Which files of a recording debuginfod servers are asked for first: those that most samples lie in, so that a wait that is
// bounded is spent on what the result shows most of.
#pragma once
#include "flow/run.h"

struct fetch_order {
	struct run *run;
	struct run_options options; // its strings are borrowed until run_close
};

// Before the run's sym asks the first server, the recording is read once without symbols to count, and its files are
// looked for in the order of their samples; what comes lies in the client's cache when the run asks. Costs nothing while
// no server is to be asked. Not for what can't be read twice.
void fetch_hottest_first(struct fetch_order *order);
