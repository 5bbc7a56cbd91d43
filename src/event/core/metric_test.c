// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/core/metric.h"
#include "event/core/spec.h"
#include <math.h>
#include <stdlib.h>
// behind the headers that use the name
#include "base/test.h"

// Names are their numbers: "v12" is 12, "v0" 0; "unknown" isn't known.
static double number(void *arg, struct str name)
{
	++*(int *)arg;
	return name.p[0] == 'v' ? strtod(name.p + 1, NULL) : (double)NAN;
}

static void test_formulas(void **state)
{
	static const struct {
		const char *formula;
		double value;
		int events;
	} cases[] = {
		{"v6 / v3", 2, 2},
		{"100 * v1 / ( v1 + v3 )", 25, 3},
		{"v10 - v2 - v3", 5, 3},
		{"v2 + v3 * v4", 14, 3},
		{"max( v1 , v5 ) / v10", 0.5, 3},
		{"min( v4 + v1 , v9 - v1 ) * 2", 10, 4},
		{"v24 / v2 / v3", 4, 3},
		{"v5 * 1e9 / v2-of/this,a=1/", 2.5e9, 2},
		{"0 * v7 + v3", 3, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int events = 0;

		assert_true(fabs(metric_value(cases[i].formula, number, &events) / cases[i].value -
				 1) < 1e-9);
		assert_int_equal(events, cases[i].events);
	}
}

static void test_unknown(void **state)
{
	static const char *const formulas[] = {"v1 / v0", "unknown / v1", "v1 + unknown",
					       "max( unknown , v1 )", "max( v1 , unknown )"};

	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++) {
		int events = 0;

		assert_true(isnan(metric_value(formulas[i], number, &events)));
	}
}

static double one(void *arg, struct str name)
{
	return 1;
}

static void parses(void *arg, struct str name)
{
	auto_free char *text = str_is(name, "clock") ? xstrdup("task-clock") : str_dup(name);
	const struct event_context context = {.root = "/nowhere", .no_search = true};
	struct event_specs specs;
	bool is_sysfs = text_starts(text, "topdown-") || text_starts(text, "msr/") ||
			text_starts(text, "power/") || !strcmp(text, "slots");

	event_specs_init(&specs);
	// Other machines may name them; what is left is known everywhere.
	if (!is_sysfs)
		assert_int_equal(event_parse(&specs, text, &context), 0);
	event_specs_done(&specs);
	++*(int *)arg;
}

static void test_table(void **state)
{
	for (const struct metric *metric = metric_table; metric->name; metric++) {
		assert_non_null(metric->description);
		assert_true(metric->format[0] == '%' && *metric->groups);
		for (size_t i = 0; i < METRIC_FORMS && metric->forms[i]; i++) {
			int events = 0;

			metric_events(metric->forms[i], parses, &events);
			assert_true(events >= 1);
			assert_true(isfinite(metric_value(metric->forms[i], one, NULL)));
			for (const struct metric *other = metric + 1; other->name; other++)
				assert_string_not_equal(metric->name, other->name);
		}
	}
}

static const struct metric *named(const char *name)
{
	for (const struct metric *metric = metric_table; metric->name; metric++) {
		if (!strcmp(metric->name, name))
			return metric;
	}
	return NULL;
}

static void test_names(void **state)
{
	const struct metric *ipc = named("insn_per_cycle");

	assert_true(metric_matches(ipc, STR("INSN_per_cycle")) && metric_matches(ipc, STR("ipc")));
	assert_true(metric_matches(ipc, STR("default")) && metric_matches(ipc, STR("Summary")) &&
		    metric_matches(ipc, STR("all")));
	assert_false(metric_matches(ipc, STR("insn")) || metric_matches(ipc, STR("Def")) ||
		     metric_matches(ipc, STR("")));
}

// What sysfs names decides which form is taken.
static void test_forms(void **state)
{
	static const struct {
		const char *root, *metric, *formula;
	} cases[] = {
		{"topdown-slots", "retiring",
		 "0 * slots + 100 * topdown-retiring / ( topdown-retiring + topdown-bad-spec + topdown-fe-bound + topdown-be-bound )"},
		{"topdown-counts", "retiring", "100 * topdown-slots-retired / topdown-total-slots"},
		{"x86", "retiring", NULL},
		{"x86", "package_power", "power/energy-pkg/ * 1e9 / duration_time"},
		{"topdown-counts", "package_power", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *top = getenv("T");
		auto_free char *root = text_dup_fmt("%s/root/%s", top ? top : "test", cases[i].root);
		const struct event_context context = {.root = root, .no_search = true};
		struct event_specs specs;
		bool opens;

		event_specs_init(&specs);
		const char *formula = metric_form(named(cases[i].metric), &specs, &context, &opens);
		if (cases[i].formula)
			assert_string_equal(formula, cases[i].formula);
		else
			assert_null(formula);
		assert_int_equal(opens, formula != NULL);
		assert_int_equal(specs.events.n, 0);
		event_specs_done(&specs);
	}
}

RUN_TESTS(TEST(test_formulas), TEST(test_unknown), TEST(test_table), TEST(test_names),
	  TEST(test_forms))
