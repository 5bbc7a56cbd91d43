// SPDX-License-Identifier: GPL-2.0-or-later
// Compiling from the outside: text in, struct expr out.
//
// key=, num=, exec= and filters are C expressions over the event's fields. A parser makes nodes that have types from the start
// (constants are computed at once), expr/generate makes instructions on temporaries of 64 bits, expr/machine runs them: about
// 10 ns each, most of it for coming and going. Only what follows a pointer has to be checked: pointers are numbers that no
// address can be, which say into what they point (the record, a text), so nothing else can be read. There are no loops, so all
// end. The kernel's filter language has a parser of its own that makes the same nodes. expr/bpf translates the instructions to
// eBPF one by one; what it can't (functions with names, printf, globs inside) it says, and the run stays in user space.
#include "expr/expr.h"
#include "base/err.h"
#include "expr/node.h"

typedef struct node *parse_function(struct parser *p);

// p: with the fields.
static int compile(struct parser *p, const char *text, parse_function *parse, struct expr **ret)
{
	struct expr *expr = NEW(struct expr);
	struct node *root;

	expr->arena = NEW(struct arena);
	expr->source = xstrdup(text);
	expr->swapped = p->fields && p->fields->swapped;
	p->expr = expr;
	p->text = str_of(expr->source);
	p->nothing = node_number(p, p->text, EXPR_S32, 0);
	if (p->text.n > EXPR_TEXT_MAX) {
		expr_free(expr);
		return fail(EINVAL, "the expression is longer than %d bytes", EXPR_TEXT_MAX);
	}
	root = parse(p);
	generate(p, root);
	if (p->failed) {
		expr_free(expr);
		return p->for_kernel ? -EOPNOTSUPP : -EINVAL;
	}
	expr_type_name(expr->type, expr->type_text, sizeof(expr->type_text));
	*ret = expr;
	return 0;
}

int expr_compile(struct expr **ret, const char *text, const struct expr_fields *fields)
{
	struct parser p = {.fields = fields};

	return compile(&p, text, parse_expression, ret);
}

int expr_filter_compile_kernel(struct expr **ret, const char *text, const struct expr_fields *fields)
{
	struct parser p = {.fields = fields};

	return compile(&p, text, parse_kernel_filter, ret);
}

int expr_filter_compile(struct expr **ret, const char *text, const struct expr_fields *fields)
{
	struct parser kernel = {.fields = fields}, c = {.fields = fields};
	char *sentence;
	int err;

	if (!str_trim(str_of(text)).n)
		text = "1";
	err = compile(&kernel, text, parse_kernel_filter, ret);
	if (err == 0 || err == -EOPNOTSUPP)
		return err;
	sentence = xstrdup(err_sentence());
	err = compile(&c, text, parse_expression, ret);
	if (!err && !(*ret)->type.pointers && !(*ret)->type.is_array &&
	    (*ret)->type.base == EXPR_VOID) {
		expr_free(*ret);
		err = fail(EINVAL, "the filter '%s' has no value", text);
	} else if (err < 0 && kernel.failed_at > c.failed_at) { // whoever came further understood more
		err = fail_again(-EINVAL, sentence);
	} else if (!err) {
		err_clear();
	}
	free(sentence);
	return err;
}

void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	arena_done(expr->arena);
	free(expr->arena);
	free(expr->source);
	vec_done(&expr->code);
	vec_done(&expr->places);
	vec_done(&expr->constants);
	vec_done(&expr->literals);
	vec_done(&expr->calls);
	vec_done(&expr->matches);
	free(expr);
}

bool expr_is_text(const struct expr *expr)
{
	return expr_type_is_text(expr->type);
}

uint32_t expr_text_limit(const struct expr *expr)
{
	return expr_is_text(expr) ? expr->text_limit : 0;
}

bool expr_is_void(const struct expr *expr)
{
	return expr->type.base == EXPR_VOID && !expr->type.pointers;
}

bool expr_is_signed(const struct expr *expr)
{
	return expr_type_is_signed(expr->type);
}

unsigned expr_size(const struct expr *expr)
{
	return expr_type_size(expr->type);
}

const char *expr_type_text(const struct expr *expr)
{
	return expr->type_text;
}

bool expr_is_kernel_filter(const struct expr *expr)
{
	return expr->kernel_filter;
}

bool expr_prints(const struct expr *expr)
{
	return expr->prints;
}

bool expr_is_constant(const struct expr *expr, uint64_t *ret)
{
	const struct expr_insn *first = expr->code.v;

	if (expr->code.n != 2 || expr_is_text(expr) ||
	    (first->op != EXPR_CONST && first->op != EXPR_CONST64))
		return false;
	*ret = first->op == EXPR_CONST ? (uint64_t)(int64_t)first->imm
				       : expr->constants.v[first->imm];
	return true;
}

bool expr_is_step(const struct expr *expr, struct expr_step *ret)
{
	static const struct {
		uint8_t op, width;
		bool is_signed;
	} loads[] = {{EXPR_LD_S8, 1, true},   {EXPR_LD_U8, 1, false}, {EXPR_LD_S16, 2, true},
		     {EXPR_LD_U16, 2, false}, {EXPR_LD_S32, 4, true}, {EXPR_LD_U32, 4, false},
		     {EXPR_LD_64, 8, false}};
	const struct expr_insn *load = expr->code.v, *op = load + 1, *end = load + 2;

	if (expr->code.n != 3 || end->op != EXPR_RET || op->a != load->dst || end->a != op->dst)
		return false;
	// Each operation stands twice: with a temporary, and with a number in the instruction.
	if (op->op < EXPR_ADD || (op->op - EXPR_ADD) % 2 == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		if (loads[i].op != load->op)
			continue;
		*ret = (struct expr_step){.offset = (uint32_t)load->imm,
					  .width = loads[i].width,
					  .is_signed = loads[i].is_signed,
					  .op = op->op - 1,
					  .operand = (uint64_t)(int64_t)op->imm};
		return true;
	}
	return false;
}

bool expr_step_run(const struct expr_step *step, uint64_t loaded, uint64_t *ret)
{
	return expr_alu(step->op, loaded, step->operand, ret);
}
