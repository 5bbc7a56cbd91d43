// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of Go, from the table that its programs carry in any case: it knows them to the instruction, and where stacks
// begin and change, which the call frame information of Go doesn't tell.
#include "obj/cfi_build.h"

enum { X86_64_RBP = 6, X86_64_RSP = 7, ARM64_SP = 31, GO_KINDS = 3, MOST_BYTES = 1 << 30 };

void cfi_read_go(struct cfi_builder *builder)
{
	uint32_t first = (uint32_t)builder->cies.n;
	struct gopclntab_function function;

	if (builder->machine == EM_386 || !gopclntab_init(&builder->go, builder->runtime))
		return;
	for (uint8_t kind = 0; kind < GO_KINDS; kind++)
		vec_push(&builder->cies,
			 (struct cfi_cie){.good = true, .is_go = true, .go_kind = kind});
	for (uint32_t i = 0; i < builder->go.functions_n; i++) {
		struct cfi_fde fde = {.rank = (uint32_t)builder->fdes.n};

		if (!gopclntab_function(&builder->go, i, &function) ||
		    !cfi_file_offset(builder, function.addr, function.end - function.addr, &fde.at))
			continue;
		fde.size = (uint32_t)(function.end - function.addr);
		fde.vaddr = function.addr;
		fde.cie = first + function.kind;
		fde.go_index = i;
		vec_push(&builder->fdes, fde);
	}
}

static void put(struct cfi_state *state, unsigned column, enum cfi_where where, int32_t value)
{
	state->set |= 1ull << column;
	state->columns[column].where = (uint8_t)where;
	state->columns[column].value = value;
}

// A frame of so many bytes below the return address, on arm64 with the return address as the lowest word.
static struct cfi_state state_of(uint16_t machine, enum gopclntab_kind kind, int32_t bytes)
{
	struct cfi_state state = {.cfa = CFI_CFA_REGISTER};

	if (machine == EM_X86_64) {
		state.cfa_reg = X86_64_RSP;
		state.cfa_offset = bytes + 8;
		put(&state, CFI_RA_COLUMN, CFI_AT_CFA, -8);
		if (bytes >= 8)
			put(&state, X86_64_RBP, CFI_AT_CFA, -16);
	} else {
		state.cfa_reg = ARM64_SP;
		state.cfa_offset = bytes;
		put(&state, CFI_RA_COLUMN, bytes ? CFI_AT_CFA : CFI_SAME, bytes ? -bytes : 0);
	}
	if (kind != GO_PLAIN)
		put(&state, CFI_RA_COLUMN, CFI_UNDEFINED, 0);
	return state;
}

void cfi_run_go(struct cfi_builder *builder, const struct cfi_fde *fde, uint32_t end)
{
	enum gopclntab_kind kind = builder->cies.v[fde->cie].go_kind;
	struct gopclntab_function function;
	struct gopclntab_steps steps;
	uint64_t at = fde->at;

	if (gopclntab_function(&builder->go, fde->go_index, &function)) {
		gopclntab_steps(&builder->go, &function, &steps);
		while (at < end && gopclntab_step(&steps)) {
			bool good = steps.bytes >= 0 && steps.bytes < MOST_BYTES;
			const struct cfi_state state =
				state_of(builder->machine, kind, good ? steps.bytes : 0);
			const uint8_t flags = (uint8_t)((kind == GO_SWITCH ? CFI_SWITCH : 0) |
							(steps.bytes >= 8 ? CFI_KEEPS_FP : 0));

			cfi_put_row(builder, at, good ? cfi_rule_of(builder, &state, flags) : 0);
			at = fde->at + (steps.until - fde->vaddr);
		}
	}
	if (at < end)
		cfi_put_row(builder, at, 0);
	cfi_put_row(builder, end, 0);
}
