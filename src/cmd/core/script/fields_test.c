// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/script/fields.h"
#include "base/err.h"
#include "base/test.h"
#include "cmd/core/command.h"
#include "cmd/core/script/chains.h"
#include <inttypes.h>
#include <stdio.h>

enum { HW = PERF_TYPE_HARDWARE, SW = PERF_TYPE_SOFTWARE, TRACE = PERF_TYPE_TRACEPOINT };

static void texts(void **state)
{
	static const struct {
		const char *text;
		int kind;
		uint64_t has, lacks;
	} cases[] = {
		{"comm,ip", HW, FIELD_BIT(COMM) | FIELD_BIT(IP), FIELD_BIT(TIME) | FIELD_BIT(SYM)},
		{"+addr", HW, FIELD_BIT(ADDR) | FIELD_BIT(COMM), 0},
		{"-comm,+pid", TRACE, FIELD_BIT(PID) | FIELD_BIT(TRACE), FIELD_BIT(COMM)},
		{"hw:ip", HW, FIELD_BIT(IP), FIELD_BIT(COMM)},
		{"hw:ip", SW, FIELD_BIT(COMM), 0},
		{"trace:", TRACE, 0, FIELD_BIT(COMM) | FIELD_BIT(TRACE)},
		{"comm,trace", TRACE, FIELD_BIT(TRACE), FIELD_BIT(TIME)},
		{"comm,trace", HW, FIELD_BIT(COMM), FIELD_BIT(TRACE)},
		// perf takes the - of bpf-output for a change of the defaults.
		{"comm,bpf-output", SW, FIELD_BIT(BPF_OUTPUT) | FIELD_BIT(TIME), 0},
		{"+dsoff,-dso", HW, FIELD_BIT(DSOFF), FIELD_BIT(DSO)},
	};
	static const char *const bad[] = {"",	     "com",	 "comm,+ip", "+ip,comm",
					  "xx:comm", "hw:trace", "metric",   "comm ip"};
	struct fields fields;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fields_init(&fields);
		assert_int_equal(fields_parse(&fields, cases[i].text), 0);
		uint64_t got = fields.of[cases[i].kind].fields;
		assert_int_equal(got & cases[i].has, cases[i].has);
		assert_int_equal(got & cases[i].lacks, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fields_init(&fields);
		assert_int_equal(fields_parse(&fields, bad[i]), -COMMAND_USAGE);
	}
}

static void samples_must_have_them(void **state)
{
	struct event event = {.name = "cycles",
			      .attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID}};
	struct event *events[] = {&event};
	struct recording recording = {.path = "f", .events = {.v = events, .n = 1}};
	struct fields fields;

	// Defaults that the samples lack go.
	fields_init(&fields);
	assert_int_equal(fields_check(&fields, &recording), 0);
	assert_int_equal(fields.of[HW].fields & (FIELD_BIT(TIME) | FIELD_BIT(CPU)), 0);
	assert_true(fields.of[HW].fields & FIELD_BIT(SYMOFF));
	assert_false(fields.callchain);
	// What was asked for is missed.
	fields_init(&fields);
	assert_int_equal(fields_parse(&fields, "+time"), 0);
	assert_int_equal(fields_check(&fields, &recording), -EINVAL);
	assert_non_null(strstr(err_sentence(), "do not have TIME attribute set"));
	// A chain brings addresses to tracepoints.
	event.attr.type = PERF_TYPE_TRACEPOINT;
	event.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	fields_init(&fields);
	assert_int_equal(fields_check(&fields, &recording), 0);
	assert_true(fields.callchain);
	assert_true(fields.of[TRACE].fields & FIELD_BIT(IP));
}

static void hexadecimal(void **state)
{
	static const uint64_t values[] =
		{0, 1, 0xf, 0x10, 0x123456789abcdef0, UINT64_MAX, 0xffffffff81012af1};
	char want[17], got[17] = "";

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		snprintf(want, sizeof(want), "%16" PRIx64, values[i]);
		hex16(got, values[i]);
		assert_string_equal(got, want);
	}
}

RUN_TESTS(TEST(texts), TEST(samples_must_have_them), TEST(hexadecimal))
