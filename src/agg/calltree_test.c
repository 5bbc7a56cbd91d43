// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/calltree.h"
#include "base/test.h"

// main(1) -> a(2) -> b(3)      nodes 1 2 3
//                 -> c(4)            4
//         -> b(3) -> a(2)            5 6
static const struct trie_node nodes[] = {
	{0, 0, 0}, {0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {2, 4, 3}, {1, 3, 2}, {5, 2, 3},
};

static int larger_first(void *arg, uint32_t a, uint32_t b)
{
	return a > b ? -1 : a < b;
}

static const struct call_tree_options plain = {.tie = larger_first};

static const uint32_t *run(const struct call_tree *tree, uint32_t id)
{
	return &tree->frames.v[tree->nodes.v[id].first_frame];
}

static void test_preorder(void **state)
{
	struct trie trie;

	trie_init(&trie, nodes, 7);
	assert_int_equal(trie.before[0], 0);
	assert_int_equal(trie.before[1], 1);
	assert_int_equal(trie.before[2], 2);
	assert_int_equal(trie.before[5], 5);
	assert_int_equal(trie.before[6], 6);
	trie_done(&trie);
}

static void test_sums(void **state)
{
	struct path_weight paths[] = {{6, 1, 10}, {3, 2, 20}, {4, 1, 5}, {3, 1, 1}, {0, 7, 7}};
	struct weights weights = {0};
	struct trie trie;

	trie_init(&trie, nodes, 7);
	weights_build(&weights, &trie, paths, 5);
	assert_int_equal(weights.v.n, 6);
	assert_int_equal(weights.v.v[0].node, 1);
	assert_int_equal(weights.v.v[0].weight, 36);
	assert_int_equal(weights.v.v[0].count, 5);
	assert_int_equal(weights.v.v[0].end, 6);
	assert_int_equal(weights.v.v[1].node, 2);
	assert_int_equal(weights.v.v[1].weight, 26);
	assert_int_equal(weights.v.v[1].end, 4);
	assert_int_equal(weights.v.v[2].self_weight, 21);
	assert_int_equal(weights.v.v[5].parent, 4);
	weights_done(&weights);
	trie_done(&trie);
}

static void test_callees(void **state)
{
	struct path_weight paths[] = {{6, 1, 10}, {3, 3, 21}, {4, 1, 5}};
	struct weights weights = {0};
	struct call_tree tree;
	struct trie trie;
	uint32_t top;

	trie_init(&trie, nodes, 7);
	weights_build(&weights, &trie, paths, 3);
	struct subtree all = {&weights, UINT32_MAX, false};
	call_tree_callees(&tree, &trie, (struct subtrees){&all, 1}, &plain);
	assert_int_equal(tree.hit, 36);
	assert_int_equal(tree.top_n, 1);
	top = tree.top;
	assert_int_equal(tree.nodes.v[top].frames_n, 1);
	assert_int_equal(run(&tree, top)[0], 1);
	assert_int_equal(tree.nodes.v[top].children_hit, 36);
	uint32_t first = tree.nodes.v[top].child, second = tree.nodes.v[first].sibling;
	assert_int_equal(run(&tree, first)[0], 2);
	assert_int_equal(tree.nodes.v[first].children_hit, 26);
	assert_int_equal(tree.nodes.v[second].frames_n, 2);
	assert_int_equal(run(&tree, second)[1], 2);
	assert_int_equal(tree.nodes.v[second].hit, 10);
	call_tree_done(&tree);

	// Without what goes through the second branch, and with a threshold the branch stays a branch.
	struct path_weight less[] = {{6, 1, 10}};
	struct weights without = {0};
	struct subtree two[] = {{&weights, 0, false}, {&without, 0, true}};
	struct call_tree_options threshold = {.least = 10, .tie = larger_first};

	weights_build(&without, &trie, less, 1);
	call_tree_callees(&tree, &trie, (struct subtrees){two, 2}, &threshold);
	assert_int_equal(tree.hit, 26);
	assert_int_equal(tree.nodes.v[tree.top].frames_n, 2);
	first = tree.nodes.v[tree.top].child;
	assert_int_equal(tree.nodes.v[first].hit, 21);
	assert_int_equal(tree.nodes.v[first].sibling, UINT32_MAX);
	call_tree_done(&tree);
	weights_done(&without);
	weights_done(&weights);
	trie_done(&trie);
}

static void test_callers(void **state)
{
	struct path_weight paths[] = {{3, 3, 21}, {5, 1, 21}, {1, 1, 4}};
	uint32_t ends[8];
	struct call_tree tree;
	struct trie trie;

	trie_init(&trie, nodes, 7);
	call_tree_callers(&tree, &trie, (struct paths){paths, 3}, &plain);
	// b <- (main | a <- main), main
	assert_int_equal(tree.top_n, 2);
	assert_int_equal(run(&tree, tree.top)[0], 3);
	assert_int_equal(tree.nodes.v[tree.top].children_hit, 42);
	uint32_t child = tree.nodes.v[tree.top].child;
	assert_int_equal(run(&tree, child)[0], 2); // equal weights: the larger frame first
	assert_int_equal(run(&tree, child)[1], 1);
	assert_int_equal(run(&tree, tree.nodes.v[child].sibling)[0], 1);
	assert_int_equal(call_tree_ends(&tree, 0, ends), 3);
	assert_int_equal(ends[0], child);
	call_tree_done(&tree);
	trie_done(&trie);
}

RUN_TESTS(TEST(test_preorder), TEST(test_sums), TEST(test_callees), TEST(test_callers))
