// SPDX-License-Identifier: GPL-2.0-or-later
// The arguments of a print fmt as expressions over the record and as texts.
#include "abi/tracepoint_compile.h"
#include <ctype.h>

static struct expr *new_expr(struct compiler *c, enum expr_kind kind)
{
	struct expr *e = arena_zalloc(c->arena, sizeof(*e));

	e->kind = kind;
	return e;
}

static const struct expr *constant(struct compiler *c, uint64_t value)
{
	struct expr *e = new_expr(c, E_CONST);

	e->value = value;
	return e;
}

const struct tep_format_field *tp_find_tep_field(const struct compiler *c,
						 const struct tep_format_field *field,
						 const char *name)
{
	if (field || !name)
		return field;
	return tep_find_any_field(c->tp->event, name);
}

static const struct expr *field_expr(struct compiler *c, const struct tep_format_field *field)
{
	struct expr *e;

	if (!field)
		return constant(c, 0);
	e = new_expr(c, E_FIELD);
	e->offset = (uint16_t)field->offset;
	e->size = (uint16_t)field->size;
	return e;
}

// The bits that a cast to `type` leaves.
static uint64_t cast_mask(struct str type)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} plain[] = {{"u8", 0xff},    {"s8", 0xff},	   {"u16", 0xffff},
		     {"s16", 0xffff}, {"u32", 0xffffffff}, {"s32", 0xffffffff}},
	  any[] = {{"char", 0xff}, {"short", 0xffff}, {"int", 0xffffffff}};

	if (type.n < 2 || type.p[type.n - 1] == '*' || str_starts(type, "struct"))
		return UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (str_is(type, plain[i].name))
			return plain[i].mask;
	if (str_starts(type, "unsigned "))
		type = (struct str){type.p + 9, type.n - 9};
	for (size_t i = 0; i < ARRAY_SIZE(any); i++)
		if (str_is(type, any[i].name))
			return any[i].mask;
	return UINT64_MAX;
}

// The bits of what a pointer of this type points to.
static uint64_t pointed_mask(struct str type)
{
	if (type.n < 2 || type.p[type.n - 1] != '*')
		return UINT64_MAX;
	return cast_mask((struct str){type.p, type.n - 2});
}

static const struct expr *binary(struct compiler *c, enum expr_kind kind, const struct expr *left,
				 const struct expr *right)
{
	struct expr *e;

	if (left->kind == E_CONST && right->kind == E_CONST)
		return constant(c, tp_operate(kind, left->value, right->value));
	if (kind == E_AND && right->kind == E_CONST &&
	    (left->kind == E_FIELD || left->kind == E_FIELD_AND)) {
		e = new_expr(c, E_FIELD_AND);
		e->offset = left->offset;
		e->size = left->size;
		e->value = left->kind == E_FIELD ? right->value : right->value & left->value;
		return e;
	}
	if ((kind == E_DIVIDE || kind == E_REMAINDER) && (right->kind != E_CONST || !right->value))
		c->divides = true;
	e = new_expr(c, kind);
	e->left = left;
	e->right = right;
	return e;
}

static const struct expr *compile_index(struct compiler *c, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *array = arg->op.left;
	uint64_t mask = UINT64_MAX;
	bool cast = false;
	struct expr *e;

	while (array && array->type == TEP_PRINT_TYPE) {
		if (!cast)
			mask = pointed_mask(str_of(array->typecast.type));
		cast = true;
		array = array->typecast.item;
	}
	if (array && array->type == TEP_PRINT_DYNAMIC_ARRAY && array->dynarray.field) {
		e = new_expr(c, E_DYNAMIC_ITEM);
		e->field = tp_find_field(c->tp, array->dynarray.field);
		e->size = array->dynarray.field->elementsize
				  ? (uint16_t)array->dynarray.field->elementsize
				  : c->tp->all->options.long_size;
	} else if (array && array->type == TEP_PRINT_FIELD) {
		const struct tep_format_field *field =
			tp_find_tep_field(c, array->field.field, array->field.name);

		if (!field)
			return constant(c, 0);
		e = new_expr(c, E_FIELD_ITEM);
		e->offset = (uint16_t)field->offset;
		e->size = (uint16_t)field->elementsize;
	} else {
		c->unknown = c->hostile = true;
		return constant(c, 0);
	}
	if (e->kind == E_DYNAMIC_ITEM && !e->field) {
		c->unknown = c->hostile = true;
		return constant(c, 0);
	}
	e->value = mask;
	e->left = tp_compile_number(c, arg->op.right);
	return e;
}

static const struct expr *compile_operator(struct compiler *c, const struct tep_print_arg *arg)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} operators[] = {
		{"!", E_NOT},	      {"!=", E_DIFFER}, {"~", E_INVERT},
		{"|", E_OR},	      {"||", E_EITHER}, {"&", E_AND},
		{"&&", E_BOTH},	      {"<", E_LESS},	{"<<", E_SHIFT_LEFT},
		{"<=", E_LESS_EQUAL}, {">", E_MORE},	{">>", E_SHIFT_RIGHT},
		{">=", E_MORE_EQUAL}, {"==", E_EQUAL},	{"-", E_SUBTRACT},
		{"+", E_ADD},	      {"/", E_DIVIDE},	{"%", E_REMAINDER},
		{"*", E_MULTIPLY},
	};
	const char *op = arg->op.op;

	if (!op || !arg->op.right)
		return constant(c, 0);
	if (strcmp(op, "[") == 0)
		return compile_index(c, arg);
	if (strcmp(op, "?") == 0) {
		const struct tep_print_arg *choices = arg->op.right;
		const struct expr *condition;
		struct expr *e;

		if (choices->type != TEP_PRINT_OP || !choices->op.left || !choices->op.right) {
			c->unknown = c->hostile = true;
			return constant(c, 0);
		}
		condition = tp_compile_number(c, arg->op.left);
		if (condition->kind == E_CONST)
			return tp_compile_number(c, condition->value ? choices->op.left
								     : choices->op.right);
		e = new_expr(c, E_CHOOSE);
		e->left = condition;
		e->right = tp_compile_number(c, choices->op.left);
		e->other = tp_compile_number(c, choices->op.right);
		return e;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (strcmp(op, operators[i].op) == 0)
			return binary(c, operators[i].kind, tp_compile_number(c, arg->op.left),
				      tp_compile_number(c, arg->op.right));
	return constant(c, 0); // what libtraceevent can't calculate either
}

static const struct expr *dynamic_expr(struct compiler *c, const struct tep_print_arg *arg,
				       enum expr_kind kind)
{
	const struct tp_field *field =
		arg->dynarray.field ? tp_find_field(c->tp, arg->dynarray.field) : NULL;
	struct expr *e;

	if (!field) {
		c->unknown = c->hostile = true;
		return constant(c, 0);
	}
	e = new_expr(c, kind);
	e->field = field;
	return e;
}

const struct expr *tp_compile_number(struct compiler *c, const struct tep_print_arg *arg)
{
	const struct expr *e = NULL;

	if (!arg)
		return constant(c, 0);
	if (++c->depth > DEPTH_MAX) {
		c->unknown = c->hostile = true;
		return constant(c, 0);
	}
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		// names of symbols have no value: perf knows none here either
		e = constant(c, strtoull(arg->atom.atom, NULL, 0));
		break;
	case TEP_PRINT_FIELD:
		e = field_expr(c, tp_find_tep_field(c, arg->field.field, arg->field.name));
		break;
	case TEP_PRINT_TYPE: {
		uint64_t mask = cast_mask(str_of(arg->typecast.type));

		e = tp_compile_number(c, arg->typecast.item);
		if (mask != UINT64_MAX)
			e = binary(c, E_AND, e, constant(c, mask));
		break;
	}
	case TEP_PRINT_OP:
		e = compile_operator(c, arg);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		e = dynamic_expr(c, arg, E_DYNAMIC_SIZE);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY:
		e = dynamic_expr(c, arg, E_DYNAMIC_ADDRESS);
		break;
	case TEP_PRINT_FUNC:
		c->unknown = true;
		e = constant(c, 0);
		break;
	default: // text has no value
		e = constant(c, 0);
	}
	c->depth--;
	return e;
}

static int64_t flag_value(const char *text)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {
		{"HI_SOFTIRQ", 0},	{"TIMER_SOFTIRQ", 1},	  {"NET_TX_SOFTIRQ", 2},
		{"NET_RX_SOFTIRQ", 3},	{"BLOCK_SOFTIRQ", 4},	  {"IRQ_POLL_SOFTIRQ", 5},
		{"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},	  {"HRTIMER_SOFTIRQ", 8},
		{"RCU_SOFTIRQ", 9},	{"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
	};

	if (isdigit((unsigned char)text[0]))
		return (int64_t)strtoull(text, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, text) == 0)
			return known[i].value;
	return -1;
}

static void compile_names(struct compiler *c, struct text *t, const struct tep_print_flag_sym *list)
{
	struct name_of *names;
	uint32_t n = 0;

	for (const struct tep_print_flag_sym *s = list; s; s = s->next)
		n++;
	names = arena_alloc(c->arena, n * sizeof(*names));
	n = 0;
	t->all_known = true;
	for (; list; list = list->next) {
		names[n].value = flag_value(list->value);
		t->all_known &= names[n].value >= 0;
		names[n++].text = str_of(list->str);
	}
	t->names = names;
	t->n_names = n;
}

static void compile_array(struct compiler *c, struct text *t, enum text_kind kind,
			  const struct tep_print_arg *array)
{
	const struct tep_format_field *field = NULL;

	if (array && array->type == TEP_PRINT_DYNAMIC_ARRAY)
		field = array->dynarray.field;
	else if (array && array->type == TEP_PRINT_FIELD)
		field = tp_find_tep_field(c, array->field.field, array->field.name);
	else
		c->hostile = true;
	if (!field)
		return; // nothing is printed
	t->kind = kind;
	t->offset = (uint16_t)field->offset;
	t->field = array->type == TEP_PRINT_DYNAMIC_ARRAY ? tp_find_field(c->tp, field) : NULL;
}

static void compile_dynamic(struct compiler *c, struct text *t, enum text_kind kind,
			    const struct tep_print_arg_string *arg)
{
	const struct tep_format_field *field = tp_find_tep_field(c, arg->field, arg->string);

	if (!field)
		return;
	t->field = tp_find_field(c->tp, field);
	if (t->field)
		t->kind = kind;
}

static void compile_field_text(struct compiler *c, struct text *t,
			       const struct tep_format_field *field)
{
	if (!field)
		return;
	t->kind = T_FIXED;
	t->offset = (uint16_t)field->offset;
	t->size = (uint16_t)field->size;
	if (!(field->flags & TEP_FIELD_IS_ARRAY) && field->size == c->tp->all->options.long_size)
		t->kind = T_POINTER;
}

const struct text *tp_compile_text(struct compiler *c, const struct tep_print_arg *arg)
{
	struct text *t = arena_zalloc(c->arena, sizeof(*t));
	const struct tep_print_arg *choices;

	if (!arg)
		return t;
	if (++c->depth > DEPTH_MAX) {
		c->unknown = c->hostile = true;
		return t;
	}
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		t->kind = T_CONST;
		t->text = str_of(arg->atom.atom);
		break;
	case TEP_PRINT_FIELD:
		compile_field_text(c, t, tp_find_tep_field(c, arg->field.field, arg->field.name));
		break;
	case TEP_PRINT_FLAGS:
		t->kind = T_FLAGS;
		t->text = str_of(arg->flags.delim);
		t->number = tp_compile_number(c, arg->flags.field);
		compile_names(c, t, arg->flags.flags);
		break;
	case TEP_PRINT_SYMBOL:
		t->kind = T_SYMBOL;
		t->number = tp_compile_number(c, arg->symbol.field);
		compile_names(c, t, arg->symbol.symbols);
		break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		compile_array(c, t, arg->type == TEP_PRINT_HEX ? T_HEX : T_HEX_STR, arg->hex.field);
		t->number = tp_compile_number(c, arg->hex.size);
		break;
	case TEP_PRINT_INT_ARRAY:
		compile_array(c, t, T_NUMBERS, arg->int_array.field);
		t->number = tp_compile_number(c, arg->int_array.count);
		t->item_size = tp_compile_number(c, arg->int_array.el_size);
		break;
	case TEP_PRINT_STRING:
		compile_dynamic(c, t, T_DYNAMIC, &arg->string);
		break;
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		// the members of the two unions are laid out alike
		compile_dynamic(c, t, arg->type == TEP_PRINT_BITMASK ? T_BITMASK : T_CPUS,
				&arg->string);
		break;
	case TEP_PRINT_OP:
		if (!arg->op.op || arg->op.op[0] != '?')
			break;
		choices = arg->op.right;
		if (!choices || choices->type != TEP_PRINT_OP) {
			c->unknown = c->hostile = true;
			break;
		}
		t->number = tp_compile_number(c, arg->op.left);
		t->kind = T_CHOOSE;
		t->yes = tp_compile_text(c, choices->op.left);
		t->no = tp_compile_text(c, choices->op.right);
		break;
	case TEP_PRINT_FUNC:
	case TEP_PRINT_BSTRING:
		c->unknown = true;
		break;
	default:
		break;
	}
	c->depth--;
	return t;
}
