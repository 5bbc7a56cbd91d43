// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/probe_cache.h"
#include "base/test.h"

static const char text[] = "of none\n"
			   "%sdt_shop:sold=sold\n"
			   "p:sdt_shop/sold /bin/t:0x1156(0x3018) arg1=%di:s32\n"
			   "#work a=n s\n"
			   "p:probe_t/work /bin/t:0x1150 a=%di:s32\n"
			   "p:probe_t/work_1 /bin/t:0x1160 a=%di:s32\n"
			   "\n"
			   "#grp:x=work;sum=* n\n"
			   "p:grp/x /bin/t:0x1150 n=%di:s32\n"
			   "#t.c;a=b";

static void put(const struct probe_cache *cache, const char *wanted)
{
	struct out out;

	out_init_memory(&out);
	probe_cache_put(cache, &out);
	out_char(&out, '\0');
	assert_string_equal(out.buf, wanted);
	out_done(&out);
}

static void what_a_file_has(void **state)
{
	struct probe_cache cache = {0};

	(void)state;
	probe_cache_parse(&cache, str_of(text));
	assert_int_equal(cache.v.n, 4);
	assert_true(cache.v.v[0].is_static);
	assert_string_equal(cache.v.v[0].name, "sdt_shop:sold");
	assert_string_equal(cache.v.v[1].text, "work a=n s");
	assert_null(cache.v.v[1].name);
	assert_int_equal(cache.v.v[1].definitions.n, 2);
	assert_string_equal(cache.v.v[2].name, "grp:x");
	assert_null(cache.v.v[3].name);
	assert_int_equal(cache.v.v[3].definitions.n, 0);
	probe_cache_done(&cache);
}

static void the_same_text_or_name_is_replaced(void **state)
{
	struct probe_cache_entry *entry;
	struct probe_cache cache = {0};

	(void)state;
	probe_cache_parse(&cache, str_of(text));
	entry = probe_cache_add(&cache, "grp:x=other");
	vec_push(&entry->definitions, "p:grp/x /bin/t:0x9");
	entry = probe_cache_add(&cache, "work a=n s");
	vec_push(&entry->definitions, "p:probe_t/work /bin/t:0x8");
	probe_cache_add(&cache, "sdt_shop:sold=work"); // static ones stay
	put(&cache, "%sdt_shop:sold=sold\n"
		    "p:sdt_shop/sold /bin/t:0x1156(0x3018) arg1=%di:s32\n"
		    "#t.c;a=b\n"
		    "#grp:x=other\n"
		    "p:grp/x /bin/t:0x9\n"
		    "#work a=n s\n"
		    "p:probe_t/work /bin/t:0x8\n"
		    "#sdt_shop:sold=work\n");
	probe_cache_remove(&cache, 0);
	probe_cache_remove(&cache, 0);
	put(&cache, "#grp:x=other\n"
		    "p:grp/x /bin/t:0x9\n"
		    "#work a=n s\n"
		    "p:probe_t/work /bin/t:0x8\n"
		    "#sdt_shop:sold=work\n");
	probe_cache_done(&cache);
}

RUN_TESTS(TEST(what_a_file_has), TEST(the_same_text_or_name_is_replaced))
