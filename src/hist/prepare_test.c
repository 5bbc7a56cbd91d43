// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "hist/report.h"

static void lost_samples(void **state)
{
	struct event event = {.attr.sample_type = PERF_SAMPLE_PERIOD, .group_members = 1};
	struct event *events[] = {&event};
	struct recording recording = {.events = {.v = events, .n = 1}};
	struct run run = {.recording = &recording};
	struct report report = {0};
	struct record_lost_samples lost = {.header = {.type = PERF_RECORD_LOST_SAMPLES,
						      .size = sizeof(lost)},
					   .lost = 7};
	const struct hit hit = {.event = &event, .record.header = &lost.header};

	event.leader = &event;
	assert_int_equal(sym_new(&run.sym, &(struct sym_options){.root = ""}), 0);
	report_init(&report);
	report.run = &run;
	report.o.sort = report.own_order = "pid";
	assert_int_equal(report_prepare(&report), 0);
	assert_int_equal(report_record(&report, &run, &hit), 0);
	lost.header.misc = 1 << 15; // a filter of BPF dropped them
	assert_int_equal(report_record(&report, &run, &hit), 0);
	assert_int_equal(report_hist(&report, &event)->lost_samples, 7);
	hist_free(report_hist(&report, &event));
	stacks_done(&report.stacks);
	sources_free(report.sources);
	sym_free(run.sym);
	report.run = NULL;
	report_done(&report);
}

RUN_TESTS(TEST(lost_samples))
