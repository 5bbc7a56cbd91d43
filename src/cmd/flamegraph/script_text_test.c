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
		{"x\n 1 1.0: 1 c: \n\t401000 f (/x)\n\ny 1 1.0: 1 c: \n\t401000 g (/x)\n\n",
		 "x;f 1\ny;g 1\n"},
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

#define FRAME "\t401000 f+0x1 (/x)\n\n"

// What all lines have says what a line is.
static void layouts(void **state)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		// No time; the number before the event is the period.
		{"s_lld  2645    2000000 cpu-clock: \n" FRAME, "s_lld;f 1\n"},
		{" 2645 cpu-clock: \n" FRAME "\n 2645 cpu-clock: \n" FRAME,
		 "f 2\n"}, // as wide as a name's columns
		{"  645 cpu-clock: \n" FRAME "\n  645 cpu-clock: \n" FRAME, "f 2\n"},
		{"s 7  2645 cpu-clock: \n" FRAME "s 7  2645 cpu-clock: \n" FRAME, "s 7;f 2\n"},
		// Fields that anything could be.
		{"bash \n" FRAME "#c d \n" FRAME, "#c d;f 1\nbash;f 1\n"},
		{" 9583 \n" FRAME " 12/13  \n" FRAME, "f 1\n"},
		{"\n" FRAME "\n" FRAME, "f 2\n"},
		{"               t  ffffffff814cb9a0 a\n              a1      7fb1159339c5 b\n",
		 "a1;b 1\nt;a_[k] 1\n"},
		{" ffffffff814cb9a0 a\n     7fb1159339c5 b\n", "a_[k] 1\nb 1\n"},
		{"t  9583 K      1503.928829:    2000000 c: \n" FRAME, "t;f 1\n"},
		// Only addresses.
		{"t     1     1.000000:          1 c: \n\tffffffff814cb9a0\n\t           f8011\n\n",
		 "t;0xf8011;0xffffffff814cb9a0_[k] 1\n"},
		// Names of tasks.
		{"#c 1 1.0: 1 c: \n" FRAME "12 12 1.1: 1 c: \n" FRAME "a: b 3 12 1.2: 1 c: \n" FRAME,
		 "#c;f 1\n12;f 1\na: b 3;f 1\n"},
		{" dd 1 1.0: 1 c:     401000 f (/x)\n ab 1 1.0: 1 c:     401000 f (/x)\n",
		 "ab;f 1\ndd;f 1\n"},
		{"# d 1 1.0: 1 c: \n" FRAME "PERF_RECORD_X 1 1.1: 1 c: \n" FRAME "# d: x\n"
		 "t 1 1.2: 1 c: \n" FRAME,
		 "# d;f 1\nPERF_RECORD_X;f 1\nt;f 1\n"},
		{"              -1 c:      55ab8bb10145 f (/x)\n               x c:      55ab8bb10145 f (/x)\n"
		 "              ab c:      55ab8bb10145 f (/x)\n",
		 "-1;f 1\nab;f 1\nx;f 1\n"},
		// Other records.
		{"p     0     0.000000: PERF_RECORD_COMM: p:9583/9583\nt 1 1.0: 1 c: \n" FRAME
		 "PERF_RECORD_FINISHED_ROUND\nt 1     1.1: PERF_RECORD_MMAP2 1/1: [0x5(0x1) @ 0 f:0 1 2]: r-xp /x\n",
		 "t;f 1\n"},
		// Lines of frames that are none.
		{"t 1 1.0: 1 c: \n\t401000 f+0x1 (/x)\n  f.c:12\n\t401001 g+0x1 (/x)\n  :0\n\n",
		 "t;g;f 1\n"},
		{"t 1 1.0: 1 c:            401000 f+0x1 (/x) 0x12/0x13/P/-/-/0 \n", "t;f 1\n"},
		{"t 1 1.0: 1 c:            401000 f+0x1 (/x)g(/y)/h(/y)/M/-/-/0 \n", "t;f 1\n"},
		{"t 1 1.0: 1 c:           7f1234            401000 f+0x1 (/x)\n", "t;f 1\n"},
		// Frames without indentation, with blanks.
		{"t 1 1.0: 1 c: \n401000 f+0x1 (/x)\n401001 g+0x1 (/x)\n\nab 1 1.0: 1 c: \n401000 f+0x1 (/x)\n",
		 "ab;f 1\nt;g;f 1\n"},
		{"com.x.app.maps\t1/2 [007] 1.0: 201 c:\n        ffffff9c807ad35c a ([kernel.kallsyms])\n"
		 "                9c51fd34 b ([JIT app cache])\n\n",
		 "com.x.app.maps;b_[j];a_[k] 1\n"},
		// What others print in between; a row of frames in no map is one.
		{"t 1 1.0: 1 c: \n\t401000 f+0x1 (/x)\ncmd__addr2line: no record\n\t12 [unknown] ([unknown])\n"
		 "\t13 [unknown] ([unknown])\n\nWarning: 3 lost\nt 1 1.1: 1 c: \n" FRAME,
		 "t;[unknown];f 1\nt;f 1\n"},
		{"t 1 1.0: 1 c: \n\t401000 [unknown] (/tmp/perf-vdso.so-0rb6GJ)\n\t401001 a ([heap])\n\n",
		 "t;a;[vdso] 1\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].text, &(struct stack_options){.event = "*"}, cases[i].folded);
}

static void tracers(void **state)
{
	static const struct {
		const char *text, *folded;
		uint64_t bad_lines;
	} cases[] = {
		{"Attaching 1 probe...\n^C\n\n@[\n    f+12\n    g+0\n]: 5\n@[\n    f+1\n    g+7\n]: 2\n",
		 "g;f 7\n", 1},
		{"@x[\n    k\n,\n    u+1\n    main\n, my prog]: 5\n@x[a, 12, \n    u\n]: 1\n",
		 "a;12;u 1\nmy prog;main;u;k 5\n", 0},
		{"@[\n        ffffffff81054fbf f+12\n]: 1\n@[bash]: 3\n@[\n    f\n]: count 5, average 3\n",
		 "bash 3\nf 1\n", 3},
		{"\n  bash\n              libc.so.1`f+0x7\n              a.out`main\n                5\n\n"
		 "              libc.so.1`f+0x9\n                1\n",
		 "bash;a.out`main;libc.so.1`f 5\nlibc.so.1`f 1\n", 0},
	};
	extern const struct encoder encoder_folded;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stack_counts counts = {0};
		struct flame flame;
		struct out out;

		assert_int_equal(stack_format_of(str_of(cases[i].text)), STACKS_TRACER);
		flame_init(&flame);
		stacks_from_tracer(&flame, str_of(cases[i].text),
				   &(struct stack_options){.side = FLAME_AFTER}, &counts);
		flame_finish(&flame, true);
		out_init_memory(&out);
		encoder_folded.flame(&out, &flame, &(struct flame_style){0});
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].folded);
		assert_int_equal(counts.bad_lines, cases[i].bad_lines);
		flame_done(&flame);
		out_done(&out);
	}
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
	char *result =
		folded("nonsense\n" CHAIN
		       "x     1 [000] 14424.495397:          1 other: \n\t          401000 f (/x)\n\n",
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

RUN_TESTS(TEST(heads), TEST(layouts), TEST(tracers), TEST(bases_and_weights), TEST(counts),
	  TEST(formats))
