// SPDX-License-Identifier: GPL-2.0-or-later
// Makes steps of the print fmt that libtraceevent parsed.
#include "abi/tracepoint_program.h"
#include <ctype.h>
#include <stdio.h>

#define DEPTH_MAX 1000 // of expressions

struct compiler {
	struct tracepoint *tp;
	struct arena *arena;
	VEC(struct step) steps;
	struct out literal; // text since the last step
	bool unknown;	    // something that is left to libtraceevent
	bool hostile;	    // something that must not reach it
	bool divides;	    // by what may be 0, which would kill it
	unsigned depth;
};

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

static const struct tep_format_field *find_tep_field(const struct compiler *c,
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

static const struct expr *compile_number(struct compiler *c, const struct tep_print_arg *arg);

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
			find_tep_field(c, array->field.field, array->field.name);

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
	e->left = compile_number(c, arg->op.right);
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
		condition = compile_number(c, arg->op.left);
		if (condition->kind == E_CONST)
			return compile_number(c, condition->value ? choices->op.left
								  : choices->op.right);
		e = new_expr(c, E_CHOOSE);
		e->left = condition;
		e->right = compile_number(c, choices->op.left);
		e->other = compile_number(c, choices->op.right);
		return e;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (strcmp(op, operators[i].op) == 0)
			return binary(c, operators[i].kind, compile_number(c, arg->op.left),
				      compile_number(c, arg->op.right));
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

static const struct expr *compile_number(struct compiler *c, const struct tep_print_arg *arg)
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
		e = field_expr(c, find_tep_field(c, arg->field.field, arg->field.name));
		break;
	case TEP_PRINT_TYPE: {
		uint64_t mask = cast_mask(str_of(arg->typecast.type));

		e = compile_number(c, arg->typecast.item);
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
		field = find_tep_field(c, array->field.field, array->field.name);
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
	const struct tep_format_field *field = find_tep_field(c, arg->field, arg->string);

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

static const struct text *compile_text(struct compiler *c, const struct tep_print_arg *arg)
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
		compile_field_text(c, t, find_tep_field(c, arg->field.field, arg->field.name));
		break;
	case TEP_PRINT_FLAGS:
		t->kind = T_FLAGS;
		t->text = str_of(arg->flags.delim);
		t->number = compile_number(c, arg->flags.field);
		compile_names(c, t, arg->flags.flags);
		break;
	case TEP_PRINT_SYMBOL:
		t->kind = T_SYMBOL;
		t->number = compile_number(c, arg->symbol.field);
		compile_names(c, t, arg->symbol.symbols);
		break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		compile_array(c, t, arg->type == TEP_PRINT_HEX ? T_HEX : T_HEX_STR, arg->hex.field);
		t->number = compile_number(c, arg->hex.size);
		break;
	case TEP_PRINT_INT_ARRAY:
		compile_array(c, t, T_NUMBERS, arg->int_array.field);
		t->number = compile_number(c, arg->int_array.count);
		t->item_size = compile_number(c, arg->int_array.el_size);
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
		t->number = compile_number(c, arg->op.left);
		t->kind = T_CHOOSE;
		t->yes = compile_text(c, choices->op.left);
		t->no = compile_text(c, choices->op.right);
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

static void flush_literal(struct compiler *c)
{
	if (!c->literal.n)
		return;
	vec_push(&c->steps, (struct step){
				    .kind = S_LITERAL,
				    .literal = {arena_memdup(c->arena, c->literal.buf, c->literal.n),
						c->literal.n},
			    });
	c->literal.n = 0;
}

static void add_step(struct compiler *c, struct step step)
{
	flush_literal(c);
	vec_push(&c->steps, step);
}

// Text up to the next conversion; returns how many characters of the format it took.
static size_t take_literal(struct compiler *c, const char *format)
{
	const char *p = format;

	for (; *p; p++) {
		if (*p == '\\') {
			p++;
			switch (*p) {
			case 'n':
				out_char(&c->literal, '\n');
				break;
			case 't':
				out_char(&c->literal, '\t');
				break;
			case 'r':
				out_char(&c->literal, '\r');
				break;
			case 0:
				return (size_t)(p - format);
			default:
				out_char(&c->literal, *p);
			}
		} else if (*p == '%') {
			if (p[1] != '%')
				break;
			out_char(&c->literal, '%');
			p++;
		} else {
			out_char(&c->literal, *p);
		}
	}
	return (size_t)(p - format);
}

// How many letters behind %p belong to it.
static size_t pointer_letters(const char *p)
{
	size_t n = 0;

	switch (*p) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return p[1] && strchr("RF", p[1]) ? 2 : 1;
	case 'U':
		return p[1] && strchr("LlBb", p[1]) ? 2 : 1;
	case 'h':
		return p[1] && strchr("CDN", p[1]) ? 2 : 1;
	case 'I':
	case 'i':
		break;
	default:
		return 0;
	}
	const char *at = p + 2;

	switch (p[1]) {
	case 'S':
		while (*at && strchr("pfs", *at)) {
			n++;
			at++;
		}
		// fall through
	case '4':
		if (*at && strchr("hnlb", *at)) {
			n++;
			at++;
		}
		if (p[1] == '4')
			return n + 2;
		// fall through
	case '6':
		if (*at == 'c')
			n++;
		return n + 2;
	default:
		return 1;
	}
}

// What is in front of the letters: flags, width, precision. False when printf itself must do it.
static bool parse_spec(struct step *step, const char *p, const char *end)
{
	step->precision = -1;
	for (; p < end && strchr("-0", *p); p++) {
		step->left |= *p == '-';
		step->zeros |= *p == '0';
	}
	if (p < end && *p == '*') {
		step->has_width_arg = true;
		p++;
	} else {
		for (; p < end && isdigit((unsigned char)*p); p++)
			step->width = step->width * 10 + *p - '0';
	}
	if (p < end && *p == '.') {
		step->precision = 0;
		p++;
		if (p < end && *p == '*') {
			step->has_precision_arg = true;
			p++;
		} else {
			for (; p < end && isdigit((unsigned char)*p); p++)
				step->precision = step->precision * 10 + *p - '0';
		}
	}
	while (p < end && strchr("hlLzZ", *p))
		p++;
	return p == end;
}

static bool is_plain_length(const char *end, int longs)
{
	// the letters before the conversion say the same as their sum
	switch (longs) {
	case 0:
		return !strchr("hlLzZ", end[-1]);
	case 1:
		return (end[-1] == 'l' && end[-2] != 'l') || end[-1] == 'z';
	case 2:
		return (end[-1] == 'l' && end[-2] == 'l') || end[-1] == 'L';
	case -1:
		return end[-1] == 'h' && end[-2] != 'h';
	default:
		return end[-1] == 'h' && end[-2] == 'h';
	}
}

static void add_number(struct compiler *c, struct str spec, int longs,
		       const struct tep_print_arg *arg, const struct tep_print_arg *length_arg)
{
	static const uint8_t sizes[] = {1, 2, 4, 8, 8}; // by longs + 2
	char letter = spec.p[spec.n - 1];
	struct step step = {
		.size = sizes[longs + 2],
		.longs = (int8_t)longs,
		.letter = letter,
		.is_signed = letter == 'd' || letter == 'i' || letter == 'c',
		.is_hex = letter == 'x',
		.number = compile_number(c, arg),
		.length_arg = length_arg ? compile_number(c, length_arg) : NULL,
		.format = arena_strdup(c->arena, spec),
	};
	const char *end = spec.p + spec.n - 1;
	bool simple = parse_spec(&step, spec.p + 1, end) && is_plain_length(end, longs) &&
		      !length_arg && step.precision < 0;

	step.kind = S_PRINTF;
	if (length_arg)
		step.has_width_arg = true;
	if (simple && strchr("diux", letter)) {
		step.kind = S_NUMBER;
		if (!step.width)
			step.kind = step.is_hex ? S_HEX : step.is_signed ? S_DECIMAL : S_UNSIGNED;
	} else if (simple && letter == 'c' && !step.width && longs == 0) {
		step.kind = S_CHAR;
	}
	add_step(c, step);
}

static void add_text(struct compiler *c, struct str spec, const struct tep_print_arg *arg,
		     const struct tep_print_arg *length_arg)
{
	struct step step = {.kind = S_TEXT};

	if (!parse_spec(&step, spec.p + 1, spec.p + spec.n - 1)) {
		c->unknown = true;
		return;
	}
	step.text = compile_text(c, arg);
	if (length_arg)
		step.length_arg = compile_number(c, length_arg);
	if (!step.width && step.precision < 0 && !length_arg) {
		const struct text *t = step.text;

		if (t->kind == T_FIXED) {
			step.kind = S_FIXED_TEXT;
			step.offset = t->offset;
			step.length = t->size;
		} else if (t->kind == T_DYNAMIC) {
			step.kind = S_DYNAMIC_TEXT;
			step.field = t->field;
		} else if (t->kind == T_CONST) {
			out_str(&c->literal, t->text);
			return;
		}
	}
	add_step(c, step);
}

static void add_message(struct compiler *c, const char *text)
{
	out_text(&c->literal, text);
}

// The field behind casts that %pM, %pI4, ... read; NULL after having said what is wrong.
static const struct tep_format_field *address_field(struct compiler *c,
						    const struct tep_print_arg *arg, int size,
						    const char *wrong_size)
{
	const struct tep_format_field *field;

	while (arg->type == TEP_PRINT_TYPE && arg->typecast.item)
		arg = arg->typecast.item;
	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return NULL;
	}
	if (arg->type != TEP_PRINT_FIELD) {
		out_printf(&c->literal, "ARG TYPE NOT FIELD BUT %d", arg->type);
		return NULL;
	}
	field = find_tep_field(c, arg->field.field, arg->field.name);
	if (field && field->size != size) {
		add_message(c, wrong_size);
		return NULL;
	}
	return field;
}

static void add_mac(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field = address_field(c, arg, 6, "INVALIDMAC");
	struct step step = {.kind = S_MAC, .letter = ':', .reversed = letters[1] == 'R'};

	if (!field)
		return;
	if (letters[0] == 'm')
		step.letter = 0;
	else if (letters[1] == 'F')
		step.letter = '-';
	step.offset = (uint16_t)field->offset;
	add_step(c, step);
}

static bool is_reversed(const struct compiler *c, char letter)
{
	return letter == 'l' || (letter == 'h' && !c->tp->all->options.big_endian);
}

static void add_socket_address(struct compiler *c, const char *letters,
			       const struct tep_print_arg *arg)
{
	struct step step = {.kind = S_SOCKET_ADDRESS, .zero_padded = letters[0] == 'i'};
	const struct tep_format_field *field;
	const char *p = letters + 2;

	if (letters[0] == 'I') {
		step.with_port = *p == 'p';
		p += step.with_port;
		step.compressed = *p == 'c';
		p += step.compressed;
	}
	step.reversed = is_reversed(c, *p);
	while (arg->type == TEP_PRINT_TYPE && arg->typecast.item)
		arg = arg->typecast.item;
	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return;
	}
	if (arg->type == TEP_PRINT_FIELD) {
		field = find_tep_field(c, arg->field.field, arg->field.name);
		if (!field)
			return;
		step.offset = (uint16_t)field->offset;
		step.length = (uint16_t)field->size;
	} else if (arg->type == TEP_PRINT_DYNAMIC_ARRAY && arg->dynarray.field) {
		step.field = tp_find_field(c->tp, arg->dynarray.field);
	} else {
		out_printf(&c->literal, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE %d", arg->type);
		return;
	}
	add_step(c, step);
}

static void add_ip(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;
	struct step step = {.zero_padded = letters[0] == 'i'};

	switch (letters[1]) {
	case '4':
		field = address_field(c, arg, 4, "INVALIDIPv4");
		step.kind = S_IPV4;
		step.reversed = is_reversed(c, letters[2]);
		break;
	case '6':
		field = address_field(c, arg, 16, "INVALIDIPv6");
		step.kind = S_IPV6;
		step.compressed = letters[0] == 'I' && letters[2] == 'c';
		break;
	case 'S':
		add_socket_address(c, letters, arg);
		return;
	default:
		return;
	}
	if (!field)
		return;
	step.offset = (uint16_t)field->offset;
	add_step(c, step);
}

static void add_uuid(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field = address_field(c, arg, 16, "INVALIDUUID");

	if (!field)
		return;
	add_step(c, (struct step){
			    .kind = S_UUID,
			    .upper = letters[1] == 'L' || letters[1] == 'B',
			    .reversed = letters[1] == 'L' || letters[1] == 'l',
			    .offset = (uint16_t)field->offset,
		    });
}

static void add_bytes(struct compiler *c, const char *letters, const struct tep_print_arg *arg,
		      const struct tep_print_arg *length_arg)
{
	struct step step = {.kind = S_BYTES, .letter = ' '};

	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return;
	}
	if (arg->type != TEP_PRINT_DYNAMIC_ARRAY || !arg->dynarray.field) {
		out_printf(&c->literal, "ARG TYPE NOT FIELD BUT %d", arg->type);
		return;
	}
	if (letters[1] == 'C')
		step.letter = ':';
	else if (letters[1] == 'D')
		step.letter = '-';
	else if (letters[1] == 'N')
		step.letter = 0;
	step.field = tp_find_field(c->tp, arg->dynarray.field);
	step.length_arg = length_arg ? compile_number(c, length_arg) : NULL;
	if (step.field)
		add_step(c, step);
}

static void add_pointer(struct compiler *c, const char *letters, const struct tep_print_arg *arg,
			const struct tep_print_arg *length_arg)
{
	switch (*letters) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		add_step(c, (struct step){
				    .kind = S_FUNCTION,
				    .with_offset = *letters == 'F' || *letters == 'S',
				    .number = compile_number(c, arg),
			    });
		break;
	case 'M':
	case 'm':
		add_mac(c, letters, arg);
		break;
	case 'I':
	case 'i':
		add_ip(c, letters, arg);
		break;
	case 'U':
		add_uuid(c, letters, arg);
		break;
	case 'h':
		add_bytes(c, letters, arg, length_arg);
		break;
	default:
		add_step(c, (struct step){.kind = S_POINTER, .number = compile_number(c, arg)});
	}
}

// One conversion from its '%' on; returns the characters it took. *arg moves on.
static size_t take_conversion(struct compiler *c, const char *format, const struct tep_print_arg **arg)
{
	const struct tep_print_arg *length_arg = NULL;
	const char *p = format + 1;
	int longs = 0, digits = 0;

	for (; *p; p++) {
		struct str spec = {format, (size_t)(p + 1 - format)};

		digits = isdigit((unsigned char)*p) ? digits + 1 : 0;
		if (digits > 4 || spec.n > 30) {
			c->unknown = c->hostile = true;
			return spec.n;
		}
		switch (*p) {
		case '#':
		case '.':
		case '0' ... '9':
		case '-':
		case '+':
			continue;
		case 'h':
			longs--;
			continue;
		case 'l':
			longs++;
			continue;
		case 'L':
			longs = 2;
			continue;
		case 'z':
		case 'Z':
			longs = 1;
			continue;
		}
		if (!strchr("*pcduixXos", *p)) {
			out_printf(&c->literal, ">%c<", *p);
			return spec.n;
		}
		if (!*arg || longs < -2 || longs > 2) { // such events are marked as failed
			c->unknown = c->hostile = true;
			return spec.n;
		}
		if (*p == '*') {
			if (length_arg) {
				c->unknown = c->hostile = true;
				return spec.n;
			}
			length_arg = *arg;
		} else if (*p == 'p') {
			add_pointer(c, p + 1, *arg, length_arg);
			*arg = (*arg)->next;
			return spec.n + pointer_letters(p + 1);
		} else if (*p == 's') {
			add_text(c, spec, *arg, length_arg);
		} else {
			add_number(c, spec, longs, *arg, length_arg);
		}
		*arg = (*arg)->next;
		if (*p != '*')
			return spec.n;
	}
	return (size_t)(p - format);
}

void tp_compile(struct tracepoint *tp)
{
	struct compiler c = {.tp = tp, .arena = &tp->all->arena};
	const struct tep_print_arg *arg = tp->event->print_fmt.args;
	const char *format = tp->event->print_fmt.format;
	struct tp_program *program;

	tp->compiled = true;
	if (tp->event->flags & TEP_EVENT_FL_ISBPRINT || !format)
		return; // the format is in the data
	out_init_memory(&c.literal);
	while (*format && !c.unknown)
		format += format[0] == '%' && format[1] != '%' ? take_conversion(&c, format, &arg)
							       : take_literal(&c, format);
	flush_literal(&c);
	if (!c.unknown) {
		program = arena_alloc(c.arena, sizeof(*program));
		program->n = c.steps.n;
		program->steps = arena_memdup(c.arena, c.steps.v, c.steps.n * sizeof(*c.steps.v));
		tp->program = program;
	} else if (c.hostile || c.divides) {
		tp->failed = true;
	}
	vec_done(&c.steps);
	out_done(&c.literal);
}
