// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions of x86-64, as far as stacks need them: how long each is, where it goes on, what it does with the stack pointer and
// with registers that a function keeps for its caller. Not a disassembler. Opcodes: Intel's manual, volume 2, appendix A.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_SP = 4, X86_FP = 5, X86_NO_REG = 255 }; // by the numbers that instructions have

enum x86_kind {
	X86_OTHER, // may write register `reg`
	X86_RETURN,
	X86_STOP,   // goes nowhere, or nobody can tell where
	X86_JUMP,   // by `value` from its end
	X86_BRANCH, // likewise, or on
	X86_CALL,
	X86_PUSH, // `reg`, X86_NO_REG: something else
	X86_POP,  // likewise
	X86_ADD,  // `value` to `reg`
	X86_LEA,  // `reg` becomes `base` + value
	X86_LOAD, // `reg` from memory at `base` + value
	X86_STORE,
	X86_LEAVE,
};

struct x86 {
	enum x86_kind kind;
	uint8_t length; // 0: none that is known, or cut
	uint8_t reg, base;
	int32_t value;
};

struct x86 x86_decode(const uint8_t *p, size_t n);
