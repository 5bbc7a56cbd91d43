// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/alloc.h"
#include "base/str.h"
#include "base/test.h"
#include "cmd/core/record/readers.h"
#include <stdio.h>
#include <stdlib.h>

// "0-1/2|2-3/0": what each thread reads and where it runs, from places.
static void print(char *to, size_t size, const struct reader_place *places, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cpu_mask *masks[] = {&places[i].reads, &places[i].runs};

		at += (size_t)snprintf(to + at, size - at, "%s", i ? "|" : "");
		for (int k = 0; k < 2; k++) {
			at += (size_t)snprintf(to + at, size - at, "%s", k ? "/" : "");
			for (uint32_t cpu = 0; cpu < 64; cpu++) {
				if (cpu_mask_has(masks[k], cpu))
					at += (size_t)snprintf(to + at, size - at, "%u,", cpu);
			}
		}
	}
}

static void test_specs(void **state)
{
	static const struct {
		const char *spec, *expected; // NULL: refused
	} cases[] = {
		{"", "0,/0,|1,/1,|2,/2,|3,/3,"},
		{"CPU", "0,/0,|1,/1,|2,/2,|3,/3,"},
		{"core", "0,2,/0,2,|1,3,/1,3,"},
		{"package", "0,2,/0,2,|1,3,/1,3,"},
		{"NUMA", "0,2,/0,2,|1,3,/1,3,"},
		{"0-1/2:2,3/0-1", "0,1,/2,|2,3,/0,1,"},
		{"0/0", "0,/0,"},
		{"0-9/0", "0,1,2,3,/0,"}, // CPUs that are not online don't count
		{"0-1/0:1/1", NULL},
		{"0/0:1/0", NULL},
		{"9/0", NULL},
		{"0/9", NULL},
		{"/0", NULL},
		{"0/", NULL},
		{"0/0:", NULL},
		{"0/0/0", NULL},
	};

	const char *top = getenv("T");
	auto_free char *root = text_dup_fmt("%s/root/x86", top ? top : "test");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reader_place *places;
		size_t n;
		int err = reader_places(&places, &n, cases[i].spec, root);
		char text[512] = "";

		if (!cases[i].expected) {
			assert_true(err < 0);
			assert_true(*err_sentence());
			continue;
		}
		assert_int_equal(err, 0);
		print(text, sizeof(text), places, n);
		assert_string_equal(text, cases[i].expected);
		reader_places_free(places, n);
	}
}

RUN_TESTS(TEST(test_specs))
