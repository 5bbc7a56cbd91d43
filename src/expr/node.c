// SPDX-License-Identifier: GPL-2.0-or-later
// Operators: C's conversions, constants computed at once.
#include "expr/node.h"

struct node *node_new(struct parser *p, enum node_kind kind, struct str where)
{
	struct node *n = arena_zalloc(p->expr->arena, sizeof(*n));

	n->kind = kind;
	n->where = where;
	return n;
}

struct node *node_number(struct parser *p, struct str where, enum expr_base base, uint64_t value)
{
	struct node *n = node_new(p, NODE_NUMBER, where);

	n->type = type_of(base);
	n->number = expr_extend(n->type, value);
	return n;
}

struct node *node_text(struct parser *p, struct str where, struct str text)
{
	struct node *n = node_new(p, NODE_TEXT, where);

	n->number = p->expr->literals.n;
	vec_push(&p->expr->literals, text);
	n->type =
		(struct expr_type){.base = EXPR_S8, .is_array = true, .count = (uint32_t)text.n + 1};
	return n;
}

// A number or a pointer, as operators want it.
struct node *node_value(struct parser *p, struct node *a)
{
	struct node *n;

	if (p->failed)
		return p->nothing;
	if (!a->type.is_array)
		return a;
	n = node_new(p, NODE_ADDRESS, a->where);
	n->a = a;
	n->type = type_element(a->type);
	n->type.pointers++;
	return n;
}

static struct node *operand(struct parser *p, struct node *a)
{
	a = node_value(p, a);
	if (!p->failed && a->type.base == EXPR_VOID && !a->type.pointers)
		return node_error(p, a->where, "this has no value");
	return a;
}

static bool is_boolean(const struct node *n)
{
	switch (n->kind) {
	case NODE_AND:
	case NODE_OR:
	case NODE_MATCH:
		return true;
	case NODE_ALU:
		return n->op >= EXPR_EQ;
	case NODE_UNARY:
		return n->op == EXPR_ZERO || n->op == EXPR_TEST;
	case NODE_NUMBER:
		return n->number <= 1;
	default:
		return n->type.base == EXPR_BOOL && !n->type.pointers;
	}
}

// What an instruction does, and the type of its result.
struct operation {
	enum expr_op op;
	struct expr_type type;
};

static struct node *make_unary(struct parser *p, struct str where, struct operation to,
			       struct node *a)
{
	struct node *n;

	if (a->kind == NODE_NUMBER) {
		const uint64_t v = a->number;

		return node_number(p, where, to.type.base,
				   to.op == EXPR_NEG   ? 0 - v
				   : to.op == EXPR_NOT ? ~v
						       : (to.op == EXPR_ZERO) == !v);
	}
	n = node_new(p, NODE_UNARY, where);
	n->op = to.op;
	n->type = to.type;
	n->a = a;
	return n;
}

struct node *node_cast(struct parser *p, struct str where, struct expr_type type, struct node *a)
{
	struct node *n;

	a = node_value(p, a);
	if (p->failed)
		return p->nothing;
	if (type.base == EXPR_VOID && !type.pointers) {
		n = node_new(p, NODE_CAST, where);
		n->a = a;
		return n;
	}
	a = operand(p, a);
	if (p->failed)
		return p->nothing;
	if (type.base == EXPR_BOOL && !type.pointers) {
		if (a->type.base == EXPR_BOOL && !a->type.pointers)
			return a;
		return is_boolean(a) && a->kind != NODE_NUMBER
			       ? (n = node_new(p, NODE_CAST, where), n->a = a, n->type = type, n)
			       : make_unary(p, where, (struct operation){EXPR_TEST, type}, a);
	}
	if (a->kind == NODE_NUMBER && !type.pointers)
		return node_number(p, where, type.base, a->number);
	n = node_new(p, NODE_CAST, where);
	n->a = a;
	n->type = type;
	return n;
}

// To a type that it may already have.
static struct node *convert(struct parser *p, struct expr_type type, struct node *a)
{
	if (p->failed)
		return p->nothing;
	if (a->type.base == type.base && a->type.pointers == type.pointers && !a->type.is_array)
		return a;
	return node_cast(p, a->where, type, a);
}

static struct expr_type promoted(struct expr_type type)
{
	return type.base < EXPR_S32 && !type.pointers ? type_of(EXPR_S32) : type;
}

// The usual arithmetic conversions: the bases are in the order of C's ranks. Pointers compare as unsigned long.
static struct expr_type common_type(const struct node *a, const struct node *b)
{
	struct expr_type x = a->type.pointers ? type_of(EXPR_U64) : promoted(a->type);
	struct expr_type y = b->type.pointers ? type_of(EXPR_U64) : promoted(b->type);

	return x.base > y.base ? x : y;
}

static struct node *need_number(struct parser *p, struct node *a)
{
	char name[40];

	a = operand(p, a);
	if (p->failed || expr_type_is_number(a->type))
		return a;
	expr_type_name(a->type, name, sizeof(name));
	return node_error(p, a->where, "this is a pointer (%s), where a number belongs", name);
}

struct node *node_unary(struct parser *p, struct sign sign, struct node *a)
{
	struct operation to = {EXPR_ZERO, type_of(EXPR_S32)};

	if (sign.token == '!') {
		a = operand(p, a);
		return p->failed ? a : make_unary(p, sign.where, to, a);
	}
	a = need_number(p, a);
	if (p->failed)
		return a;
	to.op = sign.token == '-' ? EXPR_NEG : EXPR_NOT;
	to.type = promoted(a->type);
	a = convert(p, to.type, a);
	return sign.token == '+' ? a : make_unary(p, sign.where, to, a);
}

static struct node *make_alu(struct parser *p, struct operation to, struct node *a, struct node *b)
{
	const struct str where = lex_join(a->where, b->where);
	struct node *n;
	uint64_t value;

	if (p->failed)
		return p->nothing;
	if (a->kind == NODE_NUMBER && b->kind == NODE_NUMBER) {
		if (!expr_alu(to.op, a->number, b->number, &value))
			return node_error(p, where, "this divides by zero");
		if (!to.type.pointers)
			return node_number(p, where, to.type.base, value);
	}
	n = node_new(p, NODE_ALU, where);
	n->op = to.op;
	n->type = to.type;
	n->a = a;
	n->b = b;
	return n;
}

static struct node *long_number(struct parser *p, struct str where, uint64_t value)
{
	return node_number(p, where, EXPR_S64, value);
}

static uint64_t step_of(struct parser *p, const struct node *pointer)
{
	const unsigned size = expr_type_size(type_element(pointer->type));

	return size ? size : 1; // of void, as gcc has it
}

// pointer + number, pointer - number
static struct node *make_offset(struct parser *p, enum expr_op op, struct node *a, struct node *b)
{
	const struct operation scale = {EXPR_MUL, type_of(EXPR_S64)}, move = {op, a->type};
	const uint64_t step = step_of(p, a);

	b = convert(p, scale.type, b);
	if (step > 1)
		b = make_alu(p, scale, b, long_number(p, b->where, step));
	return make_alu(p, move, a, b);
}

static struct node *make_sum(struct parser *p, struct sign sign, struct node *a, struct node *b)
{
	const enum expr_op op = sign.token == '+' ? EXPR_ADD : EXPR_SUB;
	struct operation to = {op, type_of(EXPR_S64)};
	struct node *n;

	if (a->type.pointers && b->type.pointers) {
		if (op == EXPR_ADD || step_of(p, a) != step_of(p, b))
			return node_error(p, sign.where, "these two pointers don't go together");
		n = make_alu(p, to, a, b);
		to.op = EXPR_DIVS;
		return make_alu(p, to, n, long_number(p, sign.where, step_of(p, a)));
	}
	if (a->type.pointers)
		return make_offset(p, op, a, b);
	if (b->type.pointers && op == EXPR_ADD)
		return make_offset(p, op, b, a);
	if (b->type.pointers)
		return node_error(p, sign.where, "a pointer can't be taken from a number");
	to.type = common_type(a, b);
	return make_alu(p, to, convert(p, to.type, a), convert(p, to.type, b));
}

static const struct {
	int token;
	enum expr_op is_signed, is_unsigned;
	bool compares;
} operators[] = {
	{'*', EXPR_MUL, EXPR_MUL, false},	{'/', EXPR_DIVS, EXPR_DIVU, false},
	{'%', EXPR_MODS, EXPR_MODU, false},	{'&', EXPR_AND, EXPR_AND, false},
	{'|', EXPR_OR, EXPR_OR, false},		{'^', EXPR_XOR, EXPR_XOR, false},
	{TOKEN_SHL, EXPR_SHL, EXPR_SHL, false}, {TOKEN_SHR, EXPR_SAR, EXPR_SHR, false},
	{'<', EXPR_LTS, EXPR_LTU, true},	{'>', EXPR_GTS, EXPR_GTU, true},
	{TOKEN_LE, EXPR_LES, EXPR_LEU, true},	{TOKEN_GE, EXPR_GES, EXPR_GEU, true},
	{TOKEN_EQ, EXPR_EQ, EXPR_EQ, true},	{TOKEN_NE, EXPR_NE, EXPR_NE, true},
};

// text == "x", text ~ "x*", text == text: NULL when it is no comparison of texts
static struct node *text_operator(struct parser *p, struct sign sign, struct node *a, struct node *b)
{
	struct expr_match match;
	struct node *n, *call;

	if (sign.token == '~') {
		if (b->kind != NODE_TEXT || !expr_type_is_text(a->type))
			return node_error(p, sign.where, "~ compares text with a pattern in quotes");
		expr_match_init(&match, EXPR_MATCH_GLOB, p->expr->literals.v[b->number]);
		return node_match(p, lex_join(a->where, b->where), a, match);
	}
	if ((sign.token != TOKEN_EQ && sign.token != TOKEN_NE) || !expr_type_is_text(a->type) ||
	    !expr_type_is_text(b->type))
		return NULL;
	if (a->kind == NODE_TEXT && b->kind != NODE_TEXT) {
		n = a;
		a = b;
		b = n;
	}
	if (b->kind == NODE_TEXT) {
		expr_match_init(&match, EXPR_MATCH_EQUAL, p->expr->literals.v[b->number]);
		match.negated = sign.token == TOKEN_NE;
		return node_match(p, lex_join(a->where, b->where), a, match);
	}
	n = node_value(p, a);
	n->next = node_value(p, b);
	call = node_call(p, STR("strcmp"), lex_join(a->where, b->where), n);
	return node_binary(p, sign, call, node_number(p, sign.where, EXPR_S32, 0));
}

struct node *node_binary(struct parser *p, struct sign sign, struct node *a, struct node *b)
{
	const int token = sign.token;
	struct operation to;
	struct node *n;

	if (p->failed)
		return p->nothing;
	n = text_operator(p, sign, a, b);
	if (n)
		return n;
	a = operand(p, a);
	b = operand(p, b);
	if (p->failed)
		return p->nothing;
	if (token == '+' || token == '-')
		return make_sum(p, sign, a, b);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (operators[i].token != token)
			continue;
		if (!operators[i].compares) {
			a = need_number(p, a);
			b = need_number(p, b);
		}
		if (p->failed)
			return p->nothing;
		to.type = common_type(a, b);
		if (token == TOKEN_SHL || token == TOKEN_SHR) {
			const struct operation mask = {EXPR_AND, type_of(EXPR_S64)};

			to.type = promoted(a->type);
			a = convert(p, to.type, a);
			n = node_number(p, b->where, EXPR_S64, to.type.base < EXPR_S64 ? 31 : 63);
			b = make_alu(p, mask, b, n);
		} else {
			a = convert(p, to.type, a);
			b = convert(p, to.type, b);
		}
		to.op = expr_type_is_signed(to.type) ? operators[i].is_signed
						     : operators[i].is_unsigned;
		if (operators[i].compares)
			to.type = type_of(EXPR_S32);
		return make_alu(p, to, a, b);
	}
	return node_error(p, sign.where, "there is no such operator");
}

struct node *node_extreme(struct parser *p, bool is_max, struct node *a, struct node *b)
{
	struct operation to = {is_max ? EXPR_MAXU : EXPR_MINU, {0}};

	a = need_number(p, a);
	b = need_number(p, b);
	if (p->failed)
		return p->nothing;
	to.type = common_type(a, b);
	if (expr_type_is_signed(to.type))
		to.op = is_max ? EXPR_MAXS : EXPR_MINS;
	return make_alu(p, to, convert(p, to.type, a), convert(p, to.type, b));
}

struct node *node_logic(struct parser *p, int token, struct node *a, struct node *b)
{
	const struct operation test = {EXPR_TEST, type_of(EXPR_S32)};
	const bool is_and = token == TOKEN_AND;
	struct node *n;

	a = operand(p, a);
	b = operand(p, b);
	if (p->failed)
		return p->nothing;
	if (a->kind == NODE_NUMBER && b->kind == NODE_NUMBER)
		return node_number(p, lex_join(a->where, b->where), EXPR_S32,
				   is_and ? a->number && b->number : a->number || b->number);
	n = node_new(p, is_and ? NODE_AND : NODE_OR, lex_join(a->where, b->where));
	n->type = test.type;
	n->a = is_boolean(a) ? a : make_unary(p, a->where, test, a);
	n->b = is_boolean(b) ? b : make_unary(p, b->where, test, b);
	return n;
}

static bool is_null(const struct node *n)
{
	return n->kind == NODE_NUMBER && !n->number;
}

struct node *node_condition(struct parser *p, struct node *a, struct node *b, struct node *c)
{
	struct expr_type type;
	struct node *n;

	a = operand(p, a);
	b = node_value(p, b);
	c = node_value(p, c);
	if (p->failed)
		return p->nothing;
	if (expr_type_is_number(b->type) && expr_type_is_number(c->type)) {
		type = common_type(b, c);
		b = convert(p, type, b);
		c = convert(p, type, c);
	} else if (b->type.pointers && (c->type.pointers || is_null(c))) {
		type = b->type;
		if (c->type.pointers && step_of(p, b) != step_of(p, c))
			return node_error(p, c->where, "these two pointers don't go together");
	} else if (c->type.pointers && is_null(b)) {
		type = c->type;
	} else if (b->type.base == EXPR_VOID && c->type.base == EXPR_VOID) {
		type = type_of(EXPR_VOID);
	} else {
		return node_error(p, lex_join(b->where, c->where),
				  "both results must be numbers or both pointers");
	}
	if (a->kind == NODE_NUMBER && !type.pointers)
		return a->number ? b : c;
	n = node_new(p, NODE_COND, lex_join(a->where, c->where));
	n->type = type;
	n->a = a;
	n->b = b;
	n->c = c;
	return n;
}

struct node *node_comma(struct parser *p, struct node *a, struct node *b)
{
	struct node *n;

	a = node_value(p, a);
	b = node_value(p, b);
	if (p->failed)
		return p->nothing;
	n = node_new(p, NODE_COMMA, lex_join(a->where, b->where));
	n->type = b->type;
	n->a = a;
	n->b = b;
	return n;
}

static struct node *need_lvalue(struct parser *p, struct node *a)
{
	if (p->failed)
		return p->nothing;
	if (!node_is_lvalue(a) || a->type.is_array)
		return node_error(p, a->where, "this can't be assigned to%s",
				  a->type.is_array ? "; elements of it can" : "");
	if (a->type.base == EXPR_VOID && !a->type.pointers)
		return node_error(p, a->where, "this has no value");
	p->expr->stores = true;
	return a;
}

struct node *node_assign(struct parser *p, struct sign sign, struct node *a, struct node *b)
{
	static const int tokens[] = {'+', '-', '*', '/', '%', '&', '|', '^', TOKEN_SHL, TOKEN_SHR};
	struct node *n, *value;

	a = need_lvalue(p, a);
	b = operand(p, b);
	if (p->failed)
		return p->nothing;
	if (sign.token == '=') {
		if (b->type.pointers && !a->type.pointers)
			return node_error(p, b->where,
					  "a pointer is assigned to a number; a cast makes it one");
		if (a->type.pointers && !b->type.pointers && !is_null(b))
			return node_error(p, b->where,
					  "a number is assigned to a pointer; a cast makes it one");
		n = node_new(p, NODE_ASSIGN, lex_join(a->where, b->where));
		n->type = a->type;
		n->a = a;
		n->b = convert(p, a->type, b);
		return n;
	}
	if (b->type.pointers)
		return node_error(p, b->where, "there should be a number here");
	// the operator's rules for types, on a stand-in for the value of a
	value = node_new(p, NODE_CONTEXT, a->where);
	value->type = a->type;
	sign.token = tokens[sign.token - TOKEN_ASSIGN_ADD];
	value = node_binary(p, sign, value, b);
	if (p->failed)
		return value;
	// a = (type of a)((common)a op b)
	n = node_new(p, NODE_UPDATE, lex_join(a->where, b->where));
	n->op = value->op;
	n->type = a->type;
	n->common = a->type.pointers ? a->type : value->type;
	n->a = a;
	n->b = value->b;
	return n;
}

struct node *node_step(struct parser *p, struct sign sign, struct node *a, bool post)
{
	const struct str where = sign.where;
	struct node *n;

	a = need_lvalue(p, a);
	if (p->failed)
		return p->nothing;
	sign.token = sign.token == TOKEN_INC ? TOKEN_ASSIGN_ADD : TOKEN_ASSIGN_SUB;
	n = node_assign(p, sign, a, node_number(p, where, EXPR_S32, 1));
	n->post = post;
	n->where = where;
	return n;
}

struct node *node_match(struct parser *p, struct str where, struct node *a, struct expr_match match)
{
	struct node *n = node_new(p, NODE_MATCH, where);

	if (a->type.is_array && !a->type.is_dynamic)
		match.limit = a->type.count;
	if (a->kind == NODE_FIELD && a->type.is_array) {
		match.known_field = true;
		match.is_dynamic = a->type.is_dynamic;
		match.is_relative = a->field.kind == EXPR_FIELD_RELATIVE;
		match.offset = a->field.offset;
	}
	n->type = type_of(EXPR_S32);
	n->a = node_value(p, a);
	n->number = p->expr->matches.n;
	vec_push(&p->expr->matches, match);
	return n;
}
