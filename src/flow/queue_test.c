// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "flow/queue.h"

struct seen {
	VEC(uint64_t) times;
	VEC(uint16_t) sizes;
};

static int note(void *arg, const struct queued *queued)
{
	struct seen *seen = arg;

	vec_push(&seen->times, queued->time);
	vec_push(&seen->sizes, queued->header->size);
	return 0;
}

struct kept {
	const struct perf_event_header *header;
	uint16_t size;
	size_t calls;
};

static int keep(void *arg, const struct queued *queued)
{
	((struct kept *)arg)->header = queued->header;
	return 0;
}

static int look(void *arg)
{
	struct kept *kept = arg;

	kept->size = kept->header->size;
	kept->calls++;
	return 0;
}

// Copies of what was given stay until `delivered` was called, however much room the round took.
static void keeps_copies_until_delivered(void **state)
{
	struct perf_event_header *header = xcalloc(1, 60000);
	struct queue queue = {.delivered = look};
	struct kept kept = {0};

	header->size = 60000;
	for (uint64_t i = 0; i < 100; i++)
		queue_add(&queue, i, &(struct record){.header = header}, NULL);
	assert_int_equal(queue_round(&queue, keep, &kept), 0);
	assert_int_equal(kept.calls, 0);
	assert_int_equal(queue_round(&queue, keep, &kept), 0);
	assert_int_equal(kept.calls, 1);
	assert_int_equal(kept.size, 60000);
	queue_done(&queue);
	free(header);
}

// Several runs with equal times: what came first in the file stays first.
static void merges_runs_stably(void **state)
{
	static const uint64_t times[] = {10, 20, 30, 5, 20, 25, 31, 1, 20, 40};
	struct perf_event_header headers[10];
	struct queue queue = {0};
	struct seen seen = {0};

	for (size_t i = 0; i < 10; i++) {
		headers[i] = (struct perf_event_header){.size = (uint16_t)(100 + i)};
		struct record record = {.header = &headers[i], .stable = true};
		queue_add(&queue, times[i], &record, NULL);
	}
	assert_int_equal(queue_finish(&queue, note, &seen), 0);
	static const uint64_t want[] = {1, 5, 10, 20, 20, 20, 25, 30, 31, 40};
	static const uint16_t sizes[] = {107, 103, 100, 101, 104, 108, 105, 102, 106, 109};
	assert_int_equal(seen.times.n, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_true(seen.times.v[i] == want[i]);
		assert_int_equal(seen.sizes.v[i], sizes[i]);
	}
	vec_done(&seen.times);
	vec_done(&seen.sizes);
	queue_done(&queue);
}

// A round lets out what the round before promised; records on loan are copied.
static void rounds(void **state)
{
	struct queue queue = {0};
	struct seen seen = {0};
	struct perf_event_header header = {.size = sizeof(header)};
	struct record record = {.header = &header};

	queue_add(&queue, 100, &record, NULL);
	queue_add(&queue, 50, &record, NULL);
	assert_int_equal(queue_round(&queue, note, &seen), 0);
	assert_int_equal(seen.times.n, 0);
	queue_add(&queue, 150, &record, NULL);
	queue_add(&queue, 70, &record, NULL);
	header.size = 1; // the loan is over
	assert_int_equal(queue_round(&queue, note, &seen), 0);
	assert_int_equal(seen.times.n, 3);
	assert_true(seen.times.v[0] == 50 && seen.times.v[1] == 70 && seen.times.v[2] == 100);
	assert_int_equal(seen.sizes.v[2], sizeof(header));
	header.size = sizeof(header);
	queue_add(&queue, 60, &record, NULL);
	assert_int_equal(queue.late_n, 1);
	assert_int_equal(queue_finish(&queue, note, &seen), 0);
	assert_int_equal(seen.times.n, 5);
	assert_true(seen.times.v[3] == 60 && seen.times.v[4] == 150);
	vec_done(&seen.times);
	vec_done(&seen.sizes);
	queue_done(&queue);
}

// Random rounds against what must hold: nothing is lost, and within what a round lets out times rise.
static void random_rounds(void **state)
{
	struct queue queue = {0};
	struct seen seen = {0};
	struct perf_event_header header = {.size = sizeof(header)};
	struct record record = {.header = &header, .stable = true};
	uint64_t random = 7, base = 1000, added = 0;

	for (int round = 0; round < 200; round++) {
		size_t before = seen.times.n;

		for (int ring = 0; ring < 4; ring++) {
			uint64_t time = base;

			for (int i = 0; i < 20; i++) {
				random = random * 6364136223846793005ull + 1442695040888963407ull;
				time += random >> 60;
				queue_add(&queue, time, &record, NULL);
				added++;
			}
		}
		base += 400;
		queue_round(&queue, note, &seen);
		for (size_t i = before + 1; i < seen.times.n; i++)
			assert_true(seen.times.v[i] >= seen.times.v[i - 1]);
	}
	queue_finish(&queue, note, &seen);
	assert_int_equal(seen.times.n, added);
	vec_done(&seen.times);
	vec_done(&seen.sizes);
	queue_done(&queue);
}

RUN_TESTS(TEST(merges_runs_stably), TEST(rounds), TEST(random_rounds),
	  TEST(keeps_copies_until_delivered))
