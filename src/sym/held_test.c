// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/held.h"
#include "base/test.h"

static const char name[] = "/nonexistent/conftest";

static struct held_file *note(struct held *held, uint64_t inode)
{
	const struct record_mmap2 record = {.header = {.type = PERF_RECORD_MMAP2}, .ino = inode};

	return held_note(held, &record, name);
}

static void test_many_files_of_a_name(void **state)
{
	struct held *held = held_new();
	struct held_file *first = note(held, 1);

	for (uint64_t i = 2; i <= HELD_MOST_FILES; i++)
		assert_non_null(note(held, i));
	assert_null(note(held, HELD_MOST_FILES + 1));
	assert_ptr_equal(note(held, 1), first);
	// By its name it is still known.
	assert_non_null(held_note_name(held, name));
	assert_int_equal(held->files.n, HELD_MOST_FILES + 1);
	held_free(held);
}

RUN_TESTS(TEST(test_many_files_of_a_name))
