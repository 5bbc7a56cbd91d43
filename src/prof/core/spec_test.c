// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/spec.h"
#include "base/err.h"
#include "base/test.h"

struct expected {
	const char *text;
	const char *names[4], *filters[4];
	const char *attrs[8]; // NAME, VALUE of the first event with attributes, in turn
};

static const struct expected cases[] = {
	{"sched:sched_wakeup", {"sched:sched_wakeup"}},
	{"a:b,c:d", {"a:b", "c:d"}},
	{"sched:sched_wakeup/pid<10/", {"sched:sched_wakeup"}, {"pid<10"}},
	{"a:b//key=pid/comm=comm/,c:d", {"a:b", "c:d"}, {NULL}, {"key", "pid", "comm", "comm"}},
	{"a:b/x==1/stack/", {"a:b"}, {"x==1"}, {"stack", ""}},
	{"a:b//top-by=\"runtime/1000\"/alias=run(us)/",
	 {"a:b"},
	 {NULL},
	 {"top-by", "runtime/1000", "alias", "run(us)"}},
	{"a:b//cpus=\"0,2\"/,c:d//cpus=1/", {"a:b", "c:d"}, {NULL}, {"cpus", "0,2"}},
	// quotes within quotes
	{"a:b//exec=\"printf(\"PID=%d %s\\n\", pid*10, prio>120?\"LO\":\"HI\")\"/",
	 {"a:b"},
	 {NULL},
	 {"exec", "printf(\"PID=%d %s\\n\", pid*10, prio>120?\"LO\":\"HI\")"}},
	// what the shell leaves of quotes
	{"a:b//role=(next_pid?1:0)|(prev_pid?2:0)/",
	 {"a:b"},
	 {NULL},
	 {"role", "(next_pid?1:0)|(prev_pid?2:0)"}},
	{"a:b//role=(strncmp(c,\"s\",6)==0?1:0)/,c:d",
	 {"a:b", "c:d"},
	 {NULL},
	 {"role", "(strncmp(c,\"s\",6)==0?1:0)"}},
	{"a:b/comm~python/", {"a:b"}, {"comm~\"python\""}},
	{"a:b/f~*touch&&x!=a*/", {"a:b"}, {"f~\"*touch\"&&x!=\"a*\""}},
	{"a:b/filename==\"/bin/sh\"/key=pid/", {"a:b"}, {"filename==\"/bin/sh\""}, {"key", "pid"}},
	{"a:b/prev_state==-1 && c == 'x y'/", {"a:b"}, {"prev_state==-1 && c == 'x y'"}},
	{"uprobe:f@\"/lib/x.so\"//key=pid/,a:b",
	 {"uprobe:f@\"/lib/x.so\"", "a:b"},
	 {NULL},
	 {"key", "pid"}},
	// a quote that nobody closed
	{"a:b//comm=\"(char *)&x+name_offset/", {"a:b"}, {NULL}, {"comm", "(char *)&x+name_offset"}},
	// a division, and a file that is there
	{"a:b//key=pid/10/comm=comm/", {"a:b"}, {NULL}, {"key", "pid/10", "comm", "comm"}},
	{"a:b//key=pid / (1+nr)/", {"a:b"}, {NULL}, {"key", "pid / (1+nr)"}},
	{"a:b//key=pid/10", {"a:b"}, {NULL}, {"key", "pid/10"}},
	{"uprobe:f@/dev/../etc/passwd/x==1/key=pid/,a:b",
	 {"uprobe:f@/dev/../etc/passwd", "a:b"},
	 {"x==1"},
	 {"key", "pid"}},
	{"uprobe:f@/etc/passwd,a:b", {"uprobe:f@/etc/passwd", "a:b"}},
	{"a:b//pull=/dev/null/key=pid/,c:d", {"a:b", "c:d"}, {NULL}, {"pull", "/dev/null", "key", "pid"}},
	{"a:b//push=9900/", {"a:b"}, {NULL}, {"push", "9900"}},
	{"a:b//push=\"/dev/none/\"", {"a:b"}, {NULL}, {"push", "/dev/none/"}},
	{"task-state/-g/untraced/", {"task-state"}, {"-g"}, {"untraced", ""}},
};

static void test_read(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct prof_specs specs = {0};
		size_t n = 0;

		if (prof_specs_parse(&specs, cases[i].text))
			fail_msg("%s: %s", cases[i].text, err_sentence());
		while (n < 4 && cases[i].names[n])
			n++;
		assert_int_equal(specs.list.n, n);
		for (size_t k = 0; k < n; k++) {
			assert_string_equal(specs.list.v[k]->name, cases[i].names[k]);
			if (cases[i].filters[k])
				assert_string_equal(specs.list.v[k]->filter, cases[i].filters[k]);
			else
				assert_null(specs.list.v[k]->filter);
		}
		for (size_t k = 0; k < 8 && cases[i].attrs[k]; k += 2)
			assert_string_equal(prof_spec_attr(specs.list.v[0], cases[i].attrs[k]),
					    cases[i].attrs[k + 1]);
		prof_specs_done(&specs);
	}
}

static void test_wrong(void **state)
{
	static const char *const texts[] = {"",		",",	  "a:b,",
					    "a:b//=x/", "a:b///", "a:b//key=\"x\"y"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct prof_specs specs = {0};
		int err = prof_specs_parse(&specs, texts[i]);

		// The last is taken as it stands: a quote within.
		if (i + 1 < sizeof(texts) / sizeof(texts[0]))
			assert_int_equal(err, -22);
		prof_specs_done(&specs);
	}
}

static void test_stages(void **state)
{
	struct prof_specs specs = {0};

	assert_int_equal(prof_specs_parse(&specs, "a:b,c:d"), 0);
	assert_int_equal(prof_specs_parse(&specs, "e:f"), 0);
	assert_int_equal(specs.stages, 2);
	assert_int_equal(specs.list.v[1]->stage, 0);
	assert_int_equal(specs.list.v[2]->stage, 1);
	assert_null(prof_spec_attr(specs.list.v[2], "key"));
	prof_specs_done(&specs);
}

RUN_TESTS(TEST(test_read), TEST(test_wrong), TEST(test_stages))
