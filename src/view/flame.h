// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph's model: a tree of frames with values. Built frame by frame (flame_child, flame_add or
// flame_stack), then put in drawing order once by flame_finish. Two sides (before, after) in one tree make a
// differential graph.
#pragma once
#include "base/intern.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

// What a frame is; the annotations _[k] _[j] _[i] _[w] of folded text.
enum flame_kind { FLAME_PLAIN, FLAME_KERNEL, FLAME_JIT, FLAME_INLINED, FLAME_WAKER, FLAME_KINDS };

struct flame_frame {
	struct str name; // borrowed, copied when new
	enum flame_kind kind;
};

// Before flame_finish in the order of making (a parent before its children), only name, parent, kind, depth and self being
// valid; after it in drawing order: parent, then its children by name, each with its whole subtree.
// Node 0 is the root, its name is empty.
struct flame_node {
	uint32_t name; // of flame->names
	uint32_t parent;
	uint32_t end;		  // index behind the subtree
	uint16_t depth;		  // root 0
	uint8_t kind;		  // enum flame_kind
	double self[2], total[2]; // by side; samples, or what the values count
	double start; // where it lies on the x axis, from 0 to the root's width (see flame_width)
};

struct flame_slot {
	uint32_t parent, name_kind, node; // node 0: empty
};

// Beside each node while the tree is built: where the last stack went on, which is where most go.
struct flame_guess {
	uint32_t last_child; // 0: none
	uint32_t name_kind;
};

struct flame {
	struct intern names;
	VEC(struct flame_node) nodes;
	VEC(struct flame_guess) guesses;
	struct flame_slot *slots;
	size_t mask, slots_bytes;
	bool differential; // side 0 is before, side 1 after; else all is on side 1
	bool finished;
	uint16_t depth_max;  // of a node
	uint64_t stacks_cut; // deeper than FLAME_DEPTH_MAX: their outermost part is kept
};

enum { FLAME_BEFORE, FLAME_AFTER, FLAME_DEPTH_MAX = 4096 };

void flame_init(struct flame *flame);
void flame_done(struct flame *flame);

// The child of `parent` (0: the root) with this name and kind, made when it's new. About 20 ns plus a hash of
// the name. A parent at FLAME_DEPTH_MAX is returned itself.
uint32_t flame_child(struct flame *flame, uint32_t parent, struct flame_frame frame);
// The child under which the stack before went on, when `text` begins with its name (and annotation) and ends there or
// goes on with ';'; else 0. *ret_n: bytes taken. Saves flame_child its hash for nearly all frames.
uint32_t flame_guess_child(const struct flame *flame, uint32_t parent, struct str text,
			   size_t *ret_n);
static inline void flame_add(struct flame *flame, uint32_t node, unsigned side, double value)
{
	flame->nodes.v[node].self[side] += value;
}
// The node of a stack of n frames, innermost first.
uint32_t flame_stack(struct flame *flame, const struct flame_frame *frames, size_t n);

// Totals, order and places. Without `by_name` siblings stay in the order of first sight. Cost: a few passes.
void flame_finish(struct flame *flame, bool by_name);
// Multiplies the side's values, before flame_finish.
void flame_scale(struct flame *flame, unsigned side, double factor);
// The sum of the side's values, before flame_finish or after.
double flame_sum(const struct flame *flame, unsigned side);

// A copy of the stacks for which keep() says yes; it gets each as folded text without its value (valid during the
// call, NUL-terminated). `to` is initialised by the caller and not finished.
void flame_select(struct flame *to, const struct flame *finished,
		  bool (*keep)(void *arg, const char *stack, size_t n), void *arg);

static inline struct str flame_name(const struct flame *flame, const struct flame_node *node)
{
	return flame->names.strings.v[node->name];
}
// What the width on the page stands for: after, or with nothing there before.
static inline double flame_width(const struct flame_node *node)
{
	return node->total[FLAME_AFTER];
}
// "_[k]" of a kind, "" for plain.
const char *flame_kind_suffix(enum flame_kind kind);
// Takes a suffix off the name.
struct flame_frame flame_frame_parse(struct str text);
