// SPDX-License-Identifier: GPL-2.0-or-later
// Ids kept in an order that a comparison gives. A red-black tree that balances as the kernel's lib/rbtree.c does:
// where a comparison is no total order (perf's for some sort keys) the order that comes out depends on
// the shape of the tree, and has to be the same as perf's.
#pragma once
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct order_node {
	uint64_t key[3]; // whatever the comparison wants at hand
	uint32_t id;
	uint32_t left, right; // links: index + 1, 0 = none
	uint32_t parent : 31, red : 1;
};

// Zero-initialised is empty.
struct order {
	VEC(struct order_node) nodes;
	uint32_t root;
};

// How they compare: < 0: `a` goes to the left of `b`, which is there already; else to the right.
struct order_by {
	int (*compare)(void *arg, const struct order_node *a, const struct order_node *b);
	void *arg;
};

void order_done(struct order *order);
// Of the node its key and its id.
void order_insert(struct order *order, const struct order_node *node, const struct order_by *by);
// As a search walks: the id of what compares 0 with the wanted, or UINT32_MAX. log n comparisons.
uint32_t order_find(const struct order *order, const struct order_node *wanted,
		    const struct order_by *by);
// Writes all ids from left to right; `ids` has room for order->nodes.n.
void order_list(const struct order *order, uint32_t *ids);
