// SPDX-License-Identifier: GPL-2.0-or-later
// sym/stacks.c interns frames by (dso, symbol), or by address where there is no symbol (for pictures by dso), and keeps stacks
// in a trie: a node is (parent, frame). Chains seen before cost one hash and one lookup, short ones by their places in files,
// long ones by their bytes in an unchanged address space; a new short one is turned into frames and mostly differs from a known
// path in its innermost frame. So report, script and flame graph pay per distinct stack, not per sample and frame. What is left
// is cache misses: a run hands out samples that follow each other in batches (run_hooks.hits), and stacks_of_samples takes a
// batch step by step, each step fetching what the next one looks up.
//
// 64-bit hashes stand for call chains. The tables of chains and places compare hashes, not bytes: with a million distinct
// chains the chance of one wrong stack is about 3e-8. The tables are direct mapped and small enough for the processor's second
// cache; larger ones found more and took longer (page walks of a virtual machine cost as much as a search).
#include "sym/stacks_frames.h"
#include "base/hash.h"
#include "sym/load.h"
#include <elf.h>

void stacks_init(struct stacks *stacks, struct sym *sym, enum frame_key key)
{
	*stacks = (struct stacks){.sym = sym, .key = key};
	vec_push(&stacks->nodes, (struct stack_node){0});
	(void)vec_add(&stacks->frames);
}

// Megabytes that a run without stacks has no use for.
static void make_tables(struct stacks *stacks)
{
	stacks->chains = xcalloc(STACK_CHAINS, sizeof(*stacks->chains));
	stacks->paths = xcalloc(STACK_PATHS, sizeof(*stacks->paths));
	stacks->known = xcalloc(STACK_FRAMES, sizeof(*stacks->known));
}

void stacks_end(struct stacks *stacks)
{
	vec_done(&stacks->path);
	vec_done(&stacks->steps);
	vec_done(&stacks->runs);
	vec_done(&stacks->run_frames);
	for (size_t i = 0; i < STACK_MEMORIES; i++)
		vec_done(&stacks->last[i].steps);
	map_done(&stacks->frame_ids);
	free(stacks->node_slots);
	stacks->node_slots = NULL;
	stacks->node_mask = stacks->hashed_n = 0;
	map_done(&stacks->run_ids);
	free(stacks->chains);
	free(stacks->paths);
	free(stacks->known);
	stacks->chains = NULL;
	stacks->paths = NULL;
	stacks->known = NULL;
}

void stacks_done(struct stacks *stacks)
{
	stacks_end(stacks);
	vec_done(&stacks->frames);
	vec_done(&stacks->nodes);
}

static size_t first_slot(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	return hash_u64((uint64_t)parent << 32 | frame) & stacks->node_mask;
}

// Where the node is, or the empty slot for it.
static uint32_t *node_slot(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	size_t i = first_slot(stacks, parent, frame);

	for (; stacks->node_slots[i]; i = (i + 1) & stacks->node_mask) {
		const struct stack_node *node = &stacks->nodes.v[stacks->node_slots[i]];

		if (node->parent == parent && node->frame == frame)
			break;
	}
	return &stacks->node_slots[i];
}

static void grow_slots(struct stacks *stacks)
{
	enum { FIRST_SLOTS = 1 << 12 };
	size_t n = stacks->node_slots ? (stacks->node_mask + 1) * 2 : FIRST_SLOTS;

	free(stacks->node_slots);
	stacks->node_slots = xcalloc(n, sizeof(*stacks->node_slots));
	stacks->node_mask = n - 1;
	for (uint32_t i = 1; i < stacks->nodes.n; i++) {
		const struct stack_node *node = &stacks->nodes.v[i];

		if (stacks->nodes.v[node->parent].child != i)
			*node_slot(stacks, node->parent, node->frame) = i;
	}
}

static uint32_t new_node(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	vec_push(&stacks->nodes, (struct stack_node){.parent = parent,
						     .frame = frame,
						     .depth = stacks->nodes.v[parent].depth + 1});
	return (uint32_t)stacks->nodes.n - 1;
}

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t *slot, child = stacks->nodes.v[parent].child;

	if (!child) {
		stacks->nodes.v[parent].child = (uint32_t)stacks->nodes.n;
		return new_node(stacks, parent, frame);
	}
	if (stacks->nodes.v[child].frame == frame)
		return child;
	if (stacks->hashed_n * 8 >= stacks->node_mask * 5)
		grow_slots(stacks);
	slot = node_slot(stacks, parent, frame);
	if (!*slot) {
		*slot = new_node(stacks, parent, frame);
		stacks->hashed_n++;
	}
	return *slot;
}

// One number for an address of a file or of the kernel, whatever the address space; 0: there is none.
static inline uint64_t place_of(const struct stacks *stacks, struct task *task,
				const struct stack_step *step)
{
	const struct mapping *map;

	if (step->cpumode == PERF_RECORD_MISC_KERNEL)
		return hash_mix(step->ip,
				stacks->sym->kernel->generation + step->is_return * (1ull << 32)) |
		       1;
	if (step->cpumode != PERF_RECORD_MISC_USER || !task)
		return 0;
	map = space_find_near(stacks->sym, task->space, step->ip);
	if (!map)
		return 0;
	// What has no name yet may get one.
	if (map->follows)
		return hash_mix(step->ip,
				(uintptr_t)map->dso + step->is_return +
					((uint64_t)perfmap_epoch(stacks->sym, map->dso) << 48)) |
		       1;
	return hash_mix(mapping_addr(map, step->ip), (uintptr_t)map->dso + step->is_return) | 1;
}

static struct known_frame *known_place(const struct stacks *stacks, uint64_t place)
{
	return &stacks->known[place >> 32 & (STACK_FRAMES - 1)];
}

// The frame of a place that was seen before; 0: it has to be resolved.
static uint32_t known_frames(const struct stacks *stacks, const struct stack_step *step,
			     uint64_t place)
{
	const struct known_frame *known = known_place(stacks, place);

	if (place && known->key == place)
		return known->frame;
	return !place && stacks->key == FRAME_BY_NAME ? stacks->nowhere[step->cpumode % 8] : 0;
}

// An address that is not known yet.
struct stranger {
	struct stack_step step;
	uint64_t place;
	struct location location;
};

static uint32_t frames_of_stranger(struct stacks *stacks, const struct stranger *stranger,
				   bool *ret_tells)
{
	const struct location *location = &stranger->location;
	uint64_t place = stranger->place;
	uint32_t frame = stacks_frames_of(stacks, location, stranger->step.is_return, ret_tells);

	if (place && stacks->key != FRAME_BY_ADDRESS &&
	    (location->sym || stacks->key == FRAME_BY_NAME || stacks->key == FRAME_BY_PLACE))
		*known_place(stacks, place) = (struct known_frame){place, frame};
	if (!place && !location->dso && stacks->key == FRAME_BY_NAME)
		stacks->nowhere[stranger->step.cpumode % 8] = frame;
	return frame;
}

static bool is_hidden(const struct stacks *stacks, uint32_t frame)
{
	return stacks->hide_unresolved && !(frame & STACK_RUN) && !stacks->frames.v[frame].sym;
}

// Likewise, of a known place.
static bool known_tells(const struct stacks *stacks, uint32_t frame, const struct stack_step *step)
{
	const struct frame *f;

	if (frame & STACK_RUN || stacks->key == FRAME_BY_NAME)
		return false;
	f = &stacks->frames.v[frame];
	return f->cpumode == step->cpumode && f->sym && !f->sym->inlined &&
	       f->sym->type != STT_OBJECT;
}

static uint32_t frames_of_ip(struct stacks *stacks, struct task *task,
			     const struct stack_step *step, bool *ret_tells)
{
	struct stranger stranger = {.step = *step, .place = place_of(stacks, task, step)};
	uint32_t frame = known_frames(stacks, step, stranger.place);

	if (frame) {
		*ret_tells = known_tells(stacks, frame, step);
		return frame;
	}
	stranger.location = stack_step_resolve(stacks->sym, task, step);
	return frames_of_stranger(stacks, &stranger, ret_tells);
}

static void add_ip(struct stacks *stacks, struct task *task, const struct stack_step *step)
{
	bool tells;
	uint32_t frame = frames_of_ip(stacks, task, step, &tells);
	const struct frame_run *run;

	if (is_hidden(stacks, frame))
		return;
	if (!(frame & STACK_RUN)) {
		vec_push(&stacks->path, frame);
		return;
	}
	run = &stacks->runs.v[frame & ~STACK_RUN];
	for (uint32_t i = 0; i < run->n; i++)
		vec_push(&stacks->path, stacks->run_frames.v[run->first + i]);
}

// Addresses at the inner end that max_stack leaves out. It counts all addresses, also those that are hidden.
static uint32_t left_out_inside(const struct stacks *stacks, const struct sample *sample)
{
	struct chain_walk walk = chain_walk_of(sample);
	struct stack_step step;
	uint32_t n = 0;

	while (stacks->keep_outermost && chain_next(&walk, &step) > 0)
		n++;
	return n > stacks->max_stack ? n - stacks->max_stack : 0;
}

// Of a chain that has more entries than max_stack.
static void resolve_chain(struct stacks *stacks, struct task *task, const struct sample *sample)
{
	struct chain_walk walk = chain_walk_of(sample);
	uint32_t first = left_out_inside(stacks, sample), n = 0;
	struct stack_step step;
	int got;

	while ((got = chain_next(&walk, &step)) > 0 && n < first + stacks->max_stack) {
		if (n++ >= first)
			add_ip(stacks, task, &step);
	}
	if (got < 0) {
		stacks->corrupt_n++;
		vec_clear(&stacks->path);
	}
}

// The addresses of the chain as steps; false when it is corrupt.
static bool make_steps(struct stacks *stacks, const struct sample *sample)
{
	struct chain_walk walk = chain_walk_of(sample);
	struct stack_step *steps;
	uint32_t n = 0;
	int got;

	vec_clear(&stacks->steps);
	vec_reserve(&stacks->steps, sample->callchain_n);
	steps = stacks->steps.v;
	while ((got = chain_next(&walk, &steps[n])) > 0)
		n++;
	stacks->steps.n = n;
	stacks->corrupt_n += got < 0;
	return got == 0;
}

// By name: the frame of addresses that lie in no map.
static bool is_nowhere(const struct stacks *stacks, uint32_t frame)
{
	return stacks->key == FRAME_BY_NAME && !(frame & STACK_RUN) && !stacks->frames.v[frame].dso;
}

// The frame or run below the node; the node itself when it is hidden. A walk by frame pointers that lost its way gives up to 127
// addresses that lie in no map: by name, one frame stands for a row of them.
static uint32_t go_into(struct stacks *stacks, uint32_t node, uint32_t frame)
{
	const struct frame_run *run;

	if (is_hidden(stacks, frame) ||
	    (node && is_nowhere(stacks, frame) && is_nowhere(stacks, stacks->nodes.v[node].frame)))
		return node;
	if (!(frame & STACK_RUN))
		return stacks_child(stacks, node, frame);
	run = &stacks->runs.v[frame & ~STACK_RUN];
	for (uint32_t i = run->n; i-- > 0;)
		node = stacks_child(stacks, node, stacks->run_frames.v[run->first + i]);
	return node;
}

static uint32_t descend(struct stacks *stacks)
{
	size_t n = stacks->path.n;
	uint32_t node = 0;

	while (n)
		node = go_into(stacks, node, stacks->path.v[--n]);
	return node;
}

// From the outer end inwards; what the task's last chain had there as well is not resolved again.
static uint32_t follow_last(struct stacks *stacks, const struct stack_ask *ask, uint64_t where,
			    bool *ret_ends)
{
	struct stack_memory *last = &stacks->last[ask->task->index % STACK_MEMORIES];
	size_t n, known, old = last->steps.n;
	uint32_t node = 0;

	*ret_ends = false;
	if (!make_steps(stacks, ask->sample))
		return 0;
	*ret_ends = last->ends_at_place;
	n = known = stacks->steps.n;
	while (last->where == where && known && old &&
	       stacks->steps.v[known - 1].ip == last->steps.v[old - 1].ip &&
	       stacks->steps.v[known - 1].cpumode == last->steps.v[old - 1].cpumode &&
	       stacks->steps.v[known - 1].is_return == last->steps.v[old - 1].is_return) {
		node = last->steps.v[--old].node;
		stacks->steps.v[--known].node = node;
	}
	for (size_t i = known; i-- > 0;) {
		struct stack_step *step = &stacks->steps.v[i];

		step->node = node =
			go_into(stacks, node, frames_of_ip(stacks, ask->task, step, ret_ends));
	}
	vec_clear(&last->steps);
	vec_reserve(&last->steps, n);
	if (n)
		memcpy(last->steps.v, stacks->steps.v, n * sizeof(struct stack_step));
	last->steps.n = n;
	last->where = where;
	last->ends_at_place = *ret_ends;
	return node;
}

// A chain on its way from addresses to a node.
struct short_chain {
	uint64_t key;
	struct known_chain *known;
	struct stack_ask *ask;
	uint32_t n;
	bool begins_at_sample, ends_at_place;
	uint64_t places[STACK_SHORT];
	uint32_t frames[STACK_SHORT]; // or runs, innermost first
	uint64_t paths[STACK_SHORT];  // key of the frames from the outer end up to this one
	uint32_t node, left; // of the longest path that is known; frames that are not in it
};

static bool is_short(const struct stacks *stacks, const struct sample *sample)
{
	return sample->callchain_n && sample->callchain_n <= STACK_SHORT &&
	       (!stacks->max_stack || sample->callchain_n <= stacks->max_stack);
}

static bool is_at_sample(const struct stack_step *step, const struct sample *sample)
{
	return step->ip == sample->ip && step->cpumode == sample->cpumode;
}

// What the addresses are in their files makes the key, so that it is the same in the next process. False: corrupt.
static bool start_short(struct stacks *stacks, struct short_chain *chain, struct stack_ask *ask)
{
	struct chain_walk walk = chain_walk_of(ask->sample);
	struct stack_step step;
	uint64_t key = 0;
	int got;

	chain->ask = ask;
	chain->n = 0;
	chain->begins_at_sample = chain->ends_at_place = false;
	while ((got = chain_next(&walk, &step)) > 0) {
		uint64_t place = place_of(stacks, ask->task, &step);

		if (!chain->n)
			chain->begins_at_sample = is_at_sample(&step, ask->sample);
		chain->places[chain->n++] = place;
		key = hash_mix(key ^ place, step.cpumode);
		// Without a symbol the address itself tells frames apart.
		if (stacks->key != FRAME_BY_NAME)
			key = hash_mix(key, step.ip);
	}
	if (got < 0) {
		stacks->corrupt_n++;
		return false;
	}
	chain->key = key | 1;
	chain->known = &stacks->chains[chain->key >> 32 & (STACK_CHAINS - 1)];
	__builtin_prefetch(chain->known, 1);
	return true;
}

static bool known_short(struct stacks *stacks, struct short_chain *chain)
{
	if (chain->known->key == chain->key) {
		chain->ask->node = chain->known->node;
		chain->ask->is_of_place = chain->begins_at_sample && chain->known->ends_at_place;
		return true;
	}
	for (uint32_t i = 0; i < chain->n; i++)
		__builtin_prefetch(known_place(stacks, chain->places[i]));
	return false;
}

static struct known_chain *known_path(const struct stacks *stacks, uint64_t key)
{
	return &stacks->paths[key >> 32 & (STACK_PATHS - 1)];
}

// A frame that was not known. Some wait, so that the cache misses of their search overlap.
struct waiting {
	struct short_chain *chain;
	uint32_t at; // in the chain
	struct stranger stranger;
};
enum { MOST_WAITING = 64 };

static void end_waiting(struct stacks *stacks, const struct waiting *waiting, uint32_t n)
{
	for (const struct waiting *it = waiting; it < waiting + n; it++) {
		bool tells;

		it->chain->frames[it->at] = frames_of_stranger(stacks, &it->stranger, &tells);
		if (!it->at)
			it->chain->ends_at_place = tells;
	}
}

static void find_frames(struct stacks *stacks, struct short_chain **chains, size_t n)
{
	struct waiting waiting[MOST_WAITING];
	uint32_t waiting_n = 0;

	for (size_t c = 0; c < n; c++) {
		struct short_chain *chain = chains[c];
		struct chain_walk walk = chain_walk_of(chain->ask->sample);
		struct stack_step step;

		for (uint32_t i = 0; i < chain->n && chain_next(&walk, &step) > 0; i++) {
			struct waiting *next = &waiting[waiting_n];
			struct location *location = &next->stranger.location;

			chain->frames[i] = known_frames(stacks, &step, chain->places[i]);
			if (chain->frames[i]) {
				if (!i)
					chain->ends_at_place =
						known_tells(stacks, chain->frames[i], &step);
				continue;
			}
			next->chain = chain;
			next->at = i;
			next->stranger.step = step;
			next->stranger.place = chain->places[i];
			*location = stack_step_resolve(stacks->sym, chain->ask->task, &step);
			if (!location->sym)
				stacks_expect(stacks, location);
			if (++waiting_n == MOST_WAITING) {
				end_waiting(stacks, waiting, waiting_n);
				waiting_n = 0;
			}
		}
	}
	end_waiting(stacks, waiting, waiting_n);
}

static void make_paths(struct stacks *stacks, struct short_chain *chain)
{
	uint64_t key = 0;

	for (uint32_t i = chain->n; i-- > 0;) {
		key = hash_mix(key, chain->frames[i]);
		chain->paths[i] = key |= 1;
	}
	for (uint32_t i = 0; i < MIN(chain->n, 2u); i++)
		__builtin_prefetch(known_path(stacks, chain->paths[i]), 1);
}

// Most differ from what was there before in the innermost frame only.
static void find_path(struct stacks *stacks, struct short_chain *chain)
{
	chain->node = 0;
	for (chain->left = 0; chain->left < chain->n; chain->left++) {
		const struct known_chain *path = known_path(stacks, chain->paths[chain->left]);

		if (path->key == chain->paths[chain->left]) {
			chain->node = path->node;
			break;
		}
	}
	__builtin_prefetch(&stacks->nodes.v[chain->node]);
	if (chain->left && stacks->node_slots)
		__builtin_prefetch(&stacks->node_slots[first_slot(stacks, chain->node,
								  chain->frames[chain->left - 1])],
				   1);
}

static void end_short(struct stacks *stacks, struct short_chain *chain)
{
	uint32_t node = chain->node, at = chain->left;

	while (at-- > 0) {
		node = go_into(stacks, node, chain->frames[at]);
		if (at < 2)
			*known_path(stacks, chain->paths[at]) =
				(struct known_chain){chain->paths[at], node, false};
	}
	*chain->known = (struct known_chain){chain->key, node, chain->ends_at_place};
	chain->ask->node = node;
	chain->ask->is_of_place = chain->begins_at_sample && chain->ends_at_place;
}

// Begins the chain at the sampled place?
static bool begins_at_sample(const struct sample *sample)
{
	struct chain_walk walk = chain_walk_of(sample);
	struct stack_step step;

	return chain_next(&walk, &step) > 0 && is_at_sample(&step, sample);
}

static void stack_of_long(struct stacks *stacks, struct stack_ask *ask)
{
	const struct sample *sample = ask->sample;
	const struct space *space = ask->task->space;
	struct known_chain *known;
	uint64_t key, where;

	vec_clear(&stacks->path);
	if (!sample->callchain_n) {
		add_ip(stacks, ask->task,
		       &(struct stack_step){.ip = sample->ip, .cpumode = sample->cpumode});
		ask->node = descend(stacks);
		return;
	}
	where = hash_mix((uint64_t)space->id << 32 | space->generation,
			 stacks->sym->kernel->generation + sample->at_calls * (1ull << 32));
	key = hash_mix(hash_bytes(sample->callchain, sample->callchain_n * 8ull), where) | 1;
	known = &stacks->chains[key >> 32 & (STACK_CHAINS - 1)];
	if (known->key != key && (!stacks->max_stack || sample->callchain_n <= stacks->max_stack)) {
		known->node = follow_last(stacks, ask, where, &known->ends_at_place);
	} else if (known->key != key) {
		resolve_chain(stacks, ask->task, sample);
		known->node = descend(stacks);
		known->ends_at_place = false;
	}
	known->key = key;
	ask->node = known->node;
	ask->is_of_place = known->ends_at_place && begins_at_sample(sample);
}

// Step by step for all: what one step looks up is on its way while the others are asked for.
void stacks_of_samples(struct stacks *stacks, struct stack_ask *asks, size_t n)
{
	struct short_chain chains[STACK_BATCH];
	struct short_chain *missing[STACK_BATCH];
	size_t left = 0, missing_n = 0;

	if (n && !stacks->known)
		make_tables(stacks);
	for (size_t i = 0; i < n; i++) {
		asks[i].node = 0;
		asks[i].is_of_place = false;
		if (!is_short(stacks, asks[i].sample))
			stack_of_long(stacks, &asks[i]);
		else if (start_short(stacks, &chains[left], &asks[i]))
			left++;
	}
	for (size_t i = 0; i < left; i++) {
		if (!known_short(stacks, &chains[i]))
			missing[missing_n++] = &chains[i];
	}
	find_frames(stacks, missing, missing_n);
	for (size_t i = 0; i < missing_n; i++)
		make_paths(stacks, missing[i]);
	for (size_t i = 0; i < missing_n; i++)
		find_path(stacks, missing[i]);
	for (size_t i = 0; i < missing_n; i++)
		end_short(stacks, missing[i]);
}

uint32_t stacks_of_sample(struct stacks *stacks, struct task *task, const struct sample *sample)
{
	struct stack_ask ask = {.task = task, .sample = sample};

	stacks_of_samples(stacks, &ask, 1);
	return ask.node;
}
