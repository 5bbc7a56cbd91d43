// SPDX-License-Identifier: GPL-2.0-or-later
// The bytecode: what the compiler makes, and the machine and the eBPF generator read. Inside src/expr only.
//
// Instructions work on temporaries t0, t1, ... of 64 bits. A value is always extended to 64 bits as its type says, so
// that most operations need not know the type. Jumps go forward only.
#pragma once
#include "base/vec.h"
#include "expr/expr.h"

enum { EXPR_TEMPS = 48, EXPR_TEXT_MAX = 8192, EXPR_CALLS_MAX = 64, EXPR_ARGS_MAX = 16 };

// Pointers are numbers that no address of this or any process can have (not canonical). They say into what they point.
#define EXPR_RECORD 0x5245000000000000ull    // + offset
#define EXPR_TEXT_AREA 0x5358000000000000ull // + (number of the text << 32) + offset

// clang-format off
#define EXPR_ALU(X)                                                                            \
	X(ADD) X(SUB) X(MUL) X(DIVS) X(DIVU) X(MODS) X(MODU) X(AND) X(OR) X(XOR) X(SHL) X(SHR) \
	X(SAR) X(MINS) X(MINU) X(MAXS) X(MAXU) X(EQ) X(NE) X(LTS) X(LES) X(GTS) X(GES) X(LTU)  \
	X(LEU) X(GTU) X(GEU)

// name, operands: d dst, a, b, i imm, j target, k constant, c call, m match
#define EXPR_OPS(X)                                                                            \
	X(RET, "a") X(CONST, "di") X(CONST64, "dk") X(MOV, "da")                               \
	X(LD_S8, "di") X(LD_U8, "di") X(LD_S16, "di") X(LD_U16, "di") X(LD_S32, "di")          \
	X(LD_U32, "di") X(LD_64, "di")                                                         \
	X(PTR_S8, "dai") X(PTR_U8, "dai") X(PTR_S16, "dai") X(PTR_U16, "dai")                  \
	X(PTR_S32, "dai") X(PTR_U32, "dai") X(PTR_64, "dai")                                   \
	X(ST_8, "abi") X(ST_16, "abi") X(ST_32, "abi") X(ST_64, "abi")                         \
	X(CONTEXT, "di") X(DYN, "di") X(DYN_REL, "di") X(DYN_LEN, "di") X(DYN_AT, "di")        \
	X(NEG, "da") X(NOT, "da") X(TEST, "da") X(ZERO, "da")                                  \
	X(EXT_S8, "da") X(EXT_U8, "da") X(EXT_S16, "da") X(EXT_U16, "da") X(EXT_S32, "da")     \
	X(EXT_U32, "da") X(SWAP16, "da") X(SWAP32, "da") X(SWAP64, "da")                       \
	X(BOUND, "ai") X(JMP, "j") X(JZ, "aj") X(JNZ, "aj") X(CALL, "dac") X(MATCH, "dam")
// clang-format on

enum expr_op {
#define X(name, operands) EXPR_##name,
	EXPR_OPS(X)
#undef X
#define X(name) EXPR_##name, EXPR_##name##_I, // with b or with imm
		EXPR_ALU(X)
#undef X
			EXPR_OP_COUNT
};

struct expr_insn {
	uint8_t op, dst, a, b;
	int32_t imm;
};

enum expr_base {
	EXPR_VOID,
	EXPR_BOOL,
	EXPR_S8,
	EXPR_U8,
	EXPR_S16,
	EXPR_U16,
	EXPR_S32,
	EXPR_U32,
	EXPR_S64,
	EXPR_U64,
};

// A number, a pointer (base with `pointers` levels), or an array of either.
struct expr_type {
	uint8_t base, pointers;
	bool is_array, is_dynamic; // dynamic: an array whose length the record says
	uint32_t count;		   // elements of an array
};

enum expr_match_kind { EXPR_MATCH_EQUAL, EXPR_MATCH_GLOB };

// A comparison of text with a constant.
struct expr_match {
	enum expr_match_kind kind;
	bool negated;
	struct str pattern; // in the expression's arena
	uint32_t limit;	    // longest text: the array's size; 0: to the NUL
	uint8_t shape;	    // enum expr_shape of the pattern
	struct str fixed;   // the pattern without its stars
	bool known_field; // it is the array at `offset` in the record, or the dynamic one that `offset` locates
	bool is_dynamic, is_relative;
	uint32_t offset;
};

// What a glob amounts to; the shapes other than GLOB need no search through alternatives.
enum expr_shape {
	EXPR_SHAPE_FULL,
	EXPR_SHAPE_FRONT,
	EXPR_SHAPE_END,
	EXPR_SHAPE_MIDDLE,
	EXPR_SHAPE_GLOB
};

struct expr_builtin;
struct expr_format;

// A call of a built-in.
struct expr_call {
	const struct expr_builtin *builtin;
	uint8_t n;
	uint16_t text;			  // number of the text that it returns
	uint32_t limits[EXPR_ARGS_MAX];	  // longest text of an argument; 0: to the NUL
	const struct expr_format *format; // of printf
};

struct expr_place { // in the text
	uint16_t at, n;
};

struct expr {
	struct arena *arena; // holds all that is not in vectors
	char *source;
	struct expr_type type;
	char type_text[32];
	VEC(struct expr_insn) code;
	VEC(struct expr_place) places; // beside the code
	VEC(uint64_t) constants;
	VEC(struct str) literals; // the first texts
	VEC(struct expr_call) calls;
	VEC(struct expr_match) matches;
	uint32_t record_bytes; // what its loads need
	uint32_t text_limit;   // of a text value
	uint16_t texts;	       // literals and results of calls
	bool stores, swapped, uses_context, prints, kernel_filter;
};

unsigned expr_type_size(struct expr_type type); // 0: void or dynamic
bool expr_type_is_signed(struct expr_type type);
static inline bool expr_type_is_pointer(struct expr_type type)
{
	return type.pointers && !type.is_array;
}
static inline bool expr_type_is_number(struct expr_type type)
{
	return !type.pointers && !type.is_array && type.base != EXPR_VOID;
}
// char arrays and pointers
static inline bool expr_type_is_text(struct expr_type type)
{
	return type.base == EXPR_S8 && (type.is_array ? !type.pointers : type.pointers == 1);
}
void expr_type_name(struct expr_type type, char *buf, size_t size);
// Cut and extended as the type says.
uint64_t expr_extend(struct expr_type type, uint64_t value);
// The result of an ALU operation. False: division by zero.
bool expr_alu(enum expr_op op, uint64_t a, uint64_t b, uint64_t *ret);

// Matches, see struct expr_match. n bytes at text, no NUL among them.
void expr_match_init(struct expr_match *match, enum expr_match_kind kind, struct str pattern);
bool expr_match_text(const struct expr_match *match, struct str text);
