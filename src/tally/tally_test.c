// SPDX-License-Identifier: GPL-2.0-or-later
// What is counted here, of samples that are made up. That the kernel counts the same is test/live/prof-kernel's and test/live/tools'.
#include "tally/tally.h"
#include "abi/tracepoint.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"
#include <stdio.h>
#include <string.h>

static const char format[] = "name: %s\nID: %d\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:unsigned long id;\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:long value;\toffset:16;\tsize:8;\tsigned:1;\n"
			     "\tfield:char name[8];\toffset:24;\tsize:8;\tsigned:0;\n\n"
			     "print fmt: \"%%lu\", REC->id\n";

struct made {
	uint16_t type, unused;
	int32_t pid;
	uint64_t id;
	int64_t value;
	char name[8];
};

struct world {
	struct tracepoints *formats;
	struct event begin, end;
	struct expr_machine *machine;
	struct tally *tally;
};

static void set_event(struct world *w, struct event *event, const char *name, int id)
{
	char text[1000];

	snprintf(text, sizeof(text), format, name, id);
	assert_true(tracepoints_add(w->formats, "made", str_of(text)) >= 0);
	*event = (struct event){.name = name, .tp = tracepoints_by_name(w->formats, "made", name)};
	event->leader = event;
	assert_non_null(event->tp);
}

static void init(struct world *w)
{
	const struct tp_options options = {.long_size = 8, .page_size = 4096};

	*w = (struct world){.formats = tracepoints_new(&options), .machine = expr_machine_new(NULL)};
	set_event(w, &w->begin, "begin", 1);
	set_event(w, &w->end, "end", 2);
}

static void done(struct world *w)
{
	tally_close(w->tally);
	expr_machine_free(w->machine);
	tracepoints_free(w->formats);
}

static void open_tally(struct world *w, struct tally_options *options)
{
	options->name = "test";
	options->not_in_kernel = "a test";
	options->machine = w->machine;
	if (tally_open(&w->tally, options) < 0)
		fail_msg("%s", err_sentence());
}

static enum tally_result hit_at(struct world *w, uint32_t event, uint64_t time, struct made record)
{
	const struct sample sample = {.time = time,
				      .tid = 7,
				      .cpu = 3,
				      .raw = (const void *)&record,
				      .raw_size = sizeof(record)};

	return tally_hit(w->tally, event, &sample, &(struct tally_hit){0});
}

static void test_keys_labels_and_cells(void **state)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}, {TALLY_TEXT, .label = true}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS, TALLY_SUM, TALLY_MIN, TALLY_MAX};
	static const struct tally_update updates[] = {{0, NULL},
						      {1, "value"},
						      {2, "value"},
						      {3, "value"}};
	static const struct tally_order order[] = {{1, false}, {0, true}};
	struct world w;

	init(&w);
	const struct tally_event events[] =
		{{.event = &w.begin, .keys = {"id", "name"}, .updates = updates, .updates_n = 4},
		 {.event = &w.end, .keys = {"id + 1"}, .updates = updates, .updates_n = 1}};
	struct tally_options options = {.keys = keys,
					.keys_n = 2,
					.cells = cells,
					.cells_n = 4,
					.events = events,
					.events_n = 2};
	uint32_t rows[3];

	open_tally(&w, &options);
	hit_at(&w, 1, 1, (struct made){.id = 4}); // 5, without a name
	hit_at(&w, 0, 2, (struct made){.id = 5, .value = -3, .name = "five"});
	hit_at(&w, 0, 3, (struct made){.id = 5, .value = 10, .name = "later"});
	hit_at(&w, 0, 4, (struct made){.id = 6, .value = 7, .name = "six"});
	hit_at(&w, 0, 5, (struct made){.id = 2, .value = 7, .name = "two"});
	assert_int_equal(tally_rows(w.tally), 3);
	tally_sort(w.tally, order, 2, rows); // equal sums: the smaller key first
	assert_int_equal(tally_number(w.tally, rows[0], 0), 2);
	assert_int_equal(tally_number(w.tally, rows[1], 0), 5);
	assert_int_equal(tally_number(w.tally, rows[2], 0), 6);
	assert_string_equal(tally_text(w.tally, rows[1], 1), "five");
	assert_int_equal(tally_cell(w.tally, rows[1], 0), 3);
	assert_int_equal(tally_cell(w.tally, rows[1], 1), 7);
	assert_int_equal((int64_t)tally_cell(w.tally, rows[1], 2), -3);
	assert_int_equal(tally_cell(w.tally, rows[1], 3), 10);
	assert_int_equal(tally_stats(w.tally).hits, 5);
	// a filter besides those of the events; one that can't be leaves the last
	assert_int_equal(tally_filter(w.tally, "id == 6"), 0);
	assert_true(tally_filter(w.tally, "id ==") < 0);
	tally_clear(w.tally);
	assert_int_equal(hit_at(&w, 0, 6, (struct made){.id = 5}), TALLY_LEFT_OUT);
	assert_int_equal(hit_at(&w, 0, 7, (struct made){.id = 6}), TALLY_COUNTED);
	assert_int_equal(tally_rows(w.tally), 1);
	done(&w);
}

static void test_pairs(void **state)
{
	static const struct tally_key keys[] = {{TALLY_LOG2, .unit = 1000},
						{TALLY_TEXT, .first = true}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS, TALLY_SUM};
	static const struct tally_update updates[] = {{0, NULL}, {1, TALLY_DELAY}};
	struct world w;

	init(&w);
	const struct tally_event events[] = {{.event = &w.begin,
					      .role = TALLY_FIRST,
					      .pair = "id",
					      .keys = {NULL, "name"},
					      .keeps = true},
					     {.event = &w.end,
					      .role = TALLY_SECOND,
					      .pair = "id",
					      .keys = {TALLY_DELAY},
					      .updates = updates,
					      .updates_n = 2}};
	struct tally_options options = {.keys = keys,
					.keys_n = 2,
					.cells = cells,
					.cells_n = 2,
					.events = events,
					.events_n = 2};

	open_tally(&w, &options);
	hit_at(&w, 0, 1000, (struct made){.id = 1, .name = "a"});
	hit_at(&w, 0, 2000, (struct made){.id = 1, .name = "b"}); // the first one stays
	hit_at(&w, 0, 3000, (struct made){.id = 2, .name = "a"});
	assert_int_equal(hit_at(&w, 1, 2500, (struct made){.id = 2}), TALLY_LEFT_OUT); // backward
	assert_int_equal(hit_at(&w, 1, 5000, (struct made){.id = 1}), TALLY_COUNTED);
	assert_int_equal(hit_at(&w, 1, 5000, (struct made){.id = 1}), TALLY_LEFT_OUT); // no first
	assert_int_equal(hit_at(&w, 1, 10000, (struct made){.id = 2}), TALLY_COUNTED);
	assert_int_equal(tally_take_backward(w.tally), 1);
	assert_int_equal(tally_rows(w.tally), 1); // 4 us and 7 us: both from 4 to 7
	assert_int_equal(tally_number(w.tally, 0, 0), 2);
	assert_string_equal(tally_text(w.tally, 0, 1), "a");
	assert_int_equal(tally_cell(w.tally, 0, 1), 11000);
	hit_at(&w, 0, 20000, (struct made){.id = 3, .name = "a"});
	assert_int_equal(tally_forget_waiting(w.tally), 1);
	assert_int_equal(hit_at(&w, 1, 30000, (struct made){.id = 3}), TALLY_LEFT_OUT);
	done(&w);
}

static bool is_odd(void *arg, uint64_t ip)
{
	return ip & 1;
}

static void test_stacks(void **state)
{
	static const struct tally_key keys[] = {{TALLY_STACK, .unit = 4}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS};
	static const struct tally_update update = {0, NULL};
	static const uint64_t chains[][7] = {{PERF_CONTEXT_KERNEL, 1, 20, 3, 40, 50,
					      60}, // four frames, two of them skipped
					     {PERF_CONTEXT_KERNEL, 5, 20, 40, 7, 99, 60},
					     {PERF_CONTEXT_USER, 20, 40, 60, 80, 100, 120}};
	struct world w;
	const uint64_t *frames;

	init(&w);
	const struct tally_event event = {.event = &w.begin,
					  .keys = {""},
					  .updates = &update,
					  .updates_n = 1};
	struct tally_options options = {.keys = keys,
					.keys_n = 1,
					.cells = cells,
					.cells_n = 1,
					.events = &event,
					.events_n = 1,
					.skips_frame = is_odd};
	struct made record = {.id = 1};

	open_tally(&w, &options);
	for (size_t i = 0; i < 3; i++)
		tally_hit(w.tally, 0,
			  &(struct sample){.callchain = chains[i],
					   .callchain_n = 7,
					   .raw = (const void *)&record,
					   .raw_size = sizeof(record)},
			  &(struct tally_hit){0});
	assert_int_equal(tally_rows(w.tally), 2);
	assert_int_equal(tally_cell(w.tally, 0, 0), 2);
	assert_int_equal(tally_stack(w.tally, 0, 0, &frames), 2);
	assert_int_equal(frames[0], 20);
	assert_int_equal(frames[1], 40);
	assert_int_equal(tally_stack(w.tally, 1, 0, &frames), 0); // nothing of the kernel
	done(&w);
}

static void test_bounds(void **state)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}};
	static const enum tally_cell_kind cells[] = {TALLY_DIST};
	static const enum tally_cell_kind hits[] = {TALLY_HITS};
	static const struct tally_update update = {0, "value"}, hit = {0, NULL};
	struct world w;

	init(&w);
	struct tally_event event = {.event = &w.begin,
				    .keys = {"0"},
				    .updates = &update,
				    .updates_n = 1};
	struct tally_options options = {.keys = keys,
					.keys_n = 1,
					.cells = cells,
					.cells_n = 1,
					.events = &event,
					.events_n = 1};

	// what has a negative number is not in a distribution, and is counted
	open_tally(&w, &options);
	for (int64_t i = -5; i <= 10; i++)
		hit_at(&w, 0, 1, (struct made){.value = i});
	assert_int_equal(tally_stats(w.tally).negative, 5);
	assert_int_equal(tally_dist(w.tally, 0)->n, 11);
	assert_int_equal(tally_dist(w.tally, 0)->max, 10);
	tally_close(w.tally);
	// what finds no row is counted
	event.keys[0] = "id";
	event.updates = &hit;
	options.cells = hits;
	open_tally(&w, &options);
	for (uint64_t i = 0; i < TALLY_ROWS_MAX + 10; i++)
		hit_at(&w, 0, 1, (struct made){.id = i});
	assert_int_equal(tally_rows(w.tally), TALLY_ROWS_MAX);
	assert_int_equal(tally_stats(w.tally).overflow, 10);
	assert_int_equal(tally_stats(w.tally).hits, TALLY_ROWS_MAX);
	// a text is no number
	event.keys[0] = "name";
	tally_close(w.tally);
	w.tally = NULL;
	options.keys_n = 1;
	assert_true(tally_open(&w.tally, &options) < 0);
	assert_non_null(strstr(err_sentence(), "name of begin is a text"));
	done(&w);
}

RUN_TESTS(TEST(test_keys_labels_and_cells), TEST(test_pairs), TEST(test_stacks), TEST(test_bounds))
