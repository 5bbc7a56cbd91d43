// SPDX-License-Identifier: GPL-2.0-or-later
// Makes steps of the print fmt that libtraceevent parsed.
#include "abi/tracepoint_compile.h"
#include <ctype.h>
#include <stdio.h>

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

void tp_add_step(struct compiler *c, struct step step)
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

// "%*ld", and what it prints.
struct conversion {
	struct str spec;
	int longs; // letters l, less letters h
	const struct tep_print_arg *arg, *length_arg;
};

static void add_number(struct compiler *c, const struct conversion *conversion)
{
	const struct tep_print_arg *length_arg = conversion->length_arg;
	const struct str spec = conversion->spec;
	const int longs = conversion->longs;
	static const uint8_t sizes[] = {1, 2, 4, 8, 8}; // by longs + 2
	char letter = spec.p[spec.n - 1];
	struct step step = {
		.size = sizes[longs + 2],
		.longs = (int8_t)longs,
		.letter = letter,
		.is_signed = letter == 'd' || letter == 'i' || letter == 'c',
		.is_hex = letter == 'x',
		.number = tp_compile_number(c, conversion->arg),
		.length_arg = length_arg ? tp_compile_number(c, length_arg) : NULL,
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
	tp_add_step(c, step);
}

static void add_text(struct compiler *c, const struct conversion *conversion)
{
	const struct tep_print_arg *length_arg = conversion->length_arg;
	const struct str spec = conversion->spec;
	struct step step = {.kind = S_TEXT};

	if (!parse_spec(&step, spec.p + 1, spec.p + spec.n - 1)) {
		c->unknown = true;
		return;
	}
	step.text = tp_compile_text(c, conversion->arg);
	if (length_arg)
		step.length_arg = tp_compile_number(c, length_arg);
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
	tp_add_step(c, step);
}

void tp_add_message(struct compiler *c, const char *text)
{
	out_text(&c->literal, text);
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
			tp_add_pointer(c, p + 1, *arg, length_arg);
			*arg = (*arg)->next;
			return spec.n + tp_pointer_letters(p + 1);
		} else if (*p == 's') {
			add_text(c, &(struct conversion){spec, longs, *arg, length_arg});
		} else {
			add_number(c, &(struct conversion){spec, longs, *arg, length_arg});
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
