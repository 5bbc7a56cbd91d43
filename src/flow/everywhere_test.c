// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/everywhere.h"
#include "base/err.h"
#include "base/perf_event.h"
#include "base/test.h"
#include "sys/tracefs.h"

static pid_t self[] = {0};
static const struct target own = {.threads = {.v = self, .n = 1}},
			   all = {.threads = {.v = self, .n = 1}, .system_wide = true};

static bool asks(const struct perf_event_attr *attr, const struct target *target)
{
	struct everywhere everywhere = {0};
	bool asked;

	everywhere_add(&everywhere, attr, target);
	asked = everywhere.knows_files;
	assert_int_equal(everywhere.fds.n, 0);
	assert_false(everywhere.may_miss);
	everywhere_done(&everywhere);
	assert_false(everywhere.knows_files);
	return asked;
}

// Nothing is looked up for what can't be a probe of what is started.
static void costs_nothing(void **state)
{
	assert_false(asks(&(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE, .inherit = 1}, &own));
	assert_false(asks(&(struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT}, &own));
	assert_false(
		asks(&(struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT, .inherit = 1}, &all));
}

// A tracepoint is no probe, however often it is asked.
static void tracepoints(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .inherit = 1};
	struct tracefs *tracefs;
	uint64_t id;
	int err;

	if (tracefs_enter(&tracefs, NULL) < 0) {
		print_message("%s\n", err_sentence());
		skip();
	}
	err = tracefs_read_id(tracefs, "sched", "sched_switch", &id);
	tracefs_leave(tracefs);
	if (err < 0) {
		print_message("there is no tracepoint sched:sched_switch to see\n");
		skip();
	}
	attr.config = id;
	assert_true(asks(&attr, &own));
	err_clear();
}

RUN_TESTS(TEST(costs_nothing), TEST(tracepoints))
