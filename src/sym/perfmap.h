// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /tmp/perf-PID.map, where JIT compilers tell what they made: "START SIZE name", both in hex; blanks may be tabs, and stand before it.
#pragma once
#include "base/str.h"
#include <stdint.h>

struct perfmap_line {
	uint64_t start, size;
	struct str name;
};

// The next line that makes sense; false at the end.
bool perfmap_next(struct str *rest, struct perfmap_line *ret);
