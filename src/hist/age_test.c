// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/test.h"
#include "hist/report.h"

struct fixture {
	struct report report;
	struct run run;
	struct recording recording;
	struct event event, *events[1];
	struct hist *hist;
	struct task tasks[100];
};

// Rows are threads, so they are told apart by their number.
static void setup_rows(struct fixture *f)
{
	f->event.attr.sample_type = PERF_SAMPLE_PERIOD;
	f->event.leader = &f->event;
	f->event.group_members = 1;
	f->events[0] = &f->event;
	f->recording.events.v = f->events;
	f->recording.events.n = 1;
	f->run.recording = &f->recording;
	assert_int_equal(sym_new(&f->run.sym, &(struct sym_options){.root = ""}), 0);
	report_init(&f->report);
	f->report.o.sort = "pid";
	f->report.run = &f->run;
	f->report.own_order = "pid";
	assert_int_equal(report_prepare(&f->report), 0);
	f->hist = report_hist(&f->report, &f->event);
}

static void done_rows(struct fixture *f)
{
	hist_free(f->hist);
	stacks_done(&f->report.stacks);
	sources_free(f->report.sources);
	sym_free(f->run.sym);
	f->report.run = NULL;
	report_done(&f->report);
}

static void add_row(struct fixture *f, uint32_t tid, uint64_t period, uint32_t samples)
{
	struct entry template = {.x = &f->report.no_extra, .task = &f->tasks[tid]}, *e;

	f->tasks[tid].tid = tid;
	e = hist_entry(f->hist, &template);
	e->period += period;
	e->samples += samples;
	f->hist->samples += samples;
	vec_push(&f->hist->pairs,
		 (struct pair){.entry = e->id, .stack = tid + 1, .period = period, .count = samples});
}

static void age(struct fixture *f, unsigned keep)
{
	struct hist *aged = hist_aged(f->hist, keep);

	hist_free(f->hist);
	f->hist = f->event.user = aged;
}

static void test_fades(void **state)
{
	struct fixture *f = NEW(struct fixture);

	setup_rows(f);
	add_row(f, 1, 800000, 80);
	add_row(f, 2, 8000, 8);
	add_row(f, 3, 5, 1); // far below what is shown
	age(f, 7);
	assert_int_equal(f->hist->entries.n, 2);
	assert_int_equal(f->hist->entries.v[0]->period, 700000);
	assert_int_equal(f->hist->entries.v[0]->samples, 70);
	assert_int_equal(f->hist->entries.v[1]->period, 7000);
	assert_int_equal(f->hist->pairs.n, 2);
	assert_int_equal(f->hist->pairs.v[1].entry, 1);
	assert_int_equal(f->hist->pairs.v[1].stack, 3);
	assert_int_equal(f->hist->pairs.v[1].period, 7000);
	add_row(f, 2, 100, 1); // the same row takes what comes
	assert_int_equal(f->hist->entries.n, 2);
	assert_int_equal(f->hist->entries.v[1]->period, 7100);
	age(f, 8);
	assert_int_equal(f->hist->entries.v[1]->period, 7100);
	age(f, 0);
	assert_int_equal(f->hist->entries.n, 0);
	assert_int_equal(f->hist->samples, 0);
	done_rows(f);
	free(f);
}

// However long it goes on: what comes no more is gone after a while.
static void test_ends(void **state)
{
	struct fixture *f = NEW(struct fixture);
	int rounds = 0;

	setup_rows(f);
	for (uint32_t i = 0; i < 100; i++)
		add_row(f, i, 1000000, 1);
	while (f->hist->entries.n && rounds++ < 1000)
		age(f, 7);
	assert_true(rounds < 200);
	assert_int_equal(f->hist->pairs.n, 0);
	done_rows(f);
	free(f);
}

// Numbers of samples have an end; the order of what they made has none.
static void test_goes_on(void **state)
{
	struct fixture *f = NEW(struct fixture);

	setup_rows(f);
	for (uint32_t i = 1; i <= 3; i++)
		add_row(f, i, 1000, 1);
	f->hist->seen = 4000000000;
	f->hist->entries.v[0]->first = 4000000000;
	f->hist->entries.v[1]->first = 7;
	f->hist->entries.v[2]->first = 3999999999;
	f->hist->pairs.v[1].first = 7;
	age(f, 8);
	assert_true(f->hist->seen < 10);
	assert_true(f->hist->entries.v[1]->first < f->hist->entries.v[2]->first);
	assert_true(f->hist->entries.v[2]->first < f->hist->entries.v[0]->first);
	assert_true(f->hist->entries.v[0]->first <= f->hist->seen);
	assert_int_equal(f->hist->entries.v[1]->first, f->hist->pairs.v[1].first);
	done_rows(f);
	free(f);
}

RUN_TESTS(TEST(test_fades), TEST(test_ends), TEST(test_goes_on))
