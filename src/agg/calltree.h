// SPDX-License-Identifier: GPL-2.0-or-later
// Call trees out of weighted paths of a trie: which callers lead here (or which callees follow), with how much weight.
// The trie is given as parent and frame of each node, node 0 being the empty path; a child's number is always
// larger than its parent's.
#pragma once
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct trie_node {
	uint32_t parent, frame, depth;
	uint32_t unused; // (a child, where the stacks of samples are the trie)
};
// The frame of what weighs too little: it is never shown, but the path ends before it.
enum { CALL_TREE_LIGHT = 0 };

struct trie {
	const struct trie_node *nodes;
	uint32_t n;
	uint32_t *before; // preorder number of each node, made by trie_init
};

void trie_init(struct trie *trie, const struct trie_node *nodes, uint32_t n);
void trie_done(struct trie *trie);

// One path: from the root to `node`.
struct path_weight {
	uint32_t node;
	uint32_t count; // samples
	uint64_t weight;
};

// The part of the trie that some paths touch, with sums, in preorder.
struct weighted {
	uint32_t node, depth;
	uint32_t parent; // index here, UINT32_MAX for those below the root
	uint32_t end;	 // index behind the subtree
	uint32_t self_count, count;
	uint64_t self_weight, weight;
};
struct weights {
	VEC(struct weighted) v;
	VEC(uint32_t) open; // scratch
};
// Paths to node 0 are ignored. The same node may come several times.
void weights_build(struct weights *weights, const struct trie *trie,
		   const struct path_weight *paths, size_t n);
void weights_done(struct weights *weights);

// The finished tree: a node is a run of frames that no path leaves or ends within.
struct call_node {
	uint32_t parent;		// UINT32_MAX: at the top
	uint32_t first_frame, frames_n; // in call_tree.frames
	uint32_t count, children_count;
	uint64_t hit, children_hit; // weight of paths that end here, and below
	uint32_t child, sibling; // the heaviest child; the next lighter sibling; UINT32_MAX: none
};
struct call_tree {
	VEC(struct call_node) nodes;
	VEC(uint32_t) frames;
	VEC(uint32_t)
	trie_nodes;   // of each frame a node where it stands, in a tree of callees; else 0
	uint32_t top; // the heaviest at the top, UINT32_MAX: none
	uint32_t top_n;
	uint64_t hit; // weight of all
	uint32_t count;
};
void call_tree_done(struct call_tree *tree);

// Order of frames whose weights are equal: < 0 when `a` comes first.
typedef int call_tree_tie(void *arg, uint32_t a, uint32_t b);

struct call_tree_options {
	uint64_t least;	       // nodes (with all below) that weigh less are left out ...
	double least_fraction; // ... or, when > 0, that weigh less than this part of their siblings' sum
	bool all_ends; // siblings stand in the tie's order alone, as call_tree_ends needs it
	call_tree_tie *tie;
	void *arg;
};

// Paths read from the inner end to the root: callers. They are reordered.
struct paths {
	struct path_weight *v;
	size_t n;
};
void call_tree_callers(struct call_tree *tree, const struct trie *trie, struct paths paths,
		       const struct call_tree_options *options);

// Paths read from the root's side: callees. The tree is the union of subtrees; `subtract` weighs negative.
struct subtree {
	const struct weights *weights;
	uint32_t index; // into weights->v; UINT32_MAX: all
	bool subtract;
};
struct subtrees {
	const struct subtree *v;
	size_t n;
};
void call_tree_callees(struct call_tree *tree, const struct trie *trie, struct subtrees subtrees,
		       const struct call_tree_options *options);

// Nodes where at least `least` weight ends, heaviest first; equal ones children before parents, siblings in their order.
// `ids` has room for tree->nodes.n; returns how many.
size_t call_tree_ends(const struct call_tree *tree, uint64_t least, uint32_t *ids);
