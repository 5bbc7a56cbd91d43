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

struct seen {
	size_t n;
	uint64_t oldest_ns, last_key;
};

static void see(void *arg, uint64_t since_ns, const uint64_t keys[TALLY_KEYS])
{
	struct seen *seen = arg;

	seen->n++;
	seen->oldest_ns = seen->oldest_ns && seen->oldest_ns < since_ns ? seen->oldest_ns : since_ns;
	seen->last_key = keys[0];
}

// A pair whose firsts say the keys: number and name.
static void open_pairs(struct world *w, const enum tally_cell_kind *cells, uint32_t cells_n)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER, .first = true},
						{TALLY_TEXT, .first = true}};
	static const struct tally_update update = {0, NULL};
	static struct tally_event events[2];

	events[0] = (struct tally_event){.event = &w->begin,
					 .role = TALLY_FIRST,
					 .pair = "id",
					 .keys = {"value", "name"}};
	events[1] = (struct tally_event){.event = &w->end,
					 .role = TALLY_SECOND,
					 .pair = "id",
					 .updates = &update,
					 .updates_n = 1};
	open_tally(w, &(struct tally_options){.keys = keys,
					      .keys_n = 2,
					      .cells = cells,
					      .cells_n = cells_n,
					      .events = events,
					      .events_n = 2});
}

static void test_what_waits(void **state)
{
	static const enum tally_cell_kind cells[] = {TALLY_HITS, TALLY_OUTSTANDING, TALLY_OLDEST};
	static const struct tally_order by_key = {0, true};
	struct seen seen = {0};
	uint32_t rows[2];
	struct world w;

	init(&w);
	open_pairs(&w, cells, 3);
	hit_at(&w, 0, 1000, (struct made){.id = 1, .value = 5, .name = "a"});
	hit_at(&w, 0, 2000, (struct made){.id = 2, .value = 5, .name = "a"});
	hit_at(&w, 0, 3000, (struct made){.id = 3, .value = 6, .name = "b"});
	hit_at(&w, 1, 4000, (struct made){.id = 1});
	for (int again = 0; again < 2; again++) { // reading counts nothing twice
		assert_int_equal(tally_read(w.tally), 0);
		assert_int_equal(tally_rows(w.tally), 2);
		tally_sort(w.tally, &by_key, 1, rows);
		assert_int_equal(tally_cell(w.tally, rows[0], 0), 1);
		assert_int_equal(tally_cell(w.tally, rows[0], 1), 1);
		assert_int_equal(tally_cell(w.tally, rows[0], 2), 2000);
		assert_int_equal(tally_number(w.tally, rows[1], 0), 6); // nothing but what waits
		assert_string_equal(tally_text(w.tally, rows[1], 1), "b");
		assert_int_equal(tally_cell(w.tally, rows[1], 0), 0);
		assert_int_equal(tally_cell(w.tally, rows[1], 1), 1);
	}
	hit_at(&w, 1, 5000, (struct made){.id = 3});
	assert_int_equal(tally_read(w.tally), 0);
	assert_int_equal(tally_cell(w.tally, rows[1], 1), 0);
	assert_int_equal(tally_cell(w.tally, rows[1], 2), UINT64_MAX);
	// a first that comes again waits anew, and that is counted
	hit_at(&w, 0, 6000, (struct made){.id = 2, .value = 7, .name = "c"});
	assert_int_equal(tally_stats(w.tally).again, 1);
	tally_each_waiting(w.tally, see, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.oldest_ns, 6000);
	assert_int_equal(seen.last_key, 7);
	done(&w);
}

// Rows that only seconds can tell apart have no place for what waits.
static void test_what_waits_has_no_row(void **state)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}};
	static const enum tally_cell_kind cells[] = {TALLY_OUTSTANDING};
	struct tally *tally = NULL;
	struct world w;

	init(&w);
	const struct tally_event events[] =
		{{.event = &w.begin, .role = TALLY_FIRST, .pair = "id"},
		 {.event = &w.end, .role = TALLY_SECOND, .pair = "id", .keys = {"id"}}};
	assert_int_equal(tally_open(&tally, &(struct tally_options){.name = "test",
								    .not_in_kernel = "a test",
								    .machine = w.machine,
								    .keys = keys,
								    .keys_n = 1,
								    .cells = cells,
								    .cells_n = 1,
								    .events = events,
								    .events_n = 2}),
			 -EINVAL);
	assert_null(tally);
	done(&w);
}

#ifdef __SANITIZE_ADDRESS__
enum { MORE_KB = 300000 }; // it keeps 256 MB of what was freed
#else
enum { MORE_KB = 20000 };
#endif

static size_t resident_kb(void)
{
	size_t pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_int_equal(fscanf(file, "%zu %zu", &pages, &resident), 2);
	fclose(file);
	return resident * 4;
}

// Firsts that go need no room, however many different ones there were; texts are renewed, and what waits keeps its own.
static void test_long_runs(void **state)
{
	enum { ROUNDS = 1200000 };
	static const enum tally_cell_kind cells[] = {TALLY_HITS};
	struct made record = {0};
	struct world w;
	size_t before = 0;

	init(&w);
	open_pairs(&w, cells, 1);
	hit_at(&w, 0, 1, (struct made){.id = 1, .value = 77, .name = "waits"});
	for (uint32_t i = 0; i < ROUNDS; i++) {
		record.id = 2 + i % 3;
		record.value = i;
		snprintf(record.name, sizeof(record.name), "%x", i);
		hit_at(&w, 0, i, record);
		hit_at(&w, 1, i, record);
		if (i % 100000 == 99999)
			tally_clear(w.tally);
		if (i == ROUNDS / 2)
			before = resident_kb();
	}
	assert_true(resident_kb() < before + MORE_KB);
	tally_clear(w.tally);
	assert_int_equal(hit_at(&w, 1, ROUNDS, (struct made){.id = 1}), TALLY_COUNTED);
	assert_int_equal(tally_number(w.tally, 0, 0), 77);
	assert_string_equal(tally_text(w.tally, 0, 1), "waits");
	assert_int_equal(tally_stats(w.tally).overflow, 0);
	done(&w);
}

// More texts than there is room for: their hits are told, not kept.
static void test_too_many_texts(void **state)
{
	static const struct tally_key keys[] = {{TALLY_TEXT}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS};
	static const struct tally_update update = {0, NULL};
	enum { MORE = 1000 };
	struct made record = {0};
	struct world w;

	init(&w);
	const struct tally_event event = {.event = &w.begin,
					  .keys = {"name"},
					  .updates = &update,
					  .updates_n = 1};
	open_tally(&w, &(struct tally_options){.keys = keys,
					       .keys_n = 1,
					       .cells = cells,
					       .cells_n = 1,
					       .events = &event,
					       .events_n = 1});
	for (uint32_t i = 0; i < TALLY_ROWS_MAX + MORE; i++) {
		snprintf(record.name, sizeof(record.name), "%x", i);
		hit_at(&w, 0, i, record);
	}
	assert_int_equal(tally_stats(w.tally).hits, tally_rows(w.tally));
	assert_in_range(tally_stats(w.tally).overflow, MORE, MORE + 1); // "" is a text too
	done(&w);
}

static void test_groups(void **state)
{
	static const struct tally_key keys[] = {{TALLY_CGROUP, .first = true}};
	static const enum tally_cell_kind cells[] = {TALLY_HITS};
	static const struct tally_update update = {0, NULL};
	static const uint64_t groups[] = {1, 1ull << 40, 1, 7};
	struct made record = {0};
	struct world w;

	init(&w);
	const struct tally_event events[] =
		{{.event = &w.begin, .role = TALLY_FIRST, .pair = "id", .keys = {""}},
		 {.event = &w.end,
		  .role = TALLY_SECOND,
		  .pair = "id",
		  .updates = &update,
		  .updates_n = 1}};
	open_tally(&w, &(struct tally_options){.keys = keys,
					       .keys_n = 1,
					       .cells = cells,
					       .cells_n = 1,
					       .events = events,
					       .events_n = 2});
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		for (uint32_t event = 0; event < 2; event++) // the second's group has no part in it
			tally_hit(w.tally, event,
				  &(struct sample){.cgroup = event ? 99 : groups[i],
						   .raw = (const void *)&record,
						   .raw_size = sizeof(record)},
				  &(struct tally_hit){0});
	assert_int_equal(tally_rows(w.tally), 3);
	assert_int_equal(tally_number(w.tally, 1, 0), 1ull << 40);
	assert_int_equal(tally_cell(w.tally, 0, 0), 2);
	done(&w);
}

RUN_TESTS(TEST(test_keys_labels_and_cells), TEST(test_pairs), TEST(test_stacks), TEST(test_groups),
	  TEST(test_bounds), TEST(test_what_waits), TEST(test_what_waits_has_no_row),
	  TEST(test_long_runs), TEST(test_too_many_texts))
