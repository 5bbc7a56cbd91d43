// SPDX-License-Identifier: GPL-2.0-or-later
// Location expressions as bytes, and what a probe could fetch by them.
#include "base/test.h"
#include <errno.h>
#include <stdio.h>
#include "obj/variable.h"

static bool cfa_of_16(void *arg, uint64_t pc, unsigned *ret_register, int64_t *ret_offset)
{
	*ret_register = 7;
	*ret_offset = 16;
	return true;
}

// "%5", "+8(%5)", "-4(+8(%5))", "\3", "@16"; with pieces "0-8:%5 8-16:%4"
static void put(const struct place *place, char *text, size_t size)
{
	char inner[128], outer[128 + 32];

	switch (place->base) {
	case PLACE_NOWHERE:
		snprintf(text, size, "nowhere");
		return;
	case PLACE_CONSTANT:
		snprintf(inner, sizeof(inner), "\\%lld", (long long)place->number);
		break;
	case PLACE_ADDRESS:
		snprintf(inner, sizeof(inner), "@%llu", (unsigned long long)place->number);
		break;
	case PLACE_REGISTER:
		snprintf(inner, sizeof(inner), "%%%llu", (unsigned long long)place->number);
		break;
	}
	for (unsigned i = 0; i < place->steps_n; i++) {
		snprintf(outer, sizeof(outer), "%+lld(%s)", (long long)place->steps[i], inner);
		snprintf(inner, sizeof(inner), "%.127s", outer);
	}
	snprintf(text, size, "%s%s", inner, place->in_memory ? "" : " value");
	if (place->add)
		snprintf(text + strlen(text), size - strlen(text), " plus %lld",
			 (long long)place->add);
	if (place->bits)
		snprintf(text + strlen(text), size - strlen(text), " of %u bits", place->bits);
}

static void test_expressions(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *places; // NULL: the error
		int err;
		bool at_entry;
	} cases[] = {
#define CODE(text) text, sizeof(text) - 1
		{CODE("\x55"), "%5 value"},
		{CODE("\x75\x08"), "+8(%5)"},
		{CODE("\x75\x78"), "-8(%5)"},
		{CODE("\x75\x00\x9f"), "%5 value"},
		{CODE("\x75\x01\x9f"), "%5 value plus 1"},
		{CODE("\x75\x08\x06\x23\x10"), "+16(+8(%5))"},
		{CODE("\x75\x08\x06\x9f"), "+8(%5) value"},
		{CODE("\x9c"), "+16(%7)"},
		{CODE("\x9c\x23\x08"), "+24(%7)"},
		{CODE("\x33\x9f"), "\\3 value"},
		{CODE("\x09\xfe\x9f"), "\\-2 value"},
		{CODE("\x75\x00\x0c\xff\xff\xff\xff\x1a\x9f"), "%5 value of 32 bits"},
		{CODE("\x55\x93\x08\x54\x93\x08"), "0-8:%5 value 8-16:%4 value "},
		{CODE("\x93\x08\x54\x93\x04"), "0-8:nowhere 8-12:%4 value "},
		{CODE("\x9e\x04\x01\x02\x00\x00"), "\\513 value"},
		{CODE("\xa3\x01\x55\x9f"), .err = -ENOTSUP},
		{CODE("\xa3\x01\x55\x9f"), "%5 value", .at_entry = true},
		{CODE("\x75\x00\x74\x00\x22\x9f"), .err = -ENOTSUP}, // the sum of two registers
		{CODE("\x91\x10"), .err = -ENOTSUP},		     // no function, no frame base
		{CODE(""), .err = -ENOENT},
		{CODE("\x06"), .err = -ENOTSUP},
		{CODE("\x75"), .err = -ENOTSUP}, // cut
	};
	struct dwarf dwarf = {0};
	const struct dwarf_unit unit = {.dwarf = &dwarf, .address_size = 8, .version = 5};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct place_context context = {.cfa = cfa_of_16,
						      .at_entry = cases[i].at_entry};
		struct places places;
		char all[512] = "", one[300];
		int err = places_of(&unit, (struct str){cases[i].bytes, cases[i].n}, &context,
				    &places);

		if (err != cases[i].err)
			fail_msg("case %zu: %d", i, err);
		if (err < 0)
			continue;
		for (unsigned k = 0; k < places.n; k++) {
			put(&places.v[k], one, sizeof(one));
			if (places.v[k].bytes)
				snprintf(all + strlen(all), sizeof(all) - strlen(all),
					 "%llu-%llu:%s ", (unsigned long long)places.v[k].at,
					 (unsigned long long)(places.v[k].at + places.v[k].bytes),
					 one);
			else
				snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s", one);
		}
		assert_string_equal(all, cases[i].places);
	}
}

RUN_TESTS(TEST(test_expressions))
