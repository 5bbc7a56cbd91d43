// SPDX-License-Identifier: GPL-2.0-or-later
// How to get from a frame to its caller by the instructions alone, where nobody describes them (x86-64). All ways from a place to
// a return leave the stack as the caller had it, so the first way that is found tells: instructions are followed over calls
// and on both sides of branches, and what happens to the stack pointer and to what is kept for the caller is written down.
#pragma once
#include "obj/cfi.h"

enum { CFI_CODE_WORDS = 8 }; // of such a rule at most

struct code_text {
	const uint8_t *p; // some of the code around
	size_t n, at;	  // at: the place in it
	bool is_return;	  // where a call returns to; else an instruction of the innermost frame
};

// Writes a rule (struct cfi_rule, CFI_SIMPLE); the rest of the words is 0. False: no way to a return is seen in these bytes, or it
// is one that no rule can tell. About 10 ns an instruction on the way.
bool cfi_of_code(const struct code_text *text, uint64_t *ret_words);
// Where a function has no frame yet: all is as its caller left it.
extern const struct cfi_rule cfi_no_frame;
