// SPDX-License-Identifier: GPL-2.0-or-later
// What makes eBPF instructions, for bpf.c. Inside src/expr only.
#pragma once
#include "expr/bpf.h"

enum {
	R0 = BPF_REG_0,
	R1,
	R2,
	R3,
	R4,
	RECORD = BPF_REG_9,
	FP = BPF_REG_10,
};

void bpf_move(struct expr_bpf *b, unsigned dst, unsigned src);
void bpf_move_imm(struct expr_bpf *b, unsigned dst, uint64_t value);
// A jump that compares two registers; expr_bpf_land sets its target.
size_t bpf_jump_reg(struct expr_bpf *b, uint8_t op, unsigned reg, unsigned other);
// The jump goes to where failed evaluations go on.
void bpf_fail_at(struct expr_bpf *b, size_t jump);
