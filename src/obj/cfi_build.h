// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of cfi*.c share and nobody else sees: entries of a frame section, and the table while it grows.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"
#include "obj/gopclntab.h"

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
	uint8_t address_size;	   // 4 or 8
};

struct cfi_cie {
	bool good, is_signal;
	bool is_go; // its FDEs are functions of `builder.go`
	uint8_t go_kind;
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
	uint32_t go_index; // of a function of Go
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
	struct gopclntab go;
	uint8_t init_code[2][8];	     // what describes .init and .fini
	struct map rule_ids, expression_ids; // by hash
	int err;
};

// cfi_go.c: functions of Go, which come before what other descriptions say of them.
void cfi_read_go(struct cfi_builder *builder);
void cfi_run_go(struct cfi_builder *builder, const struct cfi_fde *fde, uint32_t end);

// cfi_frame.c
// Where code lies in the file; false when it is not in a part that is mapped to be run.
bool cfi_file_offset(const struct cfi_builder *builder, uint64_t vaddr, uint64_t size, uint32_t *ret);
// All entries of a section.
void cfi_read_section(struct cfi_builder *builder, const struct cfi_section *section);

// cfi_run.c
// The state after a CIE's own instructions.
void cfi_run_cie(struct cfi_builder *builder, struct cfi_cie *cie);
// The rule that a state stands for, 0 when nothing is known; flags: CFI_SIGNAL, CFI_SWITCH, CFI_KEEPS_FP.
uint32_t cfi_rule_of(struct cfi_builder *builder, const struct cfi_state *state, uint8_t flags);
// Rows come in the order of their places.
void cfi_put_row(struct cfi_builder *builder, uint64_t at, uint32_t rule);
// Adds the rows of a function up to file offset `end`.
void cfi_run_fde(struct cfi_builder *builder, const struct cfi_fde *fde, uint32_t end);
