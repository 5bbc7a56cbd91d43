// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms.h"
#include "base/test.h"

static void lines(void **state)
{
	struct str text = STR("ffffffff81000000 T _text\n"
			      "rubbish\n"
			      "\n"
			      "fffffffff81000000 T too_long\n"
			      "ffffffff81000010 t\n"
			      "ffffffff81000010 t \n"
			      "c0008000 t short\n"
			      "ffffffffc0000000 t init\t[ext4]\n"
			      "0 A zero");
	struct kallsyms_line line;

	assert_true(kallsyms_next(&text, &line));
	assert_int_equal(line.addr, 0xffffffff81000000);
	assert_int_equal(line.type, 'T');
	assert_true(str_is(line.name, "_text"));
	assert_true(kallsyms_next(&text, &line));
	assert_int_equal(line.addr, 0xc0008000);
	assert_true(kallsyms_next(&text, &line));
	assert_true(str_is(line.name, "init\t[ext4]"));
	assert_true(kallsyms_next(&text, &line));
	assert_true(str_is(line.name, "zero"));
	assert_int_equal(line.addr, 0);
	assert_false(kallsyms_next(&text, &line));
}

static void cuts_modules(void **state)
{
	struct str name = STR("init\t[ext4]"), own = STR("_text"), odd = STR("a\t[]");

	assert_true(str_is(kallsyms_cut_module(&name), "ext4"));
	assert_true(str_is(name, "init"));
	assert_null(kallsyms_cut_module(&own).p);
	assert_true(str_is(own, "_text"));
	assert_non_null(kallsyms_cut_module(&odd).p);
	assert_true(str_is(odd, "a"));
}

static void finds_functions(void **state)
{
	struct str text = STR("1000 D _text\n2000 T _text\n3000 T _stext\n");
	uint64_t addr;

	assert_true(kallsyms_find(text, "_text", &addr));
	assert_int_equal(addr, 0x2000);
	assert_false(kallsyms_find(text, "_tex", &addr));
}

RUN_TESTS(TEST(lines), TEST(cuts_modules), TEST(finds_functions))
