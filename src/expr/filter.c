// SPDX-License-Identifier: GPL-2.0-or-later
// The language of the kernel's trace-event filters, as parsed and evaluated by kernel/trace/trace_events_filter.c: comparisons of a field with
// a constant, joined by && || ! and parentheses. What it takes is made of the same nodes as expressions.
#include "base/num.h"
#include "expr/node.h"
#include <ctype.h>

enum { FILTER_TEXT_MAX = 255 };

static struct node *parse_or(struct parser *p);

static int peek(const struct parser *p)
{
	return p->pos < p->text.n ? (unsigned char)p->text.p[p->pos] : -1;
}

static void skip_space(struct parser *p)
{
	while (isspace(peek(p)))
		p->pos++;
}

static struct str here(const struct parser *p, size_t from)
{
	return (struct str){p->text.p + from, MAX(p->pos, MIN(from + 1, p->text.n)) - from};
}

static bool accept(struct parser *p, const char *text)
{
	struct str rest = {p->text.p + p->pos, p->text.n - p->pos};

	if (!str_starts(rest, text))
		return false;
	p->pos += strlen(text);
	return true;
}

static struct str parse_word(struct parser *p)
{
	const size_t start = p->pos;

	while (isalnum(peek(p)) || peek(p) == '_')
		p->pos++;
	return (struct str){p->text.p + start, p->pos - start};
}

// Each longer one before its prefix. The tokens are C's.
static const struct {
	const char *text;
	int token;
} operators[] = {{"~", '~'}, {"!=", TOKEN_NE}, {"==", TOKEN_EQ}, {"<=", TOKEN_LE},
		 {"<", '<'}, {">=", TOKEN_GE}, {">", '>'},	 {"&", '&'}};

static struct node *text_predicate(struct parser *p, size_t start, struct node *field, int token)
{
	const int quote = peek(p);
	const size_t from = p->pos + 1;
	struct expr_match match;
	const char *end;
	struct str text;

	if (quote != '"' && quote != '\'')
		return node_error(p, here(p, p->pos), "text is compared with text in quotes");
	if (token != '~' && token != TOKEN_EQ && token != TOKEN_NE)
		return node_error(p, here(p, p->pos), "text is compared with ==, != or ~");
	end = memchr(p->text.p + from, quote, p->text.n - from);
	if (!end)
		return node_error(p, here(p, p->pos), "the closing %c is missing", quote);
	text = (struct str){p->text.p + from, (size_t)(end - p->text.p) - from};
	p->pos = from + text.n + 1;
	if (text.n > FILTER_TEXT_MAX)
		return node_error(p, text, "the text is longer than %d characters", FILTER_TEXT_MAX);
	text.p = arena_strdup(p->expr->arena, text);
	if (token == '~') {
		const bool negated = text.n && text.p[0] == '!';

		if (negated)
			text = (struct str){text.p + 1, text.n - 1};
		expr_match_init(&match, EXPR_MATCH_GLOB, text);
		match.negated = negated;
		// In an array kernels look for ends and middles behind the NUL, too, where old bytes are; and a digit in front
		// makes them take stars as they are.
		if ((text.n && isdigit((unsigned char)text.p[0])) ||
		    ((match.shape == EXPR_SHAPE_END || match.shape == EXPR_SHAPE_MIDDLE) &&
		     !field->type.is_dynamic))
			p->expr->kernel_filter = false;
	} else {
		expr_match_init(&match, EXPR_MATCH_EQUAL, text);
		match.negated = token == TOKEN_NE;
	}
	return node_match(p, here(p, start), field, match);
}

// The constant is cut to the field's type, as the kernel does.
static struct node *number_predicate(struct parser *p, size_t start, struct node *field, int token)
{
	const bool is_signed = expr_type_is_signed(field->type);
	const size_t from = p->pos;
	struct expr_type type = field->type;
	struct node *value, *n;
	uint64_t number = 0;
	int64_t signed_number = 0;
	struct str digits;

	if (token == '~')
		return node_error(p, here(p, start), "~ compares text, and this is a number");
	if (peek(p) == '-')
		p->pos++;
	while (isalnum(peek(p)))
		p->pos++;
	digits = (struct str){p->text.p + from, p->pos - from};
	if (is_signed ? num_parse_i64(digits, &signed_number) : num_parse_u64(digits, &number))
		return node_error(p, here(p, from), "a number is compared with %s",
				  is_signed ? "a number" : "a number that is not negative");
	value = node_number(p, digits, type.base, is_signed ? (uint64_t)signed_number : number);
	n = node_binary(p, (struct sign){token, here(p, start)}, field, value);
	return n;
}

// The names that every event has: the processor and the running task's name.
static struct node *generic_name(struct parser *p, struct str name)
{
	struct node *task;

	if (str_is(name, "CPU") || str_is(name, "cpu"))
		return node_context(p, name, EXPR_CPU);
	if (str_is(name, "common_pid")) // of an event without a format
		return node_context(p, name, EXPR_TID);
	if (!str_is(name, "COMM") && !str_is(name, "comm"))
		return NULL;
	task = node_context(p, name, EXPR_TID);
	return node_call(p, STR("comm"), name, task);
}

static struct node *parse_predicate(struct parser *p)
{
	struct expr_field found = {0};
	struct node *field;
	size_t start, op;
	struct str name;

	skip_space(p);
	start = p->pos;
	name = parse_word(p);
	if (!name.n)
		return node_error(p, here(p, start), "there should be a field here");
	if (node_find_field(p, name, &found)) {
		field = node_field(p, name, &found);
	} else {
		field = generic_name(p, name);
		if (!field) {
			node_unknown_name(p, name);
			return p->nothing;
		}
	}
	// a function by an address in it, a text that a pointer leads to
	p->for_kernel = peek(p) == '.' || (field->kind == NODE_FIELD && !field->type.is_array &&
					   expr_type_is_text(field->type));
	if (p->for_kernel)
		return node_error(p, lex_join(name, here(p, p->pos)),
				  "only the kernel can follow this address");
	skip_space(p);
	for (op = 0; op < ARRAY_SIZE(operators) && !accept(p, operators[op].text); op++)
		;
	if (op == ARRAY_SIZE(operators))
		return node_error(p, here(p, p->pos), "there should be an operator here");
	skip_space(p);
	if (p->failed)
		return p->nothing;
	if (expr_type_is_text(field->type))
		return text_predicate(p, start, field, operators[op].token);
	if (!expr_type_is_number(field->type))
		return node_error(p, name, "this field is neither a number nor text");
	return number_predicate(p, start, field, operators[op].token);
}

static struct node *parse_not(struct parser *p)
{
	struct node *n;
	size_t start;

	if (p->failed)
		return p->nothing;
	skip_space(p);
	start = p->pos;
	if (peek(p) != '!' && peek(p) != '(')
		return parse_predicate(p);
	if (p->depth >= EXPR_DEPTH_MAX)
		return node_error(p, here(p, start), "more than %d levels inside each other",
				  EXPR_DEPTH_MAX);
	p->depth++;
	if (accept(p, "!")) {
		n = parse_not(p);
		n = node_unary(p, (struct sign){'!', here(p, start)}, n);
	} else {
		p->pos++;
		n = parse_or(p);
		skip_space(p);
		if (!p->failed && !accept(p, ")"))
			node_error(p, here(p, p->pos), "there should be a ')' here");
	}
	p->depth--;
	return n;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_not(p);

	for (skip_space(p); !p->failed && accept(p, "&&"); skip_space(p))
		n = node_logic(p, TOKEN_AND, n, parse_not(p));
	return n;
}

static struct node *parse_or(struct parser *p)
{
	struct node *n = parse_and(p);

	for (skip_space(p); !p->failed && accept(p, "||"); skip_space(p))
		n = node_logic(p, TOKEN_OR, n, parse_and(p));
	return n;
}

struct node *parse_kernel_filter(struct parser *p)
{
	struct node *n;

	p->expr->kernel_filter = true;
	n = parse_or(p);
	if (!p->failed && p->pos < p->text.n)
		node_error(p, here(p, p->pos), "there should be && or || here");
	return n;
}
