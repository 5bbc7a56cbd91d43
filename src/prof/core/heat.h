// SPDX-License-Identifier: GPL-2.0-or-later
// --heatmap FILE: values over time, as text (FILE.lat: seconds and the value, a line each) and as a picture (FILE.svg).
#pragma once
#include "prof/core/profiler.h"

// To be called from setup when --heatmap is given; -errno with a sentence.
int prof_heat_new(struct prof *prof, const char *value_unit);
void prof_heat_free(struct prof_heat *heat);
// Nothing without --heatmap.
void prof_heat_put(struct prof_heat *heat, uint64_t time_ns, uint64_t value);
static inline void prof_heat_add(struct prof *prof, uint64_t time_ns, uint64_t value)
{
	if (prof->heat)
		prof_heat_put(prof->heat, time_ns, value);
}
int prof_heat_write(struct prof *prof);
