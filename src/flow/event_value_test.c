// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/event_value.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"

static const char format[] = "name: ev\nID: 77\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:s8 s8;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield:u8 u8;\toffset:9;\tsize:1;\tsigned:0;\n"
			     "\tfield:s16 s16;\toffset:10;\tsize:2;\tsigned:1;\n"
			     "\tfield:u32 u32;\toffset:12;\tsize:4;\tsigned:0;\n"
			     "\tfield:s32 s32;\toffset:16;\tsize:4;\tsigned:1;\n"
			     "\tfield:char comm[12];\toffset:20;\tsize:12;\tsigned:0;\n"
			     "\tfield:u64 u64;\toffset:32;\tsize:8;\tsigned:0;\n\n"
			     "print fmt: \"%d\", REC->s32\n";

static const struct {
	uint16_t type, unused;
	int32_t pid;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint32_t u32;
	int32_t s32;
	char comm[12];
	uint64_t u64;
} raw = {.type = 77,
	 .pid = 5,
	 .s8 = -3,
	 .u8 = 253,
	 .s16 = -300,
	 .u32 = 4000000000u,
	 .s32 = -70000,
	 .comm = "worker",
	 .u64 = 1ull << 40};

struct world {
	struct tracepoints *formats;
	struct event event;
	struct expr_machine *machine;
	struct sample sample;
};

static void begin(struct world *w)
{
	const struct tp_options options = {.long_size = 8, .page_size = 4096};

	_Static_assert(sizeof(raw) == 40, "as the format has it");
	*w = (struct world){.formats = tracepoints_new(&options), .machine = expr_machine_new(NULL)};
	assert_int_equal(tracepoints_add(w->formats, "sys", str_of(format)), 0);
	w->event =
		(struct event){.name = "sys:ev", .tp = tracepoints_by_name(w->formats, "sys", "ev")};
	w->sample = (struct sample){.raw = (const void *)&raw,
				    .raw_size = sizeof(raw),
				    .cpu = 2,
				    .pid = 5,
				    .tid = 6,
				    .time = 1234567890123,
				    .period = 9};
}

static void end(struct world *w)
{
	expr_machine_free(w->machine);
	tracepoints_free(w->formats);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t number, of_short; // of_short: of a record of 20 bytes
		bool is_signed;
	} cases[] = {
		{"s8", -3, -3, true},
		{"u8", 253, 253, false},
		{"s16", -300, -300, true},
		{"u32", 4000000000, 4000000000, false},
		{"s32", -70000, -70000, true},
		{"u64", 1ll << 40, 0, false},
		{"_cpu", 2, 2, true},
		{"_pid", 5, 5, true},
		{"_tid", 6, 6, true},
		{"_time", 1234567890123, 1234567890123, false},
		{"_period", 9, 9, false},
		{"17", 17, 17, true},
		{"u64 >> 30", 1024, 0, false},
		{"u64 / 1000", (1ll << 40) / 1000, 0, false},
		{"s32 / 7", -10000, -10000, true},
		{"s16 + u8", -47, -47, true},
		{"_cpu * 100 + _tid", 206, 206, true},
		{"u8 / (u8 - 253)", 0, 0, true}, // fails
	};
	struct world w;

	begin(&w);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_value value;

		assert_int_equal(event_value_init(&value, w.machine, &w.event, cases[i].text), 0);
		w.sample.raw_size = sizeof(raw);
		if ((int64_t)event_value_number(&value, &w.sample) != cases[i].number ||
		    value.is_signed != cases[i].is_signed || value.is_text)
			fail_msg("%s is %lld", cases[i].text,
				 (long long)event_value_number(&value, &w.sample));
		w.sample.raw_size = 20;
		if ((int64_t)event_value_number(&value, &w.sample) != cases[i].of_short)
			fail_msg("%s of a short record is %lld", cases[i].text,
				 (long long)event_value_number(&value, &w.sample));
		event_value_done(&value);
	}
	end(&w);
}

static void texts(void **state)
{
	static const struct {
		const char *text, *is;
	} cases[] = {{"comm", "worker"}, {"(char *)comm", "worker"}, {"comm + 4", "er"}};
	struct event_value value;
	struct world w;

	begin(&w);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(event_value_init(&value, w.machine, &w.event, cases[i].text), 0);
		assert_true(value.is_text);
		w.sample.raw_size = sizeof(raw);
		assert_true(str_is(event_value_text(&value, &w.sample), cases[i].is));
		w.sample.raw_size = 20;
		assert_int_equal(event_value_text(&value, &w.sample).n, 0);
		event_value_done(&value);
	}
	// A number has no text.
	assert_int_equal(event_value_init(&value, w.machine, &w.event, "u32"), 0);
	assert_int_equal(event_value_text(&value, &w.sample).n, 0);
	event_value_done(&value);
	end(&w);
}

static void wrong(void **state)
{
	static const char *const texts[] = {"nothing", "u32 +", "comm * 2", ""};
	struct event_value value;
	struct world w;

	begin(&w);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(event_value_init(&value, w.machine, &w.event, texts[i]), -EINVAL);
		assert_ptr_equal(strstr(err_sentence(), "sys:ev: "), err_sentence());
	}
	err_clear();
	end(&w);
}

RUN_TESTS(TEST(numbers), TEST(texts), TEST(wrong))
