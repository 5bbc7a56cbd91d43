// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/perf_clock.h"
#include "base/test.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static void test_wall(void **state)
{
	const struct timespec pause = {0, 20000000};
	char before[17] = "", after[17] = "";
	struct perf_clock clock;
	int64_t offsets[2];
	uint64_t widths[2];

	if (perf_clock_open(&clock) < 0) {
		assert_int_equal(clock.fd, -1);
		skip();
	}
	prctl(PR_GET_NAME, before);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(perf_clock_wall(&clock, &offsets[i], &widths[i]), 0);
		assert_true(widths[i] < NSEC_PER_SEC);
		nanosleep(&pause, NULL);
	}
	prctl(PR_GET_NAME, after);
	assert_string_equal(before, after);
	// It began near the machine's start, and runs as the time of day does.
	int64_t began = (int64_t)(time_now_ns(CLOCK_REALTIME) - time_now_ns(CLOCK_BOOTTIME));
	assert_true(llabs(offsets[1] - offsets[0]) < (int64_t)(widths[0] + widths[1]) + 20000000);
	assert_true(offsets[0] > began - 60 * (int64_t)NSEC_PER_SEC);
	perf_clock_close(&clock);
	assert_int_equal(perf_clock_wall(&clock, &offsets[0], &widths[0]), -ENODATA);
}

RUN_TESTS(TEST(test_wall))
