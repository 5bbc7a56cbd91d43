// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel computes with the code is compared in test/truth/expr; here is what needs no kernel.
#include "expr/bpf.h"
#include "base/err.h"
#include "base/test.h"

static void test_buckets(void **state)
{
	unsigned last = 0;

	for (uint64_t v = 0; v < 100000; v++) {
		const unsigned bucket = expr_bucket(v);

		assert_true(bucket == last || bucket == last + 1);
		assert_true(expr_bucket_low(bucket) <= v && v < expr_bucket_low(bucket + 1));
		last = bucket;
	}
	for (unsigned shift = 0; shift < 64; shift++) {
		const uint64_t v = (uint64_t)1 << shift;
		const uint64_t low = expr_bucket_low(expr_bucket(v + v / 3));

		assert_int_equal(expr_bucket_low(expr_bucket(v)), v);
		assert_true(low <= v + v / 3 && v + v / 3 - low <= v / 128);
	}
	assert_int_equal(expr_bucket(UINT64_MAX), EXPR_BUCKETS - 1);
}

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	if (str_is(name, "n"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 8, 8, .is_signed = true};
	else if (str_is(name, "common_flags"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 2, 1};
	else if (str_is(name, "common_pid"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 4, 4};
	else if (str_is(name, "text"))
		*ret = (struct expr_field){EXPR_FIELD_DYNAMIC, 16, 4, 1, .is_text = true};
	else
		return false;
	return true;
}

// What only the machine can do says so.
static void test_unsupported(void **state)
{
	static const struct {
		const char *text, *why; // NULL: it can
	} cases[] = {
		{"n * 3 + common_pid", NULL},
		{"text == \"x\" || text ~ \"abc*\"", NULL},
		{"*(int *)&n", NULL},
		{"n = 3", "it assigns"},
		{"comm(n) == \"x\"", "it calls functions"},
		{"printf(\"x\")", "it calls functions"},
		{"text ~ \"*a*\"", "whole texts and their beginnings"},
		{"text[0]", "variable length"},
		{"common_flags", "common fields"},
		{"_time", NULL},
		{"_period", "no period"},
		{"(void)n", "no number"},
	};
	const struct expr_fields fields = {.find = find};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct expr_bpf b = {.in_context = true, .record_bytes = 20};
		struct expr *expr = NULL;
		int err;

		assert_int_equal(expr_compile(&expr, cases[i].text, &fields), 0);
		err_clear();
		expr_bpf_begin(&b);
		err = expr_bpf_number(&b, expr, -256);
		if (err != (cases[i].why ? -EOPNOTSUPP : 0) ||
		    (cases[i].why && !strstr(err_sentence(), cases[i].why)))
			fail_msg("%s: %d %s", cases[i].text, err, err_sentence());
		expr_bpf_done(&b);
		expr_free(expr);
	}
}

RUN_TESTS(TEST(test_buckets), TEST(test_unsupported))
