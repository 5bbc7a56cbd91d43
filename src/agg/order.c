// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/order.h"

static struct order_node *at(const struct order *order, uint32_t link)
{
	return &order->nodes.v[link - 1];
}

static void replace_child(struct order *order, uint32_t parent, uint32_t old, uint32_t with)
{
	if (!parent)
		order->root = with;
	else if (at(order, parent)->left == old)
		at(order, parent)->left = with;
	else
		at(order, parent)->right = with;
	if (with)
		at(order, with)->parent = parent;
}

static void rotate(struct order *order, uint32_t top, bool to_left)
{
	struct order_node *node = at(order, top);
	uint32_t up = to_left ? node->right : node->left;
	struct order_node *risen = at(order, up);
	uint32_t moved = to_left ? risen->left : risen->right;

	replace_child(order, node->parent, top, up);
	if (to_left) {
		node->right = moved;
		risen->left = top;
	} else {
		node->left = moved;
		risen->right = top;
	}
	if (moved)
		at(order, moved)->parent = top;
	node->parent = up;
}

static void balance(struct order *order, uint32_t link)
{
	for (;;) {
		uint32_t parent = at(order, link)->parent, grand, uncle;
		bool left;

		if (!parent) {
			at(order, link)->red = false;
			return;
		}
		if (!at(order, parent)->red)
			return;
		grand = at(order, parent)->parent; // exists: the root is black
		left = at(order, grand)->left == parent;
		uncle = left ? at(order, grand)->right : at(order, grand)->left;
		if (uncle && at(order, uncle)->red) {
			at(order, uncle)->red = at(order, parent)->red = false;
			at(order, grand)->red = true;
			link = grand;
			continue;
		}
		if (link == (left ? at(order, parent)->right : at(order, parent)->left)) {
			rotate(order, parent, left);
			parent = link;
		}
		rotate(order, grand, !left);
		at(order, parent)->red = false;
		at(order, grand)->red = true;
		return;
	}
}

void order_done(struct order *order)
{
	vec_done(&order->nodes);
	order->root = 0;
}

void order_insert(struct order *order, const struct order_node *wanted, const struct order_by *by)
{
	uint32_t link = order->root, parent = 0, new;
	bool left = false;

	while (link) {
		const struct order_node *node = at(order, link);

		// One of the two comes next.
		__builtin_prefetch(at(order, node->left ? node->left : link));
		__builtin_prefetch(at(order, node->right ? node->right : link));
		parent = link;
		left = by->compare(by->arg, wanted, node) < 0;
		link = left ? node->left : node->right;
	}
	vec_push(&order->nodes, *wanted);
	vec_last(&order->nodes).left = vec_last(&order->nodes).right = 0;
	vec_last(&order->nodes).parent = parent;
	vec_last(&order->nodes).red = true;
	new = (uint32_t)order->nodes.n;
	if (!parent)
		order->root = new;
	else if (left)
		at(order, parent)->left = new;
	else
		at(order, parent)->right = new;
	balance(order, new);
}

uint32_t order_find(const struct order *order, const struct order_node *wanted,
		    const struct order_by *by)
{
	uint32_t link = order->root;

	while (link) {
		int cmp = by->compare(by->arg, wanted, at(order, link));

		if (!cmp)
			return at(order, link)->id;
		link = cmp < 0 ? at(order, link)->left : at(order, link)->right;
	}
	return UINT32_MAX;
}

static uint32_t leftmost(const struct order *order, uint32_t link)
{
	while (link && at(order, link)->left) {
		// Comes soon.
		if (at(order, link)->right)
			__builtin_prefetch(at(order, at(order, link)->right));
		link = at(order, link)->left;
	}
	return link;
}

void order_list(const struct order *order, uint32_t *ids)
{
	uint32_t link = order->root;
	size_t n = 0;

	link = leftmost(order, link);
	while (link) {
		ids[n++] = at(order, link)->id;
		if (at(order, link)->right) {
			link = leftmost(order, at(order, link)->right);
			continue;
		}
		uint32_t from = link;

		link = at(order, link)->parent;
		while (link && at(order, link)->right == from) {
			from = link;
			link = at(order, link)->parent;
		}
	}
}
