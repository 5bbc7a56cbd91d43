// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that are deeper than what the kernel copies: an earlier sample of the thread had what lies further up. Its frames are
// taken where several of both are the same, at the same places.
#include "sym/unwind_join.h"
#include "base/hash.h"
#include "sym/unwind_walk.h"
#include <string.h>
#include <sys/uio.h>

enum {
	THREADS = 64,	 // direct mapped
	DEEP = 16 << 10, // bytes: shallower ones need no help
	SAME = 3,	 // frames that must be
	LATER = 1 << 14, // bytes that are read together
};

struct deep_stack {
	uint64_t thread;		 // key; 0: none
	VEC(struct unwind_frame) frames; // innermost first, up to the root
};

struct unwind_joins {
	struct deep_stack threads[THREADS];
	uint8_t later[LATER];
	uint64_t later_at;
	size_t later_n;
};

struct unwind_joins *unwind_joins_new(void)
{
	return NEW(struct unwind_joins);
}

void unwind_joins_free(struct unwind_joins *joins)
{
	for (size_t i = 0; joins && i < THREADS; i++)
		vec_done(&joins->threads[i].frames);
	free(joins);
}

static uint64_t key_of(const struct task *task)
{
	return hash_mix((uint64_t)task->pid << 32 | task->tid, task->space->id) | 1;
}

static struct deep_stack *slot_of(struct unwind_joins *joins, uint64_t key)
{
	return &joins->threads[key >> 32 & (THREADS - 1)];
}

void unwind_remember(struct unwind_joins *joins, const struct task *task, struct unwind_path path)
{
	uint64_t key = key_of(task);
	struct deep_stack *stack = slot_of(joins, key);

	if (!path.n || path.v[path.n - 1].sp - path.v[0].sp < DEEP)
		return;
	stack->thread = key;
	vec_clear(&stack->frames);
	vec_reserve(&stack->frames, path.n);
	memcpy(stack->frames.v, path.v, path.n * sizeof(*path.v));
	stack->frames.n = path.n;
}

static bool is_same(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->ip == b->ip && a->sp == b->sp;
}

struct unwind_path unwind_further(struct unwind_joins *joins, const struct task *task,
				  struct unwind_path path)
{
	const struct unwind_path none = {0};
	uint64_t key = key_of(task);
	const struct deep_stack *stack = slot_of(joins, key);
	size_t low = 0, high = stack->frames.n;

	if (stack->thread != key || path.n <= SAME)
		return none;
	// Callers lie at higher places.
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (stack->frames.v[middle].sp < path.v[path.n - 1].sp)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == stack->frames.n || low < SAME)
		return none;
	for (uint32_t i = 0; i < SAME; i++) {
		if (!is_same(&stack->frames.v[low - i], &path.v[path.n - 1 - i]))
			return none;
	}
	return (struct unwind_path){stack->frames.v + low + 1, (uint32_t)(stack->frames.n - low - 1)};
}

void unwind_forget_later(struct unwind_joins *joins)
{
	joins->later_n = 0;
}

bool unwind_read_later(struct unwind_joins *joins, const struct task *task, uint64_t addr,
		       uint64_t *ret)
{
	if (addr - joins->later_at >= joins->later_n ||
	    joins->later_n - (addr - joins->later_at) < 8) {
		struct iovec to = {joins->later, LATER}, from = {(void *)(uintptr_t)addr, LATER};
		ssize_t n = task->pid ? process_vm_readv((pid_t)task->pid, &to, 1, &from, 1, 0) : -1;

		joins->later_at = addr;
		joins->later_n = n > 0 ? (size_t)n : 0;
		if (joins->later_n < 8)
			return false;
	}
	memcpy(ret, joins->later + (addr - joins->later_at), 8);
	return true;
}
