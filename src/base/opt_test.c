// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/opt.h"
#include <string.h>

struct options {
	bool all, children, children_given;
	int verbose;
	unsigned rows;
	uint64_t size;
	int level;
	double share;
	const char *output, *graph, *chain;
	struct opt_list events;
};

#define AT(field) offsetof(struct options, field)
static const struct opt table[] = {
	{.kind = OPT_GROUP, .help = "Heading"},
	{.kind = OPT_FLAG, .letter = 'a', .name = "all", .offset = AT(all)},
	{.kind = OPT_FLAG, .name = "children", .offset = AT(children), .given = AT(children_given)},
	{.kind = OPT_COUNT, .letter = 'v', .name = "verbose", .offset = AT(verbose)},
	{.kind = OPT_U32, .letter = 'r', .name = "rows", .offset = AT(rows), .arg = "N"},
	{.kind = OPT_SIZE, .name = "size", .offset = AT(size), .arg = "BYTES"},
	{.kind = OPT_TEXT, .letter = 'o', .name = "output", .offset = AT(output), .arg = "FILE"},
	{.kind = OPT_TEXT,
	 .letter = 'g',
	 .name = "graph",
	 .offset = AT(graph),
	 .arg = "HOW",
	 .absent = "graph"},
	{.kind = OPT_TEXT,
	 .letter = 'c',
	 .name = "chain",
	 .offset = AT(chain),
	 .arg = "HOW",
	 .absent = "all",
	 .next_word = true},
	{.kind = OPT_INT, .name = "level", .offset = AT(level), .arg = "N", .least = OPT_FROM_ZERO},
	{.kind = OPT_DOUBLE, .name = "share", .offset = AT(share), .arg = "N", .least = OPT_ABOVE_ZERO},
	{.kind = OPT_LIST, .letter = 'e', .name = "event", .offset = AT(events), .arg = "EVENT"},
	OPT_END,
};

static int parse(struct options *options, int flags, char **argv, const char *line)
{
	static char text[256];
	int argc = 1;

	*options = (struct options){.children = true};
	strcpy(text, line);
	argv[0] = (char *)"test";
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return opt_parse(table, options, argv, flags);
}

static void forms(void **state)
{
	struct options options;
	char *argv[32];

	assert_int_equal(parse(&options, 0, argv, "-avv -r3 word --size=4K -o out --no-children"), 1);
	assert_true(options.all && options.verbose == 2 && options.rows == 3 && options.size == 4096);
	assert_string_equal(options.output, "out");
	assert_false(options.children);
	assert_true(options.children_given);
	assert_string_equal(argv[1], "word");

	assert_int_equal(parse(&options, 0, argv, "-g caller"), 1);
	assert_string_equal(options.graph, "graph");
	assert_int_equal(parse(&options, 0, argv, "-gcaller --graph=flat"), 0);
	assert_string_equal(options.graph, "flat");

	static const struct {
		const char *line, *chain;
		int words;
	} chains[] = {
		{"-c caller", "caller", 0},
		{"-ac caller x", "caller", 1},
		{"--chain flat", "flat", 0},
		{"--chain=flat x", "flat", 1},
		{"-cflat x", "flat", 1},
		{"-c", "all", 0},
		{"-c -a", "all", 0},
		{"--chain -- x", "all", 1},
		{"--chain --no-chain x", NULL, 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++) {
		assert_int_equal(parse(&options, 0, argv, chains[i].line), chains[i].words);
		if (chains[i].chain)
			assert_string_equal(options.chain, chains[i].chain);
		else
			assert_null(options.chain);
	}

	assert_int_equal(parse(&options, 0, argv, "--verb --out=x -e a -e b"), 0);
	assert_int_equal(options.events.n, 2);
	assert_string_equal(options.events.v[1], "b");
	free(options.events.v);

	assert_int_equal(parse(&options, OPT_STOP_AT_WORD, argv, "-a cmd -v --all"), 3);
	assert_string_equal(argv[1], "cmd");
	assert_int_equal(options.verbose, 0);

	int words = parse(&options, 0, argv, "x -- -a");
	assert_int_equal(words, 2);
	assert_false(options.all);
	words = parse(&options, OPT_KEEP_DASHES, argv, "x -- -a --");
	assert_int_equal(words, 4);
	assert_int_equal(opt_cut_dashes(&words, argv, 0), 1);
	assert_int_equal(words, 3);
	assert_string_equal(argv[2], "-a");
	assert_string_equal(argv[3], "--");
	assert_null(argv[4]);
	words = parse(&options, OPT_KEEP_DASHES | OPT_STOP_AT_WORD, argv, "x -- -a");
	assert_int_equal(opt_cut_dashes(&words, argv, OPT_STOP_AT_WORD), 3);
	words = parse(&options, OPT_KEEP_DASHES | OPT_STOP_AT_WORD, argv, "-- x");
	assert_int_equal(opt_cut_dashes(&words, argv, OPT_STOP_AT_WORD), 0);
	assert_int_equal(words, 1);
}

static void errors(void **state)
{
	static const struct {
		const char *line, *sentence;
	} cases[] = {
		{"--chidren", "there is no option --chidren; did you mean --children?"},
		{"--qqqqqqq", "there is no option --qqqqqqq; -h lists the options"},
		{"-x", "there is no option -x; -h lists the options"},
		{"-r", "-r needs an argument (N)"},
		{"--rows=many", "--rows takes a number, not 'many'"},
		{"--size=1Q", "--size takes a size such as 64K or 2M, not '1Q'"},
		{"--all=1", "--all takes no argument"},
		{"--level -1", "--level takes a number from 0 up, not '-1'"},
		{"--share -0.5", "--share takes a number above 0, not '-0.5'"},
		{"--share 0", "--share takes a number above 0, not '0'"},
		{"--share nan", "--share takes a number above 0, not 'nan'"},
		{"--\033[31m", "there is no option --?[31m; -h lists the options"},
		{"-r 99999999999", "--rows takes a number, not '99999999999'"},
	};
	struct options options;
	char *argv[32];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&options, 0, argv, cases[i].line), -EINVAL);
		assert_string_equal(err_sentence(), cases[i].sentence);
	}
	assert_int_equal(parse(&options, 0, argv, "--help"), -ECANCELED);
	assert_int_equal(parse(&options, 0, argv, "-h"), -ECANCELED);
}

static void suggestions(void **state)
{
	static const char *const words[] = {"record", "report", "script", "cpu-clock", NULL};

	assert_string_equal(nearest("reprot", words), "report");
	assert_string_equal(nearest("scrip", words), "script");
	assert_null(nearest("zzzz", words));
	assert_null(nearest("foo", words));
	assert_string_equal(nearest("cpu-clock-ticks", words), "cpu-clock");
	assert_int_equal(edit_distance("ab", "ba", 9), 1);
	assert_int_equal(edit_distance("kitten", "sitting", 9), 3);
	assert_true(edit_distance("aaaaaaaa", "bbbbbbbb", 2) > 2);
}

static void included_rows(void **state)
{
	static const struct opt rows[] = {{OPT_FLAG, 'b', "both", 1, .help = "b"}, OPT_END};
	static const struct opt outer[] = {{OPT_FLAG, 'a', "any", 0, .help = "a"},
					   OPT_INCLUDE(rows),
					   OPT_INCLUDE(rows + 1),
					   {OPT_FLAG, 'c', "cold", 2, .help = "c"},
					   OPT_END};
	static char *lines[][4] = {{"x", "-abc", NULL}, {"x", "--both", "--cold", NULL}};
	struct opt_walk walk = {outer, NULL};
	bool flags[3] = {false};
	char letters[8] = "";

	for (const struct opt *opt; (opt = opt_next(&walk));)
		letters[strlen(letters)] = opt->letter;
	assert_string_equal(letters, "abc");
	assert_int_equal(opt_parse(outer, flags, lines[0], 0), 0);
	assert_true(flags[0] && flags[1] && flags[2]);
	flags[1] = flags[2] = false;
	assert_int_equal(opt_parse(outer, flags, lines[1], 0), 0);
	assert_true(flags[1] && flags[2]);
	walk = (struct opt_walk){NULL, NULL};
	assert_null(opt_next(&walk));
}

RUN_TESTS(TEST(included_rows), TEST(forms), TEST(errors), TEST(suggestions))
