// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/ring.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *ring, int fd, size_t pages, bool overwrite)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (pages + 1) * page, PROT_READ | (overwrite ? 0 : PROT_WRITE),
		       MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ring = (struct ring){.page = p,
			      .data = (uint8_t *)p + page,
			      .size = pages * page,
			      .fd = fd,
			      .overwrite = overwrite};
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size + (size_t)(ring->data - (uint8_t *)ring->page));
	ring->page = NULL;
}

static size_t cut(const struct ring *ring, uint64_t from, uint64_t n, struct ring_pieces *ret)
{
	size_t at = from & (ring->size - 1), first = ring->size - at;

	if (first > n)
		first = n;
	ret->p[0] = ring->data + at;
	ret->n[0] = first;
	ret->p[1] = ring->data;
	ret->n[1] = n - first;
	return n;
}

size_t ring_read(struct ring *ring, struct ring_pieces *ret)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	ret->end = head;
	return cut(ring, ring->tail, head - ring->tail, ret);
}

void ring_release(struct ring *ring, uint64_t end)
{
	ring->tail = end;
	__atomic_store_n(&ring->page->data_tail, end, __ATOMIC_RELEASE);
}

size_t ring_read_backward(struct ring *ring, struct ring_pieces *ret)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), n = 0;

	// head moves down; records follow it upwards until the oldest whole one.
	while (n + sizeof(struct perf_event_header) <= ring->size) {
		struct perf_event_header header;

		if (ring->tail && head + n == ring->tail)
			break;
		memcpy(&header, ring->data + ((head + n) & (ring->size - 1)), sizeof(header));
		if (!header.size || n + header.size > ring->size)
			break;
		n += header.size;
	}
	ret->end = head;
	return cut(ring, head, n, ret);
}
