// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/help.h"
#include "base/test.h"
#include "cmd/core/complete.h"
#include "cmd/core/man.h"

struct options {
	bool all, secret;
	const char *file, *mode;
};

static const struct opt opts[] = {
	{OPT_GROUP, .help = "Input"},
	{OPT_TEXT, 'i', "input", offsetof(struct options, file), "FILE", "Read this file."},
	{OPT_FLAG, 0, "secret", offsetof(struct options, secret), .help = "?", .hidden = true},
	{OPT_GROUP, .help = "Output"},
	{OPT_TEXT, 'g', "graph", offsetof(struct options, mode), "MODE",
	 "A help that is so long that it must be cut into two lines of text.", .absent = "fp"},
	{OPT_FLAG, 0, "a-long-name-that-leaves-no-room", offsetof(struct options, all),
	 .help = "It's all."},
	OPT_END,
};

static bool sub(size_t i, struct command *ret)
{
	static const struct command subs[] = {{"first", "The first"}, {"last", "The last"}};

	if (i >= 2)
		return false;
	*ret = subs[i];
	return true;
}

static const struct command_example examples[] = {{"sonde foo -i x", "shows x"}, {0}};

static const struct command command = {
	.name = "foo-bar",
	.summary = "Do foo",
	.usage = "sonde foo-bar [options]\nsonde foo-bar first",
	.description = "One paragraph\nin two lines.\n\nAs it is:\n  .x  'y'\n  \\z\nand on.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.sub = sub,
};

static void assert_text(struct out *out, const char *expected)
{
	out_char(out, 0);
	assert_string_equal(out->buf, expected);
	out_done(out);
}

static void test_text(void **state)
{
	struct out out;

	out_init_memory(&out);
	help_text(&out, &command);
	assert_text(&out,
		    "\n Usage: sonde foo-bar [options]\n"
		    "    or: sonde foo-bar first\n"
		    "\n Do foo\n"
		    "\n One paragraph in two lines.\n"
		    "\n As it is:\n"
		    "   .x  'y'\n"
		    "   \\z\n"
		    " and on.\n"
		    "\n Sub-commands:\n"
		    "    first           The first\n"
		    "    last            The last\n"
		    "\n Input:\n"
		    "    -i, --input FILE          Read this file.\n"
		    "\n Output:\n"
		    "    -g, --graph[=MODE]        A help that is so long that it must be cut into\n"
		    "                              two lines of text.\n"
		    "        --a-long-name-that-leaves-no-room\n"
		    "                              It's all.\n"
		    "\n Examples:\n"
		    "    sonde foo -i x\n"
		    "        shows x\n\n");
}

static void test_man(void **state)
{
	struct out out;

	out_init_memory(&out);
	man_command(&out, &command);
	out_char(&out, 0);
	assert_non_null(strstr(out.buf, ".TH SONDE\\-FOO\\-BAR 1 "));
	assert_non_null(strstr(out.buf, "\nsonde\\-foo\\-bar \\- Do foo\n"));
	assert_non_null(strstr(out.buf, "As it is:\n  .x  'y'\n  \\ez\n.br\nand on.\n"));
	assert_non_null(strstr(out.buf, ".TP\n.B \\-g, \\-\\-graph[=MODE]\n"));
	assert_non_null(strstr(out.buf, "\n.SH LAST\n"));
	assert_null(strstr(out.buf, "secret"));
	out_done(&out);
}

static void test_paragraphs(void **state)
{
	static const struct {
		const char *text;
		int count;
	} cases[] = {{"", 1}, {"a", 1}, {"a\nb", 1}, {"a\n\nb", 2}, {"a\n\nb\n\nc d\n", 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str rest = str_of(cases[i].text);
		int count = 0;

		while (help_next_paragraph(&rest).p)
			count++;
		assert_int_equal(count, cases[i].count);
	}
}

static void test_shells(void **state)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	struct out out;

	for (size_t i = 0; i < 3; i++) {
		out_init_memory(&out);
		assert_int_equal(complete_script(&out, shells[i]), 0);
		out_char(&out, 0);
		assert_non_null(strstr(out.buf, "build-options"));
		out_done(&out);
	}
	out_init_memory(&out);
	assert_true(complete_script(&out, "tcsh") < 0);
	out_done(&out);
}

RUN_TESTS(TEST(test_text), TEST(test_man), TEST(test_paragraphs), TEST(test_shells))
