// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions of samples: the one that a sample is at, and those that ran between the branches of its stack.
#pragma once
#include "cmd/core/script/chains.h"

struct insns;

// An instruction that ran.
struct insn_place {
	struct task *task;
	uint8_t cpumode;
	uint64_t ip;
};

struct insns_options {
	struct out *out;     // what is appended to
	uint64_t fields;     // FIELDS_OF_CODE, FIELD_SRCLINE
	uint32_t max_blocks; // --max-blocks: of a branch stack; 0: all
	// Called behind each instruction of a branch stack; NULL: nobody wants to know.
	void (*after)(void *arg, struct out *out, const struct insn_place *place);
	void *arg;
};

struct insns *insns_new(struct chains *chains);
void insns_free(struct insns *insns);
// Appends what the fields ask for. -ENOTSUP with a sentence: no libcapstone, or a processor that it doesn't know. Code that isn't
// here is left out, and a warning says so once a file. About 100 ns an instruction that was seen before.
int insns_put(struct insns *insns, struct task *task, const struct sample *sample,
	      const struct insns_options *options);
