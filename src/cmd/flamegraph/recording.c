// SPDX-License-Identifier: GPL-2.0-or-later
// From a recording. Each distinct stack is resolved once (sym/stacks.h); a sample adds to one counter; the tree is
// made at the end.
#include "base/hash.h"
#include "base/map.h"
#include "cmd/flamegraph/flamegraph.h"
#include "flow/chain.h"
#include "flow/run.h"
#include "flow/stack_frames.h"
#include "sym/stacks.h"

// Under what a sample's stack stands.
struct base {
	uint32_t event, comm, pid, tid; // UINT32_MAX: makes no difference
};

// What a stack sums up to under the base that it was first seen with; nearly all have only one.
struct first_sum {
	uint64_t sum;
	uint32_t base; // + 1; 0: not seen
};

struct task_base {
	const struct event *event; // NULL: none yet
	uint32_t comm, base;
};

struct taker {
	const struct stack_options *options;
	struct stack_counts *counts;
	struct filter *filter;
	bool has_filter; // it is not empty
	struct stacks stacks;
	struct event *first_event;
	VEC(struct base) bases;
	struct map base_ids;
	VEC(struct first_sum) sums;	  // by stack
	struct map other_sums;		  // base << 32 | stack -> sum
	VEC(struct task_base) task_bases; // by the task's index: of its last sample
};

static bool event_wanted(struct taker *taker, struct event *event)
{
	const struct stack_options *options = taker->options;

	if (options->all_events)
		return true;
	if (!options->event) {
		if (!taker->first_event)
			taker->first_event = event;
		return event == taker->first_event;
	}
	return filter_event(event, options->event);
}

static uint32_t base_of(struct taker *taker, struct event *event, struct task *task)
{
	const struct stack_options *options = taker->options;
	struct base base = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	struct task_base *known;
	bool is_new;

	if (task->index >= taker->task_bases.n) {
		size_t n = taker->task_bases.n;

		vec_reserve(&taker->task_bases, task->index + 1 - n);
		taker->task_bases.n = taker->task_bases.capacity;
		memset(taker->task_bases.v + n, 0,
		       (taker->task_bases.n - n) * sizeof(struct task_base));
	}
	known = &taker->task_bases.v[task->index];
	if (known->event == event && known->comm == task->comm)
		return known->base;
	if (options->all_events)
		base.event = event->index;
	if (!options->no_base)
		base.comm = task->comm;
	if (options->per_pid || options->per_tid)
		base.pid = task->pid;
	if (options->per_tid)
		base.tid = task->tid;
	uint64_t key = hash_mix((uint64_t)base.event << 32 | base.comm,
				(uint64_t)base.pid << 32 | base.tid);
	uint64_t *id = map_at(&taker->base_ids, key, &is_new);
	if (is_new) {
		*id = taker->bases.n;
		vec_push(&taker->bases, base);
	}
	*known = (struct task_base){event, task->comm, (uint32_t)*id};
	return known->base;
}

static void add_to_sum(struct taker *taker, uint32_t base, uint32_t stack, uint64_t value)
{
	struct first_sum *first = &taker->sums.v[stack];

	if (!first->base)
		first->base = base + 1;
	if (first->base == base + 1)
		first->sum += value;
	else
		*map_at(&taker->other_sums, (uint64_t)base << 32 | stack, NULL) += value;
}

static bool is_wanted(void *arg, struct run *run, const struct hit *it)
{
	struct taker *taker = arg;

	if (!event_wanted(taker, it->event)) {
		if (!taker->counts->other_events++ || !taker->options->event)
			stack_counts_other(taker->counts, str_of(it->event->name));
		return false;
	}
	if (taker->has_filter && !filter_sample_of(taker->filter, &it->sample, run->sym, it->task)) {
		taker->counts->filtered++;
		return false;
	}
	return true;
}

static int take_hits(void *arg, struct run *run, const struct hit *hits, size_t n)
{
	struct taker *taker = arg;
	size_t had = taker->sums.n;

	if (taker->stacks.nodes.n > had) {
		vec_reserve(&taker->sums, taker->stacks.nodes.n - had);
		taker->sums.n = taker->sums.capacity;
		memset(taker->sums.v + had, 0, (taker->sums.n - had) * sizeof(*taker->sums.v));
	}
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&taker->sums.v[hits[i].stack], 1);
	for (const struct hit *it = hits; it < hits + n; it++)
		add_to_sum(taker, base_of(taker, it->event, it->task), it->stack,
			   taker->options->by_period ? it->sample.period : 1);
	taker->counts->samples += n;
	return 0;
}

static int start(void *arg, struct run *run)
{
	struct taker *taker = arg;
	int err = 0;

	if (taker->filter)
		return 0;
	err = filter_new(&taker->filter, &taker->options->filter, run->recording);
	taker->has_filter = !err && !filter_is_empty(taker->filter);
	return err;
}

struct made_node {
	uint32_t base; // + 1; 0: none yet
	uint32_t node;
};

struct maker {
	struct taker *taker;
	struct flame *flame;
	const struct run *run;
	struct stack_frames frames;
	struct arena arena;
	struct made_node *made; // by stack: the first base's node of the tree, when not reversed
	struct map nodes;	// base << 32 | stack -> node of the tree: of the other bases
	VEC(uint32_t) path;
};

static uint32_t event_node(struct maker *maker, const struct base *base)
{
	if (base->event == UINT32_MAX)
		return 0;
	const struct event *event = maker->run->recording->events.v[base->event];
	return flame_child(maker->flame, 0, (struct flame_frame){str_of(event->name), FLAME_PLAIN});
}

static uint32_t task_node(struct maker *maker, const struct base *base, uint32_t parent)
{
	struct str name;

	if (base->comm == UINT32_MAX && base->pid == UINT32_MAX)
		return parent;
	name = base->comm == UINT32_MAX ? STR("task")
					: maker->run->sym->strings.strings.v[base->comm];
	if (base->tid != UINT32_MAX)
		name = str_of(arena_fmt(&maker->arena, "%.*s-%d/%d", STR_FMT(name), (int)base->pid,
					(int)base->tid));
	else if (base->pid != UINT32_MAX)
		name = str_of(arena_fmt(&maker->arena, "%.*s-%d", STR_FMT(name), (int)base->pid));
	return flame_child(maker->flame, parent, (struct flame_frame){name, FLAME_PLAIN});
}

static uint32_t reversed_node(struct maker *maker, const struct base *base, uint32_t stack)
{
	const struct stacks *stacks = &maker->taker->stacks;
	uint32_t node = event_node(maker, base);

	for (; stack; stack = stacks->nodes.v[stack].parent) {
		node = flame_child(maker->flame, node,
				   stack_frame(&maker->frames, stacks->nodes.v[stack].frame));
	}
	return task_node(maker, base, node);
}

static bool made_before(const struct maker *maker, uint32_t base, uint32_t stack, uint32_t *ret)
{
	const struct made_node *first = &maker->made[stack];
	const uint64_t *other = NULL;

	if (first->base == base + 1)
		*ret = first->node;
	else if (first->base && (other = map_find(&maker->nodes, (uint64_t)base << 32 | stack)))
		*ret = (uint32_t)*other;
	return first->base == base + 1 || other;
}

static void remember_made(struct maker *maker, uint32_t base, uint32_t stack, uint32_t node)
{
	if (!maker->made[stack].base)
		maker->made[stack] = (struct made_node){base + 1, node};
	else
		*map_at(&maker->nodes, (uint64_t)base << 32 | stack, NULL) = node;
}

// Every prefix of a stack is made once a base.
static uint32_t forward_node(struct maker *maker, uint32_t base_id, uint32_t stack)
{
	const struct stacks *stacks = &maker->taker->stacks;
	const struct base *base = &maker->taker->bases.v[base_id];
	uint32_t node = 0;

	vec_clear(&maker->path);
	while (!made_before(maker, base_id, stack, &node)) {
		if (!stack) {
			node = task_node(maker, base, event_node(maker, base));
			remember_made(maker, base_id, 0, node);
			break;
		}
		vec_push(&maker->path, stack);
		stack = stacks->nodes.v[stack].parent;
	}
	while (maker->path.n) {
		stack = vec_pop(&maker->path);
		node = flame_child(maker->flame, node,
				   stack_frame(&maker->frames, stacks->nodes.v[stack].frame));
		remember_made(maker, base_id, stack, node);
	}
	return node;
}

static void make_stack(struct maker *maker, uint32_t base, uint32_t stack, uint64_t sum)
{
	const struct stack_options *options = maker->taker->options;
	uint32_t node = options->reverse ? reversed_node(maker, &maker->taker->bases.v[base], stack)
					 : forward_node(maker, base, stack);

	flame_add(maker->flame, node, options->side, (double)sum);
}

static void make_tree(struct taker *taker, struct flame *flame, const struct run *run)
{
	stacks_end(&taker->stacks);
	struct maker maker = {.taker = taker, .flame = flame, .run = run};
	struct map_slot slot;

	stack_frames_init(&maker.frames, &taker->stacks);
	maker.made = xcalloc(taker->stacks.nodes.n, sizeof(*maker.made));
	for (size_t i = 0; i < taker->sums.n; i++) {
		if (taker->sums.v[i].base)
			make_stack(&maker, taker->sums.v[i].base - 1, (uint32_t)i,
				   taker->sums.v[i].sum);
	}
	for (size_t i = 0; map_next(&taker->other_sums, &i, &slot);)
		make_stack(&maker, (uint32_t)(slot.key >> 32), (uint32_t)slot.key, slot.value);
	stack_frames_done(&maker.frames);
	free(maker.made);
	arena_done(&maker.arena);
	map_done(&maker.nodes);
	vec_done(&maker.path);
}

int stacks_from_recording(struct flame *flame, const char *path,
			  const struct stack_options *options, struct stack_counts *ret)
{
	static const struct run_hooks hooks = {.wants = is_wanted, .hits = take_hits, .begin = start};
	struct run_options run_options = {.path = path, .force = options->force, .sym = options->sym};
	struct taker taker = {.options = options, .counts = ret};
	struct run *run;
	int err = run_open(&run, &run_options);

	if (err < 0)
		return err;
	stacks_init(&taker.stacks, run->sym, FRAME_BY_NAME);
	run->stacks = &taker.stacks;
	if (!options->no_inline)
		taker.stacks.sources = sources_new(run->sym);
	if (!run->recording->is_pipe)
		err = start(&taker, run);
	run_share_chains(run, options->jobs, 0);
	if (err >= 0)
		err = run_process(run, &hooks, &taker);
	if (err >= 0) {
		make_tree(&taker, flame, run);
		ret->damaged = run_warn(run) > 0;
		if (taker.first_event)
			ret->event = xstrdup(taker.first_event->name);
		if (run->recording->info.hostname)
			ret->host = xstrdup(run->recording->info.hostname);
		err = 0;
	}
	sources_free(taker.stacks.sources);
	stacks_done(&taker.stacks);
	vec_done(&taker.bases);
	map_done(&taker.base_ids);
	vec_done(&taker.task_bases);
	vec_done(&taker.sums);
	map_done(&taker.other_sums);
	filter_free(taker.filter);
	run_close(run);
	return err;
}
