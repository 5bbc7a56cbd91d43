// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/parts.h"
#include "base/test.h"

static void check_fit(size_t columns, const char *expected)
{
	struct tui_parts line;
	struct str text;

	tui_parts_init(&line);
	tui_parts_begin(&line, 0);
	out_text(&line.out, "Samples: 12");
	tui_parts_begin(&line, 2);
	out_text(&line.out, ", Event count: 3456");
	tui_parts_begin(&line, 1);
	out_text(&line.out, ", lost: 0");
	tui_parts_begin(&line, 1);
	out_text(&line.out, " (all)");
	text = tui_parts_fit(&line, columns);
	assert_int_equal(text.n, strlen(expected));
	assert_memory_equal(text.p, expected, text.n);
	tui_parts_done(&line);
}

static void test_fit(void **state)
{
	check_fit(80, "Samples: 12, Event count: 3456, lost: 0 (all)");
	check_fit(45, "Samples: 12, Event count: 3456, lost: 0 (all)");
	check_fit(44, "Samples: 12, lost: 0 (all)");
	check_fit(25, "Samples: 12, lost: 0");
	check_fit(12, "Samples: 12");
	check_fit(9, "Samples..");
	check_fit(1, "S");
	check_fit(0, "");
}

static void test_words(void **state)
{
	static const char *const words[] = {"?: help", "q: quit", "a: annotate", NULL};
	struct tui_parts line;

	tui_parts_init(&line);
	tui_parts_words(&line, words);
	assert_memory_equal(tui_parts_fit(&line, 40).p, "?: help  q: quit  a: annotate", 29);
	assert_int_equal(tui_parts_fit(&line, 20).n, 16);
	assert_int_equal(tui_parts_fit(&line, 8).n, 7);
	tui_parts_done(&line);
}

static void check_cut(const char *text, size_t columns, const char *expected)
{
	struct out out;

	out_init_memory(&out);
	out_text(&out, text);
	tui_cut(&out, columns);
	out_char(&out, 0);
	assert_string_equal(out.buf, expected);
	out_done(&out);
}

static void test_cut(void **state)
{
	check_cut("libpython3.so", 13, "libpython3.so");
	check_cut("libpython3.so", 12, "libpython3..");
	check_cut("f\xc3\xbcr alle", 4, "f..");
	check_cut("f\xc3\xbcr alle", 5, "f\xc3\xbc..");
}

RUN_TESTS(TEST(test_fit), TEST(test_words), TEST(test_cut))
