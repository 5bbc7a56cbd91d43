// SPDX-License-Identifier: GPL-2.0-or-later
// kprobe:FUNC[+OFFSET], kretprobe:FUNC, uprobe:FUNC[+OFFSET]@"FILE", uretprobe:FUNC@"FILE", usdt:PROVIDER:NAME@"FILE": probes that belong to
// their perf event alone (Linux 4.17), so that they end with us, however we end. Such an event must not be inherited: the kernel reads
// its texts again in each task that a watched one starts, from that task's memory, and lets fork and clone fail (EFAULT) when they aren't
// there (kernel/events/core.c, inherit_event; trace_event_perf.c, perf_uprobe_init). Those are made by event_dynamic.
#pragma once
#include "base/arena.h"
#include "base/perf_event.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

bool event_probe_is(const char *name);
struct event_probe {
	struct perf_event_attr attr; // its texts lie in the arena
	const char *name;	     // that the event goes by: "uprobe:FUNC", "usdt:PROVIDER:NAME"
	const char *fetch; // what a static probe's arguments are fetched by, "" or NULL: it has none that can be
	bool in_kernel, at_return;
	uint64_t counter; // where its counter of users lies in the file; 0: none
};

// What a text stands for: one probe, or each place of a static probe. The result lies in the arena; *ret_n > 0. -errno with a sentence: no
// such file, function or static probe, a kernel without such probes.
int event_probe_find(struct arena *arena, const char *text, struct event_probe **ret, size_t *ret_n);
