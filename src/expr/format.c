// SPDX-License-Identifier: GPL-2.0-or-later
// printf: the format is taken apart once. Numbers are as wide as the argument or as %h, %hh, %l say; signs as %d or %u say.
#include "expr/builtin.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

enum { FROM_ARGUMENT = -2, NOT_GIVEN = -1, WIDTH_MAX = 4096 };

struct piece {
	struct str before; // text in front
	char conversion;   // 'd' 'u' 'x' 'X' 'o' 'c' 's' 'p'; 0: nothing
	uint8_t bytes;	   // of a number
	bool minus, zero, plus, space, hash;
	int width, precision;
	uint8_t width_argument, precision_argument, argument;
};

struct expr_format {
	const struct piece *pieces;
	size_t n;
};

struct compile {
	struct str format;
	size_t at;
	const struct expr_type *types;
	unsigned n, used;
	struct expr_format_problem *problem;
};

static int bad(struct compile *c, unsigned argument, const char *text)
{
	snprintf(c->problem->text, sizeof(c->problem->text), "%s", text);
	c->problem->argument = argument;
	return -EINVAL;
}

static int peek(const struct compile *c)
{
	return c->at < c->format.n ? (unsigned char)c->format.p[c->at] : -1;
}

// A width or precision: digits or *.
static int compile_count(struct compile *c, int *ret, uint8_t *ret_argument)
{
	unsigned value = 0;

	if (peek(c) == '*') {
		c->at++;
		if (c->used >= c->n)
			return bad(c, UINT32_MAX, "there is no argument for this *");
		if (!expr_type_is_number(c->types[c->used]))
			return bad(c, c->used, "a width is a number");
		*ret = FROM_ARGUMENT;
		*ret_argument = (uint8_t)c->used++;
		return 0;
	}
	if (!isdigit(peek(c)))
		return 0;
	for (; isdigit(peek(c)); c->at++)
		value = MIN(value * 10 + (unsigned)(peek(c) - '0'), (unsigned)WIDTH_MAX + 1);
	if (value > WIDTH_MAX)
		return bad(c, UINT32_MAX, "a width is at most 4096");
	*ret = (int)value;
	return 0;
}

static void compile_flags(struct compile *c, struct piece *piece)
{
	for (;; c->at++) {
		switch (peek(c)) {
		case '-':
			piece->minus = true;
			break;
		case '0':
			piece->zero = true;
			break;
		case '+':
			piece->plus = true;
			break;
		case ' ':
			piece->space = true;
			break;
		case '#':
			piece->hash = true;
			break;
		default:
			return;
		}
	}
}

// The bytes that a length modifier asks for; 0: none.
static unsigned compile_length(struct compile *c)
{
	int letter = peek(c);

	if (letter == 'h') {
		c->at++;
		if (peek(c) != 'h')
			return 2;
		c->at++;
		return 1;
	}
	if (letter < 0 || !strchr("lzjtq", letter))
		return 0;
	c->at++;
	if (letter == 'l' && peek(c) == 'l')
		c->at++;
	return 8;
}

static int compile_conversion(struct compile *c, struct piece *piece, unsigned length)
{
	const int letter = peek(c);
	struct expr_type type;
	unsigned size;

	if (letter < 0)
		return bad(c, UINT32_MAX, "the format ends inside a conversion");
	c->at++;
	if (!strchr("diuxXocsp", letter))
		return bad(c, UINT32_MAX, "printf knows %d %i %u %x %X %o %c %s %p %%");
	piece->conversion = (char)(letter == 'i' ? 'd' : letter);
	if (c->used >= c->n)
		return bad(c, UINT32_MAX, "there are more conversions than arguments");
	type = c->types[c->used];
	if (letter == 's') {
		if (type.pointers != 1 || (type.base != EXPR_S8 && type.base != EXPR_U8))
			return bad(c, c->used, "%s prints text (char *)");
	} else if (letter != 'p' && !expr_type_is_number(type)) {
		return bad(c, c->used, "this is a pointer; %p prints it, and %s if it is text");
	}
	size = MAX(expr_type_size(type), 4u); // as promoted
	piece->bytes = (uint8_t)(length && length < 8 ? length : MAX(length, size));
	piece->argument = (uint8_t)c->used++;
	return 0;
}

const struct expr_format *expr_format_compile(struct arena *arena, struct str format,
					      const struct expr_types *types,
					      struct expr_format_problem *ret_problem)
{
	struct compile c = {format, 0, types->v, types->n, 0, ret_problem};
	VEC(struct piece) pieces = {0};
	struct expr_format *made = NULL;
	int err = 0;

	while (c.at < format.n && !err) {
		struct piece piece = {.width = NOT_GIVEN, .precision = NOT_GIVEN};
		const size_t start = c.at;
		const char *percent = memchr(format.p + start, '%', format.n - start);

		c.at = percent ? (size_t)(percent - format.p) : format.n;
		piece.before = (struct str){format.p + start, c.at - start};
		if (percent && ++c.at < format.n && format.p[c.at] == '%') {
			piece.before.n++;
			c.at++;
		} else if (percent) {
			compile_flags(&c, &piece);
			err = compile_count(&c, &piece.width, &piece.width_argument);
			if (!err && peek(&c) == '.') {
				c.at++;
				piece.precision = 0;
				err = compile_count(&c, &piece.precision, &piece.precision_argument);
			}
			if (!err)
				err = compile_conversion(&c, &piece, compile_length(&c));
		}
		vec_push(&pieces, piece);
	}
	if (!err && c.used < c.n)
		err = bad(&c, c.used, "the format has no conversion for this argument");
	if (!err) {
		made = arena_zalloc(arena, sizeof(*made));
		made->n = pieces.n;
		made->pieces = pieces.n ? arena_memdup(arena, pieces.v, pieces.n * sizeof(*pieces.v))
					: NULL;
	}
	vec_done(&pieces);
	return made;
}

struct printed {
	const char *sign; // "-", "+", " ", "0x", ""
	char digits[24];
	unsigned n;
};

static void print_digits(struct printed *ret, const struct piece *piece, uint64_t value)
{
	const unsigned shift = 64 - piece->bytes * 8u;
	const unsigned base = piece->conversion == 'o'		 ? 8
			      : strchr("xXp", piece->conversion) ? 16
								 : 10;
	const char *digits = piece->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char reversed[24];
	unsigned n = 0;

	ret->sign = "";
	if (piece->conversion == 'd') {
		const int64_t number = (int64_t)(value << shift) >> shift;

		value = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
		ret->sign = number < 0 ? "-" : piece->plus ? "+" : piece->space ? " " : "";
	} else {
		value = value << shift >> shift;
		if (piece->conversion == 'p' || (piece->hash && base == 16 && value))
			ret->sign = piece->conversion == 'X' ? "0X" : "0x";
		else if (piece->hash && base == 8 && value)
			ret->sign = "0";
	}
	for (; value || !n; value /= base)
		reversed[n++] = digits[value % base];
	ret->n = n;
	for (unsigned i = 0; i < n; i++)
		ret->digits[i] = reversed[n - 1 - i];
}

static void put_number(struct out *out, const struct piece *piece, uint64_t value)
{
	const int width = piece->width, precision = piece->precision;
	struct printed printed;
	size_t n, zeros = 0;

	print_digits(&printed, piece, value);
	if (precision == 0 && printed.n == 1 && printed.digits[0] == '0')
		printed.n = 0;
	if (precision > (int)printed.n)
		zeros = (size_t)precision - printed.n;
	n = strlen(printed.sign) + printed.n + zeros;
	if (piece->zero && !piece->minus && precision < 0 && width > (int)n) {
		zeros += (size_t)width - n;
		n = (size_t)width;
	}
	if (!piece->minus && width > (int)n)
		out_fill(out, ' ', (size_t)width - n);
	out_text(out, printed.sign);
	out_fill(out, '0', zeros);
	out_bytes(out, printed.digits, printed.n);
	if (piece->minus && width > (int)n)
		out_fill(out, ' ', (size_t)width - n);
}

static void put_text(struct out *out, const struct piece *piece, struct str text)
{
	const int width = piece->width;
	const size_t fill = width > (int)text.n ? (size_t)width - text.n : 0;

	if (!piece->minus)
		out_fill(out, ' ', fill);
	out_str(out, text);
	if (piece->minus)
		out_fill(out, ' ', fill);
}

static int count_argument(uint64_t value)
{
	const int64_t count = (int32_t)value;

	return (int)(count > WIDTH_MAX ? WIDTH_MAX : count < -WIDTH_MAX ? -WIDTH_MAX : count);
}

// What a format is run on.
struct printing {
	struct expr_machine *machine;
	const uint32_t *limits; // of the texts
	const uint64_t *args;
	struct out *out;
};

static bool put_piece(const struct printing *printing, const struct piece *source)
{
	struct out *out = printing->out;
	const uint64_t *args = printing->args;
	struct piece piece = *source;
	const uint64_t value = args[piece.argument];
	struct str text;
	char c;

	if (piece.width == FROM_ARGUMENT) {
		piece.width = count_argument(args[piece.width_argument]);
		if (piece.width < 0) {
			piece.minus = true;
			piece.width = -piece.width;
		}
	}
	if (piece.precision == FROM_ARGUMENT)
		piece.precision = MAX(count_argument(args[piece.precision_argument]), NOT_GIVEN);
	switch (piece.conversion) {
	case 's':
		if (!expr_machine_text(printing->machine, value, printing->limits[piece.argument],
				       &text))
			return false;
		if (piece.precision >= 0)
			text.n = MIN(text.n, (size_t)piece.precision);
		put_text(out, &piece, text);
		return true;
	case 'c':
		c = (char)value;
		put_text(out, &piece, (struct str){&c, 1});
		return true;
	default:
		put_number(out, &piece, value);
		return true;
	}
}

// Control characters of texts from strangers can't be told from those of the format here: whoever owns env.out escapes.
uint64_t expr_format_run(struct expr_machine *machine, const struct expr_call *call,
			 const uint64_t *args)
{
	const struct expr_format *format = call->format;
	struct out *out = machine->env.out, nowhere;
	struct printing printing = {machine, call->limits, args + 1, NULL};
	uint64_t before, written;

	if (!out) {
		out_init_memory(&nowhere);
		out = &nowhere;
	}
	printing.out = out;
	before = out->written_bytes + out->n;
	for (size_t i = 0; i < format->n; i++) {
		out_str(out, format->pieces[i].before);
		if (format->pieces[i].conversion && !put_piece(&printing, &format->pieces[i]))
			break;
	}
	written = out->written_bytes + out->n - before;
	if (out == &nowhere)
		out_done(&nowhere);
	return written;
}
