// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <stdio.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "code/source_text.h"

static void test_lines(void **state)
{
	static const char text[] = "one\r\n\ntwo\n\tthree";
	static const char *const lines[] = {"one", "", "two", "\tthree"};
	char path[] = "/tmp/sonde-text-XXXXXX";
	struct source_texts *texts = source_texts_new();
	int fd = mkstemp(path);
	struct str line;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, text, strlen(text)), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_true(source_texts_line(texts, path, i + 1, &line));
		assert_true(str_is(line, lines[i]));
	}
	assert_false(source_texts_line(texts, path, 0, &line));
	assert_false(source_texts_line(texts, path, ARRAY_SIZE(lines) + 1, &line));
	// What was read once stays.
	unlink(path);
	assert_true(source_texts_line(texts, path, 3, &line));
	assert_true(str_is(line, "two"));
	assert_false(source_texts_line(texts, "/dev/zero", 1, &line));
	assert_false(source_texts_line(texts, "/nowhere/t.c", 1, &line));
	source_texts_free(texts);
}

RUN_TESTS(TEST(test_lines))
