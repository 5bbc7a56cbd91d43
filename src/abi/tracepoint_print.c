// SPDX-License-Identifier: GPL-2.0-or-later
// The print fmt of a tracepoint as steps: text, numbers, strings. Rules (what is a pointer, how wide a cast is,
// what an unknown flag looks like) are libtraceevent's, as tracepoint_test.c proves on all formats at hand.
#include "abi/tracepoint.h"
#include "abi/tracepoint_impl.h"
#include "base/err.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define WIDTH_MAX 9999	 // of a field of text; more comes only from hostile formats
#define LENGTH_MAX 65535 // a '*' argument
#define DEPTH_MAX 1000	 // of expressions

// ---- expressions over numbers

enum expr_kind {
	E_CONST,
	E_FIELD,
	E_FIELD_AND, // field & constant
	E_DYNAMIC_SIZE,
	E_DYNAMIC_ADDRESS,
	E_DYNAMIC_ITEM, // a number at left bytes into a dynamic array
	E_FIELD_ITEM,	// item number left of a fixed array
	E_CHOOSE,	// left ? right : other
	E_NOT,
	E_INVERT,
	E_AND,
	E_OR,
	E_BOTH,
	E_EITHER,
	E_EQUAL,
	E_DIFFER,
	E_LESS,
	E_LESS_EQUAL,
	E_MORE,
	E_MORE_EQUAL,
	E_SHIFT_LEFT,
	E_SHIFT_RIGHT,
	E_ADD,
	E_SUBTRACT,
	E_MULTIPLY,
	E_DIVIDE,
	E_REMAINDER,
};

struct expr {
	enum expr_kind kind;
	uint16_t offset, size;
	uint64_t value;
	const struct tp_field *field;
	const struct expr *left, *right, *other;
};

// ---- expressions over text

enum text_kind {
	T_NOTHING,
	T_CONST,
	T_POINTER, // the address of a trace_printk text, or hex
	T_FIXED,
	T_DYNAMIC,
	T_FLAGS,
	T_SYMBOL,
	T_HEX,	   // "01 02"
	T_HEX_STR, // "0102"
	T_NUMBERS,
	T_BITMASK,
	T_CPUS,
	T_CHOOSE,
};

struct name_of {
	int64_t value;
	struct str text;
};

struct text {
	enum text_kind kind;
	uint16_t offset, size;
	uint32_t n_names;
	bool all_known;	 // of T_FLAGS: no name stands for none
	struct str text; // T_CONST; delimiter of T_FLAGS
	const struct tp_field *field;
	const struct expr *number, *item_size;
	const struct name_of *names;
	const struct text *yes, *no;
};

// ---- steps

enum step_kind {
	S_LITERAL,
	S_DECIMAL, // %d of any size, no width
	S_UNSIGNED,
	S_HEX,
	S_NUMBER,     // with width
	S_CHAR,	      // %c without width
	S_PRINTF,     // any other number
	S_TEXT,	      // %s
	S_FIXED_TEXT, // %s of a char array
	S_FUNCTION,   // %ps and the like
	S_POINTER,
	S_MAC,
	S_IPV4,
	S_IPV6,
	S_SOCKET_ADDRESS,
	S_UUID,
	S_BYTES,	// %*ph
	S_DYNAMIC_TEXT, // %s of __get_str
};

struct step {
	enum step_kind kind;
	uint8_t size; // of the number: 1 2 4 8
	bool is_signed, is_hex, upper, zeros, left, has_width_arg, has_precision_arg;
	bool with_offset;				   // S_FUNCTION: name+0x1
	bool compressed, with_port, reversed, zero_padded; // addresses
	uint16_t offset;				   // of a field's bytes
	uint16_t length;
	int32_t width, precision; // precision -1: none
	char letter;
	int8_t longs; // h and l counted
	const struct tp_field *field;
	const struct expr *number, *length_arg;
	const struct text *text;
	const char *format;
	struct str literal;
};

struct tp_program {
	const struct step *steps;
	size_t n;
};

// One print in progress.
struct run {
	struct out *out;
	const uint8_t *raw;
	uint32_t size;
	const struct tracepoint *tp;
};

// ==== evaluating

static inline uint64_t field_value(const struct run *r, uint64_t offset, uint32_t size)
{
	return tp_read_number(r->raw, r->size, offset, size, r->tp->all->swapped);
}

static uint64_t operate(enum expr_kind kind, uint64_t a, uint64_t b)
{
	switch (kind) {
	case E_NOT:
		return !b;
	case E_INVERT:
		return ~b;
	case E_AND:
		return a & b;
	case E_OR:
		return a | b;
	case E_BOTH:
		return a && b;
	case E_EITHER:
		return a || b;
	case E_EQUAL:
		return a == b;
	case E_DIFFER:
		return a != b;
	case E_LESS:
		return a < b;
	case E_LESS_EQUAL:
		return a <= b;
	case E_MORE:
		return a > b;
	case E_MORE_EQUAL:
		return a >= b;
	case E_SHIFT_LEFT:
		return a << (b & 63); // as processors do it
	case E_SHIFT_RIGHT:
		return a >> (b & 63);
	case E_ADD:
		return a + b;
	case E_SUBTRACT:
		return a - b;
	case E_MULTIPLY:
		return a * b;
	case E_DIVIDE:
		return b ? a / b : 0;
	case E_REMAINDER:
		return b ? a % b : 0;
	default:
		return 0;
	}
}

static uint64_t eval_slow(const struct run *r, const struct expr *e);

static inline uint64_t eval(const struct run *r, const struct expr *e)
{
	if (__builtin_expect(e->kind == E_FIELD, 1))
		return field_value(r, e->offset, e->size);
	return eval_slow(r, e);
}

static uint64_t eval_slow(const struct run *r, const struct expr *e)
{
	struct tp_extent at;

	switch (e->kind) {
	case E_CONST:
		return e->value;
	case E_FIELD:
		return field_value(r, e->offset, e->size);
	case E_FIELD_AND:
		return field_value(r, e->offset, e->size) & e->value;
	case E_DYNAMIC_SIZE:
		return tp_dynamic_extent(e->field, r->raw, r->size).size;
	case E_DYNAMIC_ADDRESS:
		at = tp_dynamic_extent(e->field, r->raw, r->size);
		return (uintptr_t)r->raw + at.offset;
	case E_DYNAMIC_ITEM:
		at = tp_dynamic_extent(e->field, r->raw, r->size);
		return field_value(r, (uint32_t)(at.offset + eval(r, e->left)), e->size) & e->value;
	case E_FIELD_ITEM:
		return field_value(r, (uint32_t)(e->offset + eval(r, e->left) * e->size), e->size) &
		       e->value;
	case E_CHOOSE:
		return eval(r, eval(r, e->left) ? e->right : e->other);
	default:
		return operate(e->kind, eval(r, e->left), eval(r, e->right));
	}
}

// ==== printing text

static void put_str(const struct run *r, const struct step *step, int32_t length, struct str s)
{
	int64_t width = step->has_width_arg ? length : step->width;
	int64_t precision = step->has_precision_arg ? length : step->precision;

	if (precision >= 0 && s.n > (size_t)precision)
		s.n = (size_t)precision;
	if (width > (int64_t)s.n && !step->left)
		out_fill(r->out, ' ', (size_t)width - s.n);
	out_str(r->out, s);
	if (width > (int64_t)s.n && step->left)
		out_fill(r->out, ' ', (size_t)width - s.n);
}

static void put_flags(const struct run *r, const struct step *step, int32_t length,
		      const struct text *t)
{
	int64_t value = (int64_t)eval(r, t->number);
	bool any = false;

	for (uint32_t i = 0; i < t->n_names; i++) {
		const struct name_of *name = &t->names[i];

		if (!value && t->all_known)
			break;
		// a name without a known value stands for none
		if (!value && name->value < 0) {
			put_str(r, step, length, name->text);
			break;
		}
		if (name->value > 0 && (value & name->value) == name->value) {
			if (any)
				out_str(r->out, t->text);
			put_str(r, step, length, name->text);
			any = true;
			value &= ~name->value;
		}
	}
	if (value) {
		if (any)
			out_str(r->out, t->text);
		out_text(r->out, "0x");
		out_hex(r->out, (uint64_t)value);
	}
}

static void put_symbol(const struct run *r, const struct step *step, int32_t length,
		       const struct text *t)
{
	int64_t value = (int64_t)eval(r, t->number);

	for (uint32_t i = 0; i < t->n_names; i++) {
		if (t->names[i].value == value) {
			put_str(r, step, length, t->names[i].text);
			return;
		}
	}
	out_text(r->out, "0x");
	out_hex(r->out, (uint64_t)value);
}

// Where an array of bytes begins, and what of it is there.
static struct str array_bytes(const struct run *r, const struct text *t)
{
	uint32_t offset = t->offset;

	if (t->field && t->field->is_dynamic)
		offset = tp_dynamic_extent(t->field, r->raw, r->size).offset;
	if (offset > r->size)
		offset = r->size;
	return (struct str){(const char *)r->raw + offset, r->size - offset};
}

static void put_hex_bytes(const struct run *r, const struct text *t)
{
	struct str bytes = array_bytes(r, t);
	uint32_t n = (uint32_t)eval(r, t->number);

	if (n > bytes.n)
		n = (uint32_t)bytes.n;
	for (uint32_t i = 0; i < n; i++) {
		if (i && t->kind == T_HEX)
			out_char(r->out, ' ');
		out_hex_zeros(r->out, (uint8_t)bytes.p[i], 2);
	}
}

static void put_numbers(const struct run *r, const struct text *t)
{
	struct str bytes = array_bytes(r, t);
	uint32_t n = (uint32_t)eval(r, t->number);
	int32_t size = (int32_t)eval(r, t->item_size);
	bool good = size == 1 || size == 2 || size == 4 || size == 8;
	uint32_t step = good ? (uint32_t)size : 1;

	for (uint32_t i = 0; i < n && bytes.n >= step; i++) {
		uint64_t v = 0;

		if (i)
			out_char(r->out, ' ');
		v = tp_read_number(bytes.p, step, 0, step, false);
		if (good)
			out_u64(r->out, v);
		else
			out_printf(r->out, "BAD SIZE:%d 0x%x", size, (unsigned)v);
		if (!good)
			size = 1; // from the next on, as the library has it
		good = true;
		bytes.p += step;
		bytes.n -= step;
	}
}

static void put_bitmask(const struct run *r, const struct step *step, int32_t length,
			const struct text *t)
{
	struct tp_extent at = tp_dynamic_extent(t->field, r->raw, r->size);
	const uint8_t *bits = r->raw + at.offset;
	auto_free char *text = xmalloc((size_t)at.size * 3 + 1);
	size_t n = 0;

	// highest byte first, a comma between words of 32 bits
	for (uint32_t i = at.size; i-- > 0;) {
		uint32_t index = r->tp->all->options.big_endian ? at.size - 1 - i : i;

		n += (size_t)sprintf(text + n, "%02x", bits[index]);
		if (i && i % 4 == 0)
			text[n++] = ',';
	}
	put_str(r, step, length, (struct str){text, n});
}

static void put_cpus(const struct run *r, const struct step *step, int32_t length,
		     const struct text *t)
{
	struct tp_extent at = tp_dynamic_extent(t->field, r->raw, r->size);
	const uint8_t *bits = r->raw + at.offset;
	uint32_t n_bits = at.size * 8, first = 0;
	struct out text;

	out_init_memory(&text);
	for (uint32_t i = 0, run = 0; i <= n_bits; i++) {
		uint32_t byte = r->tp->all->options.big_endian ? at.size - 1 - i / 8 : i / 8;
		bool set = i < n_bits && bits[byte] >> i % 8 & 1;

		if (set && !run++)
			first = i;
		if (set || !run)
			continue;
		if (text.n)
			out_char(&text, ',');
		out_u64(&text, first);
		if (i - 1 > first) {
			out_char(&text, '-');
			out_u64(&text, i - 1);
		}
		run = 0;
	}
	put_str(r, step, length, (struct str){text.buf, text.n});
	out_done(&text);
}

static void put_pointer_text(const struct run *r, const struct text *t)
{
	// Not swapped, as libtraceevent does not either.
	uint64_t address = tp_read_number(r->raw, r->size, t->offset, t->size, false);
	const char *text = map_find_ptr(&r->tp->all->printk, address);

	if (text)
		out_text(r->out, text);
	else
		out_hex(r->out, address);
}

static struct str fixed_text(const struct run *r, uint32_t offset, uint32_t size)
{
	uint32_t left = offset < r->size ? r->size - offset : 0;

	if (!size || size > left)
		size = left;
	return (struct str){(const char *)r->raw + offset,
			    size ? strnlen((const char *)r->raw + offset, size) : 0};
}

static void put_text(const struct run *r, const struct step *step, int32_t length,
		     const struct text *t)
{
	struct tp_extent at;

	switch (t->kind) {
	case T_NOTHING:
		break;
	case T_CONST:
		put_str(r, step, length, t->text);
		break;
	case T_POINTER:
		put_pointer_text(r, t);
		break;
	case T_FIXED:
		put_str(r, step, length, fixed_text(r, t->offset, t->size));
		break;
	case T_DYNAMIC:
		at = tp_dynamic_extent(t->field, r->raw, r->size);
		if (at.size)
			put_str(r, step, length, tp_text_at(r->raw, r->size, at.offset));
		break;
	case T_FLAGS:
		put_flags(r, step, length, t);
		break;
	case T_SYMBOL:
		put_symbol(r, step, length, t);
		break;
	case T_HEX:
	case T_HEX_STR:
		put_hex_bytes(r, t);
		break;
	case T_NUMBERS:
		put_numbers(r, t);
		break;
	case T_BITMASK:
		put_bitmask(r, step, length, t);
		break;
	case T_CPUS:
		put_cpus(r, step, length, t);
		break;
	case T_CHOOSE:
		put_text(r, step, length, eval(r, t->number) ? t->yes : t->no);
		break;
	}
}

// ==== printing numbers and pointers

static inline uint64_t narrow(const struct step *step, uint64_t v)
{
	switch (step->size) {
	case 1:
		return step->is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return step->is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return step->is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

static void put_number(const struct run *r, const struct step *step)
{
	uint64_t v = narrow(step, eval(r, step->number));
	bool minus = step->is_signed && (int64_t)v < 0;
	char digits[24];
	int32_t n, pad;

	if (minus)
		v = 0 - v;
	n = (int32_t)(step->is_hex ? num_put_hex(digits, v) : num_put_u64(digits, v));
	pad = step->width - n - minus;
	if (pad > 0 && !step->left && !step->zeros)
		out_fill(r->out, ' ', (size_t)pad);
	if (minus)
		out_char(r->out, '-');
	if (pad > 0 && !step->left && step->zeros)
		out_fill(r->out, '0', (size_t)pad);
	out_bytes(r->out, digits, (size_t)n);
	if (pad > 0 && step->left)
		out_fill(r->out, ' ', (size_t)pad);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
// With the format itself; it has been checked to hold one number and at most one '*'.
static void put_printf(const struct run *r, const struct step *step, int32_t length)
{
	unsigned long long v = eval(r, step->number);
	const char *format = step->format;

	if (step->has_width_arg) {
		if (step->longs == 2)
			out_printf(r->out, format, length, (long long)v);
		else if (step->longs == 1)
			out_printf(r->out, format, length, (long)v);
		else
			out_printf(r->out, format, length, (int)narrow(step, v));
	} else if (step->longs == 2) {
		out_printf(r->out, format, (long long)v);
	} else if (step->longs == 1) {
		out_printf(r->out, format, (long)v);
	} else {
		out_printf(r->out, format, (int)narrow(step, v));
	}
}
#pragma GCC diagnostic pop

static void put_function(const struct run *r, const struct step *step)
{
	const struct tracepoints *all = r->tp->all;
	uint64_t address = eval(r, step->number), start = 0;
	const char *name = NULL, *module = NULL;

	if (all->resolve)
		name = all->resolve(all->resolve_arg, address, &start, &module);
	if (!name) {
		out_text(r->out, "0x");
		out_hex(r->out, address);
		return;
	}
	out_text(r->out, name);
	if (step->with_offset) {
		out_text(r->out, "+0x");
		out_hex(r->out, address - start);
	}
}

// The bytes of a field, NULL when the data ends before.
static const uint8_t *bytes_at(const struct run *r, uint32_t offset, uint32_t n)
{
	return offset <= r->size && n <= r->size - offset ? r->raw + offset : NULL;
}

static void put_mac(const struct run *r, const struct step *step)
{
	const uint8_t *p = bytes_at(r, step->offset, 6);

	for (int i = 0; p && i < 6; i++) {
		if (i && step->letter)
			out_char(r->out, step->letter);
		out_hex_zeros(r->out, p[step->reversed ? 5 - i : i], 2);
	}
}

static void put_ipv4(const struct run *r, const struct step *step, const uint8_t *p)
{
	for (int i = 0; i < 4; i++) {
		uint8_t byte = p[step->reversed ? 3 - i : i];

		if (i)
			out_char(r->out, '.');
		if (step->zero_padded)
			out_u64_zeros(r->out, byte, 3);
		else
			out_u64(r->out, byte);
	}
}

static void put_ipv6_compressed(const struct run *r, const uint8_t *p)
{
	static const struct step plain = {0};
	uint16_t words[8];
	int best = -1, best_n = 1, range = 8;
	bool colon = false;

	for (int i = 0; i < 8; i++)
		words[i] = (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
	// addresses that hold an IPv4 one: mapped, ISATAP
	if ((!words[0] && !words[1] && !words[2] && !words[3] && !words[4] && words[5] == 0xffff) ||
	    ((words[4] | 0x0200) == 0x0200 && words[5] == 0x5efe))
		range = 6;
	for (int i = 0; i < range; i++) {
		int n = 0;

		while (i + n < range && !words[i + n])
			n++;
		if (n > best_n) {
			best_n = n;
			best = i;
		}
	}
	for (int i = 0; i < range; i++) {
		if (i == best) {
			out_text(r->out, colon || i == 0 ? "::" : ":");
			colon = false;
			i += best_n - 1;
			continue;
		}
		if (colon)
			out_char(r->out, ':');
		out_hex(r->out, words[i]);
		colon = true;
	}
	if (range == 6) {
		if (colon)
			out_char(r->out, ':');
		put_ipv4(r, &plain, p + 12);
	}
}

static void put_ipv6(const struct run *r, const struct step *step, const uint8_t *p)
{
	if (step->compressed) {
		put_ipv6_compressed(r, p);
		return;
	}
	for (int i = 0; i < 16; i += 2) {
		if (i && !step->zero_padded)
			out_char(r->out, ':');
		out_hex_zeros(r->out, (uint64_t)(p[i] << 8 | p[i + 1]), 4);
	}
}

static void put_socket_address(const struct run *r, const struct step *step)
{
	struct tp_extent at = {step->offset, step->length};
	const uint8_t *p;
	uint16_t family;

	if (step->field)
		at = tp_dynamic_extent(step->field, r->raw, r->size);
	p = bytes_at(r, at.offset, sizeof(family));
	if (!p)
		return;
	memcpy(&family, p, sizeof(family));
	if (family == AF_INET) {
		if (at.size < sizeof(struct sockaddr_in) ||
		    !bytes_at(r, at.offset, sizeof(struct sockaddr_in))) {
			out_text(r->out, "INVALIDIPv4");
			return;
		}
		put_ipv4(r, step, p + offsetof(struct sockaddr_in, sin_addr));
		if (step->with_port) {
			out_char(r->out, ':');
			out_u64(r->out, (uint64_t)(p[2] << 8 | p[3]));
		}
	} else if (family == AF_INET6) {
		if (at.size < sizeof(struct sockaddr_in6) ||
		    !bytes_at(r, at.offset, sizeof(struct sockaddr_in6))) {
			out_text(r->out, "INVALIDIPv6");
			return;
		}
		if (step->with_port)
			out_char(r->out, '[');
		put_ipv6(r, step, p + offsetof(struct sockaddr_in6, sin6_addr));
		if (step->with_port) {
			out_text(r->out, "]:");
			out_u64(r->out, (uint64_t)(p[2] << 8 | p[3]));
		}
	}
}

static void put_uuid(const struct run *r, const struct step *step)
{
	static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const uint8_t *p = bytes_at(r, step->offset, 16);

	for (int i = 0; p && i < 16; i++) {
		uint8_t byte = p[step->reversed ? little[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			out_char(r->out, '-');
		out_printf(r->out, step->upper ? "%02X" : "%02x", byte);
	}
}

static void put_bytes(const struct run *r, const struct step *step, int32_t length)
{
	struct tp_extent at = tp_dynamic_extent(step->field, r->raw, r->size);
	uint32_t n = step->length_arg ? (uint32_t)length : 1;

	if (length < 0 && step->length_arg)
		n = 0;
	if (n > at.size)
		n = at.size;
	for (uint32_t i = 0; i < n; i++) {
		if (i && step->letter)
			out_char(r->out, step->letter);
		out_hex_zeros(r->out, r->raw[at.offset + i], 2);
	}
}

// ==== running

// False when a NUL was printed: the text ends there, as it does for everyone who prints it with %s.
static inline bool run_step(const struct run *r, const struct step *step)
{
	int32_t length = -1;
	const uint8_t *p;
	struct tp_extent at;
	size_t before;
	uint64_t v;

	if (step->length_arg) {
		length = (int32_t)eval(r, step->length_arg);
		length = length > LENGTH_MAX ? LENGTH_MAX : length;
	}
	switch (step->kind) {
	case S_LITERAL:
		out_str(r->out, step->literal);
		break;
	case S_DECIMAL: {
		v = narrow(step, eval(r, step->number));
		char *at_end = out_room(r->out, 21);

		if ((int64_t)v < 0) {
			*at_end++ = '-';
			v = 0 - v;
			r->out->n++;
		}
		r->out->n += num_put_u64(at_end, v);
		break;
	}
	case S_UNSIGNED:
		out_u64(r->out, narrow(step, eval(r, step->number)));
		break;
	case S_HEX:
		out_hex(r->out, narrow(step, eval(r, step->number)));
		break;
	case S_NUMBER:
		put_number(r, step);
		break;
	case S_CHAR:
		v = eval(r, step->number);
		if (!(char)v)
			return false;
		out_char(r->out, (char)v);
		break;
	case S_PRINTF:
		before = r->out->n;
		put_printf(r, step, length < 0 ? 0 : length);
		// A writer to a file may have been emptied meanwhile; then nothing can be taken back.
		if (step->letter == 'c' && r->out->n > before) {
			char *nul = memchr(r->out->buf + before, 0, r->out->n - before);

			if (nul) {
				r->out->n = (size_t)(nul - r->out->buf);
				return false;
			}
		}
		break;
	case S_TEXT:
		put_text(r, step, length, step->text);
		break;
	case S_FIXED_TEXT:
		out_str(r->out, fixed_text(r, step->offset, step->length));
		break;
	case S_DYNAMIC_TEXT:
		at = tp_dynamic_extent(step->field, r->raw, r->size);
		if (at.size)
			out_str(r->out, tp_text_at(r->raw, r->size, at.offset));
		break;
	case S_FUNCTION:
		put_function(r, step);
		break;
	case S_POINTER:
		v = eval(r, step->number);
		if (!v) {
			out_text(r->out, "(nil)");
			break;
		}
		out_text(r->out, "0x");
		out_hex(r->out, v);
		break;
	case S_MAC:
		put_mac(r, step);
		break;
	case S_IPV4:
		p = bytes_at(r, step->offset, 4);
		if (p)
			put_ipv4(r, step, p);
		break;
	case S_IPV6:
		p = bytes_at(r, step->offset, 16);
		if (p)
			put_ipv6(r, step, p);
		break;
	case S_SOCKET_ADDRESS:
		put_socket_address(r, step);
		break;
	case S_UUID:
		put_uuid(r, step);
		break;
	case S_BYTES:
		put_bytes(r, step, length);
		break;
	}
	return true;
}

// By libtraceevent, which reads beyond what it was given: a copy with zeros behind it.
static void print_by_tep(struct out *out, const struct tracepoint *tp, const void *raw,
			 uint32_t raw_size)
{
	enum { BEYOND = 2 * 65536 + 4096 };
	auto_free uint8_t *copy = xcalloc(1, (size_t)raw_size + BEYOND);
	struct tep_record record = {.size = (int)raw_size, .data = copy};
	const struct tp_field *type = tracepoint_field(tp, "common_type");
	struct trace_seq s;

	memcpy(copy, raw, raw_size);
	if (type && type->size == 2 && !type->is_swapped) {
		uint16_t id = (uint16_t)tp->id;

		memcpy(copy + type->offset, &id, sizeof(id));
	}
	trace_seq_init(&s);
	tep_print_event(tp->all->tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	if (s.buffer && s.state == TRACE_SEQ__GOOD)
		out_bytes(out, s.buffer, strnlen(s.buffer, s.len));
	trace_seq_destroy(&s);
}

void tracepoint_print(struct out *out, const struct tracepoint *tp, const void *raw, uint32_t raw_size)
{
	const struct run r = {out, raw, raw_size, tp};

	// The program is made when it is first needed: most formats of a recording never are.
	if (!tp->compiled && !tp->failed)
		tp_compile((struct tracepoint *)tp);
	if (tp->failed) {
		out_text(out, "[FAILED TO PARSE]");
		tracepoint_print_fields(out, tp, raw, raw_size);
		return;
	}
	if (!tp->program) {
		print_by_tep(out, tp, raw, raw_size);
		return;
	}
	for (size_t i = 0; i < tp->program->n; i++)
		if (!run_step(&r, &tp->program->steps[i]))
			break;
}

// ==== compiling

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
		return constant(c, operate(kind, left->value, right->value));
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
