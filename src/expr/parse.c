// SPDX-License-Identifier: GPL-2.0-or-later
// The grammar of C expressions: precedence climbing for binary operators, one function for each other level.
#include "base/caret.h"
#include "base/err.h"
#include "expr/node.h"
#include <stdarg.h>
#include <stdio.h>

static struct node *parse_comma(struct parser *p);
static struct node *parse_assign(struct parser *p);
static struct node *parse_unary(struct parser *p);

struct node *node_error(struct parser *p, struct str where, const char *fmt, ...)
{
	char message[512];
	struct caret caret;
	va_list args;

	if (p->failed)
		return p->nothing;
	p->failed = true;
	p->failed_at = (size_t)(where.p - p->text.p);
	p->token = TOKEN_END;
	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	for (char *c = message; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	caret_put(&caret, p->text, where);
	fail(EINVAL, "expression, column %zu: %s\n  %s\n  %s", p->failed_at + 1, message,
	     caret.text, caret.mark);
	return p->nothing;
}

static bool accept(struct parser *p, int token)
{
	if (p->token != (enum token)token)
		return false;
	lex_next(p);
	return true;
}

static void expect(struct parser *p, int token)
{
	if (p->failed || accept(p, token))
		return;
	if (p->token == TOKEN_END)
		node_error(p, p->token_text, "there should be a '%c' at the end", token);
	else
		node_error(p, p->token_text, "there should be a '%c' here", token);
}

// ---- types

static const struct {
	char name[12];
	uint8_t base;
} type_names[] = {
	{"bool", EXPR_BOOL},	{"_Bool", EXPR_BOOL},	 {"u8", EXPR_U8},
	{"u16", EXPR_U16},	{"u32", EXPR_U32},	 {"u64", EXPR_U64},
	{"s8", EXPR_S8},	{"s16", EXPR_S16},	 {"s32", EXPR_S32},
	{"s64", EXPR_S64},	{"__u8", EXPR_U8},	 {"__u16", EXPR_U16},
	{"__u32", EXPR_U32},	{"__u64", EXPR_U64},	 {"__s8", EXPR_S8},
	{"__s16", EXPR_S16},	{"__s32", EXPR_S32},	 {"__s64", EXPR_S64},
	{"__be16", EXPR_U16},	{"__be32", EXPR_U32},	 {"__be64", EXPR_U64},
	{"uint8_t", EXPR_U8},	{"uint16_t", EXPR_U16},	 {"uint32_t", EXPR_U32},
	{"uint64_t", EXPR_U64}, {"int8_t", EXPR_S8},	 {"int16_t", EXPR_S16},
	{"int32_t", EXPR_S32},	{"int64_t", EXPR_S64},	 {"size_t", EXPR_U64},
	{"ssize_t", EXPR_S64},	{"uintptr_t", EXPR_U64}, {"pid_t", EXPR_S32},
	{"uid_t", EXPR_U32},	{"gid_t", EXPR_U32},	 {"loff_t", EXPR_S64},
	{"sector_t", EXPR_U64}, {"dev_t", EXPR_U32},	 {"gfp_t", EXPR_U32},
};

enum word {
	WORD_CHAR,
	WORD_SHORT,
	WORD_INT,
	WORD_LONG,
	WORD_SIGNED,
	WORD_UNSIGNED,
	WORD_VOID,
	WORD_CONST,
	WORD_VOLATILE,
	WORDS
};
static const char words[WORDS][10] = {"char",	  "short", "int",   "long",    "signed",
				      "unsigned", "void",  "const", "volatile"};

static int type_word(const struct parser *p)
{
	for (int i = 0; p->token == TOKEN_NAME && i < WORDS; i++)
		if (str_is(p->token_text, words[i]))
			return i;
	return -1;
}

// As in C, what the event declares hides what was known before.
static int named_type(struct parser *p)
{
	struct expr_field field;

	if (p->token == TOKEN_NAME && node_find_field(p, p->token_text, &field))
		return -1;
	for (size_t i = 0; p->token == TOKEN_NAME && i < ARRAY_SIZE(type_names); i++)
		if (str_is(p->token_text, type_names[i].name))
			return type_names[i].base;
	return -1;
}

static bool at_type(struct parser *p)
{
	return type_word(p) >= 0 || named_type(p) >= 0;
}

// The base type of counted words; -1: they don't go together.
static int base_of_words(const unsigned n[WORDS])
{
	const unsigned sizes = n[WORD_CHAR] + n[WORD_SHORT] + (n[WORD_LONG] != 0);
	const unsigned signs = n[WORD_SIGNED] + n[WORD_UNSIGNED];
	int base = EXPR_S32;

	if (n[WORD_VOID])
		return n[WORD_VOID] == 1 && !sizes && !signs && !n[WORD_INT] ? EXPR_VOID : -1;
	if (sizes > 1 || signs > 1 || n[WORD_INT] > 1 || n[WORD_LONG] > 2 || n[WORD_CHAR] > 1 ||
	    (n[WORD_CHAR] && n[WORD_INT]) || (!sizes && !signs && !n[WORD_INT]))
		return -1;
	if (n[WORD_CHAR])
		base = EXPR_S8;
	else if (n[WORD_SHORT])
		base = EXPR_S16;
	else if (n[WORD_LONG])
		base = EXPR_S64;
	return base + (n[WORD_UNSIGNED] != 0);
}

// The type between the parentheses of a cast or sizeof.
static struct expr_type parse_type(struct parser *p)
{
	const struct str start = p->token_text;
	struct expr_type type = {0};
	unsigned n[WORDS] = {0};
	bool has_words = false;
	int base = -1, word;

	for (;;) {
		if ((word = type_word(p)) >= 0) {
			n[word]++;
			has_words |= word != WORD_CONST && word != WORD_VOLATILE;
		} else if (base < 0 && !has_words && named_type(p) >= 0) {
			base = named_type(p);
		} else {
			break;
		}
		lex_next(p);
	}
	if (base < 0)
		base = base_of_words(n);
	else if (has_words)
		base = -1;
	if (base < 0)
		node_error(p, start, "this is no type");
	type.base = (uint8_t)MAX(base, 0);
	while (accept(p, '*')) {
		if (++type.pointers > 8)
			node_error(p, start, "too many levels of pointers");
		while ((word = type_word(p)) == WORD_CONST || word == WORD_VOLATILE)
			lex_next(p);
	}
	return type;
}

// ---- operands

static struct node *parse_parens(struct parser *p)
{
	const struct str start = p->token_text;
	struct expr_type type;
	struct node *n;

	lex_next(p);
	if (at_type(p)) {
		type = parse_type(p);
		expect(p, ')');
		n = parse_unary(p);
		return node_cast(p, lex_join(start, n->where), type, n);
	}
	n = parse_comma(p);
	if (!p->failed)
		n->where = lex_join(start, p->token_text);
	n->parens = true;
	expect(p, ')');
	return n;
}

static struct node *parse_call(struct parser *p, struct str name)
{
	struct node *args = NULL, **tail = &args;
	struct str end;

	lex_next(p);
	while (!p->failed && p->token != ')') {
		struct node *arg = parse_assign(p);

		if (p->failed)
			return p->nothing;
		*tail = node_value(p, arg);
		if (p->failed)
			return p->nothing;
		tail = &(*tail)->next;
		if (p->token != ')')
			expect(p, ',');
	}
	end = p->token_text;
	expect(p, ')');
	return p->failed ? p->nothing : node_call(p, name, lex_join(name, end), args);
}

static struct node *parse_primary(struct parser *p)
{
	const struct str where = p->token_text;
	struct node *n;

	switch ((int)p->token) {
	case TOKEN_NUMBER:
		n = node_number(p, where, p->number_type.base, p->number);
		break;
	case TOKEN_TEXT:
		n = node_text(p, where, p->literal);
		break;
	case TOKEN_NAME:
		lex_next(p);
		return p->token == '(' ? parse_call(p, where) : node_name(p, where);
	case '(':
		return parse_parens(p);
	case TOKEN_END:
		return node_error(p, where, "something is missing at the end");
	default:
		return node_error(p, where, "there should be a name, a number or a text here");
	}
	lex_next(p);
	return n;
}

static struct node *parse_postfix(struct parser *p)
{
	struct node *n = parse_primary(p), *index;

	while (!p->failed) {
		const struct str where = p->token_text;
		const int token = (int)p->token;

		if (token == TOKEN_INC || token == TOKEN_DEC) {
			lex_next(p);
			n = node_step(p, (struct sign){token, lex_join(n->where, where)}, n, true);
		} else if (token == '[') {
			lex_next(p);
			index = parse_comma(p);
			n = node_index(p, lex_join(n->where, p->token_text), n, index);
			expect(p, ']');
		} else {
			break;
		}
	}
	return n;
}

static struct node *parse_sizeof(struct parser *p, struct str where)
{
	const size_t pos = p->pos;
	const struct str start = p->token_text;
	struct expr_type type;
	struct node *n;

	if (p->token == '(') {
		lex_next(p);
		if (at_type(p)) {
			type = parse_type(p);
			n = node_number(p, lex_join(where, p->token_text), EXPR_U64,
					expr_type_size(type));
			if (!n->number)
				node_error(p, n->where, "void has no size");
			expect(p, ')');
			return n;
		}
		p->pos = pos; // an operand in parentheses
		p->token = '(';
		p->token_text = start;
	}
	n = parse_unary(p);
	return node_sizeof(p, lex_join(where, n->where), n);
}

static struct node *parse_unary_operand(struct parser *p)
{
	const struct str where = p->token_text;
	const int token = (int)p->token;
	struct node *n;

	switch (token) {
	case TOKEN_INC:
	case TOKEN_DEC:
		lex_next(p);
		n = parse_unary(p);
		return node_step(p, (struct sign){token, lex_join(where, n->where)}, n, false);
	case '+':
	case '-':
	case '!':
	case '~':
		lex_next(p);
		n = parse_unary(p);
		return node_unary(p, (struct sign){token, lex_join(where, n->where)}, n);
	case '*':
		lex_next(p);
		n = parse_unary(p);
		return node_deref(p, lex_join(where, n->where), n);
	case '&':
		lex_next(p);
		n = parse_unary(p);
		return node_address(p, lex_join(where, n->where), n);
	default:
		if (p->token == TOKEN_NAME && str_is(where, "sizeof")) {
			lex_next(p);
			return parse_sizeof(p, where);
		}
		return parse_postfix(p);
	}
}

static struct node *parse_unary(struct parser *p)
{
	struct node *n;

	if (p->failed)
		return p->nothing;
	if (p->depth >= EXPR_DEPTH_MAX)
		return node_error(p, p->token_text, "more than %d levels inside each other",
				  EXPR_DEPTH_MAX);
	p->depth++;
	n = parse_unary_operand(p);
	p->depth--;
	return n;
}

// ---- operators

static int precedence(int token)
{
	static const struct {
		int16_t token;
		int8_t level;
	} table[] = {
		{'*', 10},	{'/', 10},	{'%', 10},	{'+', 9},      {'-', 9},
		{TOKEN_SHL, 8}, {TOKEN_SHR, 8}, {'<', 7},	{'>', 7},      {TOKEN_LE, 7},
		{TOKEN_GE, 7},	{TOKEN_EQ, 6},	{TOKEN_NE, 6},	{'~', 6},      {'&', 5},
		{'^', 4},	{'|', 3},	{TOKEN_AND, 2}, {TOKEN_OR, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].token == token)
			return table[i].level;
	return 0;
}

static struct node *parse_binary(struct parser *p, int level)
{
	struct node *left = parse_unary(p), *right;

	while (!p->failed) {
		const struct sign sign = {(int)p->token, p->token_text};
		const int own = precedence(sign.token);

		if (!own || own < level)
			break;
		lex_next(p);
		right = parse_binary(p, own + 1);
		if (sign.token == TOKEN_AND || sign.token == TOKEN_OR)
			left = node_logic(p, sign.token, left, right);
		else
			left = node_binary(p, sign, left, right);
	}
	return left;
}

static struct node *parse_condition(struct parser *p)
{
	struct node *n = parse_binary(p, 1), *b, *c;

	if (p->failed || !accept(p, '?'))
		return n;
	if (p->depth >= EXPR_DEPTH_MAX)
		return node_error(p, n->where, "more than %d levels inside each other",
				  EXPR_DEPTH_MAX);
	p->depth++;
	b = parse_comma(p);
	expect(p, ':');
	c = parse_condition(p);
	p->depth--;
	return node_condition(p, n, b, c);
}

static bool is_assignment(int token)
{
	return token == '=' || (token >= TOKEN_ASSIGN_ADD && token <= TOKEN_ASSIGN_SHR);
}

static struct node *parse_assign(struct parser *p)
{
	struct node *n = parse_condition(p), *value;
	const struct sign sign = {(int)p->token, p->token_text};

	if (p->failed || !is_assignment(sign.token))
		return n;
	if (p->depth >= EXPR_DEPTH_MAX)
		return node_error(p, n->where, "more than %d levels inside each other",
				  EXPR_DEPTH_MAX);
	lex_next(p);
	p->depth++;
	value = parse_assign(p);
	p->depth--;
	return node_assign(p, sign, n, value);
}

static struct node *parse_comma(struct parser *p)
{
	struct node *n = parse_assign(p);

	while (!p->failed && accept(p, ','))
		n = node_comma(p, n, parse_assign(p));
	return n;
}

struct node *parse_expression(struct parser *p)
{
	struct node *n;

	lex_next(p);
	n = parse_comma(p);
	if (!p->failed && p->token != TOKEN_END)
		node_error(p, p->token_text, "there should be an operator or the end here");
	return n;
}
