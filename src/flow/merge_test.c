// SPDX-License-Identifier: GPL-2.0-or-later
// Over rings in memory, filled as the kernel does.
#include "flow/merge.h"
#include "base/alloc.h"
#include "base/test.h"
#include <string.h>

enum { RINGS = 5, SIZE = 4096, MOST = 4096 };

struct body {
	struct perf_event_header header;
	uint64_t time, ring, number;
};

struct world {
	struct ring rings[RINGS];
	struct perf_event_mmap_page pages[RINGS];
	uint64_t numbers[RINGS]; // written so far
	struct merge merge;
	struct body given[MOST];
	size_t given_n;
	int stop_after;
};

static uint64_t look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	*ret_what = arg;
	return ((const struct body *)header)->time;
}

static int give(void *arg, const struct perf_event_header *header, uint64_t time, void *what)
{
	struct world *w = arg;

	assert_ptr_equal(what, arg);
	assert_true(w->given_n < MOST);
	memcpy(&w->given[w->given_n++], header, sizeof(struct body));
	return w->stop_after && --w->stop_after == 0;
}

static void init(struct world *w, bool ordered)
{
	memset(w, 0, sizeof(*w));
	for (int i = 0; i < RINGS; i++)
		w->rings[i] =
			(struct ring){.page = &w->pages[i], .data = xcalloc(1, SIZE), .size = SIZE};
	merge_init(&w->merge, w->rings, RINGS);
	w->merge.ordered = ordered;
	w->merge.look = look;
	w->merge.give = give;
	w->merge.arg = w;
}

static void done(struct world *w)
{
	for (int i = 0; i < RINGS; i++)
		free(w->rings[i].data);
	merge_done(&w->merge);
}

// Records of 32 bytes plus `more`, so that the end cuts some.
static bool put(struct world *w, int ring, uint64_t time, size_t more)
{
	struct body body = {{.type = 9, .size = (uint16_t)(sizeof(body) + more)},
			    time,
			    (uint64_t)ring,
			    w->numbers[ring]};
	uint64_t head = w->pages[ring].data_head;

	if (head + body.header.size - w->pages[ring].data_tail > SIZE)
		return false;
	for (size_t i = 0; i < body.header.size; i++)
		w->rings[ring].data[(head + i) % SIZE] =
			i < sizeof(body) ? ((uint8_t *)&body)[i] : 0xee;
	w->pages[ring].data_head = head + body.header.size;
	w->numbers[ring]++;
	return true;
}

static void check_order(const struct world *w)
{
	uint64_t next[RINGS] = {0};

	for (size_t i = 0; i < w->given_n; i++) {
		const struct body *b = &w->given[i];

		if (i && w->merge.ordered)
			assert_true(b->time >= w->given[i - 1].time);
		assert_int_equal(b->number, next[b->ring]++); // none twice, none left out
	}
}

static void test_waits_for_the_others(void **state)
{
	struct world *w = NEW(struct world);

	init(w, true);
	put(w, 0, 10, 0);
	put(w, 0, 30, 0);
	put(w, 1, 20, 0);
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 0); // a third ring may still bring 5
	assert_true(merge_waits(&w->merge));
	put(w, 2, 15, 0);
	put(w, 2, 40, 0);
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 4); // up to 30, what was there the round before
	assert_int_equal(w->given[3].time, 30);
	merge_round(&w->merge, true);
	assert_int_equal(w->given_n, 5);
	check_order(w);
	assert_int_equal(w->merge.late_n, 0);
	done(w);
	free(w);
}

static void test_holds(void **state)
{
	struct world *w = NEW(struct world);
	uint64_t time = 50;

	init(w, true);
	put(w, 0, 10, 0);
	put(w, 0, 20, 0);
	put(w, 1, 30, 0);
	w->merge.hold_ns = 20; // who is far away has told what it saw before
	merge_round(&w->merge, false);
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 1);
	assert_true(merge_waits(&w->merge));
	w->merge.hold_ns = 31;
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 3);
	// Room for what is to come is worth more than the order.
	w->merge.hold_ns = 40;
	put(w, 0, time, 0);
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 3);
	while (w->pages[0].data_head - w->pages[0].data_tail <= SIZE * 3 / 4)
		put(w, 0, ++time, 0);
	merge_round(&w->merge, false);
	merge_round(&w->merge, false);
	assert_true(w->given_n > 40);
	w->merge.hold_ns = 41;
	put(w, 0, ++time, 0);
	merge_round(&w->merge, true);
	check_order(w);
	assert_int_equal(w->given[w->given_n - 1].time, time);
	done(w);
	free(w);
}

static void test_random(void **state)
{
	struct world *w = NEW(struct world);
	uint64_t seed = 7, time = 100, put_n = 0;

	for (int ordered = 0; ordered < 2; ordered++) {
		init(w, ordered);
		for (int i = 0; i < 3000; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			// Equal times happen.
			time += (seed >> 40) % 3;
			put_n += put(w, (int)((seed >> 33) % RINGS), time, (seed >> 50) % 9 * 8);
			if ((seed >> 20) % 17 == 0)
				merge_round(&w->merge, false);
		}
		merge_round(&w->merge, true);
		assert_int_equal(w->given_n, put_n);
		check_order(w);
		for (int i = 0; i < RINGS; i++)
			assert_int_equal(w->pages[i].data_tail, w->pages[i].data_head);
		assert_int_equal(w->merge.late_n, 0);
		done(w);
		put_n = 0;
	}
	free(w);
}

static void test_broken_and_stopped(void **state)
{
	struct world *w = NEW(struct world);
	struct perf_event_header broken = {.type = 9, .size = 4};

	init(w, true);
	put(w, 0, 10, 0);
	memcpy(w->rings[0].data + w->pages[0].data_head, &broken, sizeof(broken));
	w->pages[0].data_head += 64;
	put(w, 1, 20, 0);
	put(w, 1, 30, 0);
	merge_round(&w->merge, false);
	merge_round(&w->merge, false);
	assert_int_equal(w->given_n, 3);
	assert_int_equal(w->merge.broken_n, 1);
	assert_int_equal(w->pages[0].data_tail, w->pages[0].data_head);
	w->stop_after = 1;
	put(w, 1, 40, 0);
	put(w, 1, 50, 0);
	assert_int_equal(merge_round(&w->merge, true), 1);
	assert_int_equal(w->given_n, 4);
	done(w);
	free(w);
}

RUN_TESTS(TEST(test_waits_for_the_others), TEST(test_holds), TEST(test_random),
	  TEST(test_broken_and_stopped))
