// SPDX-License-Identifier: GPL-2.0-or-later
// Words of an expression: C's tokens, without floating point.
#include "expr/node.h"
#include <ctype.h>

static const struct {
	char text[4];
	enum token token;
} operators[] = {
	// longer ones first
	{"<<=", TOKEN_ASSIGN_SHL}, {">>=", TOKEN_ASSIGN_SHR}, {"++", TOKEN_INC},
	{"--", TOKEN_DEC},	   {"<<", TOKEN_SHL},	      {">>", TOKEN_SHR},
	{"<=", TOKEN_LE},	   {">=", TOKEN_GE},	      {"==", TOKEN_EQ},
	{"!=", TOKEN_NE},	   {"&&", TOKEN_AND},	      {"||", TOKEN_OR},
	{"+=", TOKEN_ASSIGN_ADD},  {"-=", TOKEN_ASSIGN_SUB},  {"*=", TOKEN_ASSIGN_MUL},
	{"/=", TOKEN_ASSIGN_DIV},  {"%=", TOKEN_ASSIGN_MOD},  {"&=", TOKEN_ASSIGN_AND},
	{"|=", TOKEN_ASSIGN_OR},   {"^=", TOKEN_ASSIGN_XOR},
};

struct str lex_join(struct str a, struct str b)
{
	const char *from = a.p < b.p ? a.p : b.p;
	const char *to = a.p + a.n > b.p + b.n ? a.p + a.n : b.p + b.n;

	return (struct str){from, (size_t)(to - from)};
}

static int peek(const struct parser *p, size_t ahead)
{
	return p->pos + ahead < p->text.n ? (unsigned char)p->text.p[p->pos + ahead] : -1;
}

static int digit_value(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = c > 0 ? tolower(c) : c;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// C's choice of the type of a constant, without 128 bits.
static enum expr_base number_base(uint64_t value, bool decimal, bool is_unsigned, bool is_long)
{
	if (is_unsigned)
		return is_long || value > UINT32_MAX ? EXPR_U64 : EXPR_U32;
	if (!is_long && value <= INT32_MAX)
		return EXPR_S32;
	if (!is_long && !decimal && value <= UINT32_MAX)
		return EXPR_U32;
	return value <= INT64_MAX ? EXPR_S64 : EXPR_U64;
}

static void lex_number(struct parser *p)
{
	const size_t start = p->pos;
	unsigned base = 10, digits = 0, longs = 0, unsigneds = 0;
	uint64_t value = 0;
	bool overflow = false;

	if (peek(p, 0) == '0') {
		int x = peek(p, 1);

		base = x == 'x' || x == 'X' ? 16 : x == 'b' || x == 'B' ? 2 : 8;
		p->pos += base == 8 ? 0 : 2;
	}
	for (; digit_value(peek(p, 0)) < (int)base; p->pos++, digits++) {
		overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)digit_value(peek(p, 0)), &value);
	}
	for (;; p->pos++) {
		int c = peek(p, 0);

		if ((c == 'u' || c == 'U') && !unsigneds)
			unsigneds++;
		else if ((c == 'l' || c == 'L') &&
			 (!longs || (longs == 1 && p->text.p[p->pos - 1] == c)))
			longs++;
		else
			break;
	}
	while (isalnum(peek(p, 0)) || peek(p, 0) == '_' || peek(p, 0) == '.') {
		p->pos++;
		digits = 0;
	}
	p->token = TOKEN_NUMBER;
	p->token_text = (struct str){p->text.p + start, p->pos - start};
	p->number = value;
	p->number_type = type_of(number_base(value, base == 10, unsigneds, longs));
	if (!digits)
		node_error(p, p->token_text, "'%.*s' is no whole number", STR_FMT(p->token_text));
	else if (overflow)
		node_error(p, p->token_text, "the number is larger than 64 bits");
}

// Behind a backslash.
static int lex_escape(struct parser *p)
{
	static const char names[] = "abfnrtv\\'\"?e", values[] = "\a\b\f\n\r\t\v\\'\"?\033";
	const struct str where = {p->text.p + p->pos - 1, 2};
	int c = peek(p, 0);
	unsigned value = 0, n = 0;
	const char *name;

	if (c >= '0' && c <= '7') {
		for (; n < 3 && peek(p, 0) >= '0' && peek(p, 0) <= '7'; n++, p->pos++)
			value = value * 8 + (unsigned)(peek(p, 0) - '0');
		return (int)(value & 0xff);
	}
	p->pos++;
	if (c == 'x') {
		for (; digit_value(peek(p, 0)) < 16; n++, p->pos++)
			value = (value * 16 + (unsigned)digit_value(peek(p, 0))) & 0xff;
		if (n)
			return (int)value;
	}
	name = c > 0 ? strchr(names, c) : NULL;
	if (!name)
		node_error(p, where, "there is no such escape");
	return name ? values[name - names] : 0;
}

// The bytes up to the closing quote, appended to out.
static void lex_quoted(struct parser *p, struct out *out)
{
	const struct str start = {p->text.p + p->pos, 1};
	const int quote = peek(p, 0);

	p->pos++;
	while (!p->failed && peek(p, 0) != quote) {
		int c = peek(p, 0);

		if (c < 0) {
			node_error(p, start, "the closing %c is missing", quote);
			return;
		}
		p->pos++;
		out_char(out, (char)(c == '\\' ? lex_escape(p) : c));
	}
	p->pos++;
}

static void lex_text(struct parser *p)
{
	const size_t start = p->pos;
	struct out out;

	out_init_memory(&out);
	if (peek(p, 0) == '\'') {
		lex_quoted(p, &out);
		p->token = TOKEN_NUMBER;
		p->number_type = type_of(EXPR_S32);
		p->number = out.n ? (uint64_t)(int64_t)(int8_t)out.buf[0] : 0;
		p->token_text = (struct str){p->text.p + start, MIN(p->pos, p->text.n) - start};
		if (out.n != 1)
			node_error(p, p->token_text, "a character constant has one character%s",
				   out.n > 1 ? "; texts are in double quotes" : "");
		out_done(&out);
		return;
	}
	do { // neighbours are one text
		lex_quoted(p, &out);
		p->token_text = (struct str){p->text.p + start, MIN(p->pos, p->text.n) - start};
		while (isspace(peek(p, 0)))
			p->pos++;
	} while (!p->failed && peek(p, 0) == '"');
	p->token = TOKEN_TEXT;
	p->literal = (struct str){arena_memdup(p->expr->arena, out.n ? out.buf : "", out.n + !out.n),
				  out.n};
	out_done(&out);
}

void lex_next(struct parser *p)
{
	size_t start;

	while (isspace(peek(p, 0)))
		p->pos++;
	start = p->pos;
	p->token_text = (struct str){p->text.p + start, start < p->text.n};
	if (p->failed || start >= p->text.n) {
		p->token = TOKEN_END;
		return;
	}
	if (isdigit(peek(p, 0)) || (peek(p, 0) == '.' && isdigit(peek(p, 1)))) {
		lex_number(p);
		return;
	}
	if (peek(p, 0) == '"' || peek(p, 0) == '\'') {
		lex_text(p);
		return;
	}
	if (isalpha(peek(p, 0)) || peek(p, 0) == '_') {
		while (isalnum(peek(p, 0)) || peek(p, 0) == '_')
			p->pos++;
		p->token = TOKEN_NAME;
		p->token_text.n = p->pos - start;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		struct str rest = {p->text.p + start, p->text.n - start};

		if (str_starts(rest, operators[i].text)) {
			p->token = operators[i].token;
			p->token_text.n = strlen(operators[i].text);
			p->pos += p->token_text.n;
			return;
		}
	}
	if (!strchr("+-*/%&|^~!<>=?:,()[]", peek(p, 0)) || !peek(p, 0)) {
		node_error(p, p->token_text, "there is no such character in an expression");
		p->token = TOKEN_END;
		return;
	}
	p->token = (enum token)peek(p, 0);
	p->pos++;
}
