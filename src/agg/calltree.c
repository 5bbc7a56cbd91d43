// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/calltree.h"
#include "base/radix.h"
#include <math.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

void trie_init(struct trie *trie, const struct trie_node *nodes, uint32_t n)
{
	uint32_t *size = xcalloc(n, sizeof(*size)), *next = xcalloc(n, sizeof(*next));

	*trie = (struct trie){.nodes = nodes, .n = n, .before = xcalloc(n, sizeof(uint32_t))};
	for (uint32_t i = n; i-- > 1;)
		size[nodes[i].parent] += ++size[i];
	if (n)
		next[0] = 1;
	for (uint32_t i = 1; i < n; i++) {
		trie->before[i] = next[nodes[i].parent];
		next[nodes[i].parent] += size[i];
		next[i] = trie->before[i] + 1;
	}
	free(size);
	free(next);
}

void trie_done(struct trie *trie)
{
	free(trie->before);
	trie->before = NULL;
}

// Their places in the preorder.
static struct keyed *in_preorder(const struct trie *trie, const struct path_weight *paths, size_t n)
{
	struct keyed *ret = xcalloc(n + 1, sizeof(*ret));

	for (uint32_t i = 0; i < n; i++)
		ret[i] = (struct keyed){trie->before[paths[i].node], i};
	radix_sort(ret, n);
	return ret;
}

// Makes the nodes from the open path down to `node`; returns its index.
static uint32_t open_path(struct weights *weights, const struct trie *trie, uint32_t node)
{
	const struct trie_node *nodes = trie->nodes;
	uint32_t depth = nodes[node].depth, shared, parent = NONE;

	if (weights->open.n > depth)
		weights->open.n = depth;
	while (weights->open.n < depth)
		vec_push(&weights->open, NONE);
	// Fill node numbers from the inner end until the old path agrees.
	shared = depth;
	for (uint32_t at = node; shared; at = nodes[at].parent, shared--) {
		uint32_t *open = &weights->open.v[shared - 1];

		if (*open != NONE && *open < weights->v.n && weights->v.v[*open].node == at)
			break;
		*open = at | 0x80000000u; // a node to be made
	}
	if (shared)
		parent = weights->open.v[shared - 1];
	for (uint32_t d = shared; d < depth; d++) {
		uint32_t at = weights->open.v[d] & 0x7fffffffu;

		weights->open.v[d] = (uint32_t)weights->v.n;
		vec_push(&weights->v,
			 (struct weighted){.node = at, .depth = d + 1, .parent = parent});
		parent = weights->open.v[d];
	}
	return parent;
}

void weights_build(struct weights *weights, const struct trie *trie,
		   const struct path_weight *paths, size_t n)
{
	struct keyed *sorted = in_preorder(trie, paths, n);

	vec_clear(&weights->v);
	vec_clear(&weights->open);
	for (size_t i = 0; i < n; i++) {
		const struct path_weight *path = &paths[sorted[i].value];
		struct weighted *w;
		uint32_t index;

		if (!path->node)
			continue;
		index = open_path(weights, trie, path->node);
		w = &weights->v.v[index];
		w->self_weight += path->weight;
		w->self_count += path->count;
	}
	free(sorted);
	for (size_t i = weights->v.n; i-- > 0;) {
		struct weighted *w = &weights->v.v[i], *up;

		w->weight += w->self_weight;
		w->count += w->self_count;
		if (!w->end)
			w->end = (uint32_t)i + 1;
		if (w->parent == NONE)
			continue;
		up = &weights->v.v[w->parent];
		up->weight += w->weight;
		up->count += w->count;
		if (!up->end)
			up->end = w->end; // the last child is met first
	}
}

void weights_done(struct weights *weights)
{
	vec_done(&weights->v);
	vec_done(&weights->open);
}

// What stands at one place of the tree under construction. For callers: a node whose path goes on to its parent.
// For callees: an index into weights.
struct item {
	uint32_t frame, at, count;
	bool subtract;
	const struct weights *weights; // NULL: upwards
	uint64_t weight;
};

struct builder {
	struct call_tree *tree;
	const struct trie *trie;
	const struct call_tree_options *options;
	VEC(struct item) items; // a stack of levels
};

struct group {
	size_t start, n; // in items
	uint32_t frame, count;
	uint64_t weight;
};

static int by_frame(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct call_tree_options *options = arg;
	const struct group *x = a, *y = b;

	if (!options->all_ends && x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return options->tie(options->arg, x->frame, y->frame);
}

// Groups items[start..] by frame, items for the same trie node become one; groups without samples vanish.
static size_t make_groups(struct builder *b, size_t start, struct group **ret)
{
	struct item *items = b->items.v;
	size_t n = b->items.n, capacity = 0, groups_n = 0, kept = start;
	struct group *groups = NULL;

	if (n - start > 1)
		qsort(items + start, n - start, sizeof(*items), by_frame);
	for (size_t i = start; i < n;) {
		struct group group = {.start = kept, .frame = items[i].frame};

		for (; i < n && items[i].frame == group.frame; i++) {
			group.weight += items[i].subtract ? -items[i].weight : items[i].weight;
			group.count += items[i].subtract ? -items[i].count : items[i].count;
			if (group.n && !items[i].weights && items[kept - 1].at == items[i].at) {
				items[kept - 1].weight += items[i].weight;
				items[kept - 1].count += items[i].count;
				continue;
			}
			items[kept++] = items[i];
			group.n++;
		}
		if (!group.count)
			continue;
		if (groups_n == capacity) {
			capacity = capacity ? capacity * 2 : 4;
			groups = xreallocarray(groups, capacity, sizeof(*groups));
		}
		groups[groups_n++] = group;
	}
	b->items.n = kept;
	*ret = groups;
	return groups_n;
}

static void push_up(struct builder *b, uint32_t node, const struct item *from)
{
	const struct trie_node *at = &b->trie->nodes[node];

	vec_push(&b->items, (struct item){.frame = at->frame,
					  .at = node,
					  .count = from->count,
					  .weight = from->weight});
}

static void push_down(struct builder *b, const struct weights *weights, uint32_t index, bool subtract)
{
	const struct weighted *w = &weights->v.v[index];

	vec_push(&b->items, (struct item){.frame = b->trie->nodes[w->node].frame,
					  .at = index,
					  .count = w->count,
					  .subtract = subtract,
					  .weights = weights,
					  .weight = w->weight});
}

// Pushes what follows the items of a group; adds up what ends here.
static void follow(struct builder *b, size_t start, size_t n, struct call_node *end)
{
	for (size_t i = start; i < start + n; i++) {
		struct item item = b->items.v[i];

		if (!item.weights) {
			uint32_t parent = b->trie->nodes[item.at].parent;

			if (parent) {
				push_up(b, parent, &item);
			} else {
				end->hit += item.weight;
				end->count += item.count;
			}
			continue;
		}
		const struct weighted *w = &item.weights->v.v[item.at];

		if (item.subtract) {
			end->hit -= w->self_weight;
			end->count -= w->self_count;
		} else {
			end->hit += w->self_weight;
			end->count += w->self_count;
		}
		for (uint32_t c = item.at + 1; c < w->end; c = item.weights->v.v[c].end)
			push_down(b, item.weights, c, item.subtract);
	}
}

static void add_children(struct builder *b, uint32_t parent, struct group *groups, size_t n);

static uint32_t trie_node(const struct item *item)
{
	return item->weights ? item->weights->v.v[item->at].node : 0;
}

static uint32_t add_node(struct builder *b, uint32_t parent, const struct group *group)
{
	uint32_t id = (uint32_t)b->tree->nodes.n;
	struct call_node node = {.parent = parent,
				 .first_frame = (uint32_t)b->tree->frames.n,
				 .child = NONE,
				 .sibling = NONE};
	size_t floor = b->items.n, start = group->start, n = group->n;
	struct group *groups = NULL, single = *group;

	vec_push(&b->tree->nodes, node);
	for (;;) {
		size_t level = b->items.n, groups_n;

		vec_push(&b->tree->frames, single.frame);
		vec_push(&b->tree->trie_nodes, trie_node(&b->items.v[start]));
		node.frames_n++;
		follow(b, start, n, &node);
		free(groups);
		groups_n = make_groups(b, level, &groups);
		if (!node.count && groups_n == 1 && groups[0].frame != CALL_TREE_LIGHT) {
			single = groups[0];
			start = single.start;
			n = single.n;
			// Levels that are passed are not needed any more.
			memmove(&b->items.v[floor], &b->items.v[start], n * sizeof(struct item));
			b->items.n = floor + n;
			start = floor;
			continue;
		}
		for (size_t i = 0; i < groups_n; i++) {
			node.children_hit += groups[i].weight;
			node.children_count += groups[i].count;
		}
		b->tree->nodes.v[id] = node;
		add_children(b, id, groups, groups_n);
		break;
	}
	free(groups);
	b->items.n = floor;
	return id;
}

static void add_children(struct builder *b, uint32_t parent, struct group *groups, size_t n)
{
	const struct call_tree_options *options = b->options;
	struct call_tree *tree = b->tree;
	uint64_t least = options->least,
		 all = parent == NONE ? tree->hit : tree->nodes.v[parent].children_hit;
	uint32_t last = NONE;

	if (options->least_fraction > 0)
		least = (uint64_t)ceil((double)all * options->least_fraction);
	if (n > 1)
		qsort_r(groups, n, sizeof(*groups), by_weight, (void *)options);
	for (size_t i = 0; i < n; i++) {
		uint32_t id;

		if (groups[i].weight < least || groups[i].frame == CALL_TREE_LIGHT)
			continue;
		id = add_node(b, parent, &groups[i]);
		if (last != NONE)
			tree->nodes.v[last].sibling = id;
		else if (parent != NONE)
			tree->nodes.v[parent].child = id;
		else
			tree->top = id;
		if (parent == NONE)
			tree->top_n++;
		last = id;
	}
}

static void build(struct builder *b)
{
	struct group *groups;
	size_t n;

	*b->tree = (struct call_tree){.top = NONE};
	n = make_groups(b, 0, &groups);
	for (size_t i = 0; i < n; i++) {
		b->tree->hit += groups[i].weight;
		b->tree->count += groups[i].count;
	}
	add_children(b, NONE, groups, n);
	free(groups);
	vec_done(&b->items);
}

void call_tree_callers(struct call_tree *tree, const struct trie *trie, struct paths paths,
		       const struct call_tree_options *options)
{
	struct builder b = {.tree = tree, .trie = trie, .options = options};

	for (size_t i = 0; i < paths.n; i++) {
		struct item item = {.count = paths.v[i].count, .weight = paths.v[i].weight};

		if (paths.v[i].node && item.count)
			push_up(&b, paths.v[i].node, &item);
	}
	build(&b);
}

void call_tree_callees(struct call_tree *tree, const struct trie *trie, struct subtrees subtrees,
		       const struct call_tree_options *options)
{
	struct builder b = {.tree = tree, .trie = trie, .options = options};

	for (size_t i = 0; i < subtrees.n; i++) {
		const struct subtree *subtree = &subtrees.v[i];
		const struct weights *weights = subtree->weights;

		if (subtree->index != NONE) {
			push_down(&b, weights, subtree->index, subtree->subtract);
			continue;
		}
		for (uint32_t c = 0; c < weights->v.n; c = weights->v.v[c].end)
			push_down(&b, weights, c, subtree->subtract);
	}
	build(&b);
}

void call_tree_done(struct call_tree *tree)
{
	vec_done(&tree->nodes);
	vec_done(&tree->frames);
	vec_done(&tree->trie_nodes);
}

struct ended {
	uint32_t id, rank;
	uint64_t hit;
};

static int by_hit(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->hit != y->hit)
		return x->hit > y->hit ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

size_t call_tree_ends(const struct call_tree *tree, uint64_t least, uint32_t *ids)
{
	struct ended *ended = xcalloc(tree->nodes.n + 1, sizeof(*ended));
	uint32_t at = tree->top;
	bool down = true;
	size_t n = 0;

	while (at != NONE) {
		const struct call_node *node = &tree->nodes.v[at];

		if (down && node->child != NONE) {
			at = node->child;
			continue;
		}
		if (node->hit && node->hit >= least) {
			ended[n] = (struct ended){at, (uint32_t)n, node->hit};
			n++;
		}
		down = node->sibling != NONE;
		at = down ? node->sibling : node->parent;
	}
	qsort(ended, n, sizeof(*ended), by_hit);
	for (size_t i = 0; i < n; i++)
		ids[i] = ended[i].id;
	free(ended);
	return n;
}
