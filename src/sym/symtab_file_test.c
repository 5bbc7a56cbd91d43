// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symtab_file.h"
#include "base/test.h"
#include <elf.h>
#include <stdio.h>

static const struct symtab_file_key key = {{1, 2, [7] = 3}};
static const uint64_t facts[4] = {5, 6, 7, 8};
static char folder[] = "/tmp/sonde-test-XXXXXX";

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	return 0;
}

static int remove_folder(void **state)
{
	return remove_tree(folder);
}

static void save(void)
{
	struct symtab symtab = {0};

	symtab_add(&symtab,
		   &(struct symbol){.start = 100, .end = 200, .name = "outer", .type = STT_FUNC});
	symtab_add(&symtab, &(struct symbol){.start = 120,
					     .end = 140,
					     .name = "_Z5innerv",
					     .binding = STB_GLOBAL,
					     .mangled = true});
	symtab_add(&symtab,
		   &(struct symbol){.start = 150, .end = 160, .name = "a@96", .is_place = true});
	symtab_add(&symtab,
		   &(struct symbol){.start = 300, .end = 310, .name = "x\0[m]", .hidden_width = 4});
	symtab_file_save("symbols-test", &key, &symtab, facts);
	symtab_done(&symtab);
}

static const char *name_at(struct symtab *symtab, uint64_t addr)
{
	struct symbol *symbol = symtab_find(symtab, addr);

	if (symbol && symbol->mangled)
		symtab_name(symtab, symbol);
	return symbol ? symbol->name : "none";
}

static void what_is_kept_is_found(void **state)
{
	struct symtab symtab = {0};
	struct symtab_file file;
	struct mapped map;

	save();
	assert_true(symtab_file_load("symbols-test", &key, &file, &map));
	assert_memory_equal(file.facts, facts, sizeof(facts));
	symtab_set_rows(&symtab, &file.rows);
	symtab_ready(&symtab);
	assert_int_equal(symtab.symbols.n, 4);
	// Also what lies around others.
	assert_string_equal(name_at(&symtab, 99), "none");
	assert_string_equal(name_at(&symtab, 199), "outer");
	assert_string_equal(name_at(&symtab, 145), "outer");
	assert_string_equal(name_at(&symtab, 139), "inner");
	assert_string_equal(name_at(&symtab, 200), "none");
	assert_true(symtab_find(&symtab, 150)->is_place);
	assert_false(symtab_find(&symtab, 100)->is_place);
	assert_string_equal(name_at(&symtab, 305) + 2, "[m]");
	assert_int_equal(symtab_find(&symtab, 305)->hidden_width, 4);
	assert_int_equal(symtab_find(&symtab, 100)->type, STT_FUNC);
	assert_int_equal(symtab_find(&symtab, 120)->binding, STB_GLOBAL);
	symtab_done(&symtab);
	file_unmap(&map);
}

static void another_key_is_not_answered(void **state)
{
	struct symtab_file_key other = key;
	struct symtab_file file;
	struct mapped map;

	save();
	for (size_t i = 0; i < 8; i++) {
		other.words[i]++;
		assert_false(symtab_file_load("symbols-test", &other, &file, &map));
		other.words[i]--;
	}
	assert_false(symtab_file_load("symbols-none", &key, &file, &map));
	assert_true(symtab_file_load("symbols-test", &key, &file, &map));
	file_unmap(&map);
}

static void damage(void **state)
{
	struct symtab_file file;
	char path[64], *text;
	struct stat st;
	size_t n;

	save();
	snprintf(path, sizeof(path), "%s/sonde/symbols-test", folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(file_read(path, 1 << 20, &text, &n), 0);
	for (size_t i = 0; i <= n; i++)
		assert_int_equal(symtab_file_parse((struct str){text, i}, &key, &file), i == n);
	for (size_t i = 0; i < n; i++) {
		text[i] ^= 1;
		assert_false(symtab_file_parse((struct str){text, n}, &key, &file));
		text[i] ^= 1;
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_kept_is_found),
		TEST(another_key_is_not_answered),
		TEST(damage),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
