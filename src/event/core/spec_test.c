// SPDX-License-Identifier: GPL-2.0-or-later
// On the fake machines of test/root; nothing is opened.
#include "event/core/spec.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct machine {
	char *root, *tracefs;
	struct event_context ctx;
	struct event_specs specs;
};

static void machine_init(struct machine *m, const char *name)
{
	const char *top = getenv("T");

	*m = (struct machine){0};
	m->root = text_dup_fmt("%s/root/%s", top ? top : "test", name);
	m->ctx.root = m->root;
	m->ctx.no_search = false;
	event_specs_init(&m->specs);
}

static void machine_done(struct machine *m)
{
	event_specs_done(&m->specs);
	free(m->root);
}

// Bits of the attr in a form that a table can hold.
#define U "k,hv,guest"
struct accepted {
	const char *text, *name;
	uint32_t type;
	uint64_t config;
	const char *excludes; // "user,k,hv,host,guest,idle" of what is set
	unsigned precise;
};

static const struct accepted accepted[] = {
	// hardware and software
	{"cycles", "cycles", 0, 0, "guest", 0},
	{"cpu-cycles:u", "cpu-cycles:u", 0, 0, U, 0},
	{"instructions:k", "instructions:k", 0, 1, "user,hv", 0},
	{"branches:uk", "branches:uk", 0, 4, "hv,guest", 0},
	{"idle-cycles-backend", "idle-cycles-backend", 0, 8, "guest", 0},
	{"ref-cycles:ppp", "ref-cycles:ppp", 0, 9, "guest", 3},
	{"cycles:pp", "cycles:pp", 0, 0, "guest", 2},
	{"cycles:upp", "cycles:upp", 0, 0, U, 2},
	{"cycles:P", "cycles:P", 0, 0, "", 0},
	{"cycles:G", "cycles:G", 0, 0, "host", 0},
	{"cycles:H", "cycles:H", 0, 0, "guest", 0},
	{"cycles:HG", "cycles:HG", 0, 0, "", 0},
	{"cycles:h", "cycles:h", 0, 0, "user,k", 0},
	{"cycles:I", "cycles:I", 0, 0, "idle", 0},
	{"cycles:", "cycles:", 0, 0, "guest", 0},
	{"cpu-clock", "cpu-clock", 1, 0, "guest", 0},
	{"faults", "faults", 1, 2, "guest", 0},
	{"cs", "cs", 1, 3, "guest", 0},
	{"cgroup-switches", "cgroup-switches", 1, 11, "guest", 0},
	{" task-clock ", "task-clock", 1, 1, "guest", 0},
	{"cpu-clock//u", "cpu-clock//u", 1, 0, U, 0},
	{"cpu-clock/period=7/u", "cpu-clock/period=7/u", 1, 0, U, 0},
	{"cpu-clock/name=foo/u", "foo", 1, 0, U, 0},
	{"cpu-clock/name='a:b=c,d'/", "a:b=c,d", 1, 0, "guest", 0},
	{"cpu-clock/config=1/", "cpu-clock/config=1/", 1, 1, "guest", 0},
	{"duration_time", "duration_time", 1, 9, "guest", 0},
	// caches
	{"L1-dcache-load-misses", "L1-dcache-load-misses", 3, 0x10000, "guest", 0},
	{"l1d", "l1d", 3, 0, "guest", 0},
	{"l1-d-read-miss", "l1-d-read-miss", 3, 0x10000, "guest", 0},
	{"L1-data-stores", "L1-data-stores", 3, 0x100, "guest", 0},
	{"LLC-prefetch-misses:u", "LLC-prefetch-misses:u", 3, 0x10202, U, 0},
	{"L2-speculative-load-access", "L2-speculative-load-access", 3, 0x202, "guest", 0},
	{"Data-TLB-misses", "Data-TLB-misses", 3, 0x10003, "guest", 0},
	{"i-tlb-loads", "i-tlb-loads", 3, 4, "guest", 0},
	{"bpu-load-misses", "bpu-load-misses", 3, 0x10005, "guest", 0},
	{"branch-load-misses", "branch-load-misses", 3, 0x10005, "guest", 0},
	{"node-stores", "node-stores", 3, 0x106, "guest", 0},
	{"branch-misses", "branch-misses", 0, 5, "guest", 0},
	// raw and numbers
	{"r1a8", "r1a8", 4, 0x1a8, "guest", 0},
	{"rABC:p", "rABC:p", 4, 0xabc, "guest", 1},
	{"r00c0/period=5/", "r00c0/period=5/", 4, 0xc0, "guest", 0},
	{"1:2", "1:2", 1, 2, "guest", 0},
	{"4:0x1a8/name=x/u", "x", 4, 0x1a8, U, 0},
	// PMUs
	{"cpu/event=0x3c,umask=0x1/", "cpu/event=0x3c,umask=0x1/", 4, 0x13c, "guest", 0},
	{"cpu/event=0xcd,cmask=2,inv/u", "cpu/event=0xcd,cmask=2,inv/u", 4, 0x28000cd, U, 0},
	{"cpu/cpu-cycles/", "cpu/cpu-cycles/", 4, 0x3c, "guest", 0},
	{"cpu/cycles/", "cpu/cycles/", 4, 0x3c, "guest", 0},
	{"cpu/r1a8/", "cpu/r1a8/", 4, 0x1a8, "guest", 0},
	{"cpu/config=0x77/", "cpu/config=0x77/", 4, 0x77, "guest", 0},
	{"cpu/instructions,name=ins/", "ins", 4, 0xc0, "guest", 0},
	{"cpu/mem-loads,ldlat=30/P", "cpu/mem-loads,ldlat=30/P", 4, 0x1cd, "", 0},
	{"mem-stores", "mem-stores", 4, 0x82d0, "guest", 0},
	{"cpu/param,offcore_rsp=5/", "cpu/param,offcore_rsp=5/", 4, 0x1b7, "guest", 0},
	{"intel_pt//", "intel_pt//", 8, 0, "guest", 0},
	{"intel_pt/tsc,split=0x11/", "intel_pt/tsc,split=0x11/", 8, 0x100000401, "guest", 0},
	{"software/config=3/", "software/config=3/", 1, 3, "guest", 0},
	{"energy-pkg", "energy-pkg", 20, 2, "guest", 0},
	{"power/energy-pkg/", "power/energy-pkg/", 20, 2, "guest", 0},
	// tracepoints
	{"sched:sched_switch", "sched:sched_switch", 2, 316, "guest", 0},
	{"sched:sched_switch:u", "sched:sched_switch", 2, 316, U, 0},
	{"sched:sched_switch/call-graph=fp/", "sched:sched_switch", 2, 316, "guest", 0},
	{"sched:sched_sw*", "sched:sched_switch", 2, 316, "guest", 0},
	{"sch*:sched_wak[ie]n?", "sched:sched_waking", 2, 319, "guest", 0},
	{"power:cpu_idle", "power:cpu_idle", 2, 401, "guest", 0},
	{"probe:my_probe", "probe:my_probe", 2, 2000, "guest", 0},
	// breakpoints
	{"mem:0x1000", "mem:0x1000", 5, 0, "guest", 0},
	{"mem:0x1000/8:w:u", "mem:0x1000", 5, 0, U, 0},
	{"mem:4096:x", "mem:4096:x", 5, 0, "guest", 0},
};

static void check_excludes(const struct perf_event_attr *attr, const char *wanted, const char *text)
{
	const struct {
		const char *name;
		bool is;
	} bits[] = {
		{"user", attr->exclude_user},	{"k", attr->exclude_kernel},
		{"hv", attr->exclude_hv},	{"host", attr->exclude_host},
		{"guest", attr->exclude_guest}, {"idle", attr->exclude_idle},
	};
	char is[64] = "";

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (!bits[i].is)
			continue;
		if (*is)
			strcat(is, ",");
		strcat(is, bits[i].name);
	}
	if (strcmp(is, wanted))
		fail_msg("%s: excludes %s, not %s", text, is, wanted);
}

static void test_accepted(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		const struct accepted *c = &accepted[i];

		vec_clear(&m.specs.events);
		if (event_parse(&m.specs, c->text, &m.ctx) < 0)
			fail_msg("%s: %s", c->text, err_sentence());
		if (m.specs.events.n != 1)
			fail_msg("%s: %zu events", c->text, m.specs.events.n);
		struct event_spec *spec = &m.specs.events.v[0];
		assert_string_equal(spec->name, c->name);
		if (spec->attr.type != c->type || spec->attr.config != c->config)
			fail_msg("%s: type %u config %#llx", c->text, spec->attr.type,
				 (unsigned long long)spec->attr.config);
		assert_int_equal(spec->attr.precise_ip, c->precise);
		check_excludes(&spec->attr, c->excludes, c->text);
	}
	machine_done(&m);
}

struct refused {
	const char *text;
	int err;
	unsigned column; // where the sentence points, from 1; 0: nowhere
	const char *says;
};

static const struct refused refused[] = {
	{"", EINVAL, 0, "empty"},
	{",cycles", EINVAL, 1, "event should stand"},
	{"cycles,", EINVAL, 8, "event should stand"},
	{"cycels", ENOENT, 1, "'cycles'"},
	{"faults,cycels,cs", ENOENT, 8, "'cycles'"},
	{"sched:sched_swich", ENOENT, 1, "'sched:sched_switch'"},
	{"schd:sched_switch", ENOENT, 1, "'sched:sched_switch'"},
	{"nosuch:*", ENOENT, 1, "no tracepoint"},
	{"sched:../../x", ENOENT, 1, "no event"},
	{"cycles:z", EINVAL, 8, "modifier 'z'"},
	{"cycles::u", EINVAL, 8, "modifier should stand"},
	{"cycles:uu", EINVAL, 9, "twice"},
	{"cycles:pppp", EINVAL, 11, "ppp"},
	{"{cycles", EINVAL, 1, "not closed"},
	{"cycles}", EINVAL, 7, "no group"},
	{"{cycles}}", EINVAL, 9, "no group"},
	{"{}", EINVAL, 2, "event should stand"},
	{"{{cycles}}", EINVAL, 2, "inside"},
	{"{cycles}:z", EINVAL, 10, "modifier"},
	{"{cycles}:", EINVAL, 10, "modifier"},
	{"cycles/period", EINVAL, 7, "not closed"},
	{"cycles/period=/", EINVAL, 15, "a number"},
	{"cycles/period=x/", EINVAL, 15, "a number"},
	{"cycles/period=1,/", EINVAL, 17, "term should stand"},
	{"cycles/perod=1/", EINVAL, 8, "'period'"},
	{"cycles/name='x/", EINVAL, 13, "quote"},
	{"cycles/name='x'y/", EINVAL, 16, "',' or '/'"},
	{"cycles/call-graph=foo/", EINVAL, 19, "fp, dwarf"},
	{"cycles/time=2/", EINVAL, 13, "at most 1"},
	{"cycles/stack-size=70000/", EINVAL, 19, "smaller"},
	{"cycles/branch_type=foo/", EINVAL, 20, "branch filters"},
	{"sched:sched_switch/config=1/", EINVAL, 20, "not for tracepoint"},
	{"L1-icache-stores", EINVAL, 1, "no stores"},
	{"nocpu/event=1/", ENOENT, 1, "no PMU 'nocpu'"},
	{"cpu/evnt=1/", EINVAL, 5, "'event'"},
	{"cpu/event=0x100/", EINVAL, 5, "8 bits"},
	{"mem:", EINVAL, 1, "address"},
	{"mem:x", EINVAL, 5, "address"},
	{"mem:0x1000/9", EINVAL, 12, "1 to 8"},
	{"mem:0x1000:rr", EINVAL, 13, "twice"},
	{"r12345678901234567", EINVAL, 1, "64 bits"},
	{"1:x", EINVAL, 3, "config"},
};

static void test_refused(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const struct refused *c = &refused[i];
		char column[32];

		err_clear();
		int err = event_parse(&m.specs, c->text, &m.ctx);
		snprintf(column, sizeof(column), "column %u:", c->column);
		if (err != -c->err || !strstr(err_sentence(), c->says) ||
		    (c->column && !strstr(err_sentence(), column)))
			fail_msg("%s: %d, %s", c->text, err, err_sentence());
		assert_int_equal(m.specs.events.n, 0);
	}
	machine_done(&m);
}

static void test_caret(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs, "faults,cycels:u", &m.ctx), -ENOENT);
	assert_non_null(strstr(err_sentence(), "\n  faults,cycels:u\n         ^^^^^^"));
	// Far to the right the text is cut; control characters don't reach the terminal.
	assert_true(event_parse(&m.specs,
				"faults,faults,faults,faults,faults,faults,faults,faults,\033[2Jx",
				&m.ctx) < 0);
	assert_null(strchr(err_sentence(), '\033'));
	assert_non_null(strstr(err_sentence(), "\n  .."));
	machine_done(&m);
}

static void test_terms(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs,
				     "cycles/freq=99,call-graph=dwarf,stack-size=4097,max-stack=5,time=0,"
				     "no-inherit,overwrite,nr=3,percore,aux-output,aux-sample-size=64,"
				     "config1=5,config2=6,config3=7,branch_type=any_call+u/",
				     &m.ctx),
			 0);
	struct event_spec *spec = &m.specs.events.v[0];
	assert_int_equal(spec->attr.sample_freq, 99);
	assert_true(spec->attr.freq);
	assert_int_equal(spec->call_graph, EVENT_CALL_GRAPH_DWARF);
	assert_int_equal(spec->stack_size_bytes, 4104);
	assert_int_equal(spec->max_stack, 5);
	assert_int_equal(spec->max_events, 3);
	assert_false(spec->time);
	assert_false(spec->inherit);
	assert_true(spec->overwrite && spec->percore && spec->aux_output);
	assert_int_equal(spec->aux_sample_size_bytes, 64);
	assert_int_equal(spec->attr.config1, 5);
	assert_int_equal(spec->attr.config2, 6);
	assert_int_equal(spec->attr.config3, 7);
	assert_int_equal(spec->branch_type, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_int_equal(spec->given, EVENT_FREQ | EVENT_CALL_GRAPH | EVENT_STACK_SIZE |
					      EVENT_MAX_STACK | EVENT_TIME | EVENT_INHERIT |
					      EVENT_OVERWRITE | EVENT_MAX_EVENTS | EVENT_PERCORE |
					      EVENT_AUX_OUTPUT | EVENT_AUX_SAMPLE | EVENT_CONFIG |
					      EVENT_BRANCH);
	// The last of period and freq counts.
	assert_int_equal(event_parse(&m.specs, "cycles/freq=99,period=5/", &m.ctx), 0);
	spec = &m.specs.events.v[1];
	assert_int_equal(spec->attr.sample_period, 5);
	assert_false(spec->attr.freq);
	assert_int_equal(spec->given, EVENT_PERIOD);
	// Fields of the second and third config.
	assert_int_equal(event_parse(&m.specs, "cpu/mem-loads,ldlat=30/,intel_pt/wide=9,third=5/",
				     &m.ctx),
			 0);
	assert_int_equal(m.specs.events.v[2].attr.config1, 30);
	assert_int_equal(m.specs.events.v[3].attr.config2, 9);
	assert_int_equal(m.specs.events.v[3].attr.config3, 0x50);
	machine_done(&m);
}

static void test_groups(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs,
				     "cs,{cycles:k,instructions}:S,foo{faults,sched:*}:uDW,cs",
				     &m.ctx),
			 0);
	const struct event_spec *v = m.specs.events.v;
	assert_int_equal(m.specs.events.n, 9);
	assert_int_equal(v[0].leader, 0);
	assert_int_equal(v[0].group_n, 1);
	assert_int_equal(v[1].leader, 1);
	assert_int_equal(v[1].group_n, 2);
	assert_int_equal(v[2].leader, 1);
	assert_int_equal(v[2].group_n, 0);
	assert_true(v[1].group_read && v[2].group_read);
	assert_null(v[1].group_name);
	assert_int_equal(v[3].leader, 3);
	assert_int_equal(v[3].group_n, 5);
	assert_string_equal(v[3].group_name, "foo");
	assert_true(v[3].attr.pinned);
	assert_false(v[4].attr.pinned);
	assert_true(v[4].weak && v[4].attr.exclude_kernel && v[7].attr.exclude_kernel);
	assert_int_equal(v[8].leader, 8);
	// A group's u on top of an event's k: both.
	vec_clear(&m.specs.events);
	assert_int_equal(event_parse(&m.specs, "{cycles:k,cs,cs:G}:u", &m.ctx), 0);
	check_excludes(&m.specs.events.v[0].attr, "hv,guest", "cycles:k in :u");
	check_excludes(&m.specs.events.v[1].attr, U, "cs in :u");
	vec_clear(&m.specs.events);
	assert_int_equal(event_parse(&m.specs, "{cycles,cs:G}:H", &m.ctx), 0);
	check_excludes(&m.specs.events.v[0].attr, "guest", "cycles in :H");
	check_excludes(&m.specs.events.v[1].attr, "", "cs:G in :H");
	machine_done(&m);
}

static void test_tracepoints(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs, "sys*:sys_enter_*", &m.ctx), 0);
	assert_int_equal(m.specs.events.n, 2);
	vec_each(struct event_spec, spec, &m.specs.events) {
		assert_string_equal(spec->tp_system, "syscalls");
		assert_int_equal(spec->attr.sample_period, 1);
		assert_int_equal(spec->attr.sample_type, PERF_SAMPLE_RAW | PERF_SAMPLE_TIME |
								 PERF_SAMPLE_CPU |
								 PERF_SAMPLE_PERIOD);
	}
	assert_int_equal(event_filter(&m.specs, "count > 5"), 0);
	assert_int_equal(event_filter(&m.specs, "fd == 1"), 0);
	event_exclude_pid(&m.specs, 7);
	assert_string_equal(m.specs.events.v[1].filter,
			    "((count > 5) && (fd == 1)) && (common_pid != 7)");
	// The filter is for the last -e only.
	assert_int_equal(event_parse(&m.specs, "cycles", &m.ctx), 0);
	assert_int_equal(event_filter(&m.specs, "x"), -EINVAL);
	assert_non_null(strstr(err_sentence(), "'cycles'"));
	assert_int_equal(event_parse(&m.specs, "intel_pt//", &m.ctx), 0);
	assert_int_equal(event_filter(&m.specs, "filter main"), 0);
	machine_done(&m);
}

static void test_no_tracefs(void **state)
{
	struct machine m;

	machine_init(&m, "arm64");
	assert_int_equal(event_parse(&m.specs, "sched:sched_switch", &m.ctx), -ENOENT);
	assert_non_null(strstr(err_sentence(), "not mounted"));
	machine_done(&m);
}

static void test_uncore(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs, "uncore_imc/cas_count_read/", &m.ctx), 0);
	assert_int_equal(m.specs.events.n, 2);
	vec_each(struct event_spec, spec, &m.specs.events) {
		assert_int_equal(spec->attr.config, 0x304);
		assert_string_equal(spec->unit, "MiB");
		assert_true(spec->scale > 6.1e-5 && spec->scale < 6.2e-5);
		assert_int_equal(spec->cpus_n, 2);
		assert_int_equal(spec->cpus[1], 2);
		assert_true(spec->cpus_are_uncore);
	}
	assert_int_equal(event_parse(&m.specs, "imc/event=1/,uncore_imc_1/event=1/,*imc*/event=2/",
				     &m.ctx),
			 0);
	assert_int_equal(m.specs.events.n, 7);
	machine_done(&m);
}

static void test_hybrid(void **state)
{
	struct machine m;

	machine_init(&m, "hybrid");
	assert_int_equal(event_parse(&m.specs, "cycles:u,mem-stores", &m.ctx), 0);
	assert_int_equal(m.specs.events.n, 4);
	assert_int_equal(m.specs.events.v[0].attr.config, 4ull << 32);
	assert_int_equal(m.specs.events.v[1].attr.config, 10ull << 32);
	assert_int_equal(m.specs.events.v[1].cpus_n, 4);
	assert_int_equal(m.specs.events.v[1].cpus[0], 4);
	assert_false(m.specs.events.v[1].cpus_are_uncore);
	assert_true(m.specs.events.v[1].attr.exclude_kernel);
	machine_done(&m);
}

static void test_breakpoints(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs,
				     "mem:0x1000,mem:0x1000/1:w,mem:0x1000:x,mem:0x1000:u", &m.ctx),
			 0);
	static const struct {
		unsigned type, length;
	} wanted[] = {{3, 4}, {2, 1}, {4, sizeof(long)}, {3, 4}};
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct perf_event_attr *attr = &m.specs.events.v[i].attr;
		assert_int_equal(attr->bp_addr, 0x1000);
		assert_int_equal(attr->bp_type, wanted[i].type);
		assert_int_equal(attr->bp_len, wanted[i].length);
		assert_int_equal(attr->sample_period, 1);
	}
	assert_true(m.specs.events.v[3].attr.exclude_kernel);
	machine_done(&m);
}

static void test_fall_back(void **state)
{
	struct machine m;

	machine_init(&m, "x86");
	assert_int_equal(event_parse(&m.specs, "cycles:u,instructions", &m.ctx), 0);
	assert_true(event_fall_back(&m.specs, &m.specs.events.v[0]));
	assert_string_equal(m.specs.events.v[0].name, "cpu-clock:uH");
	assert_int_equal(m.specs.events.v[0].attr.type, PERF_TYPE_SOFTWARE);
	assert_false(event_fall_back(&m.specs, &m.specs.events.v[1]));
	machine_done(&m);
}

static void test_user_only(void **state)
{
	static const struct {
		const char *text, *name; // NULL: refused
	} cases[] = {
		{"cpu-clock", "cpu-clock:u"},
		{"mem:0x10:w", "mem:0x10:wu"},
		{"cpu-clock:k", NULL},
		{"cpu-clock:u", NULL},
	};
	struct machine m;

	machine_init(&m, "x86");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(event_parse(&m.specs, cases[i].text, &m.ctx), 0);
		struct event_spec *spec = &vec_last(&m.specs.events);
		assert_int_equal(event_user_only(&m.specs, spec), cases[i].name != NULL);
		assert_string_equal(spec->name, cases[i].name ? cases[i].name : cases[i].text);
	}
	assert_int_equal(event_parse(&m.specs, "page-faults", &m.ctx), 0);
	vec_last(&m.specs.events).attr.exclude_user = 1; // --all-kernel
	assert_false(event_user_only(&m.specs, &vec_last(&m.specs.events)));
	machine_done(&m);
}

RUN_TESTS(TEST(test_accepted), TEST(test_refused), TEST(test_caret), TEST(test_terms),
	  TEST(test_groups), TEST(test_tracepoints), TEST(test_no_tracefs), TEST(test_uncore),
	  TEST(test_hybrid), TEST(test_breakpoints), TEST(test_fall_back), TEST(test_user_only))
