// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once
#include "sym/private.h"

struct unwind_frame {
	uint64_t ip, sp; // as in the chain; the stack pointer there
};

struct unwind_joins;
struct unwind_joins *unwind_joins_new(void);
void unwind_joins_free(struct unwind_joins *joins);
// What unwind_read_later knows is of another moment.
void unwind_forget_later(struct unwind_joins *joins);
// A deep stack that reached its root, innermost frame first.
void unwind_remember(struct unwind_joins *joins, const struct task *task,
		     const struct unwind_frame *frames, uint32_t n);
// Of one whose copy was too short: what the thread's last deep stack had behind its last frame. How many; 0: nobody knows.
uint32_t unwind_further(struct unwind_joins *joins, const struct task *task,
			const struct unwind_frame *frames, uint32_t n,
			const struct unwind_frame **ret);
