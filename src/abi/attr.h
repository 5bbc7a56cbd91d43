// SPDX-License-Identifier: GPL-2.0-or-later
// struct perf_event_attr beyond its fields: sizes of every age, swapping, names.
#pragma once
#include "base/out.h"
#include "base/perf_event.h"

// Reads an attr of `size` bytes of any age (PERF_ATTR_SIZE_VER0 = 64 up to unknown larger ones): what is
// missing is 0, what we don't know is ignored. `swap`: other byte order (bit fields included).
// ret->size becomes size as read. -EINVAL below 64 bytes.
int attr_read(struct perf_event_attr *ret, const void *p, size_t size, bool swap);
// An attr of the other byte order becomes native, in place.
void attr_swap(struct perf_event_attr *attr);

// The canonical name of hardware, software, cache, raw and breakpoint events as perf makes it from type and config ("cycles",
// "L1-dcache-load-misses", "cpu-clock", "raw 0x1a8", "mem:0x..."), with ":uHG.."-like modifiers from exclude
// bits and precise_ip. For events that have no stored name. buf gets it, cut if need be; returns buf.
char *attr_name(const struct perf_event_attr *attr, char *buf, size_t size);

// The fields that are not 0 in the text form of perf evlist -v: "type: 1, size: 136, config: 0x2, ...".
void attr_print(struct out *out, const struct perf_event_attr *attr);
