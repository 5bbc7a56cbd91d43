// SPDX-License-Identifier: GPL-2.0-or-later
// Runs compiled print fmts. Rules (what is a pointer, how an unknown flag looks) are libtraceevent's, as
// tracepoint_test.c proves on all formats at hand.
#include "abi/tracepoint_program.h"
#include <stdio.h>

// ==== evaluating

static inline uint64_t field_value(const struct tp_run *r, uint64_t offset, uint32_t size)
{
	return tp_read_number((struct str){(const char *)r->raw, r->size}, offset, size,
			      r->tp->all->swapped);
}

static uint64_t eval_slow(const struct tp_run *r, const struct expr *e);

static inline uint64_t eval(const struct tp_run *r, const struct expr *e)
{
	if (__builtin_expect(e->kind == E_FIELD, 1))
		return field_value(r, e->offset, e->size);
	return eval_slow(r, e);
}

static uint64_t eval_slow(const struct tp_run *r, const struct expr *e)
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
		return tp_operate(e->kind, eval(r, e->left), eval(r, e->right));
	}
}

// ==== printing text

static void put_str(const struct tp_run *r, const struct step *step, int32_t length, struct str s)
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

static void put_flags(const struct tp_run *r, const struct step *step, int32_t length,
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

static void put_symbol(const struct tp_run *r, const struct step *step, int32_t length,
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
static struct str array_bytes(const struct tp_run *r, const struct text *t)
{
	uint32_t offset = t->offset;

	if (t->field && t->field->is_dynamic)
		offset = tp_dynamic_extent(t->field, r->raw, r->size).offset;
	if (offset > r->size)
		offset = r->size;
	return (struct str){(const char *)r->raw + offset, r->size - offset};
}

static void put_hex_bytes(const struct tp_run *r, const struct text *t)
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

static void put_numbers(const struct tp_run *r, const struct text *t)
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
		v = tp_read_number((struct str){bytes.p, step}, 0, step, false);
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

static void put_bitmask(const struct tp_run *r, const struct step *step, int32_t length,
			const struct text *t)
{
	struct tp_extent at = tp_dynamic_extent(t->field, r->raw, r->size);
	const uint8_t *bits = r->raw + at.offset;
	auto_free char *text = xmalloc((size_t)at.size * 3 + 1);
	size_t n = 0;

	// highest byte first, a comma between words of 32 bits
	for (uint32_t i = at.size; i-- > 0;) {
		uint32_t index = r->tp->all->options.big_endian ? at.size - 1 - i : i;

		num_put_bytes(text + n, &bits[index], 1);
		n += 2;
		if (i && i % 4 == 0)
			text[n++] = ',';
	}
	put_str(r, step, length, (struct str){text, n});
}

static void put_cpus(const struct tp_run *r, const struct step *step, int32_t length,
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

static void put_pointer_text(const struct tp_run *r, const struct text *t)
{
	// Not swapped, as libtraceevent does not either.
	uint64_t address = tp_read_number((struct str){(const char *)r->raw, r->size}, t->offset,
					  t->size, false);
	const char *text = map_find_ptr(&r->tp->all->printk, address);

	if (text)
		out_text(r->out, text);
	else
		out_hex(r->out, address);
}

static struct str fixed_text(const struct tp_run *r, uint32_t offset, uint32_t size)
{
	uint32_t left = offset < r->size ? r->size - offset : 0;

	if (!size || size > left)
		size = left;
	return (struct str){(const char *)r->raw + offset,
			    size ? strnlen((const char *)r->raw + offset, size) : 0};
}

static void put_text(const struct tp_run *r, const struct step *step, int32_t length,
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

static void put_number(const struct tp_run *r, const struct step *step)
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
static void put_printf(const struct tp_run *r, const struct step *step, int32_t length)
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

static void put_function(const struct tp_run *r, const struct step *step)
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

// ==== running

// False when a NUL was printed: the text ends there, as it does for everyone who prints it with %s.
static inline bool run_step(const struct tp_run *r, const struct step *step)
{
	int32_t length = -1;
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
	case S_IPV4:
	case S_IPV6:
	case S_SOCKET_ADDRESS:
	case S_UUID:
	case S_BYTES:
		tp_put_bytes(r, step, length);
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

static void print_plain(struct out *out, const struct tracepoint *tp, const void *raw,
			uint32_t raw_size)
{
	const struct tp_run r = {out, raw, raw_size, tp};

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

// Its strings are the traced program's own words.
void tracepoint_print(struct out *out, const struct tracepoint *tp, const void *raw, uint32_t raw_size)
{
	struct out text;

	if (!out->is_terminal) {
		print_plain(out, tp, raw, raw_size);
		return;
	}
	out_init_memory(&text);
	print_plain(&text, tp, raw, raw_size);
	out_escaped_str(out, (struct str){text.buf, text.n});
	out_done(&text);
}
