// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/record.h"
#include "abi/attr.h"
#include "base/test.h"
#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// Writes the same record in either byte order.
struct writer {
	uint64_t words[512];
	size_t n;
	bool swapped;
};

static uint8_t *at(struct writer *w)
{
	return (uint8_t *)w->words + w->n;
}
static void u16(struct writer *w, uint16_t v)
{
	v = w->swapped ? bswap_16(v) : v;
	memcpy(at(w), &v, 2);
	w->n += 2;
}
static void u32(struct writer *w, uint32_t v)
{
	v = w->swapped ? bswap_32(v) : v;
	memcpy(at(w), &v, 4);
	w->n += 4;
}
static void u64(struct writer *w, uint64_t v)
{
	v = w->swapped ? bswap_64(v) : v;
	memcpy(at(w), &v, 8);
	w->n += 8;
}
static void bytes(struct writer *w, const char *p, size_t n)
{
	memcpy(at(w), p, n);
	w->n += n;
}
static void text(struct writer *w, const char *p)
{
	bytes(w, p, strlen(p) + 1);
	while (w->n % 8)
		w->n++;
}
static void begin(struct writer *w, bool swapped, uint32_t type, uint16_t misc)
{
	memset(w, 0, sizeof(*w));
	w->swapped = swapped;
	u32(w, type);
	u16(w, misc);
	u16(w, 0);
}
static struct perf_event_header *end(struct writer *w)
{
	size_t n = w->n;

	w->n = 6;
	u16(w, (uint16_t)n);
	w->n = n;
	return (struct perf_event_header *)w->words;
}

static void trailer(struct writer *w) // TID, TIME, CPU, IDENTIFIER
{
	u32(w, 0x11223344);
	u32(w, 0x55667788);
	u64(w, 0x0102030405060708);
	u32(w, 0xcafe);
	u32(w, 0);
	u64(w, 77);
}

static const struct perf_event_attr trailer_attr = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	.sample_id_all = 1,
};

static void build_mmap(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	u64(w, 0x400000);
	u64(w, 0x1000);
	u64(w, 0x2000);
	text(w, "/bin/true");
}
static void build_mmap2(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	u64(w, 0x400000);
	u64(w, 0x1000);
	u64(w, 0x2000);
	u32(w, 8);
	u32(w, 1);
	u64(w, 12345);
	u64(w, 99);
	u32(w, 5);
	u32(w, 2);
	text(w, "/usr/lib/libc.so.6");
}
static void build_mmap2_build_id(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	u64(w, 0x400000);
	u64(w, 0x1000);
	u64(w, 0x2000);
	bytes(w, "\x14\0\0\0abcdefghijklmnopqrst", 24);
	u32(w, 5);
	u32(w, 2);
	text(w, "x");
}
static void build_comm(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	text(w, "bash");
}
static void build_fork(struct writer *w)
{
	for (uint32_t i = 1; i < 5; i++)
		u32(w, i);
	u64(w, 0x123456789);
}
static void build_namespaces(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	u64(w, 2);
	for (uint64_t i = 0; i < 4; i++)
		u64(w, i * 0x10001);
}
static void build_ksymbol(struct writer *w)
{
	u64(w, 0xffffffff81000000);
	u32(w, 64);
	u16(w, 1);
	u16(w, 2);
	text(w, "bpf_prog_1234_x");
}
static void build_bpf(struct writer *w)
{
	u16(w, 1);
	u16(w, 2);
	u32(w, 3);
	bytes(w, "abcdefgh", 8);
}
static void build_cgroup(struct writer *w)
{
	u64(w, 44);
	text(w, "/system.slice");
}
static void build_text_poke(struct writer *w)
{
	u64(w, 0xffffffff81000000);
	u16(w, 5);
	u16(w, 5);
	bytes(w, "0123456789\0\0", 10);
	while (w->n % 8)
		w->n++;
}
static void build_read(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
	u64(w, 100);
	u64(w, 5);
}
static void build_u64s(struct writer *w)
{
	for (uint64_t i = 1; i < 4; i++)
		u64(w, i << 33 | i);
}
static void build_two_u64s(struct writer *w)
{
	u64(w, 1ull << 40);
	u64(w, 3);
}
static void build_one_u64(struct writer *w)
{
	u64(w, 1ull << 40);
}
static void build_pair(struct writer *w)
{
	u32(w, 1);
	u32(w, 2);
}
static void build_nothing(struct writer *w)
{
	(void)w;
}

struct type_case {
	uint32_t type;
	uint16_t misc;
	void (*build)(struct writer *w);
};

static void test_swap_kernel_records(void **state)
{
	(void)state;
	static const struct type_case cases[] = {
		{PERF_RECORD_MMAP, 1, build_mmap},
		{PERF_RECORD_MMAP2, 1, build_mmap2},
		{PERF_RECORD_MMAP2, 1 << 14, build_mmap2_build_id},
		{PERF_RECORD_COMM, 0, build_comm},
		{PERF_RECORD_FORK, 0, build_fork},
		{PERF_RECORD_EXIT, 0, build_fork},
		{PERF_RECORD_LOST, 0, build_two_u64s},
		{PERF_RECORD_THROTTLE, 0, build_u64s},
		{PERF_RECORD_UNTHROTTLE, 0, build_u64s},
		{PERF_RECORD_READ, 0, build_read},
		{PERF_RECORD_AUX, 0, build_u64s},
		{PERF_RECORD_ITRACE_START, 0, build_pair},
		{PERF_RECORD_LOST_SAMPLES, 0, build_one_u64},
		{PERF_RECORD_SWITCH, 1 << 13, build_nothing},
		{PERF_RECORD_SWITCH_CPU_WIDE, 0, build_pair},
		{PERF_RECORD_NAMESPACES, 0, build_namespaces},
		{PERF_RECORD_KSYMBOL, 0, build_ksymbol},
		{PERF_RECORD_BPF_EVENT, 0, build_bpf},
		{PERF_RECORD_CGROUP, 0, build_cgroup},
		{PERF_RECORD_TEXT_POKE, 0, build_text_poke},
		{SONDE_RECORD_AUX_OUTPUT_HW_ID, 0, build_one_u64},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer ours, theirs;

		for (int swapped = 0; swapped < 2; swapped++) {
			struct writer *w = swapped ? &theirs : &ours;

			begin(w, swapped, cases[i].type, cases[i].misc);
			cases[i].build(w);
			trailer(w);
			end(w);
		}
		assert_int_equal(record_swap((void *)theirs.words, &trailer_attr), 0);
		assert_memory_equal(theirs.words, ours.words, ours.n);
		assert_true(record_is_whole((void *)ours.words));
	}
}

// Two events more listened: so many bytes of the kernel's stack stand behind the trailer.
static void test_overlong(void **state)
{
	static const struct type_case cases[] = {
		{PERF_RECORD_KSYMBOL, 0, build_ksymbol},
		{PERF_RECORD_BPF_EVENT, 0, build_bpf},
		{PERF_RECORD_TEXT_POKE, 0, build_text_poke},
	};
	enum { TRAILER = 32 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int left_over = 0; left_over <= 2 * TRAILER; left_over += 8) {
			struct writer ours, theirs;
			struct perf_event_header *header;
			size_t whole = 0;

			for (int swapped = 0; swapped < 2; swapped++) {
				struct writer *w = swapped ? &theirs : &ours;

				begin(w, swapped, cases[i].type, cases[i].misc);
				cases[i].build(w);
				trailer(w);
				whole = w->n;
				memset(at(w), 0xa5, (size_t)left_over);
				w->n += (size_t)left_over;
				end(w);
			}
			header = (void *)ours.words;
			// What isn't whole trailers isn't understood.
			if (left_over % TRAILER) {
				assert_int_equal(record_end(header, TRAILER), header->size);
				continue;
			}
			assert_int_equal(record_end(header, TRAILER), whole);
			assert_int_equal(record_end_of((void *)theirs.words, TRAILER, true), whole);
			assert_int_equal(record_end(header, 0), header->size);
			assert_int_equal(record_swap((void *)theirs.words, &trailer_attr), 0);
			assert_memory_equal(theirs.words, ours.words, ours.n);
		}
	}
}

static void build_sample(struct writer *w)
{
	u64(w, 5);		    // IDENTIFIER
	u64(w, 0xffffffff81001234); // IP
	u32(w, 10);		    // TID
	u32(w, 11);
	u64(w, 123456789); // TIME
	u32(w, 3);	   // CPU
	u32(w, 0);
	u64(w, 4000); // PERIOD
	u64(w, 2);    // READ, group
	u64(w, 100);
	u64(w, 1);
	u64(w, 200);
	u64(w, 2);
	u64(w, 3); // CALLCHAIN
	u64(w, (uint64_t)-512);
	u64(w, 0x401000);
	u64(w, 0x402000);
	u32(w, 12); // RAW
	bytes(w, "abcdefghijkl", 12);
	u64(w, 1); // BRANCH_STACK
	u64(w, 0x1000);
	u64(w, 0x2000);
	if (w->swapped) // from the top: mispred 1, predicted 0, in_tx 0, abort 0, cycles 9, type 5
		u64(w, 1ull << 63 | 9ull << 44 | 5ull << 40);
	else
		u64(w, 1 | 9 << 4 | 5 << 20);
	u64(w, 2); // REGS_USER
	u64(w, 7);
	u64(w, 8);
	u64(w, 16); // STACK_USER
	bytes(w, "0123456789abcdef", 16);
	u64(w, 16);
	u64(w, 1ull << 40 | 3); // WEIGHT
	u64(w, 0);		// REGS_INTR, none
	u64(w, 0x1234000);	// PHYS_ADDR
	u64(w, 8);		// AUX
	bytes(w, "ABCDEFGH", 8);
}

static void test_swap_sample(void **state)
{
	(void)state;
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR |
			       PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.sample_regs_user = 0x3,
		.sample_regs_intr = 0xff,
		.sample_id_all = 1,
	};
	struct writer ours, theirs, cut;

	begin(&ours, false, PERF_RECORD_SAMPLE, 2);
	build_sample(&ours);
	end(&ours);
	begin(&theirs, true, PERF_RECORD_SAMPLE, 2);
	build_sample(&theirs);
	end(&theirs);
	cut = theirs;
	assert_int_equal(record_swap((void *)theirs.words, &attr), 0);
	assert_memory_equal(theirs.words, ours.words, ours.n);

	// Cut anywhere it fails and stays as it was.
	for (size_t n = 8; n < ours.n; n += 8) {
		struct writer copy;

		cut.n = n;
		end(&cut);
		copy = cut;
		assert_int_equal(record_swap((void *)cut.words, &attr), -EINVAL);
		assert_memory_equal(cut.words, copy.words, sizeof(cut.words));
	}
}

static void test_swap_user_records(void **state)
{
	(void)state;
	struct writer w[2];

	for (int i = 0; i < 2; i++) { // AUXTRACE_ERROR as it was before fmt 2
		begin(&w[i], i, RECORD_AUXTRACE_ERROR, 0);
		for (uint32_t k = 0; k < 6; k++)
			u32(&w[i], k);
		u64(&w[i], 1);
		u64(&w[i], 2);
		bytes(&w[i], "0123456789012345678901234567890123456789012345678901234567890123", 64);
		end(&w[i]);
	}
	assert_int_equal(record_swap((void *)w[1].words, NULL), 0);
	assert_memory_equal(w[1].words, w[0].words, w[0].n);

	for (int i = 0; i < 2; i++) {
		begin(&w[i], i, RECORD_THREAD_MAP, 0);
		u64(&w[i], 2);
		for (uint64_t k = 0; k < 2; k++) {
			u64(&w[i], k + 100);
			bytes(&w[i], "comm\0\0\0\0\0\0\0\0\0\0\0\0", 16);
		}
		end(&w[i]);
	}
	assert_int_equal(record_swap((void *)w[1].words, NULL), 0);
	assert_memory_equal(w[1].words, w[0].words, w[0].n);

	for (int i = 0; i < 2; i++) {
		begin(&w[i], i, RECORD_CPU_MAP, 0);
		u16(&w[i], 0);
		u16(&w[i], 2);
		u16(&w[i], 0);
		u16(&w[i], 7);
		end(&w[i]);
	}
	assert_int_equal(record_swap((void *)w[1].words, NULL), 0);
	assert_memory_equal(w[1].words, w[0].words, w[0].n);

	for (int i = 0; i < 2; i++) {
		begin(&w[i], i, RECORD_HEADER_ATTR, 0);
		u32(&w[i], 1);
		u32(&w[i], 64);
		for (uint64_t k = 0; k < 4; k++)
			u64(&w[i], k + 3);
		if (i) // disabled, inherit, precise_ip = 2
			bytes(&w[i], "\xc0\x01\0\0\0\0\0\0", 8);
		else
			bytes(&w[i], "\x03\x00\x01\0\0\0\0\0", 8);
		u32(&w[i], 1);
		u32(&w[i], 0);
		u64(&w[i], 0);
		u64(&w[i], 1234);
		end(&w[i]);
	}
	assert_int_equal(record_swap((void *)w[1].words, NULL), 0);
	assert_memory_equal(w[1].words, w[0].words, w[0].n);
}

static void test_whole(void **state)
{
	(void)state;
	struct writer w;

	begin(&w, false, PERF_RECORD_COMM, 0);
	build_comm(&w);
	struct perf_event_header *header = end(&w);
	struct record_comm *comm = (struct record_comm *)header;

	assert_true(record_is_whole(header));
	assert_string_equal(record_text(header, comm->comm), "bash");
	memset(comm->comm, 'x', 8);
	assert_false(record_is_whole(header));
	assert_null(record_text(header, comm->comm));
	header->size = 12;
	assert_false(record_is_whole(header));
	header->type = 4711;
	assert_true(record_is_whole(header));
	header->size = 4;
	assert_false(record_is_whole(header));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(record_type_name(PERF_RECORD_MMAP2), "MMAP2");
	assert_string_equal(record_type_name(RECORD_FINISHED_ROUND), "FINISHED_ROUND");
	assert_string_equal(record_type_name(RECORD_HEADER_ATTR), "ATTR");
	assert_string_equal(record_type_name(0), "UNKNOWN");
	assert_string_equal(record_type_name(50), "UNKNOWN");
	assert_string_equal(record_type_name(UINT32_MAX), "UNKNOWN");
}

// A header, the type, then what it holds.
static void test_cpu_maps(void **state)
{
	static const struct {
		uint8_t body[32];
		int cpus[6];
		size_t n;
	} cases[] = {
		{{0, 0, 3, 0, 0, 0, 2, 0, 0xff, 0xff}, {0, 2, -1}, 3},
		{{1, 0, 1, 0, 4, 0, 0x0b, 0, 0, 0x80}, {0, 1, 3, 31}, 4},
		// Words of 8 bytes stand behind 4 that hold nothing.
		{{1, 0, 2, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0, 2}, {0, 2, 65}, 3},
		{{2, 0, 0, 0, 4, 0, 6, 0}, {4, 5, 6}, 3},
		{{2, 0, 1, 0, 0, 0, 1, 0}, {-1, 0, 1}, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct {
			struct perf_event_header header;
			uint8_t body[32];
		} map = {.header = {.type = RECORD_CPU_MAP, .size = sizeof(map)}};
		int cpus[6];

		memcpy(map.body, cases[i].body, sizeof(map.body));
		assert_int_equal(record_cpu_map(&map.header, NULL, 0), cases[i].n);
		assert_int_equal(record_cpu_map(&map.header, cpus, 6), cases[i].n);
		assert_memory_equal(cpus, cases[i].cpus, cases[i].n * sizeof(*cpus));
	}
}

RUN_TESTS(TEST(test_cpu_maps), TEST(test_swap_kernel_records), TEST(test_overlong),
	  TEST(test_swap_sample), TEST(test_swap_user_records), TEST(test_whole), TEST(test_names))
