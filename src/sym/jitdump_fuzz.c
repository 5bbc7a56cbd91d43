// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump dump;
	size_t seen = 0;

	if (jitdump_read(&dump, data, size) < 0)
		return 0;
	vec_each(const struct jit_code, code, &dump.codes) {
		struct str lines = code->lines;
		struct jit_line line;

		seen += strlen(code->name);
		for (size_t i = 0; i < code->code.n; i++)
			seen += (size_t)code->code.p[i];
		for (size_t i = 0; i < code->eh_frame.n; i++)
			seen += (size_t)code->eh_frame.p[i];
		while (jit_line_next(&dump, &lines, &line))
			seen += strlen(line.file);
	}
	jitdump_done(&dump);
	// What was read must be read.
	__asm__ volatile("" : : "r"(seen));
	return 0;
}
