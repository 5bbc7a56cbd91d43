// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist/counted.h"
#include "base/test.h"

struct fixture {
	struct report report;
	struct run run;
	struct recording recording;
	struct event event, *events[1];
	struct task tasks[2];
	struct hist *hist;
	struct symbol *outer, *inner;
};

static uint32_t add_frame(struct fixture *f, const struct symbol *sym, uint64_t ip, uint64_t addr)
{
	vec_push(&f->report.stacks.frames,
		 (struct frame){.sym = sym, .ip = ip, .addr = addr, .cpumode = PERF_RECORD_MISC_USER});
	return (uint32_t)f->report.stacks.frames.n - 1;
}

static void setup(struct fixture *f, bool children)
{
	f->event.attr.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	f->event.leader = f->events[0] = &f->event;
	f->event.group_members = 1;
	f->recording.events.v = f->events;
	f->recording.events.n = 1;
	f->run.recording = &f->recording;
	assert_int_equal(sym_new(&f->run.sym, &(struct sym_options){.root = ""}), 0);
	report_init(&f->report);
	f->report.run = &f->run;
	f->report.o.children = children;
	f->report.o.cpu_utilization = true;
	assert_int_equal(report_prepare(&f->report), 0);
	assert_true(f->report.counts_first);
	f->hist = report_hist(&f->report, &f->event);
	for (uint32_t i = 0; i < 2; i++)
		f->tasks[i] = (struct task){.tid = i + 1, .comm = i + 1};
	f->outer = NEW(struct symbol);
	f->inner = NEW(struct symbol);
	*f->outer = (struct symbol){.start = 100, .end = 200, .name = "outer"};
	*f->inner = (struct symbol){.start = 200, .end = 300, .name = "inner"};
}

static void done(struct fixture *f)
{
	hist_free(f->hist);
	stacks_done(&f->report.stacks);
	sources_free(f->report.sources);
	sym_free(f->run.sym);
	f->report.run = NULL;
	report_done(&f->report);
	free(f->outer);
	free(f->inner);
}

static void count(struct fixture *f, uint32_t task, uint32_t stack, uint64_t period)
{
	const struct sample sample = {.cpu = 0};
	uint32_t context = hist_context_of_sample(f->hist, &sample, &f->tasks[task]);
	bool is_new;
	struct pair *pair = hist_pair(f->hist, PAIR_OF_CONTEXT | context, stack, &is_new);

	f->hist->seen++;
	if (is_new) {
		pair->task = &f->tasks[task];
		pair->first = f->hist->seen;
		f->hist->counted_n++;
	}
	pair->count++;
	pair->period += period;
}

static void rows_come_from_what_was_counted(void **state)
{
	struct fixture f = {0};
	const struct entry *e;
	uint32_t stack, up;

	setup(&f, true);
	up = stacks_child(&f.report.stacks, 0, add_frame(&f, f.outer, 150, 150));
	stack = stacks_child(&f.report.stacks, up, add_frame(&f, f.inner, 250, 250));
	count(&f, 0, stack, 10);
	count(&f, 1, stack, 5);
	count(&f, 0, up, 1);
	count(&f, 0, stack, 10);
	assert_int_equal(f.hist->pairs.n, 3);
	assert_int_equal(f.hist->entries.n, 0);
	hist_chains(f.hist);
	assert_int_equal(f.hist->counted_n, 0);
	assert_int_equal(f.hist->entries.n, 4); // two commands, two functions
	e = f.hist->entries.v[f.hist->pairs.v[0].entry];
	assert_ptr_equal(e->place.sym, f.inner);
	assert_ptr_equal(e->task, &f.tasks[0]);
	assert_int_equal(e->samples, 2);
	assert_int_equal(e->period, 20);
	assert_int_equal(e->more->period_us, 20);
	assert_int_equal(e->acc, 20);
	assert_int_equal(e->first, 1);
	e = f.hist->entries.v[f.hist->pairs.v[2].entry];
	assert_ptr_equal(e->place.sym, f.outer);
	assert_int_equal(e->period, 1);
	assert_int_equal(e->acc, 21);
	assert_int_equal(e->first, 1); // as a caller
	done(&f);
}

// Where a file is not mapped at its own addresses, a place without a name is one row as the sampled one and another as a caller.
static void moved_places_are_two_rows(void **state)
{
	struct fixture f = {0};
	uint32_t moved, there, stack;

	setup(&f, true);
	moved = add_frame(&f, NULL, 0x5000, 0x1000);
	there = add_frame(&f, NULL, 0x2000, 0x2000);
	stack = stacks_child(&f.report.stacks, 0, moved);
	count(&f, 0, stack, 1);
	count(&f, 0, stacks_child(&f.report.stacks, stack, there), 1);
	count(&f, 0, stacks_child(&f.report.stacks, 0, there), 1);
	hist_chains(f.hist);
	assert_int_equal(f.hist->entries.n, 3);
	assert_int_equal(f.hist->entries.v[f.hist->pairs.v[0].entry]->place.addr, 0x1000);
	assert_int_equal(f.hist->pairs.v[1].entry, f.hist->pairs.v[2].entry);
	assert_int_equal(f.hist->entries.v[f.hist->pairs.v[1].entry]->acc, 2);
	done(&f);
}

static void settled_rows_are_found_by_key(void **state)
{
	struct fixture f = {0};
	struct entry template = {0}, *e;

	setup(&f, false);
	count(&f, 0, stacks_child(&f.report.stacks, 0, add_frame(&f, NULL, 0x2000, 0x2000)), 7);
	hist_settle(f.hist);
	assert_int_equal(f.hist->entries.n, 1);
	e = f.hist->entries.v[0];
	template = *e;
	assert_ptr_equal(hist_find(f.hist, &template), e);
	assert_int_equal(e->period, 7);
	done(&f);
}

RUN_TESTS(TEST(rows_come_from_what_was_counted), TEST(moved_places_are_two_rows),
	  TEST(settled_rows_are_found_by_key))
