// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/config.h"
#include "base/err.h"
#include "base/test.h"
#include <stdio.h>

static void test_files(void **state)
{
	static const struct {
		const char *text, *key, *value; // value NULL: not set; "-": set without one
	} cases[] = {
		{"[report]\n\tchildren = false\n", "report.children", "false"},
		{"# c\n; d\n[a]\nb=c # d\n", "a.b", "c"},
		{"[a]\nb = two words  ; x\n", "a.b", "two words"},
		{"[a]\nb = \" kept \"\n", "a.b", " kept "},
		{"[a]\nb = x\\\ny\n", "a.b", "xy"},
		{"[a]\nb = \\t\\\"\n", "a.b", "\t\""},
		{"[a]\nb\n", "a.b", "-"},
		{"[a \"x\"]\nb = 1\n", "a.x.b", "1"},
		{"[a]\nb = 1\n[c]\nd = 2\n[a]\nb = 3\n", "a.b", "3"},
		{"[a]\nb = 1\n", "a.c", NULL},
		{"", "a.b", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config config = {0};

		assert_int_equal(config_parse(&config, str_of(cases[i].text), "t", false), 0);
		const struct config_entry *entry = config_find(&config, cases[i].key);
		assert_int_equal(entry != NULL, cases[i].value != NULL);
		if (entry && !strcmp(cases[i].value, "-"))
			assert_null(entry->value);
		else if (entry)
			assert_string_equal(entry->value, cases[i].value);
		config_done(&config);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{"a = b\n", 1},	       {"[a\n", 1},	    {"[a]\n= b\n", 2},
		{"[a]\nb = \"c\n", 2}, {"[a]\n\nb c\n", 3}, {"[a]\nb = \\x\n", 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config config = {0};
		char wanted[64];

		assert_int_equal(config_parse(&config, str_of(cases[i].text), "t", false), -EINVAL);
		snprintf(wanted, sizeof(wanted), "bad config file line %u in t", cases[i].line);
		assert_string_equal(err_sentence(), wanted);
		config_done(&config);
	}
}

static void test_set(void **state)
{
	struct config config = {0};

	assert_int_equal(config_set(&config, "a.b", "1", false), 0);
	assert_int_equal(config_set(&config, "c.d", "2", true), 0);
	assert_int_equal(config_set(&config, "a.e", "3", false), 0);
	assert_int_equal(config_set(&config, "nosection", "1", false), -EINVAL);
	assert_int_equal(config.entries.n, 3);
	assert_string_equal(config.entries.v[1].name, "e"); // beside its section
	assert_true(config_find(&config, "c.d")->is_system);
	assert_int_equal(config_bool("on"), 1);
	assert_int_equal(config_bool("False"), 0);
	assert_int_equal(config_bool("maybe"), -1);
	config_done(&config);
}

// What is written is read as it was set; what couldn't be read is not set.
static void test_print(void **state)
{
	static const struct {
		const char *key, *value, *text; // text NULL: refused
	} cases[] = {
		{"a.b", "1", "[a]\n\tb = 1\n"},
		{"a.x.b", "#1", "[a.x]\n\tb = \"#1\"\n"},
		{"a.x y.b", " 1", "[a \"x y\"]\n\tb = \" 1\"\n"},
		{"a.x]\"\\.b", "", "[a \"x]\\\"\\\\\"]\n\tb = \n"},
		{"a.b", "x\r", "[a]\n\tb = \"x\r\"\n"},
		{"a.b", "x\ny", "[a]\n\tb = \"x\\ny\"\n"},
		{"a.b c", "1", NULL},
		{"a.1b", "1", NULL},
		{"a.", "1", NULL},
		{"x]y.z", "1", NULL},
		{"a b.c", "1", NULL},
		{"a.x\ny.c", "1", NULL},
	};
	static const char first[] = "# this file is auto-generated.\n";

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config config = {0}, again = {0};
		struct out out;
		int err = config_set(&config, cases[i].key, cases[i].value, false);

		assert_int_equal(err, cases[i].text ? 0 : -EINVAL);
		assert_int_equal(config.entries.n, cases[i].text ? 1 : 0);
		if (cases[i].text) {
			out_init_memory(&out);
			assert_int_equal(config_edit(&out, str_of(""), cases[i].key, cases[i].value),
					 0);
			out_char(&out, 0);
			assert_string_equal(out.buf + strlen(first), cases[i].text);
			assert_int_equal(config_parse(&again, str_of(out.buf), "t", false), 0);
			assert_string_equal(config_find(&again, cases[i].key)->value, cases[i].value);
			out_done(&out);
		}
		config_done(&again);
		config_done(&config);
	}
}

// Only what is set changes.
static void test_edit(void **state)
{
	static const struct {
		const char *text, *key, *value, *wanted; // NULL: refused
	} cases[] = {
		{"", "a.b", "1", "# this file is auto-generated.\n[a]\n\tb = 1\n"},
		{"# mine\n[a]\nb=2 ; why\n", "a.b", "1", "# mine\n[a]\nb = 1 ; why\n"},
		{"[a]\nb = \"2 3\"   # why\nc = 1\n", "a.b", "x y", "[a]\nb = x y   # why\nc = 1\n"},
		{"[a]\n\tb\r\n", "a.b", "off", "[a]\n\tb = off\r\n"},
		{"[a]\nb=2\n\n# of c\n[c]\nd=1", "a.e", "1", "[a]\nb=2\n\te = 1\n\n# of c\n[c]\nd=1"},
		{"[a]\nb=2\n[c]\nd=1", "c.e", "#", "[a]\nb=2\n[c]\nd=1\n\te = \"#\"\n"},
		{"[a]\nb=2\n[a]\nb = 3\n", "a.b", "4", "[a]\nb=2\n[a]\nb = 4\n"},
		{"[a] b=2\n", "a.b", "4", "[a] b = 4\n"},
		{"[a]\n# nothing yet\n", "a.b", "4", "[a]\n\tb = 4\n# nothing yet\n"},
		{"[a \"x y\"]\nb = 1\n", "a.x y.b", "2", "[a \"x y\"]\nb = 2\n"},
		{"[a]\nb = 1\n", "a.x y.b", "2", "[a]\nb = 1\n[a \"x y\"]\n\tb = 2\n"},
		{"[a]\nb = x\\\ny # c\n", "a.b", "2", "[a]\nb = 2 # c\n"},
		{"[a]\nb = x\\\n", "c.d", "2", "[a]\nb = x\\\n\n[c]\n\td = 2\n"},
		{"[a]\nb = x\\", "c.d", "2", "[a]\nb = x\\\n\n[c]\n\td = 2\n"},
		{"[a][c]\nd = 1\n", "a.b", "2", "[a][c]\nd = 1\n[a]\n\tb = 2\n"},
		{"[a]\nb =\n", "a.b", "2", "[a]\nb = 2\n"},
		{"[a]\nb = 1\n", "a.1b", "2", NULL},
		{"[a]\nb = 1\n", "nosection", "2", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;
		int err;

		out_init_memory(&out);
		err = config_edit(&out, str_of(cases[i].text), cases[i].key, cases[i].value);
		assert_int_equal(err, cases[i].wanted ? 0 : -EINVAL);
		out_char(&out, 0);
		if (cases[i].wanted)
			assert_string_equal(out.buf, cases[i].wanted);
		out_done(&out);
	}
}

static void test_places(void **state)
{
	struct config config = {0};

	assert_int_equal(config_parse(&config, STR("[a]\n\nb = x\\\ny\nc = 1\n"), "t", false), 0);
	assert_int_equal(config_find(&config, "a.b")->line, 3);
	assert_int_equal(config_find(&config, "a.c")->line, 5);
	assert_string_equal(config_find(&config, "a.c")->file, "t");
	config_done(&config);
}

RUN_TESTS(TEST(test_edit), TEST(test_places), TEST(test_files), TEST(test_bad), TEST(test_set),
	  TEST(test_print))
