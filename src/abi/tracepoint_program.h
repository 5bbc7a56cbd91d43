// SPDX-License-Identifier: GPL-2.0-or-later
// A compiled print fmt: tracepoint_compile.c makes it, tracepoint_print.c runs it.
#pragma once
#include "abi/tracepoint_impl.h"

#define LENGTH_MAX 65535 // a '*' argument

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
struct tp_run {
	struct out *out;
	const uint8_t *raw;
	uint32_t size;
	const struct tracepoint *tp;
};

// tracepoint_bytes.c: the steps S_MAC to S_BYTES. `length`: the argument of a '*' or of a length.
void tp_put_bytes(const struct tp_run *r, const struct step *step, int32_t length);

// Also for folding constants.
static inline uint64_t tp_operate(enum expr_kind kind, uint64_t a, uint64_t b)
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
