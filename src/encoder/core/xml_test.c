// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/xml.h"
#include "base/alloc.h"
#include "base/test.h"

static void escapes(void **state)
{
	static const struct {
		const char *text, *xml;
		size_t length;
	} cases[] = {
		{"plain_name", "plain_name", 10},
		{"<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;", 14},
		{"]]>", "]]&gt;", 3},
		{"\x01\x1b[31m", "\\x01\\x1b[31m", 12},
		{"tab\tnewline\n", "tab\\x09newline\\x0a", 18},
		{"\x7f", "\\x7f", 4},
		{"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", 2},
		{"na\xc3\xafve", "na\xc3\xafve", 5},
		{"\xc3", "\xef\xbf\xbd", 1},				     // cut
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 2},		     // overlong
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3}, // surrogate
		{"\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3}, // U+FFFE is no XML character
		{"\xc2\x85", "\xef\xbf\xbd\xef\xbf\xbd", 2},		     // C1 control
		{"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", 1},
		{"", "", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		xml_text(&out, cases[i].text);
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].xml);
		assert_int_equal(xml_length(str_of(cases[i].text)), cases[i].length);
		out_done(&out);
	}
}

static void cuts_by_characters(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *xml;
	} cases[] = {
		{"abcdef", 3, "abc"},
		{"a<<b", 3, "a&lt;&lt;"},
		{"\xc3\xaf\xc3\xaf\xc3\xaf", 2, "\xc3\xaf\xc3\xaf"},
		{"ab", 9, "ab"},
		{"abc", 0, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		xml_str_cut(&out, str_of(cases[i].text), cases[i].n);
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].xml);
		out_done(&out);
	}
}

RUN_TESTS(TEST(escapes), TEST(cuts_by_characters))
