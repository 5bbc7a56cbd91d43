// SPDX-License-Identifier: GPL-2.0-or-later
// An instruction's text as perf's screen and annotate --stdio2 write it: jumps by their offset in the function, calls and
// fixed addresses by names (tools/perf/util/annotate.c, arch/x86/annotate/instructions.c).
#pragma once
#include "base/out.h"
#include "view/annotated.h"

enum operand_kind {
	OPERANDS_PLAIN, // nobody knows this instruction: as it is
	OPERANDS_TWO,	// source,target
	OPERANDS_ONE,
	OPERANDS_JUMP,
	OPERANDS_CALL,
	OPERANDS_LOCK, // before another one
	OPERANDS_NOP,
	OPERANDS_RETURN,
};

// How many bytes the name takes, up to the first blank.
size_t operands_name_size(const char *text);
enum operand_kind operands_kind(const char *text);

struct operands_place {
	const char *target_name; // of the symbol that a direct jump or call leads to or into; NULL: none
	int64_t offset; // of a jump's target from the function's start; what lies before it keeps its address
	bool outside; // that is in another one
};
// Without names in place of addresses.
void operands_put_plain(struct out *out, const char *text, int width);
// Writes the text, the name filled up to `width`.
void operands_put(struct out *out, const char *text, int width, const struct operands_place *place);
