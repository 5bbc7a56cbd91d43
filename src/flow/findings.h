// SPDX-License-Identifier: GPL-2.0-or-later
// What one of the processes that share a run's work found out and the run's result tells: files without names, how stacks ended.
#pragma once
#include "flow/run.h"

// Before the work is shared.
void findings_begin(struct run *run);
// For struct workers_options; arg: the run.
void findings_put(void *arg, struct out *out);
void findings_take(void *arg, struct str findings);
