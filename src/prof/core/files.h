// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a run reads and writes.
#pragma once
#include "prof/core/profiler.h"

// No two outputs, nor an output and what is pulled, are one file: -EINVAL with a sentence. Once the specs are parsed, before anything is
// opened.
int prof_files_check(const struct prof *prof);
