// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/pmu.h"
#include "base/test.h"
#include <errno.h>

static void test_formats(void **state)
{
	static const struct {
		const char *text;
		int result;
		unsigned config;
		uint64_t mask;
	} cases[] = {
		{"config:0-7", 0, 0, 0xff},
		{"config1:0-63", 0, 1, UINT64_MAX},
		{"config2:5", 0, 2, 0x20},
		{"config3:4-7", 0, 3, 0xf0},
		{"config:0-7,32-35", 0, 0, 0xf000000ff},
		{"config:63", 0, 0, 1ull << 63},
		{"config4:0-7", -EINVAL, 0, 0},
		{"config:", -EINVAL, 0, 0},
		{"config", -EINVAL, 0, 0},
		{"config:64", -EINVAL, 0, 0},
		{"config:7-0", -EINVAL, 0, 0},
		{"config:0-", -EINVAL, 0, 0},
		{"", -EINVAL, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pmu_format format = {0};
		if (pmu_parse_format(str_of(cases[i].text), &format) != cases[i].result)
			fail_msg("%s", cases[i].text);
		assert_int_equal(format.config, cases[i].config);
		assert_true(format.mask == cases[i].mask);
	}
}

static void test_spread(void **state)
{
	uint64_t bits = 0;

	assert_int_equal(pmu_spread(0xf000000ff, 0xabc, &bits), 0);
	assert_true(bits == 0xa000000bc);
	assert_int_equal(pmu_spread(0xff, 0x100, &bits), -ERANGE);
	assert_int_equal(pmu_spread(UINT64_MAX, UINT64_MAX, &bits), 0);
	assert_true(bits == UINT64_MAX);
}

static void test_machine(void **state)
{
	const char *top = getenv("T");
	auto_free char *root = text_dup_fmt("%s/root/x86", top ? top : "test");
	struct pmus *pmus;

	pmus_load(&pmus, root);
	struct pmu *cpu = pmus_find(pmus, STR("cpu"));
	assert_non_null(cpu);
	assert_int_equal(cpu->type, 4);
	pmu_details(pmus, cpu);
	assert_true(cpu->is_core);
	assert_int_equal(cpu->max_precise, 3);
	assert_non_null(pmu_format(cpu, STR("ldlat")));
	assert_string_equal(pmu_event(cpu, STR("mem-loads"))->terms, "event=0xcd,umask=0x1,ldlat=3");
	struct pmu *power = pmus_find_type(pmus, 20);
	pmu_details(pmus, power);
	assert_string_equal(pmu_event(power, STR("energy-pkg"))->unit, "Joules");
	assert_int_equal(power->events.n, 1);
	assert_int_equal(power->cpus_n, 1);
	assert_null(pmus_find(pmus, STR("nosuch")));
	pmus_free(pmus);
	pmus_load(&pmus, "/nonexistent");
	assert_int_equal(pmus->list.n, 0);
	pmus_free(pmus);
}

RUN_TESTS(TEST(test_formats), TEST(test_spread), TEST(test_machine))
