// SPDX-License-Identifier: GPL-2.0-or-later
// Which events --topdown, --smi-cost and -T take on the fake machines of test/root.
#include "base/err.h"
#include "base/file.h"
#include "cmd/stat/stat.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
// behind the headers that use the name
#include "base/test.h"

static char *root_of(const char *name)
{
	const char *top = getenv("T");

	return text_dup_fmt("%s/root/%s", top ? top : "test", name);
}

// The events as text, or the sentence.
static char *events_of(struct stat_options *options, struct counting *stat)
{
	char *text;

	if (stat_preset(stat))
		return xstrdup(err_sentence());
	text = xstrdup("");
	vec_each(const struct event_spec, spec, &options->specs.events) {
		char *longer = text_dup_fmt("%s%s%s", text, *text ? "," : "", spec->name);

		free(text);
		text = longer;
	}
	return text;
}

#define LEVEL1 "slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound"
#define LEVEL2 ",topdown-heavy-ops,topdown-br-mispredict,topdown-fetch-lat,topdown-mem-bound"

static void test_topdown(void **state)
{
	static const struct {
		const char *root;
		unsigned level;
		bool all_cpus;
		enum stat_by by, then;
		const char *events;
	} cases[] = {
		{"topdown-slots", 0, false, STAT_BY_ALL, STAT_BY_ALL, LEVEL1 LEVEL2},
		{"topdown-slots", 1, false, STAT_BY_THREAD, STAT_BY_THREAD, LEVEL1},
		{"topdown-slots", 3, false, STAT_BY_ALL, STAT_BY_ALL,
		 "--td-level 3: the counters of this processor have levels up to 2"},
		{"topdown-counts", 0, true, STAT_BY_ALL, STAT_BY_CORE,
		 "topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,topdown-slots-issued"},
		{"topdown-counts", 0, false, STAT_BY_ALL, STAT_BY_ALL,
		 "--topdown counts whole cores here: it needs -a, without cgroups"},
		{"topdown-counts", 0, true, STAT_BY_CPU, STAT_BY_CPU,
		 "--topdown counts whole cores here: it needs --per-core"},
		{"topdown-counts", 2, true, STAT_BY_ALL, STAT_BY_ALL,
		 "--td-level 2: the counters of this processor have level 1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *root = root_of(cases[i].root);
		struct stat_options options = {.root = root,
					       .topdown = true,
					       .topdown_level = cases[i].level,
					       .by = cases[i].by};
		struct counting stat = {.options = &options};

		options.target.all_cpus = cases[i].all_cpus;
		auto_free char *events = events_of(&options, &stat);
		assert_string_equal(events, cases[i].events);
		assert_int_equal(options.by, cases[i].then);
		assert_int_equal(options.metric_only, options.specs.events.n > 0);
		if (options.specs.events.n)
			assert_int_equal(options.specs.events.v[0].group_n, options.specs.events.n);
		event_specs_done(&options.specs);
	}
}

static void put(const char *root, const char *path, const char *text)
{
	char *full = text_dup_fmt("%s%s", root, path);

	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(full);
}

static int64_t frozen(const char *root)
{
	int64_t value = -1;

	file_read_i64(root, "/sys/devices/cpu/freeze_on_smi", &value);
	return value;
}

// What was set is set back; what was set before stays.
static void test_smi_cost(void **state)
{
	char root[] = "/tmp/stat-presets-XXXXXX";

	assert_non_null(mkdtemp(root));
	put(root, "/sys/bus/event_source/devices/msr/type", "9\n");
	put(root, "/sys/bus/event_source/devices/msr/events/aperf", "event=0x01\n");
	put(root, "/sys/bus/event_source/devices/msr/events/smi", "event=0x04\n");
	put(root, "/sys/bus/event_source/devices/msr/format/event", "config:0-63\n");
	for (int before = 0; before < 2; before++) {
		struct stat_options options = {.root = root, .smi_cost = true};
		struct counting stat = {.options = &options};

		put(root, "/sys/devices/cpu/freeze_on_smi", before ? "1\n" : "0\n");
		auto_free char *events = events_of(&options, &stat);
		assert_string_equal(events, "msr/aperf/,msr/smi/,cycles");
		assert_int_equal(frozen(root), 1);
		stat_preset_done(&stat);
		assert_int_equal(frozen(root), before);
		event_specs_done(&options.specs);
	}
	auto_free char *command = text_dup_fmt("rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

static void test_absent(void **state)
{
	auto_free char *root = root_of("x86");
	struct stat_options each[] = {{.topdown = true}, {.smi_cost = true}, {.transaction = true}};

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct counting stat = {.options = &each[i]};

		each[i].root = root;
		assert_int_equal(stat_preset(&stat), -EOPNOTSUPP);
		event_specs_done(&each[i].specs);
	}
}

RUN_TESTS(TEST(test_topdown), TEST(test_smi_cost), TEST(test_absent))
