// SPDX-License-Identifier: GPL-2.0-or-later
// The mmapped ring buffer of a perf event, read where it lies.
// Layout and barriers: include/uapi/linux/perf_event.h, struct perf_event_mmap_page.
#pragma once
#include "base/perf_event.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size; // of data, a power of two
	uint64_t tail;
	int fd; // borrowed
	int cpu;
	bool overwrite; // write_backward, read-only: newest records first
};

// Maps 1 + pages. -errno, no sentence (-EPERM: above the mlock limit).
int ring_map(struct ring *ring, int fd, size_t pages, bool overwrite);
void ring_unmap(struct ring *ring);

// What the kernel has written and we have not released: up to two pieces (the buffer's end cuts one in two, records
// included). Returns the bytes in all.
struct ring_pieces {
	const uint8_t *p[2];
	size_t n[2];
	uint64_t end; // for ring_release
};
size_t ring_read(struct ring *ring, struct ring_pieces *ret);
void ring_release(struct ring *ring, uint64_t end);
// Overwrite rings: the caller has paused the output (PERF_EVENT_IOC_PAUSE_OUTPUT); whole records, newest first.
size_t ring_read_backward(struct ring *ring, struct ring_pieces *ret);
