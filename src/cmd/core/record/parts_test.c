// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/record/parts.h"
#include "base/alloc.h"
#include "base/test.h"

enum { STACK_WORDS = 8 };

struct one_record {
	struct perf_event_header header;
	uint64_t words[64];
};

static struct one_record sample_of(uint64_t valid)
{
	struct one_record record = {
		.words = {1, 0x3000, PERF_SAMPLE_REGS_ABI_64, 70, 71, STACK_WORDS * 8}};
	size_t n = 6;

	for (uint64_t i = 0; i < STACK_WORDS; i++)
		record.words[n++] = 100 + i;
	record.words[n++] = valid;
	record.words[n++] = 4711; // WEIGHT
	record.header = (struct perf_event_header){.type = PERF_RECORD_SAMPLE,
						   .misc = 2,
						   .size = (uint16_t)(sizeof(record.header) + n * 8)};
	return record;
}

static void test_trim(void **state)
{
	const struct perf_event_attr attr = {.sample_type =
						     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
						     PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
					     .sample_regs_user = 3};
	static const uint64_t sizes[] = {0, 1, 8, 9, 40, STACK_WORDS * 8};
	struct sample_plan plan;

	sample_plan_init(&plan, &attr);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct one_record record = sample_of(sizes[i]), trimmed = {0};
		struct sample_parts parts;
		struct sample sample;

		assert_int_equal(sample_decode(&plan, &record.header, &sample), 0);
		assert_int_equal(sample.user_stack_size, sizes[i]);
		parts = sample_parts_find(&plan, &sample);
		size_t n = sample_parts_trim((uint8_t *)&trimmed, &record.header, &parts, sizes[i]);
		assert_int_equal(n, trimmed.header.size);
		assert_true(n <= record.header.size);
		assert_int_equal(sample_decode(&plan, &trimmed.header, &sample), 0);
		// What lies behind what is valid says nothing, and is not said to be valid.
		assert_int_equal(sample.user_stack_size, sizes[i]);
		assert_non_null(sample.user_stack);
		assert_memory_equal(sample.user_stack, &record.words[6], sizes[i]);
		assert_int_equal(sample.weight, 4711);
	}
}

RUN_TESTS(TEST(test_trim))
