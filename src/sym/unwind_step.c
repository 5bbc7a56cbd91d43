// SPDX-License-Identifier: GPL-2.0-or-later
// One frame up a stack, by frame information or by what the code does.
#include "obj/cfi_code.h"
#include "obj/cfi_expr.h"
#include "obj/x86.h"
#include "sym/unwind_walk.h"

static bool read_for_expression(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct walk *w = arg;
	uint64_t at = addr - w->stack_at;

	*ret = 0;
	size = MIN(size, w->machine->word);
	if (at >= w->stack_size || w->stack_size - at < size) {
		if (size == w->machine->word)
			return walk_read_elsewhere(w, addr, ret);
		return walk_read_file(w, addr, ret, size);
	}
	memcpy(ret, w->stack + at, size);
	return true;
}

static bool evaluate(struct walk *w, struct str code, const uint64_t *cfa, uint64_t *ret)
{
	const struct cfi_expr expr = {.regs = w->regs,
				      .regs_n = PC,
				      .pc_reg = w->machine->pc_reg,
				      .pc = w->regs[PC],
				      .read = read_for_expression,
				      .arg = w};

	w->end = UNWIND_BAD;
	return cfi_expr_run(&expr, code, cfa, ret) == 0;
}

static bool find_cfa(struct walk *w, const struct unwind_known *known)
{
	const struct cfi_rule *rule = known->rule;

	switch (rule->cfa) {
	case CFI_CFA_REGISTER:
		w->cfa = w->regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
		return true;
	case CFI_CFA_PLT:
		w->cfa = w->regs[rule->cfa_reg] + 8 +
			 ((w->regs[PC] & 15) >= (uint64_t)rule->cfa_offset ? 8 : 0);
		return true;
	case CFI_CFA_EXPRESSION:
		return evaluate(w, cfi_expression(known->table, rule->cfa_offset), NULL, &w->cfa);
	default:
		w->end = UNWIND_NO_INFO;
		return false;
	}
}

static bool value_of(struct walk *w, const struct unwind_known *known,
		     const struct cfi_saved *saved, uint64_t *ret)
{
	const uint64_t cfa = w->cfa;
	uint64_t addr;

	switch (saved->where) {
	case CFI_SAME:
		*ret = w->regs[saved->reg == PC ? ARM64_LR : saved->reg];
		return true;
	case CFI_AT_CFA:
		return walk_read_word(w, cfa + (uint64_t)(int64_t)saved->value, ret);
	case CFI_CFA_PLUS:
		*ret = cfa + (uint64_t)(int64_t)saved->value;
		return true;
	case CFI_REGISTER:
		*ret = w->regs[saved->value];
		return true;
	case CFI_AT_EXPRESSION:
		return evaluate(w, cfi_expression(known->table, saved->value), &cfa, &addr) &&
		       walk_read_word(w, addr, ret);
	case CFI_VAL_EXPRESSION:
		return evaluate(w, cfi_expression(known->table, saved->value), &cfa, ret);
	default:
		w->end = UNWIND_ROOT;
		return false;
	}
}

// Compilers that realign a stack say where registers lie by the frame pointer, and say no more when it is the caller's again, just
// before the return: then all of them are. What it points at is the function's own while it lies in its frame.
static bool is_restored(const struct walk *w, const struct unwind_known *known,
			const struct cfi_saved *saved)
{
	enum { BREG0 = 0x70 }; // DW_OP_breg0
	const uint64_t sp = w->regs[w->machine->sp], fp = w->regs[w->machine->fp];
	struct str code;

	if (saved->where != CFI_AT_EXPRESSION || fp - sp < w->cfa - sp)
		return false;
	code = cfi_expression(known->table, saved->value);
	return code.n && (uint8_t)code.p[0] == BREG0 + w->machine->fp;
}

// Any rule. False: w->end says why.
static __attribute__((noinline)) bool step_any(struct walk *w, const struct unwind_known *known,
					       bool is_leaf)
{
	const struct cfi_rule *rule = known->rule;
	uint64_t next[CFI_REGS];

	if (rule->saved[0].where == CFI_UNDEFINED) {
		w->end = UNWIND_ROOT;
		return false;
	}
	if (!find_cfa(w, known))
		return false;
	memcpy(next, w->regs, sizeof(next));
	next[w->machine->sp] = w->cfa;
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		const struct cfi_saved *saved = &rule->saved[i];

		if (is_leaf && is_restored(w, known, saved))
			continue;
		if (!value_of(w, known, saved, &next[saved->reg]) && saved->reg == PC)
			return false;
	}
	memcpy(w->regs, next, sizeof(next));
	return true;
}

// Of a function that throws (__builtin_eh_return), known by that it saves what a landing pad gets: rax and rdx.
static inline bool is_throwing(const struct walk *w, const struct cfi_rule *rule)
{
	return rule->saved_n > 2 && rule->saved[1].reg == 0 && rule->saved[2].reg == 1 &&
	       !(rule->flags & CFI_SIGNAL) && w->machine->code == EM_X86_64;
}

static bool saves(const struct cfi_rule *rule, uint8_t reg)
{
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		if (rule->saved[i].reg == reg)
			return true;
	}
	return false;
}

// In its last instructions registers are those of the frame that it goes to, though its information says that they are saved; and that
// frame goes on at a landing pad, no call returns there.
static bool step_landing(struct walk *w, const struct unwind_known *known)
{
	uint64_t pc;

	if (!find_cfa(w, known) || !value_of(w, known, &known->rule->saved[0], &pc))
		return false;
	w->regs[PC] = pc;
	w->regs[w->machine->sp] = w->cfa;
	return true;
}

static bool lands(const struct walk *w, const struct cfi_rule *rule)
{
	return is_throwing(w, rule) && !saves(rule, w->machine->fp);
}

static struct x86 instruction_at(const struct walk *w, uint64_t pc)
{
	uint8_t code[16];

	return walk_read_file(w, pc, code, sizeof(code)) ? x86_decode(code, sizeof(code))
							 : (struct x86){0};
}

// A place for debuggers to stop at.
static bool does_nothing(const struct walk *w, uint64_t function)
{
	enum { MOST = 4 };

	for (unsigned i = 0; i < MOST; i++) {
		const struct x86 x = instruction_at(w, function);

		if (!x.length || x.kind != X86_OTHER)
			return x.length && x.kind == X86_RETURN;
		function += x.length;
	}
	return false;
}

// On the way from there to those last instructions nothing is called any more that does something: it is about to go, or what it
// called last gets the registers ready.
static bool is_leaving(const struct walk *w, uint64_t pc)
{
	enum { MOST = 64 };

	for (unsigned i = 0; i < MOST; i++) {
		const struct cfi_rule *rule = walk_known(w, pc, true)->rule;
		const struct x86 x = instruction_at(w, pc);
		uint64_t target;

		if (!rule || !x.length || x.kind == X86_RETURN || x.kind == X86_STOP)
			return false;
		if (lands(w, rule))
			return true;
		pc += x.length + (x.kind == X86_JUMP ? (uint64_t)(int64_t)x.value : 0);
		if (x.kind == X86_CALL &&
		    !(walk_follows_call(w, pc, &target) && target && does_nothing(w, target)))
			return false;
	}
	return false;
}

// Before that it writes the registers of the frame that it goes to over those that its caller had, one by one, the return address as
// well. It has noted in its own frame where it was called from, behind where that frame is; of the others nobody knows which they
// are, so what follows is guessed.
static bool step_leaving(struct walk *w, uint64_t from)
{
	const uint64_t cfa = w->regs[w->machine->sp];
	uint64_t word = 0, before;

	w->is_guessed = true;
	w->end = UNWIND_BAD;
	for (uint64_t at = from; at < cfa; at += w->machine->word) {
		before = word;
		if (!walk_read_word(w, at, &word))
			return false;
		w->regs[PC] = word;
		if (before == cfa && walk_is_behind_call(w))
			return true;
	}
	return false;
}

static bool step_throwing(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	const uint64_t pc = w->regs[PC], sp = w->regs[w->machine->sp];

	*ret_signal = lands(w, known->rule);
	if (*ret_signal)
		return step_landing(w, known);
	return step_any(w, known, is_leaf) && (!is_leaving(w, pc) || step_leaving(w, sp));
}

static inline bool step_simple(struct walk *w, const struct cfi_rule *rule)
{
	uint64_t cfa = w->regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
	uint32_t i = 0;

	// The return address first: without it the rest is of no use.
	do {
		const struct cfi_saved *saved = &rule->saved[i];

		if (!walk_read_word(w, cfa + (uint64_t)(int64_t)saved->value, &w->regs[saved->reg]) &&
		    i == 0)
			return false;
	} while (++i < rule->saved_n);
	w->regs[w->machine->sp] = cfa;
	return true;
}

// Its kind of code keeps frame pointers, as one that was there has shown.
static void note_frames(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	if (map)
		unwind_dso_of(w->unwinder, map->dso)->keeps_frames = true;
}

// By what its instructions say. False: as if nothing had happened.
static bool step_code(struct walk *w, const struct cfi_rule *rule)
{
	uint64_t before[CFI_REGS], sp = w->regs[w->machine->sp];

	memcpy(before, w->regs, sizeof(before));
	if (step_simple(w, rule) && w->regs[w->machine->sp] > sp &&
	    walk_is_code(w, w->regs[PC] - 1) && walk_is_return(w)) {
		w->no_frame_at = rule->flags & CFI_MAKES_FRAME ? w->regs[PC] : 0;
		return true;
	}
	memcpy(w->regs, before, sizeof(before));
	return false;
}

static bool step_without(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	uint64_t pc = w->regs[PC] - !is_leaf, fp = w->regs[w->machine->fp];

	*ret_signal = !is_leaf && walk_is_sigreturn(w, w->regs[PC]);
	if (*ret_signal)
		return walk_step_sigreturn(w);
	if (w->no_frame_at && w->no_frame_at == w->regs[PC] && step_code(w, &cfi_no_frame))
		return true;
	if (known->rule && !known->table && step_code(w, known->rule))
		return true;
	if (!walk_step_guessed(w, is_leaf)) {
		// Asking for other places may have taken its slot.
		walk_known(w, pc, is_leaf)->is_base = w->end == UNWIND_ROOT;
		return false;
	}
	if (!walk_is_return(w)) {
		w->end = UNWIND_NO_INFO;
		return false;
	}
	if (w->regs[w->machine->sp] == fp + 2 * w->machine->word)
		note_frames(w, pc);
	return true;
}

static bool step_once(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	const struct cfi_rule *rule = known->table ? known->rule : NULL;
	uint64_t sp = w->regs[w->machine->sp];

	// What has just been called may still be on its caller's stack, or again.
	if (rule && (rule->flags & CFI_SWITCH)) {
		w->end = UNWIND_SWITCHED;
		if (!is_leaf)
			return false;
		rule = NULL;
	}
	if (rule && is_throwing(w, rule)) {
		if (!step_throwing(w, known, is_leaf, ret_signal))
			return false;
	} else if (rule && (rule->flags & CFI_SIMPLE)) {
		if (!step_simple(w, rule))
			return false;
		*ret_signal = rule->flags & CFI_SIGNAL;
	} else if (rule) {
		if (!step_any(w, known, is_leaf))
			return false;
		*ret_signal = rule->flags & CFI_SIGNAL;
	} else if (!step_without(w, known, is_leaf, ret_signal)) {
		return false;
	}
	w->regs[PC] = walk_plain_address(w, w->regs[PC]);
	if (w->machine->code == EM_AARCH64)
		w->regs[ARM64_LR] = *ret_signal ? w->regs[ARM64_LR] : w->regs[PC];
	w->end = UNWIND_BAD;
	// Callers' frames lie above; only a signal may have come on another stack.
	if (!*ret_signal && w->regs[w->machine->sp] < sp + (is_leaf ? 0 : 1))
		return false;
	if (w->regs[PC] == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	return true;
}

// What raises an exception of OCaml takes the stack back to the handler's frame, and returns to the handler, which nothing called.
static bool step_to_handler(struct walk *w, const struct cfi_rule *rule)
{
	const bool is_guessed = w->is_guessed;
	uint64_t before[CFI_REGS], after[CFI_REGS];
	bool is_signal = false, good;

	memcpy(before, w->regs, sizeof(before));
	good = step_simple(w, rule) && w->regs[w->machine->sp] > before[w->machine->sp];
	memcpy(after, w->regs, sizeof(after));
	if (good) {
		struct unwind_known *known = walk_known(w, w->regs[PC], true);

		good = known->table && step_once(w, known, true, &is_signal) &&
		       walk_is_behind_call(w);
	}
	memcpy(w->regs, good ? after : before, sizeof(after));
	w->is_guessed = is_guessed;
	return good;
}

// Frame information of hand-written code is wrong here and there between two instructions, mostly where exceptions are thrown:
// when it leads nowhere from the innermost frame, the instructions may know better.
bool walk_step(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	uint64_t before[CFI_REGS], after[CFI_REGS];
	const struct cfi_rule *rule;
	enum unwind_end end;
	bool good;

	if (!is_leaf || !known->table)
		return step_once(w, known, is_leaf, ret_signal);
	memcpy(before, w->regs, sizeof(before));
	good = step_once(w, known, is_leaf, ret_signal);
	end = w->end;
	if (good ? *ret_signal || walk_is_code(w, w->regs[PC] - 1)
		 : end != UNWIND_BAD && (end != UNWIND_ROOT || w->regs[PC]))
		return good;
	memcpy(after, w->regs, sizeof(after));
	memcpy(w->regs, before, sizeof(before));
	rule = walk_rule_of_code(w, before[PC], true);
	if (rule && (step_code(w, rule) || step_to_handler(w, rule))) {
		*ret_signal = !walk_is_behind_call(w);
		w->end = UNWIND_BAD;
		return true;
	}
	memcpy(w->regs, after, sizeof(after));
	w->end = end;
	return good;
}

// A frame's information led nowhere: assembly that moved the stack pointer without saying so. What its instructions do is asked then.
bool walk_step_again(struct walk *w, struct walk_before *before)
{
	const struct cfi_rule *rule;

	if (!before->has_rule)
		return false;
	before->has_rule = false;
	rule = walk_rule_of_code(w, before->pc, before->is_exact);
	w->regs[PC] = before->pc;
	w->regs[w->machine->sp] = before->sp;
	w->regs[w->machine->fp] = before->fp;
	return rule && step_code(w, rule);
}
