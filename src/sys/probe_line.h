// SPDX-License-Identifier: GPL-2.0-or-later
// A line of tracefs's uprobe_events or kprobe_events: a probe that the kernel has. Format: Documentation/trace/uprobetracer.rst,
// kprobetrace.rst.
#pragma once
#include "base/str.h"
#include <stdint.h>

struct probe_line {
	bool is_uprobe, is_return;
	struct str group, event;
	struct str path; // of uprobes; of kprobes: the symbol
	uint64_t at;	 // bytes behind the beginning of either
	struct str args; // "name=... name=..."
};

// Parts of the line. False: it is none.
bool probe_line_parse(struct str line, bool is_uprobe, struct probe_line *ret);
