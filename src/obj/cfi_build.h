// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of cfi*.c share and nobody else sees: entries of a frame section, and the table while it grows.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"

// The rules at one place. Columns: see CFI_REGS, CFI_RA_COLUMN.
struct cfi_state {
	uint8_t cfa, cfa_reg;
	bool bad; // can't be told
	int32_t cfa_offset;
	uint64_t set; // columns that have a rule
	struct {
		uint8_t where;
		int32_t value;
	} columns[CFI_REGS];
};

struct cfi_section {
	struct str bytes;
	uint64_t addr, text, data; // addresses: of the section, and what textrel and datarel mean
	bool is_debug;		   // .debug_frame
};

struct cfi_cie {
	bool good, is_signal;
	uint8_t encoding; // of addresses in its FDEs
	bool has_augmentation;
	uint64_t code_align, ra;
	int64_t data_align;
	struct str code;
	struct cfi_state state; // after `code`
};

// Code of a function, as offsets in the file.
struct cfi_fde {
	uint32_t at, size;
	uint32_t cie;  // index
	uint32_t rank; // of those at the same place the lowest counts
	uint64_t vaddr;
	struct str code;
};

struct cfi_builder {
	uint16_t machine;
	const struct elf *runtime;
	VEC(struct elf_segment) segments; // executable ones
	VEC(struct cfi_cie) cies;
	VEC(struct cfi_fde) fdes;
	VEC(struct cfi_row) rows;
	VEC(uint64_t) rules;
	VEC(uint8_t) expressions;
	uint8_t init_code[2][8];	     // what describes .init and .fini
	struct map rule_ids, expression_ids; // by hash
	int err;
};

// cfi_frame.c: all entries of a section.
void cfi_read_section(struct cfi_builder *builder, const struct cfi_section *section);

// cfi_run.c
// The state after a CIE's own instructions.
void cfi_run_cie(struct cfi_builder *builder, struct cfi_cie *cie);
// Adds the rows of a function up to file offset `end`.
void cfi_run_fde(struct cfi_builder *builder, const struct cfi_fde *fde, uint32_t end);
