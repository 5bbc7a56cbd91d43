// SPDX-License-Identifier: GPL-2.0-or-later
// The frames of stacks as pictures have them: names without versions, and what kind of code it is.
#pragma once
#include "base/arena.h"
#include "sym/stacks.h"
#include "view/flame.h"

struct stack_frames {
	const struct stacks *stacks;
	struct flame_frame *known; // by frame; name.p NULL: not yet
	struct arena arena;
};

// Of the frames that there are now.
void stack_frames_init(struct stack_frames *frames, const struct stacks *stacks);
void stack_frames_done(struct stack_frames *frames);
// Valid until the end.
struct flame_frame stack_frame(struct stack_frames *frames, uint32_t frame);
// The node of a stack's innermost frame below `parent`; its frames are made where they are not there.
uint32_t stack_frames_node(struct stack_frames *frames, struct flame *flame, uint32_t parent,
			   uint32_t stack);
