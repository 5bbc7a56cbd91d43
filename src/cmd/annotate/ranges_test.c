// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "cmd/annotate/ranges.h"

static const struct dso first = {.id = 3}, second = {.id = 0}, unknown = {.id = 9};

static void add(struct ranges *ranges, const struct dso *dso, uint64_t start, uint64_t end, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ranges_add(ranges, dso,
			   (struct range){.start = start, .end = end, .predicted = i % 2 == 0});
}

// 0x100 ... 0x110 ... 0x120: entered at 0x100 and 0x110, left at 0x11c and 0x130.
static void test_overlap(void **state)
{
	struct ranges *ranges = ranges_new();
	struct range_note note;

	add(ranges, &first, 0x100, 0x11c, 6);
	add(ranges, &first, 0x110, 0x11c, 2);
	add(ranges, &first, 0x110, 0x130, 4);
	add(ranges, &second, 0x100, 0x100, 1);
	ranges_finish(ranges);
	// All 12 come to the branch at 0x11c, 8 take it.
	note = ranges_at(ranges, &first, 0x100);
	assert_true(note.entered == 50 && note.left == 0);
	note = ranges_at(ranges, &first, 0x110);
	assert_true(note.entered == 50 && note.left == 0);
	note = ranges_at(ranges, &first, 0x11c);
	assert_true(note.entered == 0 && note.left > 66.6 && note.left < 66.7 && note.predicted == 50);
	note = ranges_at(ranges, &first, 0x130);
	assert_true(note.left == 100);
	// One instruction that is jumped to and jumps.
	note = ranges_at(ranges, &second, 0x100);
	assert_true(note.entered == 100 && note.left == 100 && note.predicted == 100);
	ranges_free(ranges);
}

static void test_nothing_there(void **state)
{
	static const uint64_t addrs[] = {0,	0xff,  0x101, 0x104,	 0x105,
					 0x1fe, 0x201, 0x211, UINT64_MAX};
	struct ranges *ranges = ranges_new();
	struct range_note note;

	add(ranges, &first, 0x100, 0x103, 1);
	add(ranges, &first, 0x200, 0x210, 1);
	ranges_finish(ranges);
	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		note = ranges_at(ranges, &first, addrs[i]);
		assert_true(note.entered == 0 && note.left == 0);
	}
	note = ranges_at(ranges, &unknown, 0x100);
	assert_true(note.entered == 0 && note.left == 0);
	ranges_free(ranges);
	ranges_free(NULL);
}

static void test_made_up(void **state)
{
	struct ranges *ranges = ranges_new();

	add(ranges, &first, 0x100, UINT64_MAX, 2);
	add(ranges, &first, UINT64_MAX, UINT64_MAX, 2);
	add(ranges, &first, 0x200, 0x100, 2);
	add(ranges, &first, 0, UINT64_MAX - 1, 1);
	ranges_finish(ranges);
	assert_true(ranges_at(ranges, &first, 0).entered == 100);
	assert_true(ranges_at(ranges, &first, UINT64_MAX - 1).left == 100);
	assert_true(ranges_at(ranges, &first, UINT64_MAX).left == 0);
	ranges_free(ranges);
}

RUN_TESTS(TEST(test_overlap), TEST(test_nothing_there), TEST(test_made_up))
