// SPDX-License-Identifier: GPL-2.0-or-later
// Where the registers and the stack of user space lie in a sample.
#pragma once
#include "abi/sample.h"

struct sample_parts {
	const uint8_t *regs, *stack, *behind; // stack: at the word that says how many bytes follow
};

// Of one that was decoded and has a chain, registers and a stack.
struct sample_parts sample_parts_find(const struct sample_plan *plan, const struct sample *sample);
// Writes the sample with no more of its stack than the `valid` bytes of it; at most as large as it was. Returns how many bytes.
size_t sample_parts_trim(uint8_t *to, const struct perf_event_header *header,
			 const struct sample_parts *parts, uint64_t valid);
