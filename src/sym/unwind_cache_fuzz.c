// SPDX-License-Identifier: GPL-2.0-or-later
// Files of unwind tables. Their check is set right first: it would keep all changes out.
#include "base/alloc.h"
#include "base/hash.h"
#include "sym/unwind_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t use(const struct cfi_table *table)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < table->rows_n; i++) {
		const struct cfi_rule *rule = cfi_rule_at(table, table->rows[i].rule);

		if (!table->rows[i].rule)
			continue;
		if (rule->cfa == CFI_CFA_EXPRESSION)
			sum += cfi_expression(table, rule->cfa_offset).n;
		for (uint32_t k = 0; k < rule->saved_n; k++) {
			const struct cfi_saved *saved = &rule->saved[k];

			if (saved->where == CFI_AT_EXPRESSION || saved->where == CFI_VAL_EXPRESSION) {
				struct str code = cfi_expression(table, saved->value);

				sum += code.n ? (uint8_t)code.p[code.n - 1] : 0;
			}
			sum += saved->reg;
		}
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct build_id id = {0};
	const uint64_t magic = 0x32646e776e757373ull;
	struct cfi_table table;
	uint64_t check, sum = 0;
	uint8_t *bytes;

	if (size < 16)
		return 0;
	bytes = xmemdup(data, size);
	memcpy(bytes, &magic, 8);
	check = hash_bytes(bytes + 16, size - 16);
	memcpy(bytes + 8, &check, 8);
	if (unwind_cache_parse(bytes, size, &id, &table))
		sum = use(&table);
	free(bytes);
	return sum == UINT64_MAX;
}
