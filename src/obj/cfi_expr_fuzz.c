// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi_expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_memory(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	*ret = addr * size;
	return addr % 7 != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t regs[16] = {1, 2, 3, 1ull << 63};
	const struct cfi_expr expr = {.regs = regs,
				      .regs_n = 16,
				      .pc_reg = 16,
				      .pc = 12345,
				      .read = read_memory};
	struct str code = {(const char *)data, size};
	uint64_t value, cfa = 1 << 20;

	(void)cfi_expr_run(&expr, code, NULL, &value);
	(void)cfi_expr_run(&expr, code, &cfa, &value);
	return 0;
}
