// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/test.h"
#include "cmd/flamegraph/flamegraph.h"
#include "encoder/core/encoder.h"

// The folded form of what is read.
static char *folded(const char *text, const struct stack_options *options, struct stack_counts *ret)
{
	extern const struct encoder encoder_folded;
	struct stack_options with_side = *options;
	struct flame flame;
	struct out out;

	with_side.side = FLAME_AFTER;
	*ret = (struct stack_counts){0};
	flame_init(&flame);
	assert_int_equal(stacks_from_script(&flame, str_of(text), &with_side, ret), 0);
	flame_finish(&flame, true);
	out_init_memory(&out);
	encoder_folded.flame(&out, &flame, &(struct flame_style){0});
	out_char(&out, 0);
	flame_done(&flame);
	return out.buf;
}

static void check(const char *text, const struct stack_options *options, const char *expected)
{
	struct stack_counts counts;
	char *result = folded(text, options, &counts);

	assert_string_equal(result, expected);
	free(result);
	stack_counts_done(&counts);
}

#define CHAIN                                                                                      \
	"swapper     0 [000] 14424.495396:    1393123 cycles: \n"                                  \
	"\tffffffff81054fbf do_idle+0x1f ([kernel.kallsyms])\n"                                    \
	"\t          4005d0 main+0xab (/usr/bin/my prog)\n"                                        \
	"\t               0 [unknown] ([unknown])\n\n"

static void heads(void **state)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		{CHAIN, "swapper;[unknown];main;do_idle_[k] 1\n"},
		{"bash 12/13 1.5: 7 cycles:u: \n\t 401000 f (/bin/bash)\n\n", "bash;f 1\n"},
		{"Web Content 7  12 [001] d..1. 1.5: sched:sched_switch: prev=1\n\t401000 f+0x1 (/x)\n\n",
		 "Web Content 7;f 1\n"},
		{"            perf  5969 1056482.246901:          1 cycles:  ffffffffb42071f4 [unknown] ([kernel.kallsyms])\n",
		 "perf;[kernel.kallsyms]_[k] 1\n"},
		{"a 1 1.0: 1 c: \n\t12 f(int, char (*)(void))+0x3 (/lib/x (deleted))\n\t13 g (inlined)\n\n",
		 "a;g_[i];f(int, char (*)(void)) 1\n"},
		{"java 5 1.0: 1 c: \n\t7f12 run+0x1 (/tmp/perf-5.map)\n\t7f13 [unknown] (/tmp/perf-5.map)\n",
		 "java;[JIT] tid 5_[j];run_[j] 1\n"},
		{"x\ny 1 1.0: 1 c: \n\t401000 f (/x)\n\n", "x y;f 1\n"},
		{"x\n 1 1.0: 1 c: \n\t401000 f (/x)\n\n", "x;f 1\n"},
		{"x\n\n#y 1 1.0: 1 c: \n\t401000 f (/x)\n\n# comment\nz 1 1.0: 1 c: \n\t401000 f (/x)\n\n",
		 "x  #y;f 1\nz;f 1\n"},
		{"            a\nbc  1 1.0: 1 c: 401000 f (/x)\n           ab\nde  1 1.0: 1 c: 401000 f (/x)\n",
		 "a bc;f 1\nab de;f 1\n"},
		{"a 1 1.0: 1 c: \n\tffffffffc0100000 [unknown] (/lib/modules/x/ext4.ko.xz)\n\tffffffffc0100000 [unknown] ([unknown])\n",
		 "a;[unknown]_[k];[ext4]_[k] 1\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].text, &(struct stack_options){0}, cases[i].folded);
}

static void bases_and_weights(void **state)
{
	static const char text[] =
		"t 5/6 [000] 1.0: 10 cycles: \n\t401000 f (/x)\n\nt 5/7 [001] 2.0: 20 cycles: \n\t401000 f (/x)\n\n"
		"u 8/8 [000] 3.0: 40 other: \n\t401000 g (/x)\n\n";

	check(text, &(struct stack_options){0}, "t;f 2\n");
	check(text, &(struct stack_options){.by_period = true}, "t;f 30\n");
	check(text, &(struct stack_options){.per_pid = true}, "t-5;f 2\n");
	check(text, &(struct stack_options){.per_tid = true}, "t-5/6;f 1\nt-5/7;f 1\n");
	check(text, &(struct stack_options){.no_base = true}, "f 2\n");
	check(text, &(struct stack_options){.reverse = true}, "f;t 2\n");
	check(text, &(struct stack_options){.event = "other"}, "u;g 1\n");
	check(text, &(struct stack_options){.all_events = true}, "cycles;t;f 2\nother;u;g 1\n");
	check(text, &(struct stack_options){.filter.tids = "7"}, "t;f 1\n");
	check(text, &(struct stack_options){.filter.cpus = "0", .all_events = true},
	      "cycles;t;f 1\nother;u;g 1\n");
	check(text, &(struct stack_options){.filter.comms = "u", .event = "*"}, "u;g 1\n");
	check(text, &(struct stack_options){.filter.times = "1.5,"}, "t;f 1\n");
}

static void counts(void **state)
{
	struct stack_counts counts;
	char *result = folded("nonsense\n" CHAIN "x 1 1.0: 1 other: \n\t401000 f (/x)\n\n",
			      &(struct stack_options){0}, &counts);

	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.bad_lines, 1);
	assert_int_equal(counts.first_bad_line, 1);
	assert_int_equal(counts.other_events, 1);
	assert_string_equal(counts.events, "other");
	assert_string_equal(counts.event, "cycles");
	free(result);
	stack_counts_done(&counts);
}

static void formats(void **state)
{
	static const struct {
		const char *text;
		enum stack_format format;
	} cases[] = {
		{"PERFILE2....", STACKS_RECORDING},
		{"2ELIFREP....", STACKS_RECORDING},
		{"a;b 1\nc 2\n", STACKS_FOLDED},
		{"# comment\n\nmain 5\n", STACKS_FOLDED},
		{CHAIN, STACKS_SCRIPT},
		{"", STACKS_UNKNOWN},
		{"\n\n", STACKS_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(stack_format_of(str_of(cases[i].text)), cases[i].format);
	assert_int_equal(stack_format_of((struct str){"\x7f"
						      "ELF\0\0\0",
						      7}),
			 STACKS_UNKNOWN);
}

RUN_TESTS(TEST(heads), TEST(bases_and_weights), TEST(counts), TEST(formats))
