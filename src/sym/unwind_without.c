// SPDX-License-Identifier: GPL-2.0-or-later
// Steps up a stack without frame information: what the kernel leaves for signals, assembly, system calls of 32-bit programs, frame
// pointers.
#include "sym/jit.h"
#include "sym/unwind_walk.h"
#include <sys/mman.h>

bool walk_is_code(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	// Old records don't tell, and then are of code.
	return map && (!map->is_mmap2 || !map->prot || (map->prot & PROT_EXEC));
}

// Registers as the kernel keeps them while a signal handler runs, for C libraries that describe no frame there: the
// code that is returned to is always "sigreturn". struct rt_sigframe of the kernel's arch/*/kernel/signal.c.
bool walk_is_sigreturn(const struct walk *w, uint64_t pc)
{
	static const uint8_t on_x86_64[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t on_arm64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	const struct mapping *map;
	uint8_t code[sizeof(on_x86_64)];

	if (w->machine->code == EM_X86_64)
		return walk_read_file(w, pc, code, sizeof(on_x86_64)) &&
		       memcmp(code, on_x86_64, sizeof(on_x86_64)) == 0;
	if (w->machine->code == EM_AARCH64 && walk_read_file(w, pc, code, sizeof(on_arm64)))
		return memcmp(code, on_arm64, sizeof(on_arm64)) == 0;
	// Of another machine's vdso nothing is here; nothing else in it calls.
	map = space_find_near(w->unwinder->sym, w->task->space, pc);
	return map && map->dso->kind == DSO_VDSO;
}

// struct sigframe_ia32 and rt_sigframe_ia32 of arch/x86/include/asm/sigframe.h: the handler's arguments tell which.
static bool step_sigreturn_i386(struct walk *w)
{
	static const uint8_t order[] = {7, 6, 5, 4,
					3, 2, 1, 0}; // edi, esi, ebp, esp, ebx, edx, ecx, eax
	enum { SEGMENTS = 16, EIP = SEGMENTS + 40, RT_CONTEXT = 12 + 128 + 20 };
	uint64_t sp = w->regs[w->machine->sp], at = sp + 4, info, next[CFI_REGS] = {0};

	if (!walk_read_word(w, sp + 4, &info))
		return false;
	if (info == sp + 12)
		at = sp + RT_CONTEXT;
	for (size_t i = 0; i < sizeof(order); i++) {
		if (!walk_read_word(w, at + SEGMENTS + i * 4, &next[order[i]]))
			return false;
	}
	if (!walk_read_word(w, at + EIP, &next[PC]))
		return false;
	memcpy(w->regs, next, sizeof(next));
	return true;
}

bool walk_step_sigreturn(struct walk *w)
{
	static const uint8_t x86_64_order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
					       4, 6, 3,	 1,  0,	 2,  7,	 PC};
	uint64_t at = w->regs[w->machine->sp], next[CFI_REGS] = {0};

	if (w->machine->code == EM_386)
		return step_sigreturn_i386(w);
	if (w->machine->code == EM_X86_64) {
		at += 40;
		for (size_t i = 0; i < sizeof(x86_64_order); i++) {
			if (!walk_read_word(w, at + i * 8, &next[x86_64_order[i]]))
				return false;
		}
	} else {
		at += 128 + 176 + 8;
		for (size_t i = 0; i <= PC; i++) {
			if (!walk_read_word(w, at + i * 8, &next[i]))
				return false;
		}
	}
	memcpy(w->regs, next, sizeof(next));
	return true;
}

enum { LONGEST_CALL = 7 };

// Is that where a call returns to? `ret_target`: where it went, 0 when only a register or memory knows.
static bool ends_with_call(const uint8_t *code, uint64_t pc, uint64_t *ret_target)
{
	int32_t by;

	*ret_target = 0;
	if (code[2] == 0xe8) {
		memcpy(&by, code + 3, 4);
		*ret_target = pc + (uint64_t)(int64_t)by;
		return true;
	}
	// call r/m: of 2, 3, 6 or 7 bytes
	return (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10) ||
	       (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

bool walk_follows_call(const struct walk *w, uint64_t pc, uint64_t *ret_target)
{
	uint8_t code[LONGEST_CALL];

	*ret_target = 0;
	return walk_is_code(w, pc - 1) && walk_read_file(w, pc - sizeof(code), code, sizeof(code)) &&
	       ends_with_call(code, pc, ret_target);
}

// Made by a JIT compiler, as far as one can tell.
static bool is_made_code(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	return map && (map->dso->kind == DSO_ANON || text_starts(map->dso->name, "/memfd:") ||
		       jit_bytes(w->unwinder->sym, map->dso, 0).n);
}

// Interpreters put such addresses there themselves.
bool walk_is_no_return(const struct walk *w, uint64_t pc)
{
	uint8_t code[LONGEST_CALL];
	uint64_t target;

	return w->machine->code != EM_AARCH64 && !is_made_code(w, pc - 1) &&
	       walk_read_code(w, pc - sizeof(code), code, sizeof(code)) == sizeof(code) &&
	       !ends_with_call(code, pc, &target) && !walk_is_sigreturn(w, pc);
}

// Assembly in a file, without description and without a frame pointer: mostly it moved the stack pointer not at all, or
// pushed some registers. Only what a call to it must have left there is believed.
static bool step_assembly(struct walk *w)
{
	enum { WORDS = 16, LONGEST = 1 << 14 };
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], here = regs[PC], pc, target;
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, here);

	if (w->machine->code != EM_X86_64 || !map || map->dso->kind != DSO_USER)
		return false;
	for (uint64_t i = 0; i < WORDS; i++) {
		if (!walk_read_word(w, sp + i * 8, &pc))
			return false;
		if (!walk_follows_call(w, pc, &target))
			continue;
		bool is_of_here = target && target <= here && here - target <= LONGEST;

		if (i && !is_of_here)
			continue;
		w->is_guessed |= !is_of_here;
		// Its own frame pointer, if it has made one.
		if (i && regs[w->machine->fp] == sp + i * 8 - 8 &&
		    !walk_read_word(w, regs[w->machine->fp], &regs[w->machine->fp]))
			return false;
		regs[PC] = pc;
		regs[w->machine->sp] = sp + i * 8 + 8;
		return true;
	}
	return false;
}

// System calls of 32-bit programs go through __kernel_vsyscall in a vdso that only they can read. Since Linux 4.4 it keeps
// ebp, edx and ecx on the stack meanwhile (arch/x86/entry/vdso/vdso32/system_call.S), before that nothing.
static bool step_vsyscall(struct walk *w)
{
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], pc, fp;
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, regs[PC]);

	if (w->machine->code != EM_386 || !map || map->dso->kind != DSO_VDSO)
		return false;
	if (walk_read_word(w, sp + 12, &pc) && walk_is_code(w, pc - 1) && walk_read_word(w, sp, &fp)) {
		regs[w->machine->fp] = fp;
		sp += 12;
	} else if (!walk_read_word(w, sp, &pc) || !walk_is_code(w, pc - 1)) {
		return false;
	}
	regs[PC] = pc;
	regs[w->machine->sp] = sp + 4;
	return true;
}

// A program or library whose file is not here: whether it keeps frame pointers nobody can tell, and mostly it does not.
static bool is_unread_file(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	return map && map->dso->kind == DSO_USER &&
	       !unwind_dso_of(w->unwinder, map->dso)->has_source && !is_made_code(w, pc);
}

// The frame pointer leads to the caller's and to the return address, on both machines.
static bool step_frame_pointer(struct walk *w, bool is_leaf)
{
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], fp = regs[w->machine->fp];
	const unsigned word = w->machine->word;
	uint64_t next_fp, pc;

	w->end = UNWIND_NO_INFO;
	// Called a pointer that leads nowhere: the call is all that happened.
	if (is_leaf && !space_find_near(w->unwinder->sym, w->task->space, regs[PC])) {
		bool good = true;

		pc = walk_plain_address(w, regs[ARM64_LR]);
		if (w->machine->code != EM_AARCH64)
			good = walk_read_word(w, sp, &pc);
		if (good && walk_is_code(w, pc)) {
			regs[PC] = pc;
			regs[w->machine->sp] += w->machine->code == EM_AARCH64 ? 0 : word;
			return true;
		}
		w->end = UNWIND_NO_INFO;
	}
	if (is_unread_file(w, regs[PC] - !is_leaf))
		return false;
	if (is_leaf && (step_assembly(w) || step_vsyscall(w)))
		return true;
	w->end = UNWIND_NO_INFO;
	if (fp == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	w->is_elsewhere = is_made_code(w, regs[PC] - !is_leaf);
	if (fp & (word - 1) || fp < sp)
		return false;
	if (!walk_read_word(w, fp + word, &pc) || !walk_read_word(w, fp, &next_fp)) {
		// A register that holds something else leads anywhere.
		if (fp - w->stack_at > w->stack_size + (1 << 20))
			w->end = UNWIND_NO_INFO;
		return false;
	}
	if (pc == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	w->end = UNWIND_NO_INFO;
	w->is_elsewhere = false;
	if (!walk_is_code(w, walk_plain_address(w, pc) - 1))
		return false;
	regs[PC] = pc;
	regs[w->machine->fp] = next_fp;
	regs[w->machine->sp] = fp + 2 * word;
	w->is_guessed = true;
	return true;
}

// A trampoline of made code that nobody can look at any more: it keeps no frame pointer, and its return address lies next to
// where its stack ends.
static bool step_trampoline(struct walk *w, bool is_leaf)
{
	enum { WORDS = 4 };
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], pc, target;
	const struct mapping *map;
	uint8_t code;

	if (is_leaf || w->machine->code != EM_X86_64 || !is_made_code(w, regs[PC] - 1) ||
	    walk_read_code(w, regs[PC], &code, 1))
		return false;
	map = space_find_near(w->unwinder->sym, w->task->space, regs[PC] - 1);
	if (unwind_dso_of(w->unwinder, map->dso)->keeps_frames)
		return false;
	for (uint64_t i = 0; i < WORDS && walk_read_word(w, sp + i * 8, &pc); i++) {
		if (!walk_follows_call(w, pc, &target))
			continue;
		regs[PC] = pc;
		regs[w->machine->sp] = sp + i * 8 + 8;
		return true;
	}
	return false;
}

bool walk_step_guessed(struct walk *w, bool is_leaf)
{
	enum unwind_end end;

	if (step_frame_pointer(w, is_leaf))
		return true;
	end = w->end;
	if (end == UNWIND_NO_INFO && step_trampoline(w, is_leaf)) {
		w->is_guessed = true;
		return true;
	}
	w->end = end;
	return false;
}
