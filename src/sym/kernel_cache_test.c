// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <elf.h>
#include "sym/kernel_cache.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct kernel_cache_key key = {{1, 2}};

static struct symtab symbols_of_two(void)
{
	struct symtab symtab = {0};

	symtab_add(&symtab, &(struct symbol){.start = 0xffffffff81000000,
					     .end = 0xffffffff81000100,
					     .name = "_text",
					     .binding = STB_GLOBAL,
					     .type = STT_FUNC});
	symtab_add(&symtab, &(struct symbol){.start = 0xffffffffc0000000,
					     .end = 0xffffffffc0000010,
					     .name = "init\0[ext4]",
					     .hidden_width = 7});
	return symtab;
}

static void save(const char *folder)
{
	struct symtab symtab = symbols_of_two();
	uint64_t references[2] = {7, 8};

	setenv("XDG_CACHE_HOME", folder, 1);
	kernel_cache_save(&key, &symtab, references);
	symtab_done(&symtab);
}

static void test_round_trip(void **state)
{
	char folder[] = "/tmp/sonde-test-XXXXXX", path[64];
	const struct kernel_cache_key other = {{1, 3}};
	struct symtab symtab = {0};
	uint64_t references[2];
	struct mapped map;

	assert_non_null(mkdtemp(folder));
	save(folder);
	assert_false(kernel_cache_load(&other, &symtab, &map, references));
	assert_true(kernel_cache_load(&key, &symtab, &map, references));
	assert_int_equal(symtab.symbols.n, 2);
	assert_string_equal(symtab.symbols.v[0].name, "_text");
	assert_int_equal(symtab.symbols.v[0].binding, STB_GLOBAL);
	assert_int_equal(symtab.symbols.v[0].type, STT_FUNC);
	assert_string_equal(symtab.symbols.v[1].name, "init");
	assert_string_equal(symtab.symbols.v[1].name + 5, "[ext4]");
	assert_true(symtab.symbols.v[1].hidden_width);
	assert_int_equal(symtab.symbols.v[1].end, 0xffffffffc0000010);
	assert_int_equal(references[0], 7);
	assert_int_equal(references[1], 8);
	symtab_done(&symtab);
	file_unmap(&map);
	snprintf(path, sizeof(path), "%s/sonde/kallsyms", folder);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
}

static void test_damage(void **state)
{
	char folder[] = "/tmp/sonde-test-XXXXXX", path[64];
	struct symtab symtab = {0};
	uint64_t references[2];
	char *text;
	size_t n;

	assert_non_null(mkdtemp(folder));
	save(folder);
	snprintf(path, sizeof(path), "%s/sonde/kallsyms", folder);
	assert_int_equal(file_read(path, 1 << 20, &text, &n), 0);
	for (size_t i = 0; i <= n; i++)
		assert_int_equal(kernel_cache_parse((struct str){text, i}, &key, &symtab, references),
				 i == n);
	for (size_t i = 0; i < n; i++) {
		text[i] ^= 1;
		symtab.symbols.n = 0;
		// The addresses of the references are only numbers.
		if (i < 24 || i >= 40)
			assert_false(kernel_cache_parse((struct str){text, n}, &key, &symtab,
							references));
		text[i] ^= 1;
	}
	free(text);
	symtab_done(&symtab);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
}

RUN_TESTS(TEST(test_round_trip), TEST(test_damage))
