// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/folded.h"
#include "base/test.h"

static struct folded_result read_text(struct flame *flame, const char *text, bool reverse)
{
	struct folded_result result;

	flame_init(flame);
	folded_read(flame, str_of(text),
		    &(struct folded_options){.side = FLAME_AFTER, .reverse = reverse}, &result);
	flame_finish(flame, true);
	return result;
}

static double total(const struct flame *flame, const char *name)
{
	double sum = 0;

	for (size_t i = 1; i < flame->nodes.n; i++) {
		if (str_is(flame_name(flame, &flame->nodes.v[i]), name))
			sum += flame->nodes.v[i].total[FLAME_AFTER];
	}
	return sum;
}

static void lines(void **state)
{
	static const struct {
		const char *line;
		double value; // 0: not a stack
	} cases[] = {
		{"a;b 5", 5},	    {"a;b\t5", 5},  {"a;b 5 ", 5},
		{"a;b 5\r", 5},	    {"a b c 7", 7}, {"x 1.5", 1.5},
		{"x 0.125", 0.125}, {"x 3.", 3},    {"a;b", 0},
		{"5", 0},	    {" 5", 0},	    {"a;b 5x", 0},
		{"a;b 1.2.3", 0},   {"a;b -3", 0},  {"f(int) 12", 12},
		{"a 1e5", 0},	    {"a .5", 0},    {"operator new[] 3", 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flame flame;
		struct folded_result result = read_text(&flame, cases[i].line, false);

		assert_int_equal(result.lines, cases[i].value > 0);
		assert_int_equal(result.bad_lines, cases[i].value == 0);
		assert_true(flame.nodes.v[0].total[FLAME_AFTER] == cases[i].value);
		assert_int_equal(folded_is_line(str_of(cases[i].line)), cases[i].value > 0);
		flame_done(&flame);
	}
}

static void shared_beginnings(void **state)
{
	static const char text[] = "a;b;c 1\na;b;cc 2\na;b 4\na;b;c;d 8\na 16\nab;b 32\na;b;c 64\n";
	struct flame flame;

	read_text(&flame, text, false);
	assert_true(total(&flame, "a") == 95);
	assert_true(total(&flame, "b") == 79 + 32);
	assert_true(total(&flame, "c") == 73);
	assert_true(total(&flame, "cc") == 2);
	assert_true(total(&flame, "d") == 8);
	assert_int_equal(flame.nodes.n, 8);
	flame_done(&flame);
}

static void reversed(void **state)
{
	struct flame flame;

	read_text(&flame, "a;b;c 1\nx;c 2\n", true);
	assert_true(str_is(flame_name(&flame, &flame.nodes.v[1]), "c"));
	assert_true(flame.nodes.v[1].total[FLAME_AFTER] == 3);
	assert_int_equal(flame.nodes.n, 5);
	flame_done(&flame);
}

static void two_columns(void **state)
{
	struct flame flame;
	struct folded_result result = read_text(&flame, "# before after\na;b 1 3\na;c 5 0\n", false);

	assert_true(result.two_columns && flame.differential);
	assert_true(flame.nodes.v[1].total[FLAME_BEFORE] == 6);
	assert_true(flame.nodes.v[1].total[FLAME_AFTER] == 3);
	flame_done(&flame);
	result = read_text(&flame, "a;b 1 3\na;c 5\n", false);
	assert_false(result.two_columns);
	assert_true(total(&flame, "b 1") == 3);
	flame_done(&flame);
}

static void bad_lines_are_counted(void **state)
{
	struct flame flame;
	struct folded_result result =
		read_text(&flame, "a 1\n\n# comment\nnonsense\nb 2\nmore", false);

	assert_int_equal(result.lines, 2);
	assert_int_equal(result.bad_lines, 2);
	assert_int_equal(result.first_bad_line, 4);
	flame_done(&flame);
}

RUN_TESTS(TEST(lines), TEST(shared_beginnings), TEST(reversed), TEST(two_columns),
	  TEST(bad_lines_are_counted))
