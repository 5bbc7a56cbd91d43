// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/pairing.h"
#include "base/test.h"

static void test_backward(void **state)
{
	struct prof prof = {0};
	uint64_t ns = 7;

	assert_true(prof_delay(&prof, 100, 130, &ns));
	assert_int_equal(ns, 30);
	assert_true(prof_delay(&prof, 100, 100, &ns));
	assert_int_equal(ns, 0);
	assert_int_equal(prof.backward_n, 0);
	ns = 7;
	assert_false(prof_delay(&prof, 100, 99, &ns));
	assert_int_equal(ns, 7);
	assert_int_equal(prof.backward_n, 1);
}

static void test_whose(void **state)
{
	static const struct {
		const char *system;
		bool of_cpu;
	} cases[] = {{"irq", true},	      {"sched", true},	{"timer", true},
		     {"raw_syscalls", false}, {"block", false}, {"workqueue", false},
		     {"kvm", false},	      {NULL, false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct feed_event feed = {.system = cases[i].system};

		assert_int_equal(prof_is_of_cpu(&(struct prof_event){.feed = &feed}),
				 cases[i].of_cpu);
	}
}

static void test_idle(void **state)
{
	assert_int_equal(prof_thread_key(&(struct sample){.tid = 12, .cpu = 3}), 12);
	assert_true(prof_thread_key(&(struct sample){.cpu = 3}) !=
		    prof_thread_key(&(struct sample){.cpu = 4}));
	assert_true(prof_thread_key(&(struct sample){.cpu = 3}) > UINT32_MAX);
}

RUN_TESTS(TEST(test_backward), TEST(test_whose), TEST(test_idle))
