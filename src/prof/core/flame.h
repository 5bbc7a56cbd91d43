// SPDX-License-Identifier: GPL-2.0-or-later
// --flame-graph: the call chains of a run, as folded text and as a picture.
#pragma once
#include "prof/core/profiler.h"

int prof_flame_new(struct prof *prof);
void prof_flame_free(struct prof_flame *flame);
// Adds the sample's chain with a weight. Some ns for chains seen before.
void prof_flame_add(struct prof *prof, const struct sample *sample, uint64_t weight);
// The stack of a sample whose line was printed: into the flame graph, or, without one, below the line.
void prof_add_stack(struct prof *prof, const struct sample *sample);
// The end of an interval: its stacks stand below its time of day.
void prof_flame_interval(struct prof *prof, uint64_t now_ns);
// FILE.folded and FILE.svg.
int prof_flame_write(struct prof *prof);

// What stands below the title of a picture: "sched:sched_wakeup, 10 samples, on HOST"; heap.
char *prof_picture_subtitle(const struct prof *prof, double n, const char *what);
