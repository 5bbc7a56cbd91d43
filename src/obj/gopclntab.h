// SPDX-License-Identifier: GPL-2.0-or-later
// The table of functions that each Go program carries, stripped or not (.gopclntab): names, and how large a frame is at
// each instruction. Of Go 1.2 to today. Nothing is copied; every offset is checked.
// Layout: Go's src/runtime/symtab.go (pcHeader, _func, step), debug/gosym/pclntab.go.
#pragma once
#include "obj/elf.h"

struct gopclntab {
	struct str bytes;
	uint64_t text; // address that entries of Go 1.18 and newer are relative to
	uint64_t names, steps, functions; // offsets in bytes
	uint32_t functions_n;
	uint8_t version;	       // 2, 16, 18, 20: since which Go 1.x
	uint8_t pointer_size, quantum; // quantum: bytes of the shortest instruction
	bool swap;
};

enum gopclntab_kind {
	GO_PLAIN,
	GO_ROOT, // the outermost function of a goroutine or thread
	GO_SWITCH, // moves the stack pointer to another stack: what called it is not on the stack of what it calls
};

struct gopclntab_function {
	uint64_t addr, end;
	const char *name; // "main.main"; "" when it can't be read
	enum gopclntab_kind kind;
	uint64_t steps; // for gopclntab_steps
};

// False: the file has none, or one of a kind that is not known.
bool gopclntab_init(struct gopclntab *ret, const struct elf *elf);
// index < functions_n, in the order of addresses; false when this one makes no sense.
bool gopclntab_function(const struct gopclntab *table, uint32_t index,
			struct gopclntab_function *ret);

// How far the stack pointer is below what it was at the function's first instruction.
struct gopclntab_steps {
	const uint8_t *p, *end;
	uint64_t quantum;
	uint64_t until; // the address behind the last instruction for which `bytes` holds
	int32_t bytes;
	bool first;
};
void gopclntab_steps(const struct gopclntab *table, const struct gopclntab_function *function,
		     struct gopclntab_steps *ret);
bool gopclntab_step(struct gopclntab_steps *steps);
