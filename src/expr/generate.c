// SPDX-License-Identifier: GPL-2.0-or-later
// Code of a tree: a node leaves its value in the temporary that it is told, and uses those above it.
#include "expr/builtin.h"
#include "expr/node.h"

struct generator {
	struct parser *p;
	struct expr *expr;
	struct str where;
};

static void gen(struct generator *g, const struct node *n, unsigned d);

static size_t emit(struct generator *g, struct expr_insn insn)
{
	const size_t at = (size_t)(g->where.p - g->p->text.p);

	vec_push(&g->expr->places,
		 (struct expr_place){(uint16_t)at, (uint16_t)MIN(g->where.n, (size_t)UINT16_MAX)});
	vec_push(&g->expr->code, insn);
	return g->expr->code.n - 1;
}

static void emit_da(struct generator *g, enum expr_op op, unsigned d, unsigned a)
{
	emit(g, (struct expr_insn){(uint8_t)op, (uint8_t)d, (uint8_t)a, 0, 0});
}

static void emit_di(struct generator *g, enum expr_op op, unsigned d, int32_t imm)
{
	emit(g, (struct expr_insn){(uint8_t)op, (uint8_t)d, 0, 0, imm});
}

static size_t emit_jump(struct generator *g, enum expr_op op, unsigned a)
{
	return emit(g, (struct expr_insn){(uint8_t)op, 0, (uint8_t)a, 0, 0});
}

static void land(struct generator *g, size_t jump)
{
	g->expr->code.v[jump].imm = (int32_t)g->expr->code.n;
}

static bool fits(uint64_t value)
{
	return (uint64_t)(int64_t)(int32_t)value == value;
}

static void emit_constant(struct generator *g, unsigned d, uint64_t value)
{
	if (fits(value)) {
		emit_di(g, EXPR_CONST, d, (int32_t)value);
		return;
	}
	emit_di(g, EXPR_CONST64, d, (int32_t)g->expr->constants.n);
	vec_push(&g->expr->constants, value);
}

// Where a base stands among LD_S8 ... LD_64, PTR_S8 ... PTR_64.
static unsigned load_index(struct expr_type type)
{
	if (type.pointers || type.base >= EXPR_S64)
		return EXPR_LD_64 - EXPR_LD_S8;
	return type.base == EXPR_BOOL ? EXPR_LD_U8 - EXPR_LD_S8 : (unsigned)type.base - EXPR_S8;
}

static void emit_extend(struct generator *g, struct expr_type type, unsigned d)
{
	if (!type.pointers && type.base >= EXPR_S8 && type.base <= EXPR_U32)
		emit_da(g, (enum expr_op)(EXPR_EXT_S8 + type.base - EXPR_S8), d, d);
	else if (!type.pointers && type.base == EXPR_BOOL)
		emit_da(g, EXPR_TEST, d, d);
}

static void emit_swap(struct generator *g, unsigned size, unsigned d)
{
	if (size > 1)
		emit_da(g, size == 2 ? EXPR_SWAP16 : size == 4 ? EXPR_SWAP32 : EXPR_SWAP64, d, d);
}

static void gen_field(struct generator *g, const struct node *n, unsigned d)
{
	const unsigned size = expr_type_size(n->type);
	const bool extend = size < 8 && expr_type_is_signed(n->type);
	unsigned index = load_index(n->type);

	if (g->expr->swapped && size > 1) {
		index |= index < EXPR_LD_64 - EXPR_LD_S8; // unsigned
		emit_di(g, (enum expr_op)(EXPR_LD_S8 + index), d, (int32_t)n->field.offset);
		emit_swap(g, size, d);
		if (extend)
			emit_extend(g, n->type, d);
		return;
	}
	emit_di(g, (enum expr_op)(EXPR_LD_S8 + index), d, (int32_t)n->field.offset);
	if (n->type.base == EXPR_BOOL && !n->type.pointers)
		emit_da(g, EXPR_TEST, d, d);
}

static void emit_alu(struct generator *g, enum expr_op op, unsigned d, const struct node *b)
{
	const struct str where = g->where;

	if (b->kind == NODE_NUMBER && fits(b->number)) {
		emit(g, (struct expr_insn){(uint8_t)(op + 1), (uint8_t)d, (uint8_t)d, 0,
					   (int32_t)b->number});
		return;
	}
	gen(g, b, d + 1);
	g->where = where;
	emit(g, (struct expr_insn){(uint8_t)op, (uint8_t)d, (uint8_t)d, (uint8_t)(d + 1), 0});
}

static void gen_address(struct generator *g, const struct node *n, unsigned d)
{
	const unsigned size = expr_type_size(n->type);

	switch (n->kind) {
	case NODE_TEXT:
		emit_constant(g, d, EXPR_TEXT_AREA + (n->number << 32));
		return;
	case NODE_FIELD:
		if (n->type.is_dynamic)
			emit_di(g, n->field.kind == EXPR_FIELD_RELATIVE ? EXPR_DYN_REL : EXPR_DYN,
				d, (int32_t)n->field.offset);
		else
			emit_constant(g, d, EXPR_RECORD + n->field.offset);
		return;
	case NODE_INDEX:
		gen(g, n->b, d);
		g->where = n->b->where;
		emit(g, (struct expr_insn){EXPR_BOUND, 0, (uint8_t)d, 0, (int32_t)n->a->type.count});
		if (size > 1)
			emit(g, (struct expr_insn){EXPR_MUL_I, (uint8_t)d, (uint8_t)d, 0,
						   (int32_t)size});
		gen_address(g, n->a, d + 1);
		emit(g, (struct expr_insn){EXPR_ADD, (uint8_t)d, (uint8_t)d, (uint8_t)(d + 1), 0});
		return;
	default: // DEREF
		gen(g, n->a, d);
	}
}

static void gen_load(struct generator *g, const struct node *n, unsigned d)
{
	if (n->kind == NODE_FIELD) {
		gen_field(g, n, d);
		return;
	}
	gen_address(g, n, d);
	g->where = n->where;
	emit_da(g, (enum expr_op)(EXPR_PTR_S8 + load_index(n->type)), d, d);
	if (n->type.base == EXPR_BOOL && !n->type.pointers)
		emit_da(g, EXPR_TEST, d, d);
}

static void emit_store(struct generator *g, struct expr_type type, unsigned address, unsigned value)
{
	const unsigned size = expr_type_size(type);
	const enum expr_op op = size == 1   ? EXPR_ST_8
				: size == 2 ? EXPR_ST_16
				: size == 4 ? EXPR_ST_32
					    : EXPR_ST_64;

	emit(g, (struct expr_insn){(uint8_t)op, 0, (uint8_t)address, (uint8_t)value, 0});
}

// Does every value of `from`, extended to 64 bits, already stand for itself in `to`?
static bool holds(struct expr_type to, struct expr_type from)
{
	const unsigned size = expr_type_size(to), from_size = expr_type_size(from);

	if (size == 8)
		return true;
	if (to.base == EXPR_BOOL)
		return from.base == EXPR_BOOL && !from.pointers;
	if (expr_type_is_signed(from))
		return expr_type_is_signed(to) && from_size <= size;
	return from_size < size || (from_size == size && !expr_type_is_signed(to));
}

static void emit_cast(struct generator *g, struct expr_type to, struct expr_type from, unsigned d)
{
	if (!holds(to, from))
		emit_extend(g, to, d);
}

// Can the 64-bit result be outside of its type?
static bool overflows(enum expr_op op)
{
	switch (op) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_SHL:
	case EXPR_DIVS:
	case EXPR_NEG:
	case EXPR_NOT:
		return true;
	default:
		return false;
	}
}

static void gen_alu(struct generator *g, const struct node *n, unsigned d)
{
	static const enum expr_op commute[] = {EXPR_ADD, EXPR_MUL, EXPR_AND, EXPR_OR,
					       EXPR_XOR, EXPR_EQ,  EXPR_NE};
	const struct node *a = n->a, *b = n->b;

	for (size_t i = 0; a->kind == NODE_NUMBER && i < ARRAY_SIZE(commute); i++) {
		if (commute[i] != n->op)
			continue;
		a = n->b;
		b = n->a;
		break;
	}
	gen(g, a, d);
	g->where = n->where;
	emit_alu(g, n->op, d, b);
	if (overflows(n->op))
		emit_extend(g, n->type, d);
}

// a op= b with the value of a in d (post) or the new one
static void gen_update(struct generator *g, const struct node *n, unsigned d)
{
	const struct node *a = n->a;
	const unsigned address = d + 1, value = d + 2;

	gen_address(g, a, address);
	g->where = n->where;
	emit_da(g, (enum expr_op)(EXPR_PTR_S8 + load_index(a->type)), d, address);
	emit_da(g, EXPR_MOV, value, d);
	emit_cast(g, n->common, a->type, value);
	emit_alu(g, n->op, value, n->b);
	g->where = n->where;
	if (overflows(n->op))
		emit_extend(g, n->common, value);
	emit_cast(g, a->type, n->common, value);
	emit_store(g, a->type, address, value);
	if (!n->post)
		emit_da(g, EXPR_MOV, d, value);
}

static void gen_call(struct generator *g, const struct node *n, unsigned d)
{
	const struct expr_call *call = &g->expr->calls.v[n->number];
	const unsigned count = call->n;
	const uint8_t swap = call->builtin->swap_bytes;
	unsigned i = 0;

	for (const struct node *arg = n->a; arg; arg = arg->next)
		gen(g, arg, d + i++);
	g->where = n->where;
	if (swap)
		emit_swap(g, swap, d);
	else
		emit(g, (struct expr_insn){EXPR_CALL, (uint8_t)d, (uint8_t)d, (uint8_t)count,
					   (int32_t)n->number});
}

static void gen_branches(struct generator *g, const struct node *n, unsigned d)
{
	size_t skip, end;

	gen(g, n->a, d);
	g->where = n->where;
	if (n->kind != NODE_COND) {
		skip = emit_jump(g, n->kind == NODE_AND ? EXPR_JZ : EXPR_JNZ, d);
		gen(g, n->b, d);
		land(g, skip);
		return;
	}
	skip = emit_jump(g, EXPR_JZ, d);
	gen(g, n->b, d);
	end = emit_jump(g, EXPR_JMP, 0);
	land(g, skip);
	gen(g, n->c, d);
	land(g, end);
}

static void gen_match(struct generator *g, const struct node *n, unsigned d)
{
	if (!g->expr->matches.v[n->number].known_field)
		gen(g, n->a, d);
	g->where = n->where;
	emit(g, (struct expr_insn){EXPR_MATCH, (uint8_t)d, (uint8_t)d, 0, (int32_t)n->number});
}

static void gen_dynamic_number(struct generator *g, const struct node *n, unsigned d)
{
	const bool relative = n->field.kind == EXPR_FIELD_RELATIVE;

	emit_di(g, n->kind == NODE_LENGTH ? EXPR_DYN_LEN : EXPR_DYN_AT, d, (int32_t)n->field.offset);
	if (n->kind == NODE_AT && relative)
		emit(g, (struct expr_insn){EXPR_ADD_I, (uint8_t)d, (uint8_t)d, 0,
					   (int32_t)n->field.offset + 4});
	if (n->kind == NODE_AT)
		emit_extend(g, n->type, d);
}

static void gen(struct generator *g, const struct node *n, unsigned d)
{
	if (g->p->failed)
		return;
	if (d + 4 >= EXPR_TEMPS) {
		node_error(g->p, n->where, "too much is inside each other here");
		return;
	}
	g->where = n->where;
	switch (n->kind) {
	case NODE_NUMBER:
		emit_constant(g, d, n->number);
		break;
	case NODE_TEXT:
	case NODE_FIELD:
	case NODE_INDEX:
	case NODE_DEREF:
		if (n->type.is_array)
			gen_address(g, n, d);
		else
			gen_load(g, n, d);
		break;
	case NODE_ADDRESS:
		gen_address(g, n->a, d);
		break;
	case NODE_CONTEXT:
		emit_di(g, EXPR_CONTEXT, d, (int32_t)n->number);
		emit_extend(g, n->type, d);
		break;
	case NODE_LENGTH:
	case NODE_AT:
		gen_dynamic_number(g, n, d);
		break;
	case NODE_CAST:
		gen(g, n->a, d);
		g->where = n->where;
		if (n->type.base != EXPR_VOID || n->type.pointers)
			emit_cast(g, n->type, n->a->type, d);
		break;
	case NODE_UNARY:
		gen(g, n->a, d);
		g->where = n->where;
		emit_da(g, n->op, d, d);
		if (overflows(n->op))
			emit_extend(g, n->type, d);
		break;
	case NODE_ALU:
		gen_alu(g, n, d);
		break;
	case NODE_AND:
	case NODE_OR:
	case NODE_COND:
		gen_branches(g, n, d);
		break;
	case NODE_COMMA:
		gen(g, n->a, d);
		gen(g, n->b, d);
		break;
	case NODE_ASSIGN:
		gen(g, n->b, d);
		gen_address(g, n->a, d + 1);
		g->where = n->where;
		emit_store(g, n->type, d + 1, d);
		break;
	case NODE_UPDATE:
		gen_update(g, n, d);
		break;
	case NODE_CALL:
		gen_call(g, n, d);
		break;
	case NODE_MATCH:
		gen_match(g, n, d);
		break;
	}
}

void generate(struct parser *p, struct node *root)
{
	struct generator g = {.p = p, .expr = p->expr, .where = root->where};
	struct expr *expr = p->expr;

	if (p->failed)
		return;
	expr->type = root->type;
	if (root->type.is_array && !root->type.is_dynamic)
		expr->text_limit = root->type.count;
	gen(&g, root, 0);
	g.where = root->where;
	emit(&g, (struct expr_insn){EXPR_RET, 0, 0, 0, 0});
}
