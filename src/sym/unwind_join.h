// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once
#include "sym/private.h"

struct unwind_frame {
	uint64_t ip, sp; // as in the chain; the stack pointer there
};

// Innermost first.
struct unwind_path {
	const struct unwind_frame *v;
	uint32_t n;
};

struct unwind_joins;
struct unwind_joins *unwind_joins_new(void);
void unwind_joins_free(struct unwind_joins *joins);
// From the stack as it is now.
bool unwind_read_later(struct unwind_joins *joins, const struct task *task, uint64_t addr,
		       uint64_t *ret);
// What unwind_read_later knows is of another moment.
void unwind_forget_later(struct unwind_joins *joins);
// A deep stack that reached its root.
void unwind_remember(struct unwind_joins *joins, const struct task *task, struct unwind_path path);
// Of one whose copy was too short: what the thread's last deep stack had behind its last frame; none: nobody knows.
struct unwind_path unwind_further(struct unwind_joins *joins, const struct task *task,
				  struct unwind_path path);
