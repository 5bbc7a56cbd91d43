// SPDX-License-Identifier: GPL-2.0-or-later
// Files of what debug information said. Their check and key are set right first: they would keep all changes out.
#include "base/alloc.h"
#include "base/hash.h"
#include "sym/source_cache.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct source_key key = {.size_bytes = 1, .modified_ns = 2};
	const uint64_t magic = 0x3173656e696c7373ull;
	struct source_kept kept;
	uint64_t check, sum = 0;
	uint8_t *bytes;

	if (size < 40)
		return 0;
	bytes = xmemdup(data, size);
	memcpy(bytes, &magic, 8);
	memcpy(bytes + 16, &key.size_bytes, 8);
	memcpy(bytes + 24, &key.modified_ns, 8);
	check = hash_bytes(bytes + 16, size - 16);
	memcpy(bytes + 8, &check, 8);
	if (source_cache_parse((struct str){(char *)bytes, size}, &key, &kept)) {
		for (unsigned ask = 0; ask < SOURCE_ASKS; ask++) {
			for (uint32_t i = 0; i < kept.answers_n[ask]; i++) {
				const struct source_kept_answer *answer = &kept.answers[ask][i];

				for (uint32_t k = 0; k < answer->n; k++) {
					const struct source_kept_frame *frame =
						&kept.frames[answer->first + k];

					sum += strlen(kept.texts + frame->function) +
					       strlen(kept.texts + frame->file);
				}
			}
		}
	}
	free(bytes);
	return sum == UINT64_MAX;
}
