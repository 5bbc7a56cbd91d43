// SPDX-License-Identifier: GPL-2.0-or-later
// A format text up to the first NUL, then the raw data of two events.
#include "abi/tracepoint.h"
#include "base/err.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct tracepoint *tp, const uint8_t *data, uint32_t size)
{
	const struct tp_field *fields;
	size_t n = tracepoint_fields(tp, &fields);
	uint8_t *raw = malloc(size ? size : 1); // exactly as long as it says
	struct out out;

	memcpy(raw, data, size);
	out_init_memory(&out);
	tracepoint_print(&out, tp, raw, size);
	tracepoint_print_fields(&out, tp, raw, size);
	for (size_t i = 0; i < n; i++) {
		tp_number(&fields[i], raw, size);
		out_str(&out, tp_string(&fields[i], raw, size));
	}
	out_done(&out);
	free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size;
	struct tracepoints *all = tracepoints_new(
		&(struct tp_options){.long_size = n % 2 ? 4 : 8, .big_endian = n % 3 == 0});
	struct str format = {(const char *)data, n};

	if (tracepoints_add(all, "fuzz", format) == 0) {
		const char *id = memmem(data, n, "ID:", 3);

		for (uint32_t i = 0; id && i < 100; i++) {
			const struct tracepoint *tp = tracepoints_by_id(all, i);

			if (!tp)
				continue;
			size_t rest = nul ? size - n - 1 : 0;

			print(tp, nul ? nul + 1 : data, (uint32_t)(rest / 2));
			print(tp, nul ? nul + 1 + rest / 2 : data, (uint32_t)(rest - rest / 2));
		}
	}
	tracepoints_free(all);
	err_clear();
	return 0;
}
