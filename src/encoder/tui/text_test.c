// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/text.h"
#include "base/test.h"
#include <locale.h>

static void check(const char *text, int columns, bool utf8, const char *expected, int width)
{
	struct out out;
	int used;

	out_init_memory(&out);
	used = tui_text(&out, str_of(text), columns, utf8);
	out_char(&out, 0);
	assert_string_equal(out.buf, expected);
	assert_int_equal(used, width);
	out_done(&out);
}

static void test_plain(void **state)
{
	check("main", 80, true, "main", 4);
	check("main", 3, true, "mai", 3);
	check("main", 0, true, "", 0);
	check("", 9, true, "", 0);
	check("a\tb", 9, true, "a b", 3);
}

static void test_hostile(void **state)
{
	check("\033[2J", 80, true, "\\x1b[2J", 7);
	check("\033[2J", 3, true, "", 0); // half an escape says something else
	check("a\nb\x7f", 80, true, "a\\x0ab\\x7f", 10);
	check("\xff\xc0\x80", 80, true, "\\xff\\xc0\\x80", 12);
	check("\xc2", 80, true, "\\xc2", 4);
	check("\xed\xa0\x80", 80, true, "\\xed\\xa0\\x80", 12); // a surrogate
	check("\xe0\x80\xaf", 80, true, "\\xe0\\x80\\xaf", 12); // an overlong slash
	check("\xf5\x80\x80\x80", 4, true, "\\xf5", 4);		// above U+10FFFF
	check("\xc2\x9b"
	      "2J",
	      80, true, "\\u{009b}2J", 10); // CSI in one character
}

static void test_wide(void **state)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	check("f\xc3\xbcr", 80, true, "f\xc3\xbcr", 3);
	check("f\xc3\xbcr", 80, false, "f?r", 3);
	check("\xe4\xbd\xa0\xe5\xa5\xbd", 3, true, "\xe4\xbd\xa0", 2);
	check("e\xcc\x81", 80, true, "e\\u{0301}", 9);	 // a combining accent
	check("\xe2\x80\xae", 80, true, "\\u{202e}", 8); // right-to-left override
	setlocale(LC_CTYPE, "C");
}

RUN_TESTS(TEST(test_plain), TEST(test_hostile), TEST(test_wide))
