// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/perfmap.h"
#include "base/test.h"

static void lines(void **state)
{
	struct str text = STR("7f0000001000 40 java.lang.String::hashCode (I)I\n"
			      "rubbish\n"
			      "10\n"
			      "10 20\n"
			      "10 20 \n"
			      "0x20 0x30 b\n"
			      "30\t10\tc d\te\n"
			      " \t 40 \t 10  f\n"
			      "\t50\t10\t\n"
			      "60 10 g\r\n"
			      "70 10 \r\n");
	struct perfmap_line line;

	assert_true(perfmap_next(&text, &line));
	assert_int_equal(line.start, 0x7f0000001000);
	assert_int_equal(line.size, 0x40);
	assert_true(str_is(line.name, "java.lang.String::hashCode (I)I"));
	assert_true(perfmap_next(&text, &line));
	assert_int_equal(line.start, 0x20);
	assert_true(str_is(line.name, "b"));
	assert_true(perfmap_next(&text, &line));
	assert_int_equal(line.start, 0x30);
	assert_int_equal(line.size, 0x10);
	assert_true(str_is(line.name, "c d\te"));
	assert_true(perfmap_next(&text, &line));
	assert_int_equal(line.start, 0x40);
	assert_true(str_is(line.name, " f"));
	assert_true(perfmap_next(&text, &line));
	assert_true(str_is(line.name, "g"));
	assert_false(perfmap_next(&text, &line));
}

RUN_TESTS(TEST(lines))
