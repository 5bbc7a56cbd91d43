// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a profiler, or a tool as one, on the running kernel or a recording.
#pragma once
#include "prof/core/profiler.h"

// workload: NULL-terminated, NULL: none; line: the command line as it was typed, for recordings. The exit status, or -errno with a
// sentence.
int run_profiler(const struct profiler *profiler, struct prof_options *options, char **workload,
		 const char *const *line);
