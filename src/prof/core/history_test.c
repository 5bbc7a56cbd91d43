// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/history.h"
#include "base/test.h"
#include <string.h>

static struct sample sample_of(void *room, uint16_t size, uint64_t time)
{
	struct perf_event_header *header = room;

	memset(room, (int)time, size);
	*header = (struct perf_event_header){.size = size};
	return (struct sample){.header = header, .time = time, .cpu = 3, .tid = 7};
}

static void test_bounded(void **state)
{
	struct history history;
	uint8_t room[512];
	uint64_t last = 0, n = 0, previous = 0;

	history_init(&history, 4096);
	for (uint64_t i = 1; i <= 1000; i++) {
		struct sample sample = sample_of(room, (uint16_t)(8 + i % 37 * 8), i);

		last = history_add(&history, (uint32_t)i, i * 2, &sample);
		assert_int_equal(history_at(&history, last)->time_ns, i);
		assert_true(history.to - history.from <= 4096);
	}
	for (uint64_t at = history.from; history_at(&history, at); at = history_next(&history, at)) {
		const struct history_entry *entry = history_at(&history, at);
		const uint8_t *bytes = (const uint8_t *)history_record(entry);

		if (previous)
			assert_int_equal(entry->time_ns, previous + 1);
		previous = entry->time_ns;
		assert_int_equal(entry->key, entry->time_ns * 2);
		assert_int_equal(history_record(entry)->size, 8 + entry->time_ns % 37 * 8);
		for (size_t k = 8; k < history_record(entry)->size; k++)
			assert_int_equal(bytes[k], (uint8_t)entry->time_ns);
		n++;
	}
	assert_int_equal(previous, 1000);
	assert_true(n > 5 && n < 100);
	assert_null(history_at(&history, 0)); // gave way
	history_done(&history);
}

RUN_TESTS(TEST(test_bounded))
