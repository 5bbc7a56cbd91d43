// SPDX-License-Identifier: GPL-2.0-or-later
// Figures and layouts of counters that few test machines have: counts are put in, text comes out.
#include "cmd/stat/stat.h"
#include <stdlib.h>
// behind the headers that use the name
#include "base/test.h"

struct fake {
	const char *event;
	struct stat_count count;
};

// The numbers are ns and events of one second on one CPU.
static const struct fake hardware[] = {
	{"task-clock", {500000000, 500000000, 500000000}},
	{"cycles", {1000000000, 500000000, 500000000}},
	{"stalled-cycles-frontend", {250000000, 500000000, 500000000}},
	{"stalled-cycles-backend", {500000000, 500000000, 500000000}},
	{"instructions", {2000000000, 500000000, 500000000}},
	{"branches", {400000000, 500000000, 250000000}},
	{"branch-misses", {4000000, 500000000, 250000000}},
	{"L1-dcache-loads", {1000, 500000000, 500000000}},
	{"L1-dcache-load-misses", {125, 500000000, 500000000}},
	{"cache-misses", {0, 0, 0}},
	{"cache-references", {10, 500000000, 500000000}},
};

// With `metrics` (-M) the counts are those of the events that it names, in their order.
static char *printed_with(struct stat_options options, const char *metrics,
			  const struct fake *fakes, size_t n)
{
	options.repeat = 1;
	options.scale = true;
	options.separator = ",";
	struct counting stat = {.options = &options, .runs = 1, .signal_fd = -1};
	const char *top = getenv("T");
	auto_free char *root = options.root
				       ? text_dup_fmt("%s/root/%s", top ? top : "test", options.root)
				       : xstrdup("/nowhere");
	const struct event_context context = {.root = root, .no_search = true};
	struct stat_count rows[16] = {0};
	char *words[] = {"x", NULL};
	unsigned cells[16];

	if (metrics) {
		options.metrics = (struct opt_list){.v = &metrics, .n = 1};
		assert_int_equal(stat_named_choose(&stat), 0);
	}
	for (size_t i = 0; i < n && !metrics; i++)
		assert_int_equal(event_parse(&options.specs, fakes[i].event, &context), 0);
	assert_int_equal(options.specs.events.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(options.specs.events.v[i].name, fakes[i].event);
		rows[i] = fakes[i].count;
		cells[i] = 1;
		vec_push(&stat.counters, (struct stat_counter){.spec = &options.specs.events.v[i],
							       .cgroup_fd = -1,
							       .supported = true,
							       .rows = &rows[i],
							       .row_cells = &cells[i]});
	}
	vec_push(&stat.rows, (struct stat_row){.cpu = -1, .cells = 1});
	stat.command = words;
	spread_add(&stat.elapsed, 1e9);
	out_init_memory(&stat.out);
	stat_print(&stat);
	char *text = str_dup((struct str){stat.out.buf, stat.out.n});
	out_done(&stat.out);
	vec_done(&stat.rows);
	vec_done(&stat.counters);
	stat_named_done(&stat);
	event_specs_done(&options.specs);
	return text;
}

static char *printed(enum stat_format format, const struct fake *fakes, size_t n)
{
	return printed_with((struct stat_options){.format = format}, NULL, fakes, n);
}

static void test_text(void **state)
{
	auto_free char *text = printed(STAT_TEXT, hardware, ARRAY_SIZE(hardware));
	static const char *const lines[] = {
		"            500.00 msec task-clock                       #    0.500 CPUs utilized          \n",
		"        1000000000      cycles                           #    2.000 GHz                    \n",
		"         250000000      stalled-cycles-frontend          #   25.00% frontend cycles idle   \n",
		"         500000000      stalled-cycles-backend           #   50.00% backend cycles idle    \n",
		"        2000000000      instructions                     #    2.00  insn per cycle         \n",
		"                                                  #    0.25  stalled cycles per insn",
		"         400000000      branches                         #  800.000 M/sec                    (50.00%)\n",
		"           4000000      branch-misses                    #    1.00% of all branches          (50.00%)\n",
		"              1000      L1-dcache-loads                  #    2.000 K/sec                  \n",
		"               125      L1-dcache-load-misses            #   12.50% of all L1-dcache accesses\n",
		"     <not counted>      cache-misses             ",
		"\n       1.000000000 seconds time elapsed\n\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!strstr(text, lines[i]))
			fail_msg("no line '%s' in\n%s", lines[i], text);
	}
}

static void test_csv(void **state)
{
	auto_free char *text = printed(STAT_CSV, hardware, ARRAY_SIZE(hardware));

	assert_string_equal(text,
			    "500.00,msec,task-clock,500000000,100.00,0.500,CPUs utilized\n"
			    "1000000000,,cycles,500000000,100.00,2.000,GHz\n"
			    "250000000,,stalled-cycles-frontend,500000000,100.00,25.00,frontend cycles idle\n"
			    "500000000,,stalled-cycles-backend,500000000,100.00,50.00,backend cycles idle\n"
			    "2000000000,,instructions,500000000,100.00,2.00,insn per cycle\n"
			    ",,,,0.25,stalled cycles per insn\n"
			    "400000000,,branches,250000000,50.00,800.000,M/sec\n"
			    "4000000,,branch-misses,250000000,50.00,1.00,of all branches\n"
			    "1000,,L1-dcache-loads,500000000,100.00,2.000,K/sec\n"
			    "125,,L1-dcache-load-misses,500000000,100.00,12.50,of all L1-dcache accesses\n"
			    "<not counted>,,cache-misses,0,100.00,,\n"
			    "10,,cache-references,500000000,100.00,20.000,/sec\n");
}

static void test_json(void **state)
{
	auto_free char *text = printed(STAT_JSON, hardware, 2);

	assert_string_equal(text,
			    "{\"counter-value\" : \"500.000000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", "
			    "\"event-runtime\" : 500000000, \"pcnt-running\" : 100.00, \"metric-value\" : 0.500000, "
			    "\"metric-unit\" : \"CPUs utilized\"}\n"
			    "{\"counter-value\" : \"1000000000.000000\", \"unit\" : \"\", \"event\" : \"cycles\", "
			    "\"event-runtime\" : 500000000, \"pcnt-running\" : 100.00, \"metric-value\" : 2.000000, "
			    "\"metric-unit\" : \"GHz\"}\n");
}

static void test_shares_need_the_same_part(void **state)
{
	static const struct fake fakes[] = {
		{"cycles:u", {100, 1000, 1000}},
		{"instructions:u", {150, 1000, 1000}},
		{"instructions:k", {70, 1000, 1000}},
	};
	auto_free char *text = printed(STAT_CSV, fakes, ARRAY_SIZE(fakes));

	assert_string_equal(text, "100,,cycles:u,1000,100.00,,\n"
				  "150,,instructions:u,1000,100.00,1.50,insn per cycle\n"
				  "70,,instructions:k,1000,100.00,,\n");
}

// Of the same run: 100 M instructions in 80 M cycles and 40 ms; 20 M branches, of which 1 M were mispredicted.
static const struct fake named[] = {
	{"instructions", {100000000, 40000000, 40000000}},
	{"cycles", {80000000, 40000000, 40000000}},
	{"task-clock", {40000000, 40000000, 40000000}},
	{"branch-misses", {1000000, 40000000, 40000000}},
	{"branches", {20000000, 40000000, 40000000}},
};
static const char names[] = "ipc,cycles_per_insn,branch_miss_rate,GHz";

static void test_named(void **state)
{
	auto_free char *text =
		printed_with((struct stat_options){0}, names, named, ARRAY_SIZE(named));
	auto_free char *csv = printed_with((struct stat_options){.format = STAT_CSV}, names, named,
					   ARRAY_SIZE(named));
	auto_free char *alone =
		printed_with((struct stat_options){.format = STAT_CSV, .metric_only = true}, names,
			     named, ARRAY_SIZE(named));
	auto_free char *json =
		printed_with((struct stat_options){.format = STAT_JSON, .metric_only = true}, names,
			     named, ARRAY_SIZE(named));
	static const char *const lines[] = {
		"         100000000      instructions                     #     1.25 insn_per_cycle         \n"
		"                                                  #     0.80 cycles_per_insn        \n"
		"          80000000      cycles                           #    2.000 GHz  cycles_frequency  \n",
		"           1000000      branch-misses                    #     5.00 %  branch_miss_rate    \n"
		"          20000000      branches                                                           \n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!strstr(text, lines[i]))
			fail_msg("no line '%s' in\n%s", lines[i], text);
	}
	assert_string_equal(csv, "100000000,,instructions,40000000,100.00,1.25,insn_per_cycle\n"
				 ",,,,0.80,cycles_per_insn\n"
				 "80000000,,cycles,40000000,100.00,2.000,GHz  cycles_frequency\n"
				 "40.00,msec,task-clock,40000000,100.00,,\n"
				 "1000000,,branch-misses,40000000,100.00,5.00,%  branch_miss_rate\n"
				 "20000000,,branches,40000000,100.00,,\n");
	assert_string_equal(alone,
			    "insn_per_cycle,cycles_per_insn,GHz  cycles_frequency,%  branch_miss_rate,\n1.25,0.80,2.000,5.00,\n");
	assert_string_equal(json,
			    "{\"insn_per_cycle\" : \"1.250\", \"cycles_per_insn\" : \"0.800\", \"GHz  cycles_frequency\" : "
			    "\"2.000\", \"%  branch_miss_rate\" : \"5.000\"}\n");
}

// A count that isn't known makes no metric, and no column moves.
static void test_named_unknown(void **state)
{
	struct fake fakes[ARRAY_SIZE(named)];

	memcpy(fakes, named, sizeof(named));
	fakes[1].count = (struct stat_count){0};
	auto_free char *csv = printed_with((struct stat_options){.format = STAT_CSV}, names, fakes,
					   ARRAY_SIZE(fakes));
	auto_free char *alone =
		printed_with((struct stat_options){.format = STAT_CSV, .metric_only = true}, names,
			     fakes, ARRAY_SIZE(fakes));

	assert_null(strstr(csv, "insn"));
	assert_non_null(
		strstr(csv,
		       "100000000,,instructions,40000000,100.00,,\n<not counted>,,cycles,0,100.00,,\n"));
	assert_string_equal(strchr(alone, '\n'), "\n,,,5.00,\n");
}

static struct counting chosen(struct stat_options *options, const char *const *list)
{
	struct counting stat = {.options = options, .signal_fd = -1};

	options->metrics = (struct opt_list){.v = (const char **)(uintptr_t)list, .n = 1};
	assert_int_equal(stat_named_choose(&stat), 0);
	return stat;
}

static void test_named_events(void **state)
{
	static const char *const list = "cycles_frequency,ipc,branch_mpki,CPI";
	struct stat_options shared = {0}, apart = {.metric_no_merge = true},
			    single = {.metric_no_group = true};
	struct counting stat = chosen(&shared, &list);

	// {instructions,cycles},{branch-misses,instructions},task-clock, and cycles of the first group
	assert_int_equal(shared.specs.events.n, 5);
	assert_int_equal(shared.specs.events.v[0].group_n, 2);
	assert_true(shared.specs.events.v[0].weak);
	stat_named_done(&stat);
	event_specs_done(&shared.specs);

	stat = chosen(&apart, &list);
	assert_int_equal(apart.specs.events.n, 8);
	stat_named_done(&stat);
	event_specs_done(&apart.specs);

	stat = chosen(&single, &list);
	vec_each(const struct event_spec, spec, &single.specs.events)
		assert_int_equal(spec->group_n, 1);
	stat_named_done(&stat);
	event_specs_done(&single.specs);
}

// Slots of 1000 cycles of a processor that fills 5 a cycle, by Intel's fixed counter.
static void test_slots(void **state)
{
	static const struct fake fakes[] = {
		{"slots", {5000, 1000, 1000}},
		{"topdown-retiring", {2500, 1000, 1000}},
		{"topdown-bad-spec", {500, 1000, 1000}},
		{"topdown-fe-bound", {1000, 1000, 1000}},
		{"topdown-be-bound", {1000, 1000, 1000}},
		{"topdown-heavy-ops", {500, 1000, 1000}},
		{"topdown-br-mispredict", {400, 1000, 1000}},
		{"topdown-fetch-lat", {250, 1000, 1000}},
		{"topdown-mem-bound", {750, 1000, 1000}},
	};
	const struct stat_options options = {.format = STAT_CSV,
					     .metric_only = true,
					     .root = "topdown-slots"};
	auto_free char *csv = printed_with(options, NULL, fakes, ARRAY_SIZE(fakes));
	auto_free char *text =
		printed_with((struct stat_options){.root = "topdown-slots"}, NULL, fakes, 2);

	assert_string_equal(csv,
			    "Retiring,Bad Speculation,Frontend Bound,Backend Bound,Heavy Operations,Light Operations,"
			    "Branch Mispredict,Machine Clears,Fetch Latency,Fetch Bandwidth,Memory Bound,Core Bound,\n"
			    "50.0,10.0,20.0,20.0,10.0,40.0,8.0,2.0,5.0,15.0,15.0,5.0,\n");
	// Without the others a share isn't known.
	assert_null(strstr(text, "Retiring"));
}

// Of a core before that: 2 slots are counted as one.
static void test_slot_counts(void **state)
{
	static const struct fake fakes[] = {
		{"topdown-total-slots", {1000, 1000, 1000}},
		{"topdown-slots-retired", {800, 1000, 1000}},
		{"topdown-recovery-bubbles", {50, 1000, 1000}},
		{"topdown-fetch-bubbles", {400, 1000, 1000}},
		{"topdown-slots-issued", {1000, 1000, 1000}},
	};
	const struct stat_options options = {.root = "topdown-counts"};
	auto_free char *text = printed_with(options, NULL, fakes, ARRAY_SIZE(fakes));
	static const char *const lines[] = {
		"topdown-slots-retired            #     40.0% retiring ",
		"topdown-recovery-bubbles         #     15.0% bad speculation ",
		"topdown-fetch-bubbles            #     20.0% frontend bound ",
		"topdown-slots-issued             #     25.0% backend bound ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!strstr(text, lines[i]))
			fail_msg("no line '%s' in\n%s", lines[i], text);
	}
}

RUN_TESTS(TEST(test_slots), TEST(test_slot_counts), TEST(test_named), TEST(test_named_unknown),
	  TEST(test_named_events), TEST(test_text), TEST(test_csv), TEST(test_json),
	  TEST(test_shares_need_the_same_part))
