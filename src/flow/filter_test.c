// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/filter.h"
#include "base/err.h"
#include "base/test.h"

static struct event event = {.name = "cycles",
			     .attr = {.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_TID}};
static struct event *events[] = {&event};
static struct recording recording = {.path = "f",
				     .events = {.v = events, .n = 1},
				     .info = {.first_sample_ns = 1000, .last_sample_ns = 2000}};

static struct filter *make(struct filter_options options)
{
	struct filter *filter = NULL;

	assert_int_equal(filter_new(&filter, &options, &recording), 0);
	return filter;
}

static void numbers(void **state)
{
	struct filter *filter =
		make((struct filter_options){.cpus = "0-2,70", .pids = "5,6", .tids = "7"});
	static const struct {
		uint32_t cpu, pid, tid;
		bool passes;
	} cases[] = {
		{0, 5, 7, true},   {3, 5, 7, false}, {70, 6, 7, true},
		{70, 6, 8, false}, {1, 7, 7, false}, {UINT32_MAX, 5, 7, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sample sample = {.cpu = cases[i].cpu, .pid = cases[i].pid, .tid = cases[i].tid};

		assert_int_equal(filter_sample(filter, &sample), cases[i].passes);
	}
	filter_free(filter);
}

// Samples that were taken as the machine fell idle tell the process that ran before.
static void process_is_that_of_the_task(void **state)
{
	struct filter *filter = make((struct filter_options){.pids = "5"});
	struct sample sample = {.pid = 5, .tid = 0};
	struct task swapper = {.pid = 0, .tid = 0}, own = {.pid = 5, .tid = 6};

	assert_true(filter_sample_of(filter, &sample, NULL, NULL));
	assert_false(filter_sample_of(filter, &sample, NULL, &swapper));
	sample.pid = 7;
	assert_true(filter_sample_of(filter, &sample, NULL, &own));
	filter_free(filter);
}

static void event_names(void **state)
{
	static const struct {
		const char *name, *wanted;
		bool is;
	} cases[] = {
		{"cycles", "cycles", true},
		{"cycles:u", "cycles", true},
		{"cycles", "cycles:u", false},
		{"cycles-ct", "cycles", false},
		{"sched:sched_switch:u", "sched:sched_switch", true},
		{"sched:sched_switch", "sched:sched_switch", true},
		{"sched:sched_switch", "sched:sched_s", false},
		{"sched:sched_switch", "sched:*", true},
		{"sched:sched_switch", "sched", true},
		{"odd[1]", "odd[1]", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event named = {.name = cases[i].name};

		assert_int_equal(filter_event_name(cases[i].name, cases[i].wanted), cases[i].is);
		for (int again = 0; again < 2; again++)
			assert_int_equal(filter_event(&named, cases[i].wanted), cases[i].is);
	}
}

static void names(void **state)
{
	struct filter *filter = make((struct filter_options){.comms = "a,b c",
							     .dsos = "libc.so.6,/bin/x",
							     .symbols = "main,0x40"});
	struct dso libc = {.short_name = "libc.so.6", .long_name = "/lib/libc.so.6"};
	struct dso x = {.short_name = "x", .long_name = "/bin/x"};
	struct symbol main = {.name = "main", .start = 0x10},
		      other = {.name = "other", .start = 0x20};
	struct mapping map = {0};
	struct location at = {.map = &map, .dso = &x, .sym = &main, .ip = 0x12, .addr = 0x12};

	assert_true(filter_comm(filter, "b c"));
	assert_false(filter_comm(filter, "b"));
	assert_true(filter_dso(filter, &libc));
	assert_true(filter_dso(filter, &x));
	assert_false(filter_dso(filter, NULL));
	assert_true(filter_symbol(filter, &main));
	assert_false(filter_symbol(filter, NULL));
	assert_true(filter_location(filter, &at));
	at.sym = &other;
	at.ip = 0x45; // other starts at 0x40 there
	at.addr = 0x25;
	assert_true(filter_location(filter, &at));
	at.ip = 0x46;
	assert_false(filter_location(filter, &at));
	filter_free(filter);
}

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t in[4], out[4];
	} cases[] = {
		{"1.5,2", {1500000000, 2000000000}, {1499999999, 2000000001}},
		{"1.5,", {1500000000, UINT64_MAX}, {1}},
		{",1.5", {1, 1500000000}, {1500000001}},
		{",", {1, 5, 0}, {0}},
		{"1,2 3,4", {1000000000, 3000000000, 4000000000}, {2500000000, 5000000000, 999999999}},
		{"1, 2", {1000000000, 2000000000}, {2000000001}},
		{"10%", {1000, 1099}, {1100, 2000}},
		{"10%/2", {1100, 1199}, {1099, 1200}},
		{"0%-10%,30%-40%", {1000, 1300, 1399}, {1100, 1400}},
		{"50%-100%", {1500, 2000}, {1499, 2001}},
	};
	static const char *const bad[] = {"",	  "1",	   "x,", "2,1", "1,3 2,4", "10",
					  "110%", "10%/x", "%",	 "5%-", "10%-5%"};
	struct filter *filter;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		filter = make((struct filter_options){.times = cases[i].text});
		for (size_t k = 0; k < 4 && cases[i].in[k]; k++)
			assert_true(filter_time(filter, cases[i].in[k]));
		for (size_t k = 0; k < 4 && cases[i].out[k]; k++)
			assert_false(filter_time(filter, cases[i].out[k]));
		assert_true(filter_time(filter, 0));
		filter_free(filter);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct filter_options options = {.times = bad[i]};

		assert_int_equal(filter_new(&filter, &options, &recording), -EDOM);
	}
	filter = make((struct filter_options){.times = "0.0000001,0.0000002", .times_relative = true});
	assert_true(filter_time(filter, 1100));
	assert_false(filter_time(filter, 1099));
	filter_free(filter);
}

static void refusals(void **state)
{
	static const struct filter_options bad[] = {
		{.cpus = "x"},
		{.cpus = "3-1"},
		{.pids = "a"},
		{.tids = "1,,2"},
		{.comms = "file:///nonexistent"},
		{.comms = ","},
		{.dsos = ""},
		{.symbols = ",,"},
		{.comms = "file:///dev/null"},
	};
	struct filter *filter;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(filter_new(&filter, &bad[i], &recording) < 0);
	event.attr.sample_type = PERF_SAMPLE_TID;
	assert_int_equal(filter_new(&filter, &(struct filter_options){.cpus = "0"}, &recording),
			 -EINVAL);
	event.attr.sample_type |= PERF_SAMPLE_CPU;
	recording.info.cpus_available = 4;
	assert_int_equal(filter_new(&filter, &(struct filter_options){.cpus = "2-4"}, &recording),
			 -EINVAL);
	recording.info.cpus_available = 5;
	assert_int_equal(filter_new(&filter, &(struct filter_options){.cpus = "2-4"}, &recording), 0);
	filter_free(filter);
	recording.info.cpus_available = 0;
	filter = make((struct filter_options){0});
	assert_true(filter_is_empty(filter));
	filter_free(filter);
}

RUN_TESTS(TEST(numbers), TEST(process_is_that_of_the_task), TEST(event_names), TEST(names),
	  TEST(times), TEST(refusals))
