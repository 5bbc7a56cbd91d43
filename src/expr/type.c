// SPDX-License-Identifier: GPL-2.0-or-later
// Types, and the arithmetic on values that the compiler (for constants) and the machine share.
#include "expr/code.h"
#include <stdio.h>

static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} bases[] = {
	[EXPR_VOID] = {"void", 0, false}, [EXPR_BOOL] = {"bool", 1, false},
	[EXPR_S8] = {"char", 1, true},	  [EXPR_U8] = {"unsigned char", 1, false},
	[EXPR_S16] = {"short", 2, true},  [EXPR_U16] = {"unsigned short", 2, false},
	[EXPR_S32] = {"int", 4, true},	  [EXPR_U32] = {"unsigned int", 4, false},
	[EXPR_S64] = {"long", 8, true},	  [EXPR_U64] = {"unsigned long", 8, false},
};

unsigned expr_type_size(struct expr_type type)
{
	if (type.is_dynamic)
		return 0;
	return (type.pointers ? 8u : bases[type.base].size) * (type.is_array ? type.count : 1);
}

bool expr_type_is_signed(struct expr_type type)
{
	return !type.pointers && !type.is_array && bases[type.base].is_signed;
}

void expr_type_name(struct expr_type type, char *buf, size_t size)
{
	char count[16] = "";

	if (type.is_array && !type.is_dynamic)
		snprintf(count, sizeof(count), "%u", type.count);
	snprintf(buf, size, "%s%s%.*s%s%s%s", bases[type.base].name, type.pointers ? " " : "",
		 type.pointers, "********", type.is_array ? "[" : "", count,
		 type.is_array ? "]" : "");
}

uint64_t expr_extend(struct expr_type type, uint64_t value)
{
	if (type.pointers || type.is_array)
		return value;
	switch (type.base) {
	case EXPR_BOOL:
		return value != 0;
	case EXPR_S8:
		return (uint64_t)(int64_t)(int8_t)value;
	case EXPR_U8:
		return (uint8_t)value;
	case EXPR_S16:
		return (uint64_t)(int64_t)(int16_t)value;
	case EXPR_U16:
		return (uint16_t)value;
	case EXPR_S32:
		return (uint64_t)(int64_t)(int32_t)value;
	case EXPR_U32:
		return (uint32_t)value;
	default:
		return value;
	}
}

bool expr_alu(enum expr_op op, uint64_t a, uint64_t b, uint64_t *ret)
{
	const int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
#define CASE(name, value)                                                                          \
	case EXPR_##name:                                                                          \
		*ret = (uint64_t)(value);                                                          \
		return true;
		CASE(ADD, a + b)
		CASE(SUB, a - b)
		CASE(MUL, a * b)
		CASE(AND, a & b)
		CASE(OR, a | b)
		CASE(XOR, a ^ b)
		CASE(SHL, a << (b & 63))
		CASE(SHR, a >> (b & 63))
		CASE(SAR, sa >> (b & 63))
		CASE(MINS, sa < sb ? sa : sb)
		CASE(MINU, a < b ? a : b)
		CASE(MAXS, sa > sb ? sa : sb)
		CASE(MAXU, a > b ? a : b)
		CASE(EQ, a == b)
		CASE(NE, a != b)
		CASE(LTS, sa < sb)
		CASE(LES, sa <= sb)
		CASE(GTS, sa > sb)
		CASE(GES, sa >= sb)
		CASE(LTU, a < b)
		CASE(LEU, a <= b)
		CASE(GTU, a > b)
		CASE(GEU, a >= b)
#undef CASE
	case EXPR_DIVU:
		if (b)
			*ret = a / b;
		return b != 0;
	case EXPR_MODU:
		if (b)
			*ret = a % b;
		return b != 0;
	case EXPR_DIVS: // -1: the smallest number has no counterpart
		if (b)
			*ret = sb == -1 ? 0 - a : (uint64_t)(sa / sb);
		return b != 0;
	case EXPR_MODS:
		if (b)
			*ret = sb == -1 ? 0 : (uint64_t)(sa % sb);
		return b != 0;
	default:
		return false;
	}
}
