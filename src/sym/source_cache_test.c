// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/source_cache.h"
#include <stdio.h>
#include "base/file.h"
#include "base/test.h"

enum { MOST = 4 };

static const struct source_key key = {
	.id = {.n = 3, .bytes = {0xab, 1, 2}},
	.size_bytes = 1 << 20,
	.modified_ns = 77,
};
static char folder[] = "/tmp/sonde-lines-XXXXXX";

static const char *cache_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/sonde/lines-ab0102", folder);
	return path;
}

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

static void add(struct source_cache *cache, uint64_t addr, const char *function, uint32_t line)
{
	struct dwarf_frame frames[] = {{function, "/src/a.c", line}, {"main", NULL, 0}};

	source_cache_add(cache, SOURCE_FRAMES, addr,
			 &(struct source_answer){.frames = frames, .n = function ? 2 : 0});
}

static void check(const struct source_cache *cache, uint64_t addr, const char *function, uint32_t line)
{
	struct dwarf_frame frames[MOST];
	struct source_answer answer = {.frames = frames, .most = MOST};

	assert_true(source_cache_find(cache, SOURCE_FRAMES, addr, &answer));
	assert_int_equal(answer.n, function ? 2 : 0);
	if (!function)
		return;
	assert_string_equal(frames[0].function, function);
	assert_string_equal(frames[0].file, "/src/a.c");
	assert_int_equal(frames[0].line, line);
	assert_string_equal(frames[1].function, "main");
	assert_null(frames[1].file);
	assert_int_equal(frames[1].line, 0);
	answer.most = 1;
	assert_true(source_cache_find(cache, SOURCE_FRAMES, addr, &answer));
	assert_int_equal(answer.n, 1);
}

static bool knows(const struct source_key *of, enum source_ask ask, uint64_t addr)
{
	struct dwarf_frame frames[MOST];
	struct source_answer answer = {.frames = frames, .most = MOST};
	struct source_cache *cache = source_cache_new(of);
	bool found = source_cache_find(cache, ask, addr, &answer);

	source_cache_free(cache);
	return found;
}

static void what_is_kept_is_found_again(void **state)
{
	struct dwarf_frame line = {.file = "", .line = 9};
	struct source_cache *cache = source_cache_new(&key);

	assert_non_null(cache);
	add(cache, 500, "five", 5);
	add(cache, 100, "one", 1);
	add(cache, 300, NULL, 0);
	source_cache_add(cache, SOURCE_LINE, 100, &(struct source_answer){.frames = &line, .n = 1});
	check(cache, 100, "one", 1);
	assert_true(source_cache_save(cache));
	source_cache_free(cache);

	// A second run knows that, and adds more in between and behind.
	cache = source_cache_new(&key);
	check(cache, 100, "one", 1);
	check(cache, 300, NULL, 0);
	check(cache, 500, "five", 5);
	assert_false(source_cache_save(cache));
	add(cache, 700, "seven", 7);
	add(cache, 200, "two", 2);
	assert_true(source_cache_save(cache));
	source_cache_free(cache);

	cache = source_cache_new(&key);
	check(cache, 100, "one", 1);
	check(cache, 200, "two", 2);
	check(cache, 300, NULL, 0);
	check(cache, 500, "five", 5);
	check(cache, 700, "seven", 7);
	source_cache_free(cache);
	assert_true(knows(&key, SOURCE_LINE, 100));
	assert_false(knows(&key, SOURCE_LINE, 200));
	assert_false(knows(&key, SOURCE_FRAMES, 101));
}

static void another_file_is_not_answered_for(void **state)
{
	struct source_key other = key;
	char command[256];

	other.modified_ns++;
	assert_false(knows(&other, SOURCE_FRAMES, 100));
	other = key;
	other.size_bytes++;
	assert_false(knows(&other, SOURCE_FRAMES, 100));
	// Another build-id, in whose file's place this one lies.
	other = key;
	other.id.bytes[2]++;
	snprintf(command, sizeof(command), "cp %s/sonde/lines-ab0102 %s/sonde/lines-ab0103", folder,
		 folder);
	assert_int_equal(system(command), 0);
	assert_false(knows(&other, SOURCE_FRAMES, 100));
	// Without a build-id, or too small to be worth it.
	other.id.n = 0;
	assert_null(source_cache_new(&other));
	other = key;
	other.size_bytes = 1000;
	assert_null(source_cache_new(&other));
	assert_true(knows(&key, SOURCE_FRAMES, 100));
}

static void damage(void **state)
{
	struct source_kept kept;
	char *text;
	size_t n;

	assert_int_equal(file_read(cache_path(), 1 << 20, &text, &n), 0);
	for (size_t i = 0; i <= n; i++)
		assert_int_equal(source_cache_parse((struct str){text, i}, &key, &kept), i == n);
	for (size_t i = 0; i < n; i++) {
		text[i] ^= 1;
		assert_false(source_cache_parse((struct str){text, n}, &key, &kept));
		text[i] ^= 1;
	}
	// A run that meets it makes a new one.
	text[n / 2] ^= 1;
	assert_true(file_write(cache_path(), text, n) >= 0);
	assert_false(knows(&key, SOURCE_FRAMES, 100));
	free(text);
	struct source_cache *cache = source_cache_new(&key);
	add(cache, 100, "again", 3);
	assert_true(source_cache_save(cache));
	source_cache_free(cache);
	assert_true(knows(&key, SOURCE_FRAMES, 100));
	assert_false(knows(&key, SOURCE_FRAMES, 500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_kept_is_found_again),
		TEST(another_file_is_not_answered_for),
		TEST(damage),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
