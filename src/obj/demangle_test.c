// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/demangle.h"
#include "base/str.h"
#include "base/test.h"
#include "base/alloc.h"
#include "base/vec.h"

static void names(void **state)
{
	static const struct {
		const char *name, *plain, *full;
	} cases[] = {
		{"main", NULL, NULL},
		{"_start", NULL, NULL},
		{"", NULL, NULL},
		{"_Z", NULL, NULL},
		{"_Z3fooi", "foo", "foo(int)"},
		{"_ZN3foo3barC1Ei", "foo::bar::bar", "foo::bar::bar(int)"},
		{"_ZN3foo3bar3bazIlEElT_RKSt6vectorIiSaIiEE", "foo::bar::baz<long>",
		 "long foo::bar::baz<long>(long, std::vector<int, std::allocator<int> > const&)"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
		 "core::fmt::Formatter::pad"},
		{"_RNvC6_123foo3bar", "123foo::bar", "123foo::bar"},
		{"_D4test3fooFiZv", "test.foo(int)", "test.foo(int)"},
		{"_Dynamic", NULL, NULL},
		{"camlStdlib__array__map_154", "Stdlib.array.map_154", "Stdlib.array.map_154"},
		{"camlStdlib__$2b$2b_1", "Stdlib.++_1", "Stdlib.++_1"},
		{"caml_alloc", NULL, NULL},
		{"Ljava/lang/StringLatin1;equals([B[B)Z",
		 "java.lang.StringLatin1.equals(byte[], byte[])",
		 "java.lang.StringLatin1.equals(byte[], byte[])"},
		{"LFoo;bar(ILjava/lang/String;)V", "Foo.bar(int, java.lang.String)",
		 "Foo.bar(int, java.lang.String)"},
		{"LFoo;bar(Q)V", NULL, NULL},
		{"Loop(x)", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *plain = demangle(cases[i].name, false), *full = demangle(cases[i].name, true);

		if (cases[i].plain) {
			assert_non_null(plain);
			assert_string_equal(plain, cases[i].plain);
			assert_string_equal(full, cases[i].full);
			assert_true(demangle_maybe(cases[i].name));
		} else {
			assert_null(plain);
			assert_null(full);
		}
		free(plain);
		free(full);
	}
}

static void endless_names_end(void **state)
{
	VEC(char) name = {0};

	// Each template argument is twice the one before.
	for (const char *c = "_Z1fI"; *c; c++)
		vec_push(&name, *c);
	for (int i = 0; i < 40; i++) {
		for (const char *c = "N1aIS_S_E1bE"; *c; c++)
			vec_push(&name, *c);
	}
	for (const char *c = "Evv"; *c; c++)
		vec_push(&name, *c);
	vec_push(&name, '\0');
	free(demangle(name.v, true));
	vec_clear(&name);
	for (int i = 0; i < 100000; i++)
		vec_push(&name, i < 2 ? "_Z"[i] : 'P');
	vec_push(&name, '\0');
	assert_null(demangle(name.v, true));
	vec_done(&name);
}

// "_Z1f" of nested templates: a<a<a<...int>>>.
static void long_names_of_templates(void **state)
{
	static const int depths[] = {100, 900};

	for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
		VEC(char) name = {0};
		char *plain;

		for (const char *c = "_Z1f"; *c; c++)
			vec_push(&name, *c);
		for (int k = 0; k < depths[i]; k++) {
			for (const char *c = "N3abc3defI"; *c; c++)
				vec_push(&name, *c);
		}
		vec_push(&name, 'i');
		for (int k = 0; k < 2 * depths[i]; k++)
			vec_push(&name, 'E');
		vec_push(&name, '\0');
		plain = demangle(name.v, true);
		// libiberty prints no deeper than 1024 levels, of which each of these takes some.
		if (depths[i] <= 100) {
			assert_non_null(plain);
			assert_true(text_starts(plain, "f(abc::def<abc::def<"));
		}
		free(plain);
		vec_done(&name);
	}
	// Wide rather than deep, as real ones are.
	{
		VEC(char) name = {0};
		char *plain;

		for (const char *c = "_Z1fI"; *c; c++)
			vec_push(&name, *c);
		for (int k = 0; k < 300; k++) {
			for (const char *c = "4listIJLi0ELi1ELi2EEE"; *c; c++)
				vec_push(&name, *c);
		}
		for (const char *c = "Evv"; *c; c++)
			vec_push(&name, *c);
		vec_push(&name, '\0');
		plain = demangle(name.v, false);
		assert_non_null(plain);
		assert_true(text_starts(plain, "f<list<0, 1, 2>, list<0, 1, 2>, "));
		assert_int_equal(strlen(plain),
				 strlen("f<list<0, 1, 2>>") + 1 + 299 * strlen(", list<0, 1, 2>"));
		free(plain);
		vec_done(&name);
	}
}

RUN_TESTS(TEST(names), TEST(endless_names_end), TEST(long_names_of_templates))
