// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/attr.h"
#include "base/test.h"
#include <errno.h>
#include <string.h>

static void test_read_sizes(void **state)
{
	(void)state;
	unsigned char bytes[200];
	struct perf_event_attr attr;

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = 1;
	bytes[72] = 4;
	assert_int_equal(attr_read(&attr, bytes, 63, false), -EINVAL);
	assert_int_equal(attr_read(&attr, bytes, 64, false), 0);
	assert_int_equal(attr.branch_sample_type, 0);
	assert_int_equal(attr.size, 64);
	assert_int_equal(attr_read(&attr, bytes, 80, false), 0);
	assert_int_equal(attr.branch_sample_type, 4);
	assert_int_equal(attr_read(&attr, bytes, sizeof(bytes), false), 0);
	assert_int_equal(attr.size, sizeof(bytes));
	assert_int_equal(attr.type, 1);
	bytes[128] = 7; // config3
	assert_int_equal(attr_read(&attr, bytes, 128, false), 0);
	assert_int_equal(attr.config3, 0);
	assert_int_equal(attr_read(&attr, bytes, 136, false), 0);
	assert_int_equal(attr.config3, 7);
	assert_int_equal(attr_read(&attr, bytes, 136, true), 0);
	assert_true(attr.config3 == 7ull << 56);
}

static void test_swap(void **state)
{
	(void)state;
	// type 2, size 64, config 0x174, ..., flags disabled, exclude_hv, precise_ip 1, sigtrap
	unsigned char bytes[64] = {0, 0, 0, 2, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 1, 0x74};
	struct perf_event_attr attr;

	bytes[40] = 0x82;
	bytes[42] = 0x80; // the second of the two bits is the lower one
	bytes[44] = 0x04;
	assert_int_equal(attr_read(&attr, bytes, 64, true), 0);
	assert_int_equal(attr.type, 2);
	assert_int_equal(attr.config, 0x174);
	assert_int_equal(attr.disabled, 1);
	assert_int_equal(attr.inherit, 0);
	assert_int_equal(attr.exclude_hv, 1);
	assert_int_equal(attr.precise_ip, 1);
	assert_int_equal(attr.sigtrap, 1);
	assert_int_equal(attr.mmap_data, 0);
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		struct perf_event_attr attr;
		const char *name;
	} cases[] = {
		{{.type = 0, .config = 0, .exclude_guest = 1}, "cycles"},
		{{.type = 0, .config = 0}, "cycles:HG"},
		{{.type = 0, .config = 9, .exclude_kernel = 1, .exclude_hv = 1}, "ref-cycles:u"},
		{{.type = 0, .config = 1, .exclude_kernel = 1, .exclude_hv = 1, .exclude_guest = 1},
		 "instructions:uH"},
		{{.type = 0, .config = 1, .precise_ip = 2}, "instructions:pp"},
		{{.type = 0, .config = 10, .exclude_guest = 1}, "unknown-hardware"},
		{{.type = 1, .config = 0, .exclude_guest = 1}, "cpu-clock"},
		{{.type = 1, .config = 9, .exclude_guest = 1}, "dummy"},
		{{.type = 3, .config = 0x10000, .exclude_guest = 1}, "L1-dcache-load-misses"},
		{{.type = 3, .config = 0x102, .exclude_guest = 1}, "LLC-stores"},
		{{.type = 3, .config = 0x104, .exclude_guest = 1}, "invalid-cache"},
		{{.type = 3, .config = 0x7f, .exclude_guest = 1}, "unknown-ext-hardware-cache-type"},
		{{.type = 4, .config = 0x1a8, .exclude_guest = 1}, "raw 0x1a8"},
		{{.type = 5, .bp_addr = 0x1000, .bp_type = 3, .exclude_guest = 1}, "mem:0x1000:rw"},
		{{.type = 2, .config = 5}, "unknown tracepoint"},
		{{.type = 11}, "unknown attr type: 11"},
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(attr_name(&cases[i].attr, buf, sizeof(buf)), cases[i].name);
	assert_string_equal(attr_name(&cases[1].attr, buf, 5), "cycl");
}

static void test_print(void **state)
{
	(void)state;
	// As perf evlist -v and perf report --header-only show it.
	static const struct perf_event_attr attr = {
		.type = 1,
		.size = 128,
		.config = 2,
		.sample_period = 100,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.disabled = 1,
		.inherit = 1,
		.precise_ip = 2,
		.sample_id_all = 1,
		.exclude_guest = 1,
		.clockid = -1,
		.bp_addr = 0x1234,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
	};
	struct out out;

	out_init_memory(&out);
	attr_print(&out, &attr);
	out_char(&out, 0);
	assert_string_equal(out.buf,
			    "type: 1, size: 128, config: 0x2, { sample_period, sample_freq }: 100, "
			    "sample_type: IP|TID|TIME|CALLCHAIN|IDENTIFIER, read_format: ID|LOST, "
			    "disabled: 1, inherit: 1, precise_ip: 2, sample_id_all: 1, "
			    "exclude_guest: 1, { bp_addr, config1 }: 0x1234, "
			    "branch_sample_type: ANY, clockid: -1");
	out_done(&out);
}

RUN_TESTS(TEST(test_read_sizes), TEST(test_swap), TEST(test_names), TEST(test_print))
