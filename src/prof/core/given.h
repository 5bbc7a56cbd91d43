// SPDX-License-Identifier: GPL-2.0-or-later
// The events that are given by -e, or by the profiler where there is no -e.
#pragma once
#include "prof/core/profiler.h"

// Adds them to prof. -errno with a sentence.
int prof_add_given(struct prof *prof);
