// SPDX-License-Identifier: GPL-2.0-or-later
// kprobe:FUNC[+OFFSET], kretprobe:FUNC, uprobe:FUNC[+OFFSET]@"FILE", uretprobe:FUNC@"FILE": probes that belong to their perf event
// alone (Linux 4.17), so that they end with us, however we end.
#pragma once
#include "base/arena.h"
#include "base/perf_event.h"
#include "base/str.h"
#include <stdbool.h>

bool probe_is(const char *name);
// The attr, whose texts lie in the arena, and the name that the event goes by ("uprobe:FUNC"). -errno with a sentence: no such
// file or function, a kernel without such probes.
int probe_attr(struct arena *arena, const char *text, struct perf_event_attr *ret,
	       const char **ret_name);
