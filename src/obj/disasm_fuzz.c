// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as instructions of each processor: each is passed over in whole, inside of the bytes.
#include "obj/disasm.h"
#include <assert.h>
#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct disasm_options kinds[] = {
		{.machine = EM_X86_64, .is_64bit = true},
		{.machine = EM_X86_64, .is_64bit = true, .syntax = DISASM_INTEL},
		{.machine = EM_386},
		{.machine = EM_AARCH64, .is_64bit = true},
		{.machine = EM_ARM},
	};
	struct disasm_insn insn;
	struct disasm *disasm;
	struct out out;

	if (size < 2 || disasm_new(&disasm, &kinds[data[0] % 5]) < 0)
		return 0;
	out_init_memory(&out);
	for (size_t at = 1; at < size; at += insn.size) {
		out.n = 0;
		insn = disasm_next(disasm, (struct str){(const char *)data + at, size - at}, at,
				   &out);
		assert(insn.size && insn.size <= size - at && out.n);
	}
	out_done(&out);
	disasm_free(disasm);
	return 0;
}
