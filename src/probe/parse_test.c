// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/err.h"
#include "probe/parse.h"

// What was understood, in one line.
static char *describe(const struct probe_request *request)
{
	const struct probe_point *point = &request->point;
	struct out out;
	char *text;

	out_init_memory(&out);
	if (request->is_sdt)
		out_text(&out, "static ");
	if (request->group)
		out_printf(&out, "%s:", request->group);
	if (request->event)
		out_printf(&out, "%s ", request->event);
	probe_put_point(&out, point);
	if (point->is_address)
		out_printf(&out, " (address %llx)", (unsigned long long)point->address);
	for (size_t i = 0; i < request->args.n; i++) {
		out_text(&out, request->args.v[i].is_raw ? " raw:" : " ");
		probe_put_arg(&out, &request->args.v[i]);
	}
	text = str_dup((struct str){out.buf, out.n});
	out_done(&out);
	return text;
}

static void test_requests(void **state)
{
	static const struct {
		const char *text, *is; // is NULL: refused
	} cases[] = {
		{"work", "work"},
		{"work+4 l n", "work+4 l n"},
		{"work%return $retval", "work%return raw:$retval"},
		{"work@t.c:3", "work:3@t.c"},
		{"t.c:26 sum", "@t.c:26 sum"},
		{"src/t.c:26", "@src/t.c:26"},
		{"ev=work", "ev work"},
		{"gr:ev=work a=l->p.x:x32 s:string", "gr:ev work a=l->p.x:x32 s:string"},
		{"work arr[2].y l->name[1] *p", "work arr[2].y l->name[1] raw:*p"},
		{"work %di +8(%sp):u32 @0x12 $stack0 x=$arg1",
		 "work raw:%di raw:+8(%sp):u32 raw:@0x12 raw:$stack0 raw:x=$arg1"},
		{"work;sum += *", "work;sum += *"},
		{"0x11f0", "0x11f0 (address 11f0)"},
		{"bank::account::deposit units", "bank::account::deposit units"},
		{"bank::mix:3 a", "bank::mix:3 a"},
		{"%sdt_libc:setjmp", "static sdt_libc:setjmp "},
		{"sdt_libc:setjmp", "static sdt_libc:setjmp "},
		{"%setjmp", "static setjmp "},
		{"work p@user:string", "work p@user:string"},
		{"", NULL},
		{"1bad=work", NULL},
		{"g-r:ev=work", NULL},
		{"work:abc", NULL},
		{"work+x", NULL},
		{"work%entry", NULL},
		{"work%return l", NULL},
		{"work%return $params", NULL},
		{"work:3+4", NULL},
		{"work@a.c@b.c", NULL},
		{"work;", NULL},
		{"work x=", NULL},
		{"work a[b]", NULL},
		{"work a->", NULL},
		{"0xzz", NULL},
		{"%", NULL},
		{"%:", NULL},
		{"%:setjmp", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = {0};
		struct probe_request request;
		int err = probe_parse(&arena, cases[i].text, &request);

		if (!cases[i].is) {
			if (err >= 0)
				fail_msg("'%s' was taken", cases[i].text);
		} else if (err < 0) {
			fail_msg("'%s': %s", cases[i].text, err_sentence());
		} else {
			auto_free char *is = describe(&request);

			assert_string_equal(is, cases[i].is);
			probe_request_done(&request);
		}
		arena_done(&arena);
	}
}

static void test_lines(void **state)
{
	static const struct {
		const char *text, *function, *file;
		uint32_t start, end;
		bool bad;
	} cases[] = {
		{"work", "work", NULL, 0, UINT32_MAX},
		{"work:2-5", "work", NULL, 2, 5},
		{"work:2+2", "work", NULL, 2, 3},
		{"work@t.c:3", "work", "t.c", 3, UINT32_MAX},
		{"t.c", NULL, "t.c", 0, UINT32_MAX},
		{"src/t.c:24-30", NULL, "src/t.c", 24, 30},
		{"work:5-2", .bad = true},
		{"work:x", .bad = true},
		{"*", .bad = true},
		{"", .bad = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena arena = {0};
		struct probe_lines lines;
		int err = probe_parse_lines(&arena, cases[i].text, &lines);

		if ((err < 0) != cases[i].bad)
			fail_msg("'%s': %d", cases[i].text, err);
		if (err >= 0) {
			assert_true(str_eq(str_of(lines.function), str_of(cases[i].function)));
			assert_true(str_eq(str_of(lines.file), str_of(cases[i].file)));
			assert_int_equal(lines.start, cases[i].start);
			assert_int_equal(lines.end, cases[i].end);
		}
		arena_done(&arena);
	}
}

static void test_clean_names(void **state)
{
	static const char *const cases[][2] = {
		{"work", "work"},
		{"a\np:x/y ", "a_p_x_y_"},
		{"1st", "_1st"},
		{"", "_"},
		{"bank::mix<int>", "bank__mix_int_"},
	};
	struct arena arena = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(probe_clean_name(&arena, str_of(cases[i][0])), cases[i][1]);
	assert_true(probe_is_word("/usr/lib/x-1.so") && !probe_is_word("a b") &&
		    !probe_is_word("a\n"));
	assert_false(probe_is_word(""));
	arena_done(&arena);
}

RUN_TESTS(TEST(test_requests), TEST(test_lines), TEST(test_clean_names))
