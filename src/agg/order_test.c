// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/order.h"
#include "base/test.h"

static int compare(void *arg, const struct order_node *a, const struct order_node *b)
{
	const int *values = arg;

	return values[a->id] - values[b->id];
}

static void test_sorts_and_keeps_equal_in_order(void **state)
{
	int values[1000];
	uint32_t ids[1000];
	struct order order = {0};

	for (uint32_t i = 0; i < 1000; i++) {
		values[i] = (int)(i * 7919 % 101);
		order_insert(&order, &(struct order_node){.id = i},
			     &(struct order_by){compare, values});
	}
	order_list(&order, ids);
	for (int i = 1; i < 1000; i++) {
		assert_true(values[ids[i - 1]] <= values[ids[i]]);
		if (values[ids[i - 1]] == values[ids[i]])
			assert_true(ids[i - 1] < ids[i]);
	}
	assert_int_equal(values[order_find(&order, &(struct order_node){.id = 7},
					   &(struct order_by){compare, values})],
			 values[7]);
	order_done(&order);
}

static void test_finds_nothing(void **state)
{
	int values[] = {1, 3, 2};
	struct order order = {0};

	assert_int_equal(order_find(&order, &(struct order_node){.id = 0},
				    &(struct order_by){compare, values}),
			 UINT32_MAX);
	order_insert(&order, &(struct order_node){.id = 0}, &(struct order_by){compare, values});
	order_insert(&order, &(struct order_node){.id = 1}, &(struct order_by){compare, values});
	assert_int_equal(order_find(&order, &(struct order_node){.id = 2},
				    &(struct order_by){compare, values}),
			 UINT32_MAX);
	assert_int_equal(order_find(&order, &(struct order_node){.id = 1},
				    &(struct order_by){compare, values}),
			 1);
	order_done(&order);
}

// A comparison that is no order at all: what comes out is the kernel's tree, worked out by hand.
static int always_right(void *arg, const struct order_node *a, const struct order_node *b)
{
	return 1;
}

static void test_always_right_keeps_sequence(void **state)
{
	struct order order = {0};
	uint32_t ids[20];

	for (uint32_t i = 0; i < 20; i++)
		order_insert(&order, &(struct order_node){.id = i},
			     &(struct order_by){always_right, NULL});
	order_list(&order, ids);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(ids[i], i);
	// 20 nodes appended one after another: the root is the eighth, as lib/rbtree.c leaves it
	assert_int_equal(order.nodes.v[order.root - 1].id, 7);
	order_done(&order);
}

RUN_TESTS(TEST(test_sorts_and_keeps_equal_in_order), TEST(test_finds_nothing),
	  TEST(test_always_right_keeps_sequence))
