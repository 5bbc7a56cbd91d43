// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/stack_frames.h"
#include "base/alloc.h"

void stack_frames_init(struct stack_frames *frames, const struct stacks *stacks)
{
	*frames = (struct stack_frames){.stacks = stacks};
	frames->known = xcalloc(stacks->frames.n, sizeof(*frames->known));
}

void stack_frames_done(struct stack_frames *frames)
{
	free(frames->known);
	arena_done(&frames->arena);
}

static enum flame_kind kind_of(const struct frame *frame)
{
	if (frame->sym && frame->sym->inlined)
		return FLAME_INLINED;
	if (!frame->dso)
		return frame->cpumode == PERF_RECORD_MISC_KERNEL ||
				       frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL
			       ? FLAME_KERNEL
			       : FLAME_PLAIN;
	if (dso_is_kernel(frame->dso))
		return FLAME_KERNEL;
	switch (frame->dso->kind) {
	case DSO_HYPERVISOR:
		return FLAME_KERNEL;
	case DSO_ANON:
		return frame->sym || text_starts(frame->dso->short_name, "[JIT]") ? FLAME_JIT
										  : FLAME_PLAIN;
	default:
		return strstr(frame->dso->long_name, "jitted-") ? FLAME_JIT : FLAME_PLAIN;
	}
}

struct flame_frame stack_frame(struct stack_frames *frames, uint32_t id)
{
	struct flame_frame *known = &frames->known[id];

	if (!known->name.p) {
		const struct frame *frame = &frames->stacks->frames.v[id];
		const char *file = frame->dso ? text_base_name(frame->dso->short_name) : "[unknown]";

		known->kind = kind_of(frame);
		if (frame->sym && frame->sym->name[0])
			known->name = symbol_plain_name(frame->sym);
		else
			known->name = str_of(
				file[0] == '[' ? file : arena_fmt(&frames->arena, "[%s]", file));
	}
	return *known;
}

uint32_t stack_frames_node(struct stack_frames *frames, struct flame *flame, uint32_t parent,
			   uint32_t stack)
{
	const struct stack_node *node = &frames->stacks->nodes.v[stack];

	if (!stack)
		return parent;
	parent = stack_frames_node(frames, flame, parent, node->parent);
	return flame_child(flame, parent, stack_frame(frames, node->frame));
}
