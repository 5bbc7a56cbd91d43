// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/flame.h"
#include "base/hash.h"
#include <sys/mman.h>

static const char *const kind_suffix[FLAME_KINDS] = {"", "_[k]", "_[j]", "_[i]", "_[w]"};

const char *flame_kind_suffix(enum flame_kind kind)
{
	return kind_suffix[kind];
}

struct flame_frame flame_frame_parse(struct str text)
{
	struct flame_frame frame = {.name = text};

	if (text.n > 4 && text.p[text.n - 1] == ']' && text.p[text.n - 3] == '[' &&
	    text.p[text.n - 4] == '_') {
		for (unsigned kind = 1; kind < FLAME_KINDS; kind++) {
			if (text.p[text.n - 2] == kind_suffix[kind][2]) {
				frame.kind = kind;
				frame.name.n -= 4;
			}
		}
	}
	return frame;
}

static const size_t huge = 2 << 20;

// Zeroed. A large table is hit at random: with small pages nearly each look-up would miss the TLB too.
static void slots_new(struct flame *flame, size_t mask)
{
	flame->mask = mask;
	flame->slots_bytes = (mask + 1) * sizeof(*flame->slots);
	if (flame->slots_bytes < huge) {
		flame->slots = xcalloc(mask + 1, sizeof(*flame->slots));
		return;
	}
	void *p = mmap(NULL, flame->slots_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		alloc_failed();
	madvise(p, flame->slots_bytes, MADV_HUGEPAGE);
	flame->slots = p;
}

static void slots_free(struct flame_slot *slots, size_t bytes)
{
	if (bytes < huge)
		free(slots);
	else
		munmap(slots, bytes);
}

void flame_init(struct flame *flame)
{
	*flame = (struct flame){0};
	intern_init(&flame->names);
	slots_new(flame, 1023);
	(void)vec_add(&flame->nodes);
	(void)vec_add(&flame->guesses);
}

// What is only needed to build.
static void drop_index(struct flame *flame)
{
	slots_free(flame->slots, flame->slots_bytes);
	flame->slots = NULL;
	flame->slots_bytes = 0;
	vec_done(&flame->guesses);
}

void flame_done(struct flame *flame)
{
	intern_done(&flame->names);
	vec_done(&flame->nodes);
	drop_index(flame);
}

static size_t slot_of(const struct flame *flame, uint32_t parent, uint32_t name_kind)
{
	return hash_u64((uint64_t)parent << 32 | name_kind) & flame->mask;
}

static void grow_slots(struct flame *flame)
{
	size_t old_n = flame->mask + 1, old_bytes = flame->slots_bytes;
	struct flame_slot *old = flame->slots;

	slots_new(flame, flame->mask * 4 + 3);
	for (size_t i = 0; i < old_n; i++) {
		if (!old[i].node)
			continue;
		size_t at = slot_of(flame, old[i].parent, old[i].name_kind);
		while (flame->slots[at].node)
			at = (at + 1) & flame->mask;
		flame->slots[at] = old[i];
	}
	slots_free(old, old_bytes);
}

// The arrays that grow with the tree; moving them keeps the advice.
static void grow_nodes(struct flame *flame)
{
	uintptr_t start, end;

	vec_reserve(&flame->nodes, 1);
	vec_reserve(&flame->guesses, flame->nodes.capacity - flame->guesses.n);
	start = ((uintptr_t)flame->nodes.v + huge - 1) & ~(huge - 1);
	end = (uintptr_t)(flame->nodes.v + flame->nodes.capacity) & ~(huge - 1);
	if (end > start)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

uint32_t flame_child(struct flame *flame, uint32_t parent, struct flame_frame frame)
{
	uint32_t name = intern_str(&flame->names, frame.name);
	uint32_t name_kind = name << 3 | frame.kind;
	size_t at = slot_of(flame, parent, name_kind);

	for (; flame->slots[at].node; at = (at + 1) & flame->mask) {
		if (flame->slots[at].parent == parent && flame->slots[at].name_kind == name_kind) {
			flame->guesses.v[parent].last_child = flame->slots[at].node;
			return flame->slots[at].node;
		}
	}
	uint16_t depth = flame->nodes.v[parent].depth;
	if (depth >= FLAME_DEPTH_MAX)
		return parent;
	uint32_t id = (uint32_t)flame->nodes.n;
	if (flame->nodes.n == flame->nodes.capacity)
		grow_nodes(flame);
	struct flame_node *node = vec_add(&flame->nodes);
	vec_push(&flame->guesses, (struct flame_guess){.name_kind = name_kind});
	flame->guesses.v[parent].last_child = id;
	node->name = name;
	node->parent = parent;
	node->kind = frame.kind;
	node->depth = depth + 1;
	if (node->depth > flame->depth_max)
		flame->depth_max = node->depth;
	flame->slots[at] = (struct flame_slot){parent, name_kind, id};
	if (flame->nodes.n * 2 > flame->mask)
		grow_slots(flame);
	return id;
}

uint32_t flame_guess_child(const struct flame *flame, uint32_t parent, struct str text, size_t *ret_n)
{
	uint32_t child = flame->guesses.v[parent].last_child;
	uint32_t name_kind = flame->guesses.v[child].name_kind;
	struct str name = flame->names.strings.v[name_kind >> 3];
	size_t n = name.n;

	if (!child || text.n < n || memcmp(text.p, name.p, n) != 0)
		return 0;
	if (name_kind & 7) {
		if (text.n < n + 4 || memcmp(text.p + n, kind_suffix[name_kind & 7], 4) != 0)
			return 0;
		n += 4;
	}
	if (text.n > n && text.p[n] != ';')
		return 0;
	*ret_n = n;
	return child;
}

uint32_t flame_stack(struct flame *flame, const struct flame_frame *frames, size_t n)
{
	uint32_t node = 0;

	if (n > FLAME_DEPTH_MAX)
		flame->stacks_cut++;
	while (n)
		node = flame_child(flame, node, frames[--n]);
	return node;
}

void flame_scale(struct flame *flame, unsigned side, double factor)
{
	vec_each(struct flame_node, node, &flame->nodes)
		node->self[side] *= factor;
}

double flame_sum(const struct flame *flame, unsigned side)
{
	double sum = 0;

	vec_each(const struct flame_node, node, &flame->nodes)
		sum += node->self[side];
	return sum;
}

struct ranked {
	struct str name;
	uint32_t id;
};

static int by_text(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = memcmp(x->name.p, y->name.p, MIN(x->name.n, y->name.n));

	return order ? order : x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

// Place of each name in the alphabet, by id.
static uint32_t *rank_names(const struct intern *names)
{
	size_t n = names->strings.n;
	struct ranked *ranked = xreallocarray(NULL, n, sizeof(*ranked));
	uint32_t *rank = xreallocarray(NULL, n, sizeof(*rank));

	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){names->strings.v[i], (uint32_t)i};
	qsort(ranked, n, sizeof(*ranked), by_text);
	for (size_t i = 0; i < n; i++)
		rank[ranked[i].id] = (uint32_t)i;
	free(ranked);
	return rank;
}

struct sorting {
	uint32_t *order, *other, *key;
	size_t n;
};

// One stable pass of a counting sort: the order is by key[order[i]], which is less than `keys`.
static void sort_pass(struct sorting *s, size_t keys)
{
	uint32_t *at = xcalloc(keys + 1, sizeof(*at)), *sorted = s->other;

	for (size_t i = 0; i < s->n; i++)
		at[s->key[i] + 1]++;
	for (size_t i = 0; i < keys; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < s->n; i++)
		sorted[at[s->key[s->order[i]]]++] = s->order[i];
	free(at);
	s->other = s->order;
	s->order = sorted;
}

// Node ids so that siblings stand together, in their drawing order, parents ascending.
static uint32_t *order_of_siblings(const struct flame *flame, bool by_name)
{
	size_t n = flame->nodes.n;
	struct sorting s = {.order = xreallocarray(NULL, n, sizeof(*s.order)),
			    .other = xreallocarray(NULL, n, sizeof(*s.other)),
			    .key = xreallocarray(NULL, n, sizeof(*s.key)),
			    .n = n};

	for (size_t i = 0; i < n; i++)
		s.order[i] = (uint32_t)i;
	if (by_name) {
		uint32_t *rank = rank_names(&flame->names);

		for (size_t i = 0; i < n; i++)
			s.key[i] = flame->nodes.v[i].kind;
		sort_pass(&s, FLAME_KINDS);
		for (size_t i = 0; i < n; i++)
			s.key[i] = rank[flame->nodes.v[i].name];
		sort_pass(&s, flame->names.strings.n);
		free(rank);
	}
	for (size_t i = 0; i < n; i++)
		s.key[i] = flame->nodes.v[i].parent;
	sort_pass(&s, n);
	free(s.other);
	free(s.key);
	return s.order;
}

void flame_finish(struct flame *flame, bool by_name)
{
	size_t n = flame->nodes.n;
	struct flame_node *nodes = flame->nodes.v;
	uint32_t *size = xreallocarray(NULL, n, sizeof(*size));
	uint32_t *place = xreallocarray(NULL, n, sizeof(*place));

	for (size_t i = 0; i < n; i++) {
		size[i] = 1;
		nodes[i].total[0] = nodes[i].self[0];
		nodes[i].total[1] = nodes[i].self[1];
	}
	for (size_t i = n; --i > 0;) {
		size[nodes[i].parent] += size[i];
		nodes[nodes[i].parent].total[0] += nodes[i].total[0];
		nodes[nodes[i].parent].total[1] += nodes[i].total[1];
	}
	place[0] = 0;
	nodes[0].start = 0;
	// The root is its own parent, so it comes first among parent 0's.
	uint32_t *order = order_of_siblings(flame, by_name);
	uint32_t next = 0;
	double start = 0;
	for (size_t i = 0, parent = UINT32_MAX; i < n; i++) {
		struct flame_node *node = &nodes[order[i]];

		if (!order[i])
			continue;
		if (node->parent != parent) {
			parent = node->parent;
			next = place[parent] + 1;
			start = nodes[parent].start;
		}
		place[order[i]] = next;
		next += size[order[i]];
		node->start = start;
		start += flame_width(node);
	}
	free(order);

	struct flame_node *drawn = xreallocarray(NULL, n, sizeof(*drawn));
	for (size_t i = 0; i < n; i++) {
		struct flame_node *node = &drawn[place[i]];

		*node = nodes[i];
		node->parent = place[node->parent];
		node->end = place[i] + size[i];
	}
	free(flame->nodes.v);
	flame->nodes.v = drawn;
	flame->nodes.capacity = n;
	flame->finished = true;
	free(size);
	free(place);
	drop_index(flame);
}

void flame_select(struct flame *to, const struct flame *finished,
		  bool (*keep)(void *arg, const char *stack, size_t n), void *arg)
{
	VEC(char) text = {0};
	size_t *length =
		xcalloc((size_t)finished->depth_max + 1, sizeof(*length)); // of text up to a depth
	uint32_t *made = xreallocarray(NULL, (size_t)finished->depth_max + 1, sizeof(*made));
	uint16_t made_depth = 0; // the path exists in `to` up to here

	to->differential = finished->differential;
	made[0] = 0;
	for (size_t i = 1; i < finished->nodes.n; i++) {
		const struct flame_node *node = &finished->nodes.v[i];
		struct str name = flame_name(finished, node);
		const char *suffix = flame_kind_suffix(node->kind);

		text.n = length[node->depth - 1];
		vec_reserve(&text, name.n + 8);
		if (text.n)
			text.v[text.n++] = ';';
		memcpy(text.v + text.n, name.p, name.n);
		text.n += name.n;
		memcpy(text.v + text.n, suffix, strlen(suffix) + 1);
		text.n += strlen(suffix);
		length[node->depth] = text.n;
		made_depth = MIN(made_depth, node->depth - 1);
		if (!node->self[0] && !node->self[1])
			continue;
		if (!keep(arg, text.v, text.n))
			continue;
		// The names of the path stand above in drawing order; walk up to find those that are missing.
		for (size_t at = i; finished->nodes.v[at].depth > made_depth;
		     at = finished->nodes.v[at].parent)
			made[finished->nodes.v[at].depth] = (uint32_t)at;
		for (uint16_t depth = made_depth + 1; depth <= node->depth; depth++) {
			const struct flame_node *step = &finished->nodes.v[made[depth]];

			made[depth] = flame_child(to, made[depth - 1],
						  (struct flame_frame){flame_name(finished, step),
								       step->kind});
		}
		made_depth = node->depth;
		flame_add(to, made[node->depth], 0, node->self[0]);
		flame_add(to, made[node->depth], 1, node->self[1]);
	}
	vec_done(&text);
	free(length);
	free(made);
}
