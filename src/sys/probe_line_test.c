// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/probe_line.h"
#include "base/alloc.h"
#include "base/test.h"

struct line_case {
	const char *line;
	bool is_uprobe;
	struct {
		const char *group, *event, *path, *args;
		uint64_t at;
		bool is_return;
	} want; // no group: it is none
};

static void check(const struct line_case *c)
{
	struct probe_line line = {.at = 77};
	const bool good = probe_line_parse(str_of(c->line), c->is_uprobe, &line);

	if (!c->want.group) {
		if (good || line.at != 77)
			fail_msg("'%s' is a probe", c->line);
		return;
	}
	if (!good || !str_is(line.group, c->want.group) || !str_is(line.event, c->want.event) ||
	    !str_is(line.path, c->want.path) || !str_is(line.args, c->want.args) ||
	    line.at != c->want.at || line.is_return != c->want.is_return ||
	    line.is_uprobe != c->is_uprobe)
		fail_msg("'%s': %.*s %.*s %.*s 0x%llx", c->line, STR_FMT(line.group),
			 STR_FMT(line.event), STR_FMT(line.path), (unsigned long long)line.at);
}

static void programs(void **state)
{
	static const struct line_case cases[] = {
		{"p:sonde_12/malloc /usr/lib/libc.so.6:0x00000000000a1b20",
		 true,
		 {"sonde_12", "malloc", "/usr/lib/libc.so.6", "", 0xa1b20, false}},
		{"r:g/ret /a:b:0x10 ret=$retval",
		 true,
		 {"g", "ret", "/a:b", "ret=$retval", 0x10, true}},
		{"r16:g/ret /a:0x10", true, {"g", "ret", "/a", "", 0x10, true}},
		{"p:g/mark /a:0x1234(0x99) x=%ax:u64 y=%di",
		 true,
		 {"g", "mark", "/a", "x=%ax:u64 y=%di", 0x1234, false}},
		{"p:g/e /a", true, {0}},
		{"p:g/e /a:zz", true, {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(&cases[i]);
}

static void kernel(void **state)
{
	static const struct line_case cases[] = {
		{"p:probe/do_exit do_exit", false, {"probe", "do_exit", "do_exit", "", 0, false}},
		{"p:probe/open do_sys_open+18 name=%si:string",
		 false,
		 {"probe", "open", "do_sys_open", "name=%si:string", 18, false}},
		{"r4:probe/r ext4:ext4_sync_file",
		 false,
		 {"probe", "r", "ext4:ext4_sync_file", "", 0, true}},
		{"p:probe/open do_sys_open+x", false, {0}},
		{"p:probe/open", false, {0}},
		{"p:probe do_exit", false, {0}},
		{"p:/e do_exit", false, {0}},
		{"p do_exit", false, {0}},
		{"e:probe/x sched/sched_switch", false, {0}},
		{"-:probe/x", false, {0}},
		{"", false, {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(&cases[i]);
}

RUN_TESTS(TEST(programs), TEST(kernel))
