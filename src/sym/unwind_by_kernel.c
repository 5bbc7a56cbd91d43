// SPDX-License-Identifier: GPL-2.0-or-later
// Where a walk up a stack can't go on, the chain that the kernel found by frame pointers at the same time may.
#include "sym/unwind_walk.h"

// Where in the kernel's chain our frame `last` is: addresses come again in recursions, so it is where most of the frames
// before it are the same. 0: nowhere. `ret_same`: how many are the same, this one included.
static uint32_t find_in_chain(const struct walk *w, uint32_t last, uint32_t *ret_same)
{
	enum { ENOUGH = 64 };
	const uint64_t *theirs = w->input->by_kernel;
	uint32_t found = 0;

	*ret_same = 0;
	for (uint32_t i = MIN(last, w->input->by_kernel_n - 1); i > 0 && *ret_same < ENOUGH; i--) {
		uint32_t same = 0;

		// Theirs are where calls return to, ours where they stand.
		while (same < i && same < ENOUGH &&
		       (theirs[i - same] == w->ips[last - same] + 1 ||
			theirs[i - same] == w->ips[last - same]))
			same++;
		if (same > *ret_same) {
			*ret_same = same;
			found = i;
		}
	}
	return found;
}

// A function that keeps a frame pointer, as its frame information says.
static bool keeps_frame_pointer(const struct walk *w, const struct cfi_rule *rule)
{
	if (rule->flags & CFI_KEEPS_FP)
		return true;
	if (rule->cfa != CFI_CFA_REGISTER || rule->cfa_reg != w->machine->fp ||
	    rule->cfa_offset != 2 * w->machine->word)
		return false;
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		if (rule->saved[i].reg == w->machine->fp)
			return rule->saved[i].where == CFI_AT_CFA &&
			       rule->saved[i].value == -2 * w->machine->word;
	}
	return false;
}

// False: there is no room.
static bool add(struct walk *w, uint64_t ip)
{
	if (w->n == w->max) {
		w->end = UNWIND_LIMIT;
		return false;
	}
	w->ips[w->n++] = ip;
	return true;
}

// Functions without frames of their own that change the stack leave the frame pointer as their caller had it: the kernel goes on with
// the caller's caller. That one's call says which function is between, and where that calls what changed the stack (guessed where
// it does so more than once). 0: nobody can tell.
static uint64_t find_left_out(struct walk *w, uint64_t returns_to)
{
	enum { CALL = 5, LARGEST = 1 << 16 };
	struct walk_function changes, between;
	uint64_t target, found = 0;

	if (!walk_follows_call(w, returns_to, &target) || !target ||
	    !walk_function_of(w, target, &between) || between.start != target ||
	    between.end - target > LARGEST || !walk_function_of(w, w->ips[w->n - 1], &changes))
		return 0;
	for (uint64_t pc = target + CALL; pc <= between.end; pc++) {
		if (!walk_follows_call(w, pc, &target) || target != changes.start)
			continue;
		w->is_guessed |= found != 0;
		found = found ? found : pc;
	}
	return found;
}

// False: there is no room.
static bool add_left_out(struct walk *w, uint64_t returns_to)
{
	uint64_t left_out = find_left_out(w, returns_to);

	w->is_guessed |= !left_out;
	return !left_out || add(w, left_out - 1);
}

static bool leaves_out_caller(const struct walk *w, uint64_t pc)
{
	const struct cfi_rule *rule = walk_known(w, pc, false)->rule;

	return rule && (rule->flags & CFI_SWITCH) && !keeps_frame_pointer(w, rule);
}

// Where code keeps frame pointers, the kernel came further: over to the stack that a thread was on before (Go), or deeper
// than what was copied. The last frame that both found is where to go on from.
static void go_on(struct walk *w)
{
	enum { BACK = 3 }; // frames of a signal, that frame pointers don't know
	const uint64_t *theirs = w->input->by_kernel;
	uint32_t i = 0, same = 0, before = w->n;
	bool leaves_out;

	if ((w->end != UNWIND_SWITCHED && w->end != UNWIND_SHORT) || w->input->by_kernel_n < 2)
		return;
	for (uint32_t last = w->n - 1; !i && last && last + BACK >= w->n; last--)
		i = find_in_chain(w, last, &same);
	// What was called after the change left the frame pointer as it was before it.
	if (!i && (w->end != UNWIND_SWITCHED || theirs[0] != w->ips[0] ||
		   w->regs[w->machine->fp] != w->first_fp))
		return;
	// On the same stack only frame pointers that were right so far are believed.
	if (w->end == UNWIND_SHORT && same < 2)
		return;
	leaves_out = w->end == UNWIND_SWITCHED && leaves_out_caller(w, w->ips[w->n - 1]);
	while (++i < w->input->by_kernel_n && theirs[i] < PERF_CONTEXT_MAX) {
		const struct cfi_rule *rule = walk_known(w, theirs[i] - 1, false)->rule;

		if (!walk_is_code(w, theirs[i] - 1)) {
			w->n = w->end == UNWIND_SWITCHED ? before : w->n;
			return;
		}
		if (leaves_out && !add_left_out(w, theirs[i]))
			return;
		if (!add(w, theirs[i] - !walk_is_sigreturn(w, theirs[i])))
			return;
		if (walk_is_root(w, theirs[i])) {
			w->end = UNWIND_ROOT;
			return;
		}
		leaves_out = leaves_out_caller(w, theirs[i] - 1);
		w->is_guessed |= !leaves_out && !(rule && keeps_frame_pointer(w, rule));
	}
}

static bool keeps_frames_here(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	return map && unwind_dso_of(w->unwinder, map->dso)->keeps_frames;
}

// Code of a JIT compiler ran on a stack of its own and called what runs on the thread's (or the other way round): its frame
// lies where nothing was copied. The kernel followed the same frame pointer at the same time.
static void go_on_elsewhere(struct walk *w)
{
	const uint64_t *theirs = w->input->by_kernel;
	uint32_t same, i = 0;

	if (theirs[0] != w->ips[0])
		return;
	// What called what it was called by left the frame pointer as it is: then it is the kernel's first one.
	if (w->regs[w->machine->fp] != w->first_fp)
		i = find_in_chain(w, w->n - 1, &same);
	if (!i && w->regs[w->machine->fp] != w->first_fp) {
		// Others kept something else there meanwhile, and misled the kernel.
		w->end = keeps_frames_here(w, w->ips[w->n - 1]) ? UNWIND_SWITCHED : w->end;
		return;
	}
	while (++i < w->input->by_kernel_n && theirs[i] < PERF_CONTEXT_MAX) {
		const struct unwind_known *known = walk_known(w, theirs[i] - 1, false);

		if (!walk_is_code(w, theirs[i] - 1) ||
		    (!known->is_base && walk_is_no_return(w, theirs[i])))
			return;
		if (!add(w, theirs[i] - 1))
			return;
		if (known->is_base || walk_is_root(w, theirs[i])) {
			w->end = UNWIND_ROOT;
			return;
		}
		if (known->rule && known->table && !keeps_frame_pointer(w, known->rule))
			return;
		w->is_guessed |= !(known->rule && keeps_frame_pointer(w, known->rule));
	}
}

void walk_by_kernel(struct walk *w)
{
	if (!w->input->by_kernel)
		return;
	if (w->input->by_kernel_n && w->end == UNWIND_NO_INFO && w->is_elsewhere)
		go_on_elsewhere(w);
	else
		go_on(w);
}
