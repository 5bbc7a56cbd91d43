// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/store.h"
#include "base/err.h"
#include "base/file.h"
#include "base/test.h"
#include "sys/tracefs.h"
#include <stdio.h>
#include <stdlib.h>

static const struct probe_value values[] = {{"a", "%di", "s32"}, {NULL, "%si", NULL}};
static const struct probe_event events[] = {
	{.group = "probe_libc",
	 .event = "malloc",
	 .path = "/lib/libc.so.6",
	 .at = 0xa1b2,
	 .values = {.v = (struct probe_value *)values, .n = 2}},
	{.group = "probe", .event = "open", .symbol = "do_sys_open", .at = 4},
	{.group = "probe_libc", .event = "free", .path = "/lib/libc.so.6", .at = 0x10, .is_return = true},
};

static void notes(void **state)
{
	struct probe_store store = {0};
	const struct probe_stored *found;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(probe_store_note(&store, &events[i]), 0);
	found = probe_store_find(&store, "probe_libc", "malloc");
	assert_non_null(found);
	assert_true(found->is.is_uprobe && !found->is.is_return && found->is.at == 0xa1b2);
	assert_true(str_is(found->is.path, "/lib/libc.so.6"));
	assert_ptr_equal(strstr(found->line, "p:probe_libc/malloc "), found->line);
	assert_int_equal(found->names.n, 1); // that has one
	assert_true(str_is(found->names.v[0], "a"));
	found = probe_store_find(&store, "probe", "open");
	assert_true(found && !found->is.is_uprobe && str_is(found->is.path, "do_sys_open") &&
		    found->is.at == 4);
	assert_true(probe_store_find(&store, "probe_libc", "free")->is.is_return);
	assert_null(probe_store_find(&store, "probe", "malloc"));
	// The kernel's before those of programs, each by name.
	probe_store_sort_by_name(&store);
	assert_true(str_is(store.v.v[0].is.event, "open") && str_is(store.v.v[1].is.event, "free") &&
		    str_is(store.v.v[2].is.event, "malloc"));
	probe_store_done(&store);
}

// Each line is written beside what others have there.
static void lines(void **state)
{
	char folder[] = "store-XXXXXX";
	struct probe_store store = {0};
	char *text;

	assert_non_null(mkdtemp(folder));
	auto_free char *file = text_dup_fmt("%s/uprobe_events", folder);
	assert_int_equal(file_write(file, "p:mine/x /bin/y:0x1\n", 20), 0);
	tracefs_enter_at(&store.tracefs, folder);
	assert_int_equal(probe_store_add(&store, &events[2]), 0);
	assert_int_equal(probe_store_remove(&store, probe_store_find(&store, "probe_libc", "free")),
			 0);
	assert_int_equal(file_read(file, 1 << 16, &text, NULL), 0);
	assert_string_equal(text, "p:mine/x /bin/y:0x1\n"
				  "r:probe_libc/free /lib/libc.so.6:0x10"
				  "-:probe_libc/free");
	free(text);
	// A kernel without kprobes.
	assert_int_equal(probe_store_add(&store, &events[1]), -ENOTSUP);
	assert_non_null(strstr(err_sentence(), "CONFIG_KPROBE_EVENTS"));
	remove_tree(folder);
	assert_int_equal(probe_store_add(&store, &events[0]), -ENOENT);
	assert_ptr_equal(strstr(err_sentence(), "probe_libc:malloc can't be added: "),
			 err_sentence());
	assert_null(probe_store_find(&store, "probe_libc", "malloc"));
	err_clear();
	probe_store_done(&store);
}

RUN_TESTS(TEST(notes), TEST(lines))
