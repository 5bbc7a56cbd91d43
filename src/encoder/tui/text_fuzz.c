// SPDX-License-Identifier: GPL-2.0-or-later
// The first byte chooses width and character set, the rest is the text: no more columns than allowed, no control characters.
#include "encoder/tui/text.h"
#include <locale.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out out;
	int columns, used;

	if (!size)
		return 0;
	setlocale(LC_CTYPE, "C.UTF-8");
	columns = data[0] & 127;
	out_init_memory(&out);
	used = tui_text(&out, (struct str){(const char *)data + 1, size - 1}, columns, data[0] & 128);
	if (used > columns || (size_t)used > out.n)
		abort();
	for (size_t i = 0; i < out.n; i++) {
		if ((unsigned char)out.buf[i] < 32 || out.buf[i] == 127)
			abort();
	}
	out_done(&out);
	return 0;
}
