// SPDX-License-Identifier: GPL-2.0-or-later
// The machine: one loop over the bytecode. Only what follows a pointer has to check anything.
#include "base/err.h"
#include "expr/builtin.h"
#include <byteswap.h>

struct expr_machine *expr_machine_new(const struct expr_env *env)
{
	struct expr_machine *machine = NEW(struct expr_machine);

	if (env)
		machine->env = *env;
	return machine;
}

void expr_machine_free(struct expr_machine *machine)
{
	if (!machine)
		return;
	arena_done(&machine->arena);
	vec_done(&machine->results);
	free(machine->copy);
	free(machine);
}

static const uint8_t *point_failed(struct expr_machine *machine, uint64_t pointer)
{
	machine->error = -EFAULT;
	machine->fault_value = pointer;
	return NULL;
}

// n bytes at the pointer, or NULL.
static const uint8_t *point_text(struct expr_machine *machine, uint64_t pointer, size_t n)
{
	const uint64_t where = pointer - EXPR_TEXT_AREA, at = where & UINT32_MAX;
	const size_t number = where >> 32;
	struct str text;

	if (number >= machine->expr->literals.n)
		return point_failed(machine, pointer);
	text = machine->expr->literals.v[number];
	if (!text.p)
		text = machine->results.v[number];
	if (!text.p || at > text.n || n > text.n - at)
		return point_failed(machine, pointer);
	return (const uint8_t *)text.p + at;
}

static inline const uint8_t *point(struct expr_machine *machine, uint64_t pointer, size_t n)
{
	const uint64_t at = pointer - EXPR_RECORD;

	if (at <= machine->size && n <= machine->size - at)
		return machine->data + at;
	return point_text(machine, pointer, n);
}

bool expr_machine_text(struct expr_machine *machine, uint64_t pointer, uint32_t limit, struct str *ret)
{
	const uint64_t at = pointer - EXPR_RECORD;
	const uint8_t *start = point(machine, pointer, 0);
	struct str literal;
	size_t n;

	if (!start)
		return false;
	if (at <= machine->size) {
		n = machine->size - at;
	} else {
		literal = machine->expr->literals.v[(pointer - EXPR_TEXT_AREA) >> 32];
		if (!literal.p)
			literal = machine->results.v[(pointer - EXPR_TEXT_AREA) >> 32];
		n = literal.n - ((pointer - EXPR_TEXT_AREA) & UINT32_MAX);
	}
	if (limit)
		n = MIN(n, (size_t)limit);
	*ret = (struct str){(const char *)start, strnlen((const char *)start, n)};
	return true;
}

static inline uint32_t location(const struct expr_machine *machine, int32_t offset)
{
	uint32_t word;

	memcpy(&word, machine->data + offset, 4);
	return machine->swapped ? bswap_32(word) : word;
}

static inline bool in_record(const struct expr_machine *machine, uint64_t pointer)
{
	return pointer - EXPR_RECORD < machine->size;
}

static uint64_t run_match(struct expr_machine *machine, const struct expr_match *match,
			  uint64_t pointer)
{
	uint32_t word;
	struct str text;
	uint32_t limit = match->limit;

	if (match->known_field && !match->is_dynamic) {
		const char *start = (const char *)machine->data + match->offset;

		return expr_match_text(match, (struct str){start, strnlen(start, limit)});
	}
	if (match->known_field) {
		word = location(machine, (int32_t)match->offset);
		pointer =
			EXPR_RECORD + (word & 0xffff) + (match->is_relative ? match->offset + 4 : 0);
		limit = word >> 16;
		if (!limit) // no text
			return expr_match_text(match, (struct str){"", 0});
	}
	if (!expr_machine_text(machine, pointer, limit, &text))
		return 0;
	return expr_match_text(match, text);
}

static bool store(struct expr_machine *machine, uint64_t pointer, const void *value, size_t n)
{
	const uint64_t at = pointer - EXPR_RECORD;

	if (at > machine->size || n > machine->size - at) { // texts are constant
		point_failed(machine, pointer);
		return false;
	}
	memcpy(machine->copy + at, value, n);
	return true;
}

// The record that assignments change.
static void copy_record(struct expr_machine *machine)
{
	if (machine->copy_capacity < machine->size) {
		machine->copy_capacity = machine->size;
		machine->copy = xrealloc(machine->copy, machine->size);
	}
	if (machine->size)
		memcpy(machine->copy, machine->data, machine->size);
	machine->data = machine->copy;
}

static void forget_results(struct expr_machine *machine, const struct expr *expr)
{
	vec_clear(&machine->results);
	for (size_t i = 0; i < expr->literals.n; i++)
		vec_push(&machine->results, (struct str){0});
	arena_reset(&machine->arena);
}

#define LOAD(type)                                                                                 \
	({                                                                                         \
		type loaded_;                                                                      \
		memcpy(&loaded_, machine->data + at->imm, sizeof(loaded_));                        \
		loaded_;                                                                           \
	})
#define FOLLOW(type, swap)                                                                         \
	({                                                                                         \
		type loaded_;                                                                      \
		const uint8_t *from_ =                                                             \
			point(machine, t[at->a] + (uint64_t)(int64_t)at->imm, sizeof(loaded_));    \
		if (!from_)                                                                        \
			goto failed;                                                               \
		memcpy(&loaded_, from_, sizeof(loaded_));                                          \
		if (machine->swapped && in_record(machine, t[at->a]))                              \
			loaded_ = (type)swap(loaded_);                                             \
		loaded_;                                                                           \
	})
#define STORE(type, swap)                                                                          \
	({                                                                                         \
		type stored_ = (type)t[at->b];                                                     \
		if (machine->swapped)                                                              \
			stored_ = (type)swap(stored_);                                             \
		if (!store(machine, t[at->a] + (uint64_t)(int64_t)at->imm, &stored_,               \
			   sizeof(stored_)))                                                       \
			goto failed;                                                               \
	})
#define SAME(x) (x)
#define OP(name) op_##name:
#define NEXT                                                                                       \
	do {                                                                                       \
		at++;                                                                              \
		goto *labels[at->op];                                                              \
	} while (0)
#define SET(value)                                                                                 \
	do {                                                                                       \
		t[at->dst] = (uint64_t)(value);                                                    \
		NEXT;                                                                              \
	} while (0)
#define S(x) ((int64_t)(x))
// with b in a temporary and with b in the instruction; x and y are the operands
#define ALU(name, value)                                                                           \
	OP(name)                                                                                   \
	{                                                                                          \
		const uint64_t x = t[at->a], y = t[at->b];                                         \
		SET(value);                                                                        \
	}                                                                                          \
	OP(name##_I)                                                                               \
	{                                                                                          \
		const uint64_t x = t[at->a], y = (uint64_t)(int64_t)at->imm;                       \
		SET(value);                                                                        \
	}
#define DIVISION(name)                                                                             \
	OP(name)                                                                                   \
	{                                                                                          \
		if (!expr_alu(EXPR_##name, t[at->a], t[at->b], &t[at->dst]))                       \
			goto by_zero;                                                              \
		NEXT;                                                                              \
	}                                                                                          \
	OP(name##_I)                                                                               \
	{                                                                                          \
		if (!expr_alu(EXPR_##name, t[at->a], (uint64_t)(int64_t)at->imm, &t[at->dst]))     \
			goto by_zero;                                                              \
		NEXT;                                                                              \
	}

static int run(struct expr_machine *machine, const struct expr *expr, uint64_t *ret)
{
	static const void *const labels[] = {
#define X(name, operands) &&op_##name,
		EXPR_OPS(X)
#undef X
#define X(name) &&op_##name, &&op_##name##_I,
			EXPR_ALU(X)
#undef X
	};
	const struct expr_insn *const code = expr->code.v, *at = code;
	uint64_t t[EXPR_TEMPS];

	goto *labels[at->op];

	OP(RET)
	*ret = t[at->a];
	return 0;

	OP(CONST) SET((int64_t)at->imm);
	OP(CONST64) SET(expr->constants.v[at->imm]);
	OP(MOV) SET(t[at->a]);
	OP(LD_S8) SET((int64_t)LOAD(int8_t));
	OP(LD_U8) SET(LOAD(uint8_t));
	OP(LD_S16) SET((int64_t)LOAD(int16_t));
	OP(LD_U16) SET(LOAD(uint16_t));
	OP(LD_S32) SET((int64_t)LOAD(int32_t));
	OP(LD_U32) SET(LOAD(uint32_t));
	OP(LD_64) SET(LOAD(uint64_t));
	OP(PTR_S8) SET((int64_t)FOLLOW(int8_t, SAME));
	OP(PTR_U8) SET(FOLLOW(uint8_t, SAME));
	OP(PTR_S16) SET((int64_t)FOLLOW(int16_t, bswap_16));
	OP(PTR_U16) SET(FOLLOW(uint16_t, bswap_16));
	OP(PTR_S32) SET((int64_t)FOLLOW(int32_t, bswap_32));
	OP(PTR_U32) SET(FOLLOW(uint32_t, bswap_32));
	OP(PTR_64) SET(FOLLOW(uint64_t, bswap_64));
	OP(ST_8)
	STORE(uint8_t, SAME);
	NEXT;
	OP(ST_16)
	STORE(uint16_t, bswap_16);
	NEXT;
	OP(ST_32)
	STORE(uint32_t, bswap_32);
	NEXT;
	OP(ST_64)
	STORE(uint64_t, bswap_64);
	NEXT;
	OP(CONTEXT) SET(machine->context[at->imm]);
	OP(DYN) SET(EXPR_RECORD + (location(machine, at->imm) & 0xffff));
	OP(DYN_REL)
	SET(EXPR_RECORD + (location(machine, at->imm) & 0xffff) + (uint64_t)at->imm + 4);
	OP(DYN_LEN) SET(location(machine, at->imm) >> 16);
	OP(DYN_AT) SET(location(machine, at->imm) & 0xffff);
	OP(NEG) SET(0 - t[at->a]);
	OP(NOT) SET(~t[at->a]);
	OP(TEST) SET(t[at->a] != 0);
	OP(ZERO) SET(t[at->a] == 0);
	OP(EXT_S8) SET((int64_t)(int8_t)t[at->a]);
	OP(EXT_U8) SET((uint8_t)t[at->a]);
	OP(EXT_S16) SET((int64_t)(int16_t)t[at->a]);
	OP(EXT_U16) SET((uint16_t)t[at->a]);
	OP(EXT_S32) SET((int64_t)(int32_t)t[at->a]);
	OP(EXT_U32) SET((uint32_t)t[at->a]);
	OP(SWAP16) SET(bswap_16((uint16_t)t[at->a]));
	OP(SWAP32) SET(bswap_32((uint32_t)t[at->a]));
	OP(SWAP64) SET(bswap_64(t[at->a]));
	OP(BOUND)
	if (t[at->a] >= (uint64_t)at->imm) {
		point_failed(machine, t[at->a]);
		goto failed;
	}
	NEXT;
	OP(JMP)
	at = code + at->imm;
	goto *labels[at->op];
	OP(JZ)
	at = t[at->a] ? at + 1 : code + at->imm;
	goto *labels[at->op];
	OP(JNZ)
	at = t[at->a] ? code + at->imm : at + 1;
	goto *labels[at->op];
	OP(CALL)
	{
		const struct expr_call *call = &expr->calls.v[at->imm];

		t[at->dst] = expr_extend(call->builtin->type,
					 call->builtin->run(machine, call, &t[at->a]));
		if (machine->error)
			goto failed;
		NEXT;
	}
	OP(MATCH)
	t[at->dst] = run_match(machine, &expr->matches.v[at->imm], t[at->a]);
	if (machine->error)
		goto failed;
	NEXT;

	ALU(ADD, x + y)
	ALU(SUB, x - y)
	ALU(MUL, x * y)
	DIVISION(DIVS)
	DIVISION(DIVU)
	DIVISION(MODS)
	DIVISION(MODU)
	ALU(AND, x & y)
	ALU(OR, x | y)
	ALU(XOR, x ^ y)
	ALU(SHL, x << (y & 63))
	ALU(SHR, x >> (y & 63))
	ALU(SAR, S(x) >> (y & 63))
	ALU(MINS, S(x) < S(y) ? x : y)
	ALU(MINU, x < y ? x : y)
	ALU(MAXS, S(x) > S(y) ? x : y)
	ALU(MAXU, x > y ? x : y)
	ALU(EQ, x == y)
	ALU(NE, x != y)
	ALU(LTS, S(x) < S(y))
	ALU(LES, S(x) <= S(y))
	ALU(GTS, S(x) > S(y))
	ALU(GES, S(x) >= S(y))
	ALU(LTU, x < y)
	ALU(LEU, x <= y)
	ALU(GTU, x > y)
	ALU(GEU, x >= y)

by_zero:
	machine->error = -EDOM;
failed:
	machine->fault = (uint32_t)(at - code);
	return machine->error;
}

static int too_short(struct expr_machine *machine, const struct expr *expr)
{
	machine->error = -ENODATA;
	machine->expr = expr;
	return -ENODATA;
}

int expr_run(struct expr_machine *machine, const struct expr *expr,
	     const struct expr_record *record, struct expr_value *ret)
{
	uint64_t value = 0;
	int err;

	machine->error = 0;
	machine->data = record->data;
	machine->size = record->size;
	machine->context = record->context;
	machine->swapped = expr->swapped;
	machine->expr = expr;
	if (record->size < expr->record_bytes || (expr->uses_context && !record->context))
		return too_short(machine, expr);
	if (expr->calls.n)
		forget_results(machine, expr);
	if (expr->stores)
		copy_record(machine);
	err = run(machine, expr, &value);
	if (err < 0)
		return err;
	if (expr_type_is_text(expr->type)) {
		struct str text;

		machine->fault = (uint32_t)expr->code.n - 1;
		if (!expr_machine_text(machine, value, expr->text_limit, &text))
			return machine->error;
		ret->text = text;
	}
	ret->number = value;
	return 0;
}

bool expr_true(struct expr_machine *machine, const struct expr *expr, const struct expr_record *record)
{
	struct expr_value value;

	return expr_run(machine, expr, record, &value) == 0 && value.number;
}

int expr_fault(const struct expr_machine *machine, const struct expr *expr)
{
	const int err = machine->error;
	struct expr_place place = {0};
	struct str part;

	if (err == -ENODATA && machine->size < expr->record_bytes)
		return fail(ENODATA, "the record has %u bytes, and '%s' needs %u", machine->size,
			    expr->source, expr->record_bytes);
	if (err == -ENODATA)
		return fail(ENODATA, "the sample does not have what '%s' asks for", expr->source);
	if (machine->fault < expr->places.n)
		place = expr->places.v[machine->fault];
	part = (struct str){expr->source + place.at, MIN(place.n, strlen(expr->source + place.at))};
	if (err == -EDOM)
		return fail(EDOM, "'%.*s' divides by zero", STR_FMT(part));
	if (machine->fault < expr->code.n && expr->code.v[machine->fault].op == EXPR_BOUND)
		return fail(EFAULT, "the subscript '%.*s' is %lld, there are %d elements",
			    STR_FMT(part), (long long)machine->fault_value,
			    expr->code.v[machine->fault].imm);
	return fail(EFAULT, "'%.*s' follows the pointer 0x%llx, which leads out of the event",
		    STR_FMT(part), (unsigned long long)machine->fault_value);
}
