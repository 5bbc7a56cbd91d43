// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "code/annotate.h"

enum { EVENTS = 300, START = 0x1000 };

static void count(struct annotate_counts *counts, struct symbol *symbol, uint32_t event,
		  uint64_t offset)
{
	const struct location location = {.sym = symbol, .addr = symbol->start + offset};

	annotate_counts_add(counts, event, &location, 100);
}

// Two instructions of four bytes.
static void make_lines(struct annotated *lines, uint32_t events_n)
{
	annotated_init(lines, events_n);
	lines->addr = START;
	for (uint32_t i = 0; i < 2; i++) {
		struct annotated_line *line = vec_add(&lines->lines);

		line->kind = ANNOTATED_INSTRUCTION;
		line->addr = START + 4 * i;
		line->size = 4;
		line->counts = arena_zalloc(&lines->arena, events_n * sizeof(*line->counts));
	}
	annotated_link(lines);
}

// No event's samples are another's, and none is left out.
static void test_many_events(void **state)
{
	struct annotate_counts *counts = annotate_counts_new(EVENTS);
	struct symbol symbol = {.start = START, .end = START + 8};
	struct annotated lines;

	for (uint32_t event = 0; event < EVENTS; event++) {
		for (uint32_t i = 0; i <= event; i++)
			count(counts, &symbol, event, 4);
	}
	count(counts, &symbol, EVENTS, 4); // there is no such event
	make_lines(&lines, EVENTS);
	annotator_recount(&(struct annotate_request){.symbol = &symbol, .counts = counts, .n = EVENTS},
			  &lines);
	for (uint32_t event = 0; event < EVENTS; event++) {
		assert_int_equal(annotate_counts_of(counts, &symbol, event).samples, event + 1);
		assert_int_equal(lines.totals[event].samples, event + 1);
		assert_int_equal(lines.lines.v[0].counts[event].samples, 0);
		assert_int_equal(lines.lines.v[1].counts[event].samples, event + 1);
		assert_int_equal(lines.lines.v[1].counts[event].period, 100 * (event + 1));
	}
	annotated_done(&lines);
	annotate_counts_free(counts);
}

// More columns than there are events from the first one on.
static void test_columns_beyond(void **state)
{
	struct annotate_counts *counts = annotate_counts_new(2);
	struct symbol symbol = {.start = START, .end = START + 8};
	struct annotate_request request = {.symbol = &symbol,
					   .counts = counts,
					   .first = 1,
					   .n = 1 << 16};
	struct annotated lines;

	count(counts, &symbol, 1, 0);
	make_lines(&lines, request.n);
	annotator_recount(&request, &lines);
	assert_int_equal(lines.totals[0].samples, 1);
	for (uint32_t i = 1; i < request.n; i++)
		assert_int_equal(lines.totals[i].samples, 0);
	annotated_done(&lines);
	annotate_counts_free(counts);
}

// What weighs nothing any more is not kept; what is left is found again.
static void test_decay(void **state)
{
	struct annotate_counts *counts = annotate_counts_new(2);
	struct symbol rare = {.start = START}, often = {.start = 2 * START};

	for (uint64_t offset = 0; offset < 1000; offset++)
		count(counts, &rare, 0, offset);
	for (uint64_t offset = 0; offset < 10; offset++)
		count(counts, &often, 1, offset);
	for (int i = 0; i < 1000; i++)
		count(counts, &often, 1, 7);
	for (int i = 0; i < 40; i++)
		annotate_counts_decay(counts, 7);
	assert_int_equal(counts->all.n, 1);
	assert_null(annotate_counts_find(counts, &rare));
	assert_int_equal(counts->all.v[0]->places.n, 1);
	assert_int_equal(annotate_counts_of(counts, &rare, 0).period, 0);
	count(counts, &often, 1, 7);
	count(counts, &often, 1, 3);
	assert_int_equal(counts->all.v[0]->places.n, 2);
	assert_int_equal(counts->all.v[0]->places.v[0].offset, 7);
	assert_true(counts->all.v[0]->places.v[0].count.samples > 1);
	annotate_counts_decay(counts, 0);
	assert_int_equal(counts->all.n, 0);
	annotate_counts_free(counts);
}

RUN_TESTS(TEST(test_many_events), TEST(test_columns_beyond), TEST(test_decay))
