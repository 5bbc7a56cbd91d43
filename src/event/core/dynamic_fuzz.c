// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/out.h"
#include "base/str.h"
#include "event/core/dynamic.h"
#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = str_dup((struct str){(const char *)data, size});
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		unsigned left;
		struct out out;

		out_init_memory(&out);
		event_dynamic_fetch(&out, machines[i], text, &left);
		out_done(&out);
	}
	return 0;
}
