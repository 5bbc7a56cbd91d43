// SPDX-License-Identifier: GPL-2.0-or-later
// The bytecode as text, for people.
#include "expr/builtin.h"

static const struct {
	const char *name, *operands;
} ops[] = {
#define X(name, operands) {#name, operands},
	EXPR_OPS(X)
#undef X
#define X(name) {#name, "dab"}, {#name, "dai"},
		EXPR_ALU(X)
#undef X
};

static void put_text(struct out *out, struct str text)
{
	out_char(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		const unsigned char c = (unsigned char)text.p[i];

		if (c == '"' || c == '\\')
			out_printf(out, "\\%c", c);
		else if (c < ' ' || c == 127)
			out_printf(out, "\\%03o", c);
		else
			out_char(out, (char)c);
	}
	out_char(out, '"');
}

static void put_operand(struct out *out, const struct expr *expr, const struct expr_insn *insn,
			char operand)
{
	const struct expr_match *match;

	switch (operand) {
	case 'd':
		out_printf(out, "t%u", insn->dst);
		break;
	case 'a':
		out_printf(out, "t%u", insn->a);
		break;
	case 'b':
		out_printf(out, "t%u", insn->b);
		break;
	case 'i':
		out_printf(out, "%d", insn->imm);
		break;
	case 'j':
		out_printf(out, "-> %d", insn->imm);
		break;
	case 'k':
		out_printf(out, "0x%llx", (unsigned long long)expr->constants.v[insn->imm]);
		break;
	case 'c':
		out_printf(out, "%s/%u", expr->calls.v[insn->imm].builtin->name, insn->b);
		break;
	default:
		match = &expr->matches.v[insn->imm];
		out_printf(out, "%s%s ", match->negated ? "not " : "",
			   match->kind == EXPR_MATCH_GLOB ? "like" : "equal");
		put_text(out, match->pattern);
	}
}

void expr_dump(const struct expr *expr, struct out *out)
{
	for (size_t i = 0; i < expr->code.n; i++) {
		const struct expr_insn *insn = &expr->code.v[i];
		const char *operands = ops[insn->op].operands;

		out_printf(out, "%4zu  ", i);
		out_text_left(out, ops[insn->op].name, 8);
		for (; *operands; operands++) {
			out_char(out, ' ');
			put_operand(out, expr, insn, *operands);
		}
		out_char(out, '\n');
	}
}
