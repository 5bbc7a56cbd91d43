// SPDX-License-Identifier: GPL-2.0-or-later
// A machine for the DWARF expressions of call frame information (DWARF 5 section 2.5): a bounded stack, a bounded number
// of steps, whatever the bytes are.
#pragma once
#include "base/str.h"
#include <stdint.h>

struct cfi_expr {
	const uint64_t *regs; // by DWARF number
	uint32_t regs_n;
	uint8_t pc_reg; // the number that stands for pc, 255: none
	uint64_t pc;
	// Reads `size` (1 to 8) bytes of the task's memory, little endian; false: not known.
	bool (*read)(void *arg, uint64_t addr, unsigned size, uint64_t *ret);
	void *arg;
};

// The value on top of the stack at the end. `cfa` lies there at the start when `with_cfa`. -EINVAL when the expression
// makes no sense, -EFAULT when it reads what is not known, -ELOOP when it takes too long; no sentence. No allocation.
int cfi_expr_run(const struct cfi_expr *expr, struct str code, const uint64_t *cfa, uint64_t *ret);
