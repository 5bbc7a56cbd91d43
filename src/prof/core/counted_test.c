// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/counted.h"
#include "base/test.h"
#include <stddef.h>

// What keeps the kernel from counting.
static void test_not_in_kernel(void **state)
{
	static const char *const workload[] = {"true", NULL};
	static const struct foreign foreign;
	const struct {
		struct prof_options options;
		struct feed_options feed;
		const char *reason; // NULL: nothing
		bool with_cpus, is_foreign;
	} cases[] = {
		{.reason = NULL},
		{.options = {.target.cpus = "0", .perins = true, .verbose = 1}},
		{.options = {.no_bpf = true}, .reason = "--no-bpf"},
		{.options = {.from = "x"}, .reason = "events go through a recording"},
		{.options = {.to = "x"}, .reason = "events go through a recording"},
		{.options = {.target.pids = "1"}, .reason = "it watches tasks"},
		{.options = {.target.tids = "1"}, .reason = "it watches tasks"},
		{.options = {.target.users = "root"}, .reason = "it watches tasks"},
		{.options = {.cgroups = "x"}, .reason = "it watches tasks"},
		{.feed = {.workload = workload}, .reason = "it watches tasks"},
		{.options = {.verbose = 2}, .reason = "single events are wanted (-vv, -N, -g)"},
		{.options = {.exit_n = 1}, .reason = "single events are wanted (-vv, -N, -g)"},
		{.options = {.call_graph = true}, .reason = "single events are wanted (-vv, -N, -g)"},
		{.options = {.exclude_user = true}, .reason = "--exclude-... is given"},
		{.options = {.exclude_host = true}, .reason = "--exclude-... is given"},
		{.is_foreign = true, .reason = "events are pushed or pulled"},
		{.with_cpus = true, .reason = "an event has CPUs of its own, or call chains"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct prof_options options = cases[i].options;
		struct feed feed = {.options = &cases[i].feed};
		struct feed_event wanted = {.cpus = cases[i].with_cpus ? "0" : NULL,
					    .foreign = cases[i].is_foreign ? &foreign : NULL};
		struct prof_event event = {.feed = &wanted}, *events[] = {&event};
		const struct prof prof = {.options = &options,
					  .feed = &feed,
					  .events = {events, 1, 1}};
		const char *reason = prof_not_in_kernel(&prof);

		if (!reason != !cases[i].reason)
			fail_msg("case %zu: %s", i, reason ? reason : "no reason");
		if (reason)
			assert_string_equal(reason, cases[i].reason);
	}
}

// The scheduler's events happen in the context of whoever runs; of others, ours are left out.
static void test_events(void **state)
{
	struct event event = {0};
	struct feed_event wanted = {.event = &event, .filter = "pid > 1", .system = "sched"};
	const struct prof_event of = {.feed = &wanted};
	struct tally_event counted = prof_tally_event(&of);

	assert_ptr_equal(counted.event, &event);
	assert_string_equal(counted.filter, "pid > 1");
	assert_false(counted.not_self);
	assert_int_equal(counted.role, TALLY_ALONE);
	wanted.system = "raw_syscalls";
	counted = prof_tally_event(&of);
	assert_true(counted.not_self);
}

RUN_TESTS(TEST(test_not_in_kernel), TEST(test_events))
