// SPDX-License-Identifier: GPL-2.0-or-later
// A tool's run over events that are made up: what it shows, and what it says is missing.
#include "tool/core/tool.h"
#include "abi/tracepoint.h"
#include "base/err.h"
#include "base/test.h"
#include "prof/core/print.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char format[] = "name: %s\nID: %d\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			     "\tfield:unsigned long id;\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned long kind;\toffset:16;\tsize:8;\tsigned:0;\n\n"
			     "print fmt: \"%%lu\", REC->id\n";

struct made {
	uint64_t common, id, kind;
};

static struct event begins, ends;

static int find(struct feed *feed, const char *name,
		int (*found)(void *arg, struct event *event, const char *system, const char *name),
		void *arg)
{
	struct event *event = !strcmp(name, "made:begin") ? &begins
			      : !strcmp(name, "made:end") ? &ends
							  : NULL;

	return event ? found(arg, event, "made", strchr(name, ':') + 1)
		     : fail(ENOENT, "there is no event %s", name);
}

static const struct tool_event missing[] = {{"made:begin", TALLY_FIRST, "id"}, {"made:none"}, {0}};
static const struct tool_event pairs[] = {{"made:begin", TALLY_FIRST, "id"},
					  {"made:end", TALLY_SECOND, "id"},
					  {0}};

static void put_kind(void *run, size_t row, uint32_t key, struct out *out)
{
	const struct tally *tally = ((struct tool_run *)run)->prof->tally;

	out_printf(out, "kind %llu", (unsigned long long)tally_number(tally, row, key));
}

static int plan_histogram(struct tool_run *run)
{
	const struct tool_event *const choices[] = {missing, pairs, NULL};

	tool_histogram(run, TALLY_DELAY, 1000, "usecs");
	tool_sections(run, &(struct tool_section){"kind", TALLY_NUMBER, "kind", put_kind});
	return tool_events(run, choices);
}

static int plan_nothing(struct tool_run *run)
{
	const struct tool_event *const choices[] = {missing, NULL};

	return tool_events(run, choices);
}

static int plan_table(struct tool_run *run)
{
	const struct tool_event *const choices[] = {pairs, NULL};

	tool_key(run, (struct tally_key){TALLY_NUMBER, .first = true}, "kind");
	tool_cell(run, TALLY_HITS, NULL);
	tool_cell(run, TALLY_MAX, TALLY_DELAY);
	assert_int_equal(tool_cell(run, TALLY_OUTSTANDING, NULL), 2);
	return tool_events(run, choices);
}

static int show_table(struct tool_run *run, uint64_t now_ns)
{
	static const struct tally_column columns[] = {
		{{"kind", NULL, TABLE_COUNT}, 0, true},
		{{"ended", NULL, TABLE_COUNT}, 0},
		{{"longest", "longest_ns", TABLE_TIME, 10}, 1},
		{{"open", NULL, TABLE_COUNT}, 2},
	};
	static const struct tally_order order = {0, true};

	return tool_show_table(run, now_ns,
			       (struct tally_view){columns, ARRAY_SIZE(columns), &order, 1});
}

static const struct tool histogram = {.name = "made histogram",
				      .opts_size = sizeof(struct prof_options),
				      .pairs = "waits",
				      .plan = plan_histogram};
static const struct tool table = {.name = "made table",
				  .opts_size = sizeof(struct prof_options),
				  .gap = true,
				  .tells_open = true,
				  .pairs = "waits",
				  .plan = plan_table,
				  .show = show_table};
static const struct tool nothing = {.name = "nothing", .plan = plan_nothing};

struct world {
	struct tracepoints *formats;
	struct profiler profiler;
	struct prof_options options;
	struct feed_options feed_options;
	struct feed feed;
	struct prof_print print;
	struct out out;
	struct tool_run run;
	struct prof prof;
};

static void set_event(struct world *w, struct event *event, const char *name, int id)
{
	char text[1000];

	snprintf(text, sizeof(text), format, name, id);
	assert_true(tracepoints_add(w->formats, "made", str_of(text)) >= 0);
	*event = (struct event){.name = name, .tp = tracepoints_by_name(w->formats, "made", name)};
	event->leader = event;
}

static void init(struct world *w, const struct tool *tool)
{
	const struct tp_options options = {.long_size = 8, .page_size = 4096};

	*w = (struct world){.formats = tracepoints_new(&options),
			    .profiler = tool_profiler(tool),
			    .options = {.no_bpf = true}};
	set_event(w, &begins, "begin", 1);
	set_event(w, &ends, "end", 2);
	feed_init(&w->feed, &w->feed_options);
	out_init_memory(&w->out);
	w->prof = (struct prof){.profiler = &w->profiler,
				.options = &w->options,
				.feed = &w->feed,
				.state = &w->run,
				.find = find,
				.machine = expr_machine_new(NULL),
				.out = &w->out,
				.tables = &w->out,
				.print = &w->print};
}

static void done(struct world *w)
{
	tally_close(w->prof.tally);
	expr_machine_free(w->prof.machine);
	vec_done(&w->prof.events);
	arena_done(&w->prof.arena);
	feed_done(&w->feed);
	out_done(&w->out);
	tracepoints_free(w->formats);
}

static void hit(struct world *w, uint32_t event, uint64_t time_us, struct made record)
{
	tally_hit(w->prof.tally, event,
		  &(struct sample){.time = time_us * 1000, .raw = &record, .raw_size = sizeof(record)},
		  &(struct tally_hit){0});
}

static void check(struct world *w, uint64_t now_us, const char *expected)
{
	int result;

	w->out.n = 0;
	result = w->profiler.interval(&w->prof, now_us * 1000);
	assert_int_equal(result, w->run.ended); // > 0 ends the run
	out_char(&w->out, 0);
	assert_string_equal(w->out.buf, expected);
}

static void test_histograms(void **state)
{
	struct world w;

	init(&w, &histogram);
	assert_int_equal(w.profiler.setup(&w.prof), 0);
	assert_int_equal(w.prof.events.n, 2); // the first choice is not there
	hit(&w, 0, 10, (struct made){.id = 1});
	hit(&w, 1, 15, (struct made){.id = 1, .kind = 2});
	hit(&w, 0, 20, (struct made){.id = 1});
	hit(&w, 1, 26, (struct made){.id = 1, .kind = 2});
	hit(&w, 0, 30, (struct made){.id = 1});
	hit(&w, 1, 31, (struct made){.id = 1, .kind = 1});
	hit(&w, 0, 40, (struct made){.id = 2});
	hit(&w, 0, 41, (struct made){.id = 2});
	w.profiler.lost(&w.prof, NULL); // it forgets the one that waits
	check(&w, 50,
	      "\n\nkind = kind 1\n"
	      "     usecs               : count     distribution\n"
	      "         0 -> 1          : 1        |****************************************|\n"
	      "\nkind = kind 2\n"
	      "     usecs               : count     distribution\n"
	      "         0 -> 1          : 0        |                                        |\n"
	      "         2 -> 3          : 0        |                                        |\n"
	      "         4 -> 7          : 2        |****************************************|\n"
	      "0.000050 made histogram: 1 waits are not known, as events were lost within them; they are left out\n"
	      "0.000050 made histogram: 1 waits began anew before they had ended; they are left out\n");
	check(&w, 60, "\n"); // all is forgotten
	done(&w);
}

static void test_tables(void **state)
{
	struct world w;

	init(&w, &table);
	w.options.results_n = 2;
	assert_int_equal(w.profiler.setup(&w.prof), 0);
	hit(&w, 0, 100, (struct made){.id = 1, .kind = 7});
	hit(&w, 1, 1100, (struct made){.id = 1});
	hit(&w, 0, 1200, (struct made){.id = 2, .kind = 9});
	check(&w, 2000,
	      "kind ended    longest open\n\n"
	      "   7     1    1.00 ms    0\n"
	      "   9     0       0 ns    1\n");
	check(&w, 3001200,
	      "kind ended    longest open\n\n"
	      "   9     0       0 ns    1\n"
	      "3.001200 made table: 1 waits of more than a second have not ended; the longest has lasted 3.000 s\n");
	assert_true(w.run.ended); // two results were wanted
	done(&w);
}

static void test_no_events(void **state)
{
	struct world w;

	init(&w, &nothing);
	assert_int_equal(w.profiler.setup(&w.prof), -ENOENT);
	assert_string_equal(err_sentence(), "there is no event made:none");
	done(&w);
}

RUN_TESTS(TEST(test_histograms), TEST(test_tables), TEST(test_no_events))
