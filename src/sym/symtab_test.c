// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symtab.h"
#include <elf.h>
#include "base/test.h"
#include <stdio.h>

static void add(struct symtab *symtab, uint64_t start, uint64_t size, const char *name)
{
	symtab_add(symtab, &(struct symbol){.start = start,
					    .end = start + size,
					    .name = name,
					    .binding = STB_LOCAL,
					    .type = STT_FUNC});
}

static const char *at(struct symtab *symtab, uint64_t addr)
{
	const struct symbol *symbol = symtab_find(symtab, addr);

	return symbol ? symbol->name : "none";
}

static void sizes_are_given(void **state)
{
	struct symtab symtab = {0};

	add(&symtab, 0x2000, 0, "last");
	add(&symtab, 0x1000, 0, "first");
	add(&symtab, 0x1800, 0x10, "sized");
	symtab_fix(&symtab, SYMTAB_FILE);
	symtab_ready(&symtab);
	assert_string_equal(at(&symtab, 0xfff), "none");
	assert_string_equal(at(&symtab, 0x17ff), "first");
	assert_string_equal(at(&symtab, 0x180f), "sized");
	assert_string_equal(at(&symtab, 0x1810), "none");
	assert_string_equal(at(&symtab, 0x2fff), "last");
	assert_string_equal(at(&symtab, 0x3000), "none");
	symtab_done(&symtab);
}

static void modules_end_at_their_page(void **state)
{
	struct symtab symtab = {0};

	add(&symtab, 0x1000, 0, "kernel");
	add(&symtab, 0x9000, 0, "a\t[a]");
	add(&symtab, 0x9800, 0, "b\t[a]");
	add(&symtab, 0xf000, 0, "c\t[b]");
	symtab_fix(&symtab, SYMTAB_KALLSYMS);
	symtab_ready(&symtab);
	assert_string_equal(at(&symtab, 0x1fff), "kernel");
	assert_string_equal(at(&symtab, 0x2000), "none"); // 0x1000 and a page
	assert_string_equal(at(&symtab, 0x97ff), "a\t[a]");
	assert_string_equal(at(&symtab, 0xafff), "b\t[a]");
	assert_string_equal(at(&symtab, 0xb000), "none"); // 0x9800 and a page, and the rest of that
	symtab_done(&symtab);
}

static void versions_are_no_part_of_a_name(void **state)
{
	static const struct {
		const char *name, *plain;
	} cases[] = {
		{"pthread_create@@GLIBC_2.34", "pthread_create"},
		{"memcpy@GLIBC_2.2.5", "memcpy"},
		{"read@plt", "read@plt"},
		{"@x", "@x"},
		{"main", "main"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str plain = symbol_plain_name(&(struct symbol){.name = cases[i].name});

		assert_true(str_is(plain, cases[i].plain));
	}
	assert_true(str_is(symbol_plain_name(&(struct symbol){.name = "prog@A400", .is_place = true}),
			   "prog@A400"));
}

static void the_best_of_one_address(void **state)
{
	static const struct {
		struct symbol a, b;
		bool first;
	} cases[] = {
		{{.name = "a"}, {.end = 1, .name = "b"}, false},
		{{.end = 1, .name = "a", .type = STT_NOTYPE},
		 {.end = 1, .name = "b", .type = STT_FUNC},
		 false},
		{{.end = 1, .name = "a", .binding = STB_WEAK}, {.end = 1, .name = "b"}, false},
		{{.end = 1, .name = "a"}, {.end = 1, .name = "b", .binding = STB_GLOBAL}, false},
		{{.end = 1, .name = "__libc_read"}, {.end = 1, .name = "read"}, false},
		{{.end = 1, .name = "read"}, {.end = 1, .name = "pread"}, false},
		{{.end = 1, .name = "same"}, {.end = 1, .name = "name"}, true},
		{{.end = 1, .name = "SyS_read"}, {.end = 1, .name = "sys_read"}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symtab symtab = {0};

		symtab_add(&symtab, &cases[i].a);
		symtab_add(&symtab, &cases[i].b);
		symtab_fix(&symtab, SYMTAB_FILE);
		assert_int_equal(symtab.symbols.n, 1);
		assert_string_equal(symtab.symbols.v[0].name,
				    cases[i].first ? cases[i].a.name : cases[i].b.name);
		symtab_done(&symtab);
	}
}

static void nested_ones_are_found(void **state)
{
	struct symtab symtab = {0};

	add(&symtab, 0x1000, 0x1000, "outer");
	add(&symtab, 0x1100, 0x100, "inner");
	add(&symtab, 0x1180, 0x10, "innermost");
	symtab_fix(&symtab, SYMTAB_FILE);
	symtab_ready(&symtab);
	assert_string_equal(at(&symtab, 0x1050), "outer");
	assert_string_equal(at(&symtab, 0x1188), "innermost");
	assert_string_equal(at(&symtab, 0x11a0), "inner");
	assert_string_equal(at(&symtab, 0x1300), "outer");
	assert_string_equal(at(&symtab, 0x2000), "none");
	symtab_done(&symtab);
}

static void plt_names_are_demangled(void **state)
{
	struct symtab symtab = {0};

	symtab_add(&symtab, &(struct symbol){.end = 16, .name = "_Z3fooi@plt", .mangled = true});
	symtab_name(&symtab, &symtab.symbols.v[0]);
	assert_string_equal(symtab.symbols.v[0].name, "foo@plt");
	symtab_done(&symtab);
}

// Enough for an index; some lie far away from the others, as the kernel's per-CPU ones do.
static void many_are_found(void **state)
{
	static char names[1000][12];
	struct symtab symtab = {0};
	uint64_t start = 0x10;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		start += i == 100 ? 0xffffffff81000000 : 16 + i * 7 % 400;
		add(&symtab, start, i % 3 ? 0 : 8, names[i]);
	}
	symtab_fix(&symtab, SYMTAB_FILE);
	symtab_ready(&symtab);
	assert_non_null(symtab.index);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct symbol *symbol = &symtab.symbols.v[i];
		const char *gap = symbol->end < symbol[1].start ? "none" : names[i + 1];

		assert_string_equal(at(&symtab, symbol->start), names[i]);
		assert_string_equal(at(&symtab, symbol->end - 1), names[i]);
		assert_string_equal(at(&symtab, symbol->start - 1),
				    !i || i % 3 == 1 ? "none" : names[i - 1]);
		if (i + 1 < ARRAY_SIZE(names))
			assert_string_equal(at(&symtab, symbol->end), gap);
	}
	assert_string_equal(at(&symtab, 0), "none");
	assert_string_equal(at(&symtab, UINT64_MAX), "none");
	// One more, out of order: what was known is forgotten.
	add(&symtab, 8, 8, "late");
	symtab_fix(&symtab, SYMTAB_FILE);
	assert_string_equal(at(&symtab, 8), "late");
	symtab_ready(&symtab);
	assert_string_equal(at(&symtab, 8), "late");
	symtab_done(&symtab);
}

RUN_TESTS(TEST(many_are_found), TEST(sizes_are_given), TEST(modules_end_at_their_page),
	  TEST(versions_are_no_part_of_a_name), TEST(the_best_of_one_address),
	  TEST(nested_ones_are_found), TEST(plt_names_are_demangled))
