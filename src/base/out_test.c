// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/out.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *text_of(struct out *out)
{
	out_char(out, 0);
	return out->buf;
}

static void widths(void **state)
{
	struct out out;

	out_init_memory(&out);
	out_text_right(&out, "ab", 4);
	out_char(&out, '|');
	out_text_left(&out, "ab", 4);
	out_char(&out, '|');
	out_u64_right(&out, 42, 5);
	out_hex_zeros(&out, 0xbeef, 8);
	out_char(&out, '|');
	out_time(&out, 1234567890123ull, 6, 6);
	out_char(&out, '|');
	out_time(&out, 1234567890123ull, 0, 9);
	out_i64(&out, -7);
	assert_string_equal(text_of(&out), "  ab|ab  |   420000beef|  1234.567890|1234.567890123-7");
	out_done(&out);
}

static void csv_fields(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain text; 'x'", "plain text; 'x'"},
		{"a,b", "\"a,b\""},
		{"say \"x\"", "\"say \"\"x\"\"\""},
		{"a\nb", "\"a\nb\""},
		{"a\r", "\"a\r\""},
		{"a\tb", "\"a\tb\""},
		{"\xc3\xa9", "\xc3\xa9"},
		// Formulas, but not numbers.
		{"=1+1", "\"'=1+1\""},
		{"@SUM(A1)", "\"'@SUM(A1)\""},
		{"-bash", "\"'-bash\""},
		{"+x,\"", "\"'+x,\"\"\""},
		{"-", "\"'-\""},
		{"-1.5", "-1.5"},
		{"+12.3%", "+12.3%"},
		{"-1+cmd|' /C calc'!A0", "\"'-1+cmd|' /C calc'!A0\""},
		{"\t=1", "\"'\t=1\""},
		{"a=1", "a=1"},
		// What a terminal obeys, what is no UTF-8, what turns the direction.
		{"a\x1b[1m\xc2\x9b\x9b", "a\\x1b[1m\\xc2\\x9b\\x9b"},
		{"a\xe2\x80\xae,b", "\"a\\xe2\\x80\\xae,b\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		out_csv(&out, str_of(cases[i][0]));
		assert_string_equal(text_of(&out), cases[i][1]);
		out_done(&out);
	}
}

// What a terminal would obey, and what is no text in UTF-8.
static void escaped_text(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain ~", "plain ~"},
		{"a\x1b[1m\x7f\n", "a\\x1b[1m\\x7f\\x0a"},
		{"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 \xc2\xa0",
		 "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 \xc2\xa0"},
		{"\x80|\x9b|\xff", "\\x80|\\x9b|\\xff"},
		{"\xe2\x80\x8e|\xe2\x80\xaa|\xe2\x81\xa6|\xe2\x80\x90",
		 "\\xe2\\x80\\x8e|\\xe2\\x80\\xaa|\\xe2\\x81\\xa6|\xe2\x80\x90"},
		{"\xc2\x80|\xc2\x9b|\xc2\x9f", "\\xc2\\x80|\\xc2\\x9b|\\xc2\\x9f"},
		// Cut, too long, beyond Unicode, halves of UTF-16.
		{"\xc3", "\\xc3"},
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xe2\x82|", "\\xe2\\x82|"},
		{"\xc1\x9b", "\\xc1\\x9b"},
		{"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
		{"\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		out_escaped(&out, cases[i][0]);
		assert_string_equal(text_of(&out), cases[i][1]);
		out.n = 0;
		// No terminal: as it is.
		out_safe(&out, cases[i][0]);
		assert_string_equal(text_of(&out), cases[i][0]);
		out_done(&out);
	}
}

static void safe_lines(void **state)
{
	struct out lines, out;

	out_init_memory(&lines);
	out_bytes(&lines, "a\tb\x1b\0c\0", 7);
	out_init_memory(&out);
	out_safe_lines(&out, &lines);
	assert_string_equal(text_of(&out), "a\tb\x1b\nc\n");
	out.n = 0;
	out.is_terminal = true;
	out_safe_lines(&out, &lines);
	assert_string_equal(text_of(&out), "a\tb\\x1b\nc\n");
	out_done(&out);
	out_done(&lines);
}

static void json_escapes(void **state)
{
	struct json json;
	struct out out;

	out_init_memory(&out);
	json_init(&json, &out);
	json_object(&json);
	json_field_text(&json, "a\"b", "x\n\x01\xff \xc3\xa9 \xed\xa0\x80 \xc2\x9b \xe2\x80\xae");
	json_key(&json, "n");
	json_array(&json);
	json_u64(&json, 1);
	json_null(&json);
	json_double(&json, 1.0 / 0.0);
	json_hex(&json, 255);
	json_end(&json);
	json_field_bool(&json, "t", true);
	json_end(&json);
	assert_string_equal(text_of(&out),
			    "{\"a\\\"b\":\"x\\u000a\\u0001\\ufffd \xc3\xa9 \\ufffd\\ufffd\\ufffd \\u009b \\u202e\","
			    "\"n\":[1,null,null,\"0xff\"],\"t\":true}");
	out_done(&out);
}

static void closed_pipe(void **state)
{
	int fds[2];
	struct out out;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	out_init_fd(&out, fds[1]);
	for (int i = 0; i < 100000 && !out_broken(&out); i++)
		out_text(&out, "many words for nobody\n");
	assert_true(out_broken(&out));
	assert_int_equal(out_close(&out, "x"), -EPIPE);
	assert_string_equal(err_sentence(), "");
}

static void files(void **state)
{
	char path[] = "/tmp/sonde-out-test-XXXXXX";
	struct mapped mapped;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, "12\n", 3), 0);
	int64_t value;
	assert_int_equal(file_read_i64("", path, &value), 0);
	assert_int_equal(value, 12);
	assert_int_equal(file_map(&mapped, path), 0);
	assert_memory_equal(mapped.p, "12\n", 3);
	file_unmap(&mapped);
	unlink(path);
	assert_int_equal(file_map(&mapped, path), -ENOENT);
	assert_int_equal(file_map(&mapped, "/"), -EISDIR);
}

RUN_TESTS(TEST(widths), TEST(csv_fields), TEST(escaped_text), TEST(safe_lines), TEST(json_escapes),
	  TEST(closed_pipe), TEST(files))
