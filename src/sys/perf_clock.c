// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/perf_clock.h"
#include "base/time.h"
#include "sys/perf.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 5, NAME_SIZE = 16 };

int perf_clock_open(struct perf_clock *clock)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.comm = 1,
		.sample_id_all = 1,
	};
	struct perf_missing missing = {0};
	const struct perf_open_at self = {.pid = 0, .cpu = -1, .group_fd = -1};
	int fd = perf_open_any(&missing, &attr, &self), err;

	clock->fd = -1;
	if (fd < 0)
		return fd;
	err = ring_map(&clock->ring, fd, 1, false);
	if (err < 0) {
		close(fd);
		return err;
	}
	clock->fd = fd;
	return 0;
}

// The time of the record that comes of this thread's name being set to what it is; 0: none came.
static uint64_t look(struct perf_clock *clock, const char *name)
{
	struct perf_event_header header;
	struct ring_pieces pieces;
	uint8_t bytes[256];
	uint64_t time_ns = 0;
	size_t n;

	n = ring_read(&clock->ring, &pieces);
	ring_release(&clock->ring, pieces.end);
	if (prctl(PR_SET_NAME, name) < 0)
		return 0;
	n = ring_read(&clock->ring, &pieces);
	if (n <= sizeof(bytes)) {
		memcpy(bytes, pieces.p[0], pieces.n[0]);
		memcpy(bytes + pieces.n[0], pieces.p[1], pieces.n[1]);
		for (size_t at = 0; at + sizeof(header) <= n; at += header.size) {
			memcpy(&header, bytes + at, sizeof(header));
			if (header.size < sizeof(header) + sizeof(time_ns) || header.size > n - at)
				break;
			// what identifies a record is its end
			if (header.type == PERF_RECORD_COMM)
				memcpy(&time_ns, bytes + at + header.size - sizeof(time_ns),
				       sizeof(time_ns));
		}
	}
	ring_release(&clock->ring, pieces.end);
	return time_ns;
}

int perf_clock_wall(struct perf_clock *clock, int64_t *ret_offset_ns, uint64_t *ret_width_ns)
{
	char name[NAME_SIZE + 1] = "";
	uint64_t narrowest = UINT64_MAX;

	if (clock->fd < 0 || prctl(PR_GET_NAME, name) < 0)
		return -ENODATA;
	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = time_now_ns(CLOCK_REALTIME), time_ns = look(clock, name);
		uint64_t after = time_now_ns(CLOCK_REALTIME);

		// less: the time of day was set back
		if (!time_ns || after < before || after - before >= narrowest)
			continue;
		narrowest = after - before;
		*ret_offset_ns = (int64_t)(before + narrowest / 2 - time_ns);
	}
	if (narrowest == UINT64_MAX)
		return -ENODATA;
	*ret_width_ns = narrowest;
	return 0;
}

void perf_clock_close(struct perf_clock *clock)
{
	if (clock->fd < 0)
		return;
	ring_unmap(&clock->ring);
	close(clock->fd);
	clock->fd = -1;
}
