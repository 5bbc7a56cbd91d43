// SPDX-License-Identifier: GPL-2.0-or-later
// Works off the instructions of call frame information: rows come out.
#include <errno.h>
#include "base/hash.h"
#include "obj/cfi_build.h"
#include "obj/dwarf_read.h"

enum {
	REMEMBERED_MAX = 16,
	RULES_MAX = 1 << 22,	   // words; real files have some thousand
	EXPRESSIONS_MAX = 1 << 22, // bytes
};

// DWARF 5 table 7.29; the last three are of GNU and arm64.
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE1,
	CFA_ADVANCE2,
	CFA_ADVANCE4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	struct cfi_builder *builder;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde; // NULL: of a CIE
	struct dwarf_reader r;
	struct cfi_state state;
	struct cfi_state remembered[REMEMBERED_MAX];
	uint32_t remembered_n;
	uint64_t at, end; // file offsets
	bool changed;	  // since the last row
};

static uint64_t registers_of(uint16_t machine)
{
	return machine == EM_X86_64 ? 16 : machine == EM_386 ? 8 : 32;
}

// -1: a register that no caller's address depends on.
static int column_of(const struct run *run, uint64_t reg)
{
	uint64_t known = registers_of(run->builder->machine);

	if (reg == run->cie->ra)
		return CFI_RA_COLUMN;
	return reg < known ? (int)reg : -1;
}

static void set(struct run *run, uint64_t reg, enum cfi_where where, int64_t value)
{
	int column = column_of(run, reg);

	if (column < 0)
		return;
	if (value < INT32_MIN || value > INT32_MAX) {
		run->state.bad = true;
		return;
	}
	run->state.columns[column].where = (uint8_t)where;
	run->state.columns[column].value = (int32_t)value;
	run->state.set |= 1ull << column;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	uint64_t known = registers_of(run->builder->machine);

	if (reg >= known || offset < INT32_MIN || offset > INT32_MAX) {
		run->state.bad = true;
		return;
	}
	run->state.cfa = CFI_CFA_REGISTER;
	run->state.cfa_reg = (uint8_t)reg;
	run->state.cfa_offset = (int32_t)offset;
}

static int64_t scaled(const struct run *run, int64_t factor)
{
	int64_t v;

	// What doesn't fit is refused where it is used.
	return __builtin_mul_overflow(factor, run->cie->data_align, &v) ? INT64_MAX : v;
}

static int64_t scaled_u(struct run *run)
{
	uint64_t factor = dwarf_uleb(&run->r);

	return scaled(run, factor > INT32_MAX ? INT64_MAX : (int64_t)factor);
}

static int64_t plain_offset(struct run *run)
{
	uint64_t v = dwarf_uleb(&run->r);

	return v > INT32_MAX ? INT64_MAX : (int64_t)v;
}

static int64_t intern_expression(struct run *run, struct str code)
{
	struct cfi_builder *builder = run->builder;
	size_t n = builder->expressions.n;
	uint64_t *known;
	bool is_new;

	if (code.n > UINT16_MAX || n + code.n + 2 > EXPRESSIONS_MAX) {
		if (code.n <= UINT16_MAX)
			builder->err = -EFBIG;
		return INT64_MAX;
	}
	known = map_at(&builder->expression_ids, hash_bytes(code.p, code.n), &is_new);
	if (!is_new) {
		const uint8_t *p = builder->expressions.v + *known;

		if ((size_t)(p[0] | p[1] << 8) == code.n && memcmp(p + 2, code.p, code.n) == 0)
			return (int64_t)*known;
	}
	*known = n;
	vec_reserve(&builder->expressions, code.n + 2);
	builder->expressions.v[n] = (uint8_t)code.n;
	builder->expressions.v[n + 1] = (uint8_t)(code.n >> 8);
	memcpy(builder->expressions.v + n + 2, code.p, code.n);
	builder->expressions.n = n + 2 + code.n;
	return (int64_t)n;
}

static struct str read_block(struct run *run)
{
	uint64_t n = dwarf_uleb(&run->r);
	struct str block = {(const char *)run->r.p, n};

	dwarf_skip(&run->r, n);
	return run->r.bad ? (struct str){0} : block;
}

// rsp+8, and 8 more behind the push: (pc & 15) >= N, shifted left by 3.
static bool is_plt(struct str code, int32_t *ret_from)
{
	static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};
	uint8_t bytes[sizeof(plt)];

	if (code.n != sizeof(plt))
		return false;
	memcpy(bytes, code.p, sizeof(bytes));
	if (bytes[6] < 0x30 || bytes[6] > 0x3f)
		return false;
	*ret_from = bytes[6] - 0x30;
	bytes[6] = 0x30;
	return memcmp(bytes, plt, sizeof(plt)) == 0;
}

static void set_cfa_expression(struct run *run)
{
	struct str code = read_block(run);
	int64_t at;
	int32_t from;

	if (run->r.bad)
		return;
	if (run->builder->machine == EM_X86_64 && is_plt(code, &from)) {
		run->state.cfa = CFI_CFA_PLT;
		run->state.cfa_reg = 7;
		run->state.cfa_offset = from;
		return;
	}
	at = intern_expression(run, code);
	if (at == INT64_MAX) {
		run->state.bad = true;
		return;
	}
	run->state.cfa = CFI_CFA_EXPRESSION;
	run->state.cfa_offset = (int32_t)at;
}

static void set_expression(struct run *run, enum cfi_where where)
{
	uint64_t reg = dwarf_uleb(&run->r);
	struct str code = read_block(run);

	if (!run->r.bad && column_of(run, reg) >= 0)
		set(run, reg, where, intern_expression(run, code));
}

static void restore(struct run *run, uint64_t reg)
{
	const struct cfi_state *first = &run->cie->state;
	int column = column_of(run, reg);

	if (column < 0 || !run->fde)
		return;
	run->state.columns[column] = first->columns[column];
	run->state.set &= ~(1ull << column);
	run->state.set |= first->set & 1ull << column;
}

static uint32_t new_rule(struct cfi_builder *builder, const uint64_t *words, size_t n)
{
	uint32_t id = (uint32_t)builder->rules.n;

	if (id + n > RULES_MAX) {
		builder->err = -EFBIG;
		return 0;
	}
	vec_reserve(&builder->rules, n);
	memcpy(builder->rules.v + id, words, n * 8);
	builder->rules.n += n;
	return id;
}

uint32_t cfi_rule_of(struct cfi_builder *builder, const struct cfi_state *state, uint8_t flags)
{
	uint64_t bytes[1 + CFI_REGS];
	struct cfi_rule *rule = (struct cfi_rule *)bytes;
	uint64_t rest = state->set & ~(1ull << CFI_RA_COLUMN), *known;
	bool is_new, simple = state->cfa == CFI_CFA_REGISTER;
	size_t words;

	if (state->bad || state->cfa == CFI_CFA_NONE)
		return 0;
	*rule = (struct cfi_rule){state->cfa, state->cfa_reg, 0, 1, state->cfa_offset};
	rule->saved[0] = (struct cfi_saved){.reg = CFI_RA_COLUMN, .where = CFI_SAME};
	if (state->set & 1ull << CFI_RA_COLUMN)
		rule->saved[0] =
			(struct cfi_saved){CFI_RA_COLUMN, state->columns[CFI_RA_COLUMN].where, 0,
					   state->columns[CFI_RA_COLUMN].value};
	else if (builder->machine != EM_AARCH64) // has no register to keep it in
		rule->saved[0].where = CFI_UNDEFINED;
	simple = simple && rule->saved[0].where == CFI_AT_CFA;
	for (; rest; rest &= rest - 1) {
		int column = __builtin_ctzll(rest);
		uint8_t where = state->columns[column].where;

		if (where == CFI_SAME || where == CFI_UNDEFINED)
			continue;
		simple = simple && where == CFI_AT_CFA;
		rule->saved[rule->saved_n++] =
			(struct cfi_saved){(uint8_t)column, where, 0, state->columns[column].value};
	}
	rule->flags = flags | (simple ? CFI_SIMPLE : 0);
	words = 1u + rule->saved_n;
	known = map_at(&builder->rule_ids, hash_bytes(bytes, words * 8), &is_new);
	if (is_new || memcmp(&builder->rules.v[*known], bytes, words * 8) != 0)
		*known = new_rule(builder, bytes, words);
	return (uint32_t)*known;
}

static uint32_t rule_of(struct run *run)
{
	return cfi_rule_of(run->builder, &run->state, run->cie->is_signal ? CFI_SIGNAL : 0);
}

void cfi_put_row(struct cfi_builder *builder, uint64_t at, uint32_t rule)
{
	struct cfi_row *last = builder->rows.n ? &vec_last(&builder->rows) : NULL;

	if (last && last->at == at) {
		last->rule = rule;
		if (builder->rows.n > 1 && last[-1].rule == rule)
			builder->rows.n--;
	} else if (!last || last->rule != rule) {
		vec_push(&builder->rows, (struct cfi_row){(uint32_t)at, rule});
	}
}

static void advance(struct run *run, uint64_t by)
{
	if (!run->fde || by == 0)
		return;
	if (run->changed)
		cfi_put_row(run->builder, run->at, rule_of(run));
	run->changed = false;
	run->at = by < run->end - run->at ? run->at + by : run->end;
}

static void advance_factored(struct run *run, uint64_t delta)
{
	advance(run, delta * run->cie->code_align); // both below 2^32
}

// Those that set the CFA; false when it is another one.
static bool run_cfa(struct run *run, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = dwarf_uleb(&run->r);
		set_cfa(run, reg, plain_offset(run));
		return true;
	case CFA_DEF_CFA_SF:
		reg = dwarf_uleb(&run->r);
		set_cfa(run, reg, scaled(run, dwarf_sleb(&run->r)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(run, dwarf_uleb(&run->r), run->state.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(run, run->state.cfa_reg, plain_offset(run));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(run, run->state.cfa_reg, scaled(run, dwarf_sleb(&run->r)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run);
		return true;
	default:
		return false;
	}
}

static bool run_register(struct run *run, uint8_t op)
{
	uint64_t reg, other;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = dwarf_uleb(&run->r);
		set(run, reg, CFI_AT_CFA, scaled_u(run));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = dwarf_uleb(&run->r);
		set(run, reg, CFI_AT_CFA, scaled(run, dwarf_sleb(&run->r)));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = dwarf_uleb(&run->r);
		set(run, reg, CFI_AT_CFA, -scaled_u(run));
		return true;
	case CFA_VAL_OFFSET:
		reg = dwarf_uleb(&run->r);
		set(run, reg, CFI_CFA_PLUS, scaled_u(run));
		return true;
	case CFA_VAL_OFFSET_SF:
		reg = dwarf_uleb(&run->r);
		set(run, reg, CFI_CFA_PLUS, scaled(run, dwarf_sleb(&run->r)));
		return true;
	case CFA_UNDEFINED:
		set(run, dwarf_uleb(&run->r), CFI_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		set(run, dwarf_uleb(&run->r), CFI_SAME, 0);
		return true;
	case CFA_REGISTER:
		reg = dwarf_uleb(&run->r);
		other = dwarf_uleb(&run->r);
		set(run, reg, CFI_REGISTER, other < CFI_REGS ? (int64_t)other : INT64_MAX);
		return true;
	case CFA_EXPRESSION:
		set_expression(run, CFI_AT_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_expression(run, CFI_VAL_EXPRESSION);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(run, dwarf_uleb(&run->r));
		return true;
	default:
		return false;
	}
}

// False: nobody knows what it means, nor how long it is.
static bool run_other(struct run *run, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE: // signatures of return addresses are taken off anyway
		return true;
	case CFA_GNU_ARGS_SIZE:
		(void)dwarf_uleb(&run->r);
		return true;
	case CFA_REMEMBER:
		if (run->remembered_n == REMEMBERED_MAX)
			return false;
		run->remembered[run->remembered_n++] = run->state;
		return true;
	case CFA_RESTORE_STATE:
		if (!run->remembered_n)
			return false;
		run->state = run->remembered[--run->remembered_n];
		return true;
	default:
		return false;
	}
}

static bool run_advance(struct run *run, uint8_t op)
{
	uint64_t to;

	switch (op) {
	case CFA_ADVANCE1:
		advance_factored(run, dwarf_u8(&run->r));
		return true;
	case CFA_ADVANCE2:
		advance_factored(run, dwarf_u16(&run->r));
		return true;
	case CFA_ADVANCE4:
		advance_factored(run, dwarf_u32(&run->r));
		return true;
	case CFA_SET_LOC:
		// Not seen in real files; encoded ones would need the section.
		to = dwarf_u64(&run->r);
		if (run->fde && to - run->fde->vaddr <= run->fde->size &&
		    to - run->fde->vaddr + run->fde->at >= run->at)
			advance(run, to - run->fde->vaddr + run->fde->at - run->at);
		else
			run->state.bad = true;
		return true;
	default:
		return false;
	}
}

static void run_all(struct run *run)
{
	while (run->r.p < run->r.end && run->at <= run->end) {
		uint8_t op = dwarf_u8(&run->r), low = op & 0x3f;

		if ((op & 0xc0) == CFA_ADVANCE) {
			advance_factored(run, low);
			if (run->fde && run->at == run->end)
				return;
			continue;
		}
		if (run_advance(run, op)) {
			if (run->fde && run->at == run->end)
				return;
			continue;
		}
		run->changed = true;
		if ((op & 0xc0) == CFA_OFFSET)
			set(run, low, CFI_AT_CFA, scaled_u(run));
		else if ((op & 0xc0) == CFA_RESTORE)
			restore(run, low);
		else if (!run_cfa(run, op) && !run_register(run, op) && !run_other(run, op))
			break;
	}
	if (run->r.p < run->r.end || run->r.bad)
		run->state.bad = run->changed = true;
}

void cfi_run_cie(struct cfi_builder *builder, struct cfi_cie *cie)
{
	struct run run = {.builder = builder, .cie = cie};

	run.r = dwarf_reader_at(cie->code, 0, false);
	run_all(&run);
	cie->state = run.state;
}

void cfi_run_fde(struct cfi_builder *builder, const struct cfi_fde *fde, uint32_t end)
{
	const struct cfi_cie *cie = &builder->cies.v[fde->cie];
	struct run run;

	if (cie->is_go) {
		cfi_run_go(builder, fde, end);
		return;
	}
	// The remembered ones need no zeros.
	run.builder = builder;
	run.cie = cie;
	run.fde = fde;
	run.r = dwarf_reader_at(fde->code, 0, false);
	run.state = cie->state;
	run.remembered_n = 0;
	run.at = fde->at;
	run.end = end;
	run.changed = true;
	run_all(&run);
	if (run.at < run.end && run.changed)
		cfi_put_row(builder, run.at, rule_of(&run));
	cfi_put_row(builder, end, 0);
}
