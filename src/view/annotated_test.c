// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "view/annotated.h"

static void add(struct annotated *a, uint64_t addr, uint32_t line, uint64_t samples)
{
	struct annotated_line *l = vec_add(&a->lines);

	l->kind = addr ? ANNOTATED_INSTRUCTION : ANNOTATED_SOURCE;
	l->text = "";
	l->addr = addr;
	l->size = addr ? 4 : 0;
	l->file = "a.c";
	l->line = line;
	if (!addr)
		return;
	l->counts = arena_zalloc(&a->arena, a->events_n * sizeof(*l->counts));
	l->counts[0] = (struct annotated_count){samples, samples * 10};
}

static void make(struct annotated *a)
{
	annotated_init(a, 2);
	add(a, 0, 1, 0);
	add(a, 0x100, 1, 1);
	add(a, 0, 2, 0);
	add(a, 0x104, 2, 5);
	add(a, 0x108, 1, 3);
	add(a, 0, 9, 0);
	annotated_link(a);
}

static void test_at(void **state)
{
	struct annotated a;

	make(&a);
	assert_int_equal(annotated_at(&a, 0xff), ANNOTATED_NOWHERE);
	assert_int_equal(annotated_at(&a, 0x100), 1);
	assert_int_equal(annotated_at(&a, 0x103), 1);
	assert_int_equal(annotated_at(&a, 0x104), 3);
	assert_int_equal(annotated_at(&a, 0x10b), 4);
	assert_int_equal(annotated_at(&a, 0x10c), ANNOTATED_NOWHERE);
	annotated_done(&a);
}

static void test_jumps(void **state)
{
	struct annotated a;

	make(&a);
	for (size_t i = 3; i <= 4; i++) {
		a.lines.v[i].flow = ANNOTATED_JUMP;
		a.lines.v[i].has_target = true;
		a.lines.v[i].target = i == 3 ? 0x100 : 0x102; // 0x102: into the middle
	}
	annotated_link(&a);
	assert_int_equal(a.lines.v[3].jump_to, 1);
	assert_int_equal(a.lines.v[4].jump_to, ANNOTATED_NOWHERE);
	assert_int_equal(a.lines.v[1].jumps_here, 1);
	assert_int_equal(a.max_jumps_here, 1);
	annotated_done(&a);
}

static void test_cycles_text(void **state)
{
	const struct annotated_line line = {.cycles = 12, .cycles_least = 10, .cycles_most = 15};
	char text[96];

	annotated_cycles_text(&line, false, text);
	assert_string_equal(text, "12");
	annotated_cycles_text(&line, true, text);
	assert_string_equal(text, "12(10/15)");
	annotated_cycles_text(&(const struct annotated_line){0}, true, text);
	assert_string_equal(text, "");
}

RUN_TESTS(TEST(test_at), TEST(test_jumps), TEST(test_cycles_text))
