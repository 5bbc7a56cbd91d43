// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi_expr.h"
#include <errno.h>
#include "obj/dwarf_read.h"

enum { STACK_MAX = 64, STEPS_MAX = 1024 };

// DWARF 5 table 7.9
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0,
	OP_LIT31 = OP_LIT0 + 31,
	OP_REG0,
	OP_REG31 = OP_REG0 + 31,
	OP_BREG0,
	OP_BREG31 = OP_BREG0 + 31,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	OP_CALL_FRAME_CFA = 0x9c,
};

struct machine {
	const struct cfi_expr *expr;
	const uint64_t *cfa;
	struct str code;
	struct dwarf_reader r;
	uint64_t stack[STACK_MAX];
	uint32_t n;
	int err;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == STACK_MAX)
		m->err = -EINVAL;
	else
		m->stack[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->err = -EINVAL;
		return 0;
	}
	return m->stack[--m->n];
}

// `depth` 0: the top.
static uint64_t peek(struct machine *m, uint32_t depth)
{
	if (depth >= m->n) {
		m->err = -EINVAL;
		return 0;
	}
	return m->stack[m->n - 1 - depth];
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg == m->expr->pc_reg)
		push(m, m->expr->pc + (uint64_t)offset);
	else if (reg < m->expr->regs_n)
		push(m, m->expr->regs[reg] + (uint64_t)offset);
	else
		m->err = -EINVAL;
}

static void dereference(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), v = 0;

	if (m->err)
		return;
	if (size < 1 || size > 8)
		m->err = -EINVAL;
	else if (!m->expr->read(m->expr->arg, addr, size, &v))
		m->err = -EFAULT;
	else
		push(m, v);
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)dwarf_u16(&m->r);
	int64_t at;

	if (!taken || m->r.bad)
		return;
	at = (const char *)m->r.p - m->code.p + by;
	if (at < 0 || (uint64_t)at > m->code.n)
		m->err = -EINVAL;
	else
		m->r.p = (const uint8_t *)m->code.p + at;
}

static bool run_constant(struct machine *m, uint8_t op)
{
	struct dwarf_reader *r = &m->r;

	switch (op) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		push(m, dwarf_u64(r));
		return true;
	case OP_CONST1U:
		push(m, dwarf_u8(r));
		return true;
	case OP_CONST1S:
		push(m, (uint64_t)(int8_t)dwarf_u8(r));
		return true;
	case OP_CONST2U:
		push(m, dwarf_u16(r));
		return true;
	case OP_CONST2S:
		push(m, (uint64_t)(int16_t)dwarf_u16(r));
		return true;
	case OP_CONST4U:
		push(m, dwarf_u32(r));
		return true;
	case OP_CONST4S:
		push(m, (uint64_t)(int32_t)dwarf_u32(r));
		return true;
	case OP_CONSTU:
		push(m, dwarf_uleb(r));
		return true;
	case OP_CONSTS:
		push(m, (uint64_t)dwarf_sleb(r));
		return true;
	default:
		return false;
	}
}

static bool run_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP:
		push(m, peek(m, 0));
		return true;
	case OP_DROP:
		(void)pop(m);
		return true;
	case OP_OVER:
		push(m, peek(m, 1));
		return true;
	case OP_PICK:
		push(m, peek(m, dwarf_u8(&m->r)));
		return true;
	case OP_SWAP:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		return true;
	case OP_ROT:
		a = pop(m);
		b = pop(m);
		c = pop(m);
		push(m, a);
		push(m, c);
		push(m, b);
		return true;
	default:
		return false;
	}
}

static bool run_unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case OP_ABS:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		return true;
	case OP_NEG:
		push(m, -pop(m));
		return true;
	case OP_NOT:
		push(m, ~pop(m));
		return true;
	case OP_PLUS_UCONST:
		a = pop(m);
		push(m, a + dwarf_uleb(&m->r));
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (b == 0)
		m->err = -EINVAL;
	if (b == 0 || b == -1) // the smallest number has no positive
		return -(uint64_t)a;
	return (uint64_t)(a / b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b)
		return a % b;
	m->err = -EINVAL;
	return 0;
}

static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		return divide(m, x, y);
	case OP_MINUS:
		return a - b;
	case OP_MOD:
		return modulo(m, a, b);
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return (uint64_t)(x >> (b < 64 ? b : 63));
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return x == y;
	case OP_GE:
		return x >= y;
	case OP_GT:
		return x > y;
	case OP_LE:
		return x <= y;
	case OP_LT:
		return x < y;
	case OP_NE:
		return x != y;
	default:
		m->err = -EINVAL;
		return 0;
	}
}

static void run_other(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case OP_NOP:
		return;
	case OP_DEREF:
		dereference(m, 8);
		return;
	case OP_DEREF_SIZE:
		dereference(m, dwarf_u8(&m->r));
		return;
	case OP_SKIP:
		jump(m, true);
		return;
	case OP_BRA:
		jump(m, pop(m) != 0);
		return;
	case OP_BREGX:
		a = dwarf_uleb(&m->r);
		push_register(m, a, dwarf_sleb(&m->r));
		return;
	case OP_CALL_FRAME_CFA:
		if (m->cfa)
			push(m, *m->cfa);
		else
			m->err = -EINVAL;
		return;
	default:
		b = pop(m);
		a = pop(m);
		push(m, binary(m, op, a, b));
	}
}

int cfi_expr_run(const struct cfi_expr *expr, struct str code, const uint64_t *cfa, uint64_t *ret)
{
	struct machine m = {.expr = expr, .cfa = cfa, .code = code};

	m.r = dwarf_reader_at(code, 0, false);
	if (cfa)
		push(&m, *cfa);
	for (unsigned steps = 0; m.r.p < m.r.end && !m.err; steps++) {
		uint8_t op = dwarf_u8(&m.r);

		if (steps == STEPS_MAX)
			return -ELOOP;
		if (op >= OP_LIT0 && op <= OP_LIT31)
			push(&m, op - OP_LIT0);
		else if (op >= OP_REG0 && op <= OP_REG31)
			push_register(&m, op - OP_REG0, 0);
		else if (op >= OP_BREG0 && op <= OP_BREG31)
			push_register(&m, op - OP_BREG0, dwarf_sleb(&m.r));
		else if (!run_constant(&m, op) && !run_stack(&m, op) && !run_unary(&m, op))
			run_other(&m, op);
		if (m.r.bad)
			return -EINVAL;
	}
	if (m.err)
		return m.err;
	if (!m.n)
		return -EINVAL;
	*ret = m.stack[m.n - 1];
	return 0;
}
