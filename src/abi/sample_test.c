// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/sample.h"
#include "base/test.h"
#include <errno.h>
#include <string.h>

struct builder {
	uint64_t words[256];
	size_t n;
};

static void add(struct builder *b, uint64_t v)
{
	b->words[b->n++] = v;
}

static struct perf_event_header *finish(struct builder *b, uint32_t type)
{
	struct perf_event_header *header = (void *)b->words;

	*header = (struct perf_event_header){.type = type, .misc = 2, .size = (uint16_t)(b->n * 8)};
	return header;
}

#define PAIR(low, high) ((uint64_t)(high) << 32 | (low))

static void test_everything(void **state)
{
	(void)state;
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_MAX - 1 - PERF_SAMPLE_WEIGHT,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
			       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | 1u << 19,
		.sample_regs_user = 5,
		.sample_regs_intr = 1,
		.sample_id_all = 1,
	};
	struct builder b = {.n = 1};
	struct sample_plan plan;
	struct sample s;
	struct sample_read read;
	uint32_t pos = 0;

	add(&b, 41);	       // IDENTIFIER
	add(&b, 0x1000);       // IP
	add(&b, PAIR(10, 11)); // TID
	add(&b, 1234);	       // TIME
	add(&b, 0x2000);       // ADDR
	add(&b, 42);	       // ID
	add(&b, 43);	       // STREAM_ID
	add(&b, PAIR(3, 0));   // CPU
	add(&b, 4000);	       // PERIOD
	add(&b, 2);	       // READ
	add(&b, 100);
	add(&b, 50);
	for (uint64_t i = 0; i < 6; i++)
		add(&b, 1000 + i);
	add(&b, 2); // CALLCHAIN
	add(&b, 0x3000);
	add(&b, 0x3001);
	add(&b, PAIR(12, 0x64636261)); // RAW: 12 bytes
	add(&b, 0x6c6b6a6968676665);
	add(&b, 1); // BRANCH_STACK
	add(&b, 7);
	add(&b, 0x10);
	add(&b, 0x20);
	add(&b, 1);
	add(&b, 99); // counters
	add(&b, 2);  // REGS_USER
	add(&b, 0xa);
	add(&b, 0xb);
	add(&b, 16); // STACK_USER
	add(&b, 0x5555);
	add(&b, 0);
	add(&b, 8);
	add(&b, 0x77); // WEIGHT_STRUCT
	add(&b, 0x88); // DATA_SRC
	add(&b, 0x99); // TRANSACTION
	add(&b, 1);    // REGS_INTR
	add(&b, 0xc);
	add(&b, 0xaaa); // PHYS_ADDR
	add(&b, 0xbbb); // CGROUP
	add(&b, 0xccc); // DATA_PAGE_SIZE
	add(&b, 0xddd); // CODE_PAGE_SIZE
	add(&b, 8);	// AUX
	add(&b, 0xeee);

	struct perf_event_header *header = finish(&b, PERF_RECORD_SAMPLE);

	sample_plan_init(&plan, &attr);
	assert_int_equal(sample_decode(&plan, header, &s), 0);
	assert_int_equal(s.cpumode, 2);
	assert_int_equal(s.id, 42);
	assert_int_equal(s.ip, 0x1000);
	assert_int_equal(s.pid, 10);
	assert_int_equal(s.tid, 11);
	assert_int_equal(s.time, 1234);
	assert_int_equal(s.addr, 0x2000);
	assert_int_equal(s.stream_id, 43);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 4000);
	assert_int_equal(s.read_words, 9);
	assert_true(sample_read_next(&plan, &s, &pos, &read));
	assert_int_equal(read.value, 1000);
	assert_int_equal(read.id, 1001);
	assert_int_equal(read.lost, 1002);
	assert_int_equal(read.time_enabled, 100);
	assert_int_equal(read.time_running, 50);
	assert_true(sample_read_next(&plan, &s, &pos, &read));
	assert_int_equal(read.value, 1003);
	assert_int_equal(read.time_running, 50);
	assert_false(sample_read_next(&plan, &s, &pos, &read));
	assert_int_equal(s.callchain_n, 2);
	assert_int_equal(s.callchain[1], 0x3001);
	assert_int_equal(s.raw_size, 12);
	assert_memory_equal(s.raw, "abcdefghijkl", 12);
	assert_int_equal(s.branch_n, 1);
	assert_int_equal(s.branch_hw_idx, 7);
	assert_int_equal(s.branches[0].to, 0x20);
	assert_int_equal(s.branch_counters[0], 99);
	assert_int_equal(s.user_abi, 2);
	assert_int_equal(s.user_regs[1], 0xb);
	assert_int_equal(s.user_stack_size, 8);
	assert_int_equal(s.user_stack[0], 0x55);
	assert_int_equal(s.weight, 0x77);
	assert_int_equal(s.data_src, 0x88);
	assert_int_equal(s.transaction, 0x99);
	assert_int_equal(s.intr_abi, 1);
	assert_int_equal(s.intr_regs[0], 0xc);
	assert_int_equal(s.phys_addr, 0xaaa);
	assert_int_equal(s.cgroup, 0xbbb);
	assert_int_equal(s.data_page_size, 0xccc);
	assert_int_equal(s.code_page_size, 0xddd);
	assert_int_equal(s.aux_size, 8);
	assert_int_equal(*(const uint64_t *)s.aux, 0xeee);
	assert_int_equal(sample_id_offset(&attr), 8);
	assert_int_equal(trailer_id_offset(&attr), -8);

	// Cut at any word it is refused.
	for (unsigned n = 8; n < b.n * 8; n += 8) {
		header->size = (uint16_t)n;
		assert_int_equal(sample_decode(&plan, header, &s), -EFAULT);
	}
}

static void test_minimal(void **state)
{
	(void)state;
	const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP, .sample_period = 17};
	struct builder b = {.n = 1};
	struct sample_plan plan;
	struct sample s;

	add(&b, 0x1000);
	sample_plan_init(&plan, &attr);
	assert_int_equal(sample_decode(&plan, finish(&b, PERF_RECORD_SAMPLE), &s), 0);
	assert_int_equal(s.ip, 0x1000);
	assert_true(s.id == UINT64_MAX && s.time == UINT64_MAX && s.branch_hw_idx == UINT64_MAX);
	assert_true(s.pid == UINT32_MAX && s.tid == UINT32_MAX && s.cpu == UINT32_MAX);
	assert_int_equal(s.period, 17);
	assert_int_equal(sample_id_offset(&attr), 0);
	assert_int_equal(trailer_id_offset(&attr), 0);
}

// Sizes near the top of u64 must not wrap.
static void test_absurd_counts(void **state)
{
	(void)state;
	static const uint64_t bits[] = {PERF_SAMPLE_READ,	PERF_SAMPLE_CALLCHAIN,
					PERF_SAMPLE_RAW,	PERF_SAMPLE_BRANCH_STACK,
					PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX};
	static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 8 + 1, UINT64_MAX / 24 + 1,
					  1ull << 61, 0xfffffff8,	  0x7ffffffffffffff8};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			const struct perf_event_attr attr = {
				.sample_type = bits[i],
				.read_format = PERF_FORMAT_GROUP,
			};
			struct builder b = {.n = 1};
			struct sample_plan plan;
			struct sample s;

			// RAW has a count of 32 bits
			add(&b, bits[i] == PERF_SAMPLE_RAW ? counts[k] | 0xfffff000 : counts[k]);
			add(&b, 1);
			sample_plan_init(&plan, &attr);
			assert_int_equal(sample_decode(&plan, finish(&b, PERF_RECORD_SAMPLE), &s),
					 -EFAULT);
		}
	}
}

static void test_trailer(void **state)
{
	(void)state;
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID,
		.sample_id_all = 1,
	};
	struct builder b = {.n = 1};
	struct sample_plan plan;
	struct sample s;

	add(&b, 1); // LOST_SAMPLES
	add(&b, PAIR(10, 11));
	add(&b, 1234);
	add(&b, 42);
	add(&b, 43);
	add(&b, PAIR(3, 0));

	struct perf_event_header *header = finish(&b, PERF_RECORD_LOST_SAMPLES);

	sample_plan_init(&plan, &attr);
	sample_decode_trailer(&plan, header, &s);
	assert_int_equal(s.pid, 10);
	assert_int_equal(s.tid, 11);
	assert_int_equal(s.time, 1234);
	assert_int_equal(s.id, 42);
	assert_int_equal(s.stream_id, 43);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(trailer_id_offset(&attr), -24);
	assert_int_equal(sample_id_offset(&attr), 32);
	header->size = 32;
	sample_decode_trailer(&plan, header, &s);
	assert_true(s.time == UINT64_MAX && s.pid == UINT32_MAX);
	header->size = (uint16_t)(b.n * 8);
	header->type = 68; // perf's own records have none
	sample_decode_trailer(&plan, header, &s);
	assert_true(s.time == UINT64_MAX);
}

// A KSYMBOL that is longer than right by two trailers, as Linux makes it for three listeners.
static void test_overlong(void **state)
{
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
		.sample_id_all = 1,
	};
	struct builder b = {.n = 1};
	struct sample_plan plan;
	struct sample s;

	add(&b, 0xffffffffc0000000);
	add(&b, PAIR(64, 1));
	add(&b, 0x676f72705f667062); // bpf_prog, the NUL in a word of its own
	add(&b, 0);
	add(&b, PAIR(10, 11));
	add(&b, 1234);
	add(&b, 42);
	for (int i = 0; i < 6; i++)
		add(&b, 0xdeadbeef);

	const struct perf_event_header *header = finish(&b, PERF_RECORD_KSYMBOL);

	sample_plan_init(&plan, &attr);
	sample_decode_trailer(&plan, header, &s);
	assert_int_equal(s.pid, 10);
	assert_int_equal(s.tid, 11);
	assert_int_equal(s.time, 1234);
	assert_int_equal(s.id, 42);
	assert_int_equal(sample_plan_time(&plan, header), 1234);
}

RUN_TESTS(TEST(test_everything), TEST(test_minimal), TEST(test_absurd_counts), TEST(test_trailer),
	  TEST(test_overlong))
