// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/flame.h"
#include "base/test.h"
#include <stdio.h>

static void add(struct flame *flame, const char *stack, unsigned side, double value)
{
	struct flame_frame frames[16];
	struct str rest = str_of(stack);
	size_t first = ARRAY_SIZE(frames);

	while (rest.p)
		frames[--first] = flame_frame_parse(str_cut(&rest, ';'));
	flame_add(flame, flame_stack(flame, frames + first, ARRAY_SIZE(frames) - first), side, value);
}

static void assert_node(const struct flame *flame, size_t i, const char *name, double start,
			double total)
{
	const struct flame_node *node = &flame->nodes.v[i];

	assert_string_equal(flame_name(flame, node).p, name);
	assert_true(node->start == start);
	assert_true(node->total[FLAME_AFTER] == total);
}

static void merges_and_orders(void **state)
{
	struct flame flame;

	flame_init(&flame);
	add(&flame, "main;b;x", FLAME_AFTER, 2);
	add(&flame, "main;a", FLAME_AFTER, 3);
	add(&flame, "main;b", FLAME_AFTER, 1);
	add(&flame, "main;b;x", FLAME_AFTER, 4);
	flame_finish(&flame, true);
	assert_int_equal(flame.nodes.n, 5);
	assert_node(&flame, 0, "", 0, 10);
	assert_node(&flame, 1, "main", 0, 10);
	assert_node(&flame, 2, "a", 0, 3);
	assert_node(&flame, 3, "b", 3, 7);
	assert_node(&flame, 4, "x", 3, 6);
	assert_int_equal(flame.nodes.v[3].end, 5);
	assert_int_equal(flame.nodes.v[2].end, 3);
	assert_true(flame.nodes.v[3].self[FLAME_AFTER] == 1);
	flame_done(&flame);
}

static void kinds_are_told_apart(void **state)
{
	static const struct {
		const char *text, *name;
		enum flame_kind kind;
	} cases[] = {
		{"vfs_read_[k]", "vfs_read", FLAME_KERNEL},
		{"run_[j]", "run", FLAME_JIT},
		{"get_[i]", "get", FLAME_INLINED},
		{"wake_[w]", "wake", FLAME_WAKER},
		{"x_[z]", "x_[z]", FLAME_PLAIN},
		{"_[k]", "_[k]", FLAME_PLAIN},
		{"a[k]", "a[k]", FLAME_PLAIN},
		{"", "", FLAME_PLAIN},
	};
	struct flame flame;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flame_frame frame = flame_frame_parse(str_of(cases[i].text));

		assert_true(str_is(frame.name, cases[i].name));
		assert_int_equal(frame.kind, cases[i].kind);
	}
	flame_init(&flame);
	add(&flame, "read", FLAME_AFTER, 1);
	add(&flame, "read_[k]", FLAME_AFTER, 1);
	assert_int_equal(flame.nodes.n, 3);
	flame_done(&flame);
}

static void two_sides(void **state)
{
	struct flame flame;

	flame_init(&flame);
	add(&flame, "a;b", FLAME_BEFORE, 4);
	add(&flame, "a;b", FLAME_AFTER, 6);
	add(&flame, "a;gone", FLAME_BEFORE, 5);
	flame_scale(&flame, FLAME_BEFORE, 2);
	assert_true(flame_sum(&flame, FLAME_BEFORE) == 18);
	flame_finish(&flame, true);
	assert_true(flame.nodes.v[1].total[FLAME_BEFORE] == 18);
	assert_node(&flame, 2, "b", 0, 6);
	assert_node(&flame, 3, "gone", 6, 0);
	flame_done(&flame);
}

static bool has_x(void *arg, const char *stack, size_t n)
{
	assert_int_equal(strlen(stack), n);
	return strchr(stack, 'x') != NULL;
}

static void selects_stacks(void **state)
{
	struct flame flame, selected;

	flame_init(&flame);
	add(&flame, "m;a;x_[k];p", FLAME_AFTER, 1);
	add(&flame, "m;a;x_[k];q", FLAME_AFTER, 2);
	add(&flame, "m;b;y", FLAME_AFTER, 4);
	add(&flame, "m;c;d;x", FLAME_AFTER, 8);
	flame_finish(&flame, true);
	flame_init(&selected);
	flame_select(&selected, &flame, has_x, NULL);
	flame_finish(&selected, true);
	assert_int_equal(selected.nodes.n, 9);
	assert_node(&selected, 0, "", 0, 11);
	assert_node(&selected, 3, "x", 0, 3);
	assert_int_equal(selected.nodes.v[3].kind, FLAME_KERNEL);
	assert_node(&selected, 8, "x", 3, 8);
	flame_done(&selected);
	flame_done(&flame);
}

static void depth_is_bounded(void **state)
{
	struct flame_frame frames[FLAME_DEPTH_MAX + 10];
	struct flame flame;

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct flame_frame){STR("deep"), FLAME_PLAIN};
	flame_init(&flame);
	flame_add(&flame, flame_stack(&flame, frames, ARRAY_SIZE(frames)), FLAME_AFTER, 1);
	flame_finish(&flame, true);
	assert_int_equal(flame.nodes.n, FLAME_DEPTH_MAX + 1);
	assert_int_equal(flame.stacks_cut, 1);
	assert_true(flame.nodes.v[FLAME_DEPTH_MAX].self[FLAME_AFTER] == 1);
	flame_done(&flame);
}

static void many_frames(void **state)
{
	struct flame flame;
	char name[16];
	double sum = 0;

	flame_init(&flame);
	for (int i = 0; i < 20000; i++) {
		struct flame_frame frames[2] = {{{name, (size_t)sprintf(name, "f%d", i % 3000)},
						 FLAME_PLAIN},
						{{name, (size_t)sprintf(name, "f%d", i % 3000)},
						 FLAME_PLAIN}};

		flame_add(&flame, flame_stack(&flame, frames, 2), FLAME_AFTER, i);
		sum += i;
	}
	flame_finish(&flame, true);
	assert_int_equal(flame.nodes.n, 6001);
	assert_true(flame.nodes.v[0].total[FLAME_AFTER] == sum);
	for (size_t i = 1; i < flame.nodes.n; i++)
		assert_true(flame.nodes.v[i].parent < i &&
			    flame.nodes.v[flame.nodes.v[i].parent].end >= flame.nodes.v[i].end);
	flame_done(&flame);
}

RUN_TESTS(TEST(merges_and_orders), TEST(kinds_are_told_apart), TEST(two_sides),
	  TEST(selects_stacks), TEST(depth_is_bounded), TEST(many_frames))
