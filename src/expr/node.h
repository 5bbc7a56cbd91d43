// SPDX-License-Identifier: GPL-2.0-or-later
// The compiler's inside: the text becomes a tree whose nodes have types from the start, the tree becomes bytecode.
// Inside src/expr only.
#pragma once
#include "base/arena.h"
#include "expr/code.h"

enum token {
	TOKEN_END = 0, // single characters stand for themselves
	TOKEN_NUMBER = 256,
	TOKEN_TEXT,
	TOKEN_NAME,
	TOKEN_INC, // ++
	TOKEN_DEC,
	TOKEN_SHL,
	TOKEN_SHR,
	TOKEN_LE,
	TOKEN_GE,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_AND, // &&
	TOKEN_OR,
	TOKEN_ASSIGN_ADD, // +=, ...: in the order that node_assign has
	TOKEN_ASSIGN_SUB,
	TOKEN_ASSIGN_MUL,
	TOKEN_ASSIGN_DIV,
	TOKEN_ASSIGN_MOD,
	TOKEN_ASSIGN_AND,
	TOKEN_ASSIGN_OR,
	TOKEN_ASSIGN_XOR,
	TOKEN_ASSIGN_SHL,
	TOKEN_ASSIGN_SHR,
};

enum node_kind {
	NODE_NUMBER,
	NODE_TEXT,    // a literal, an array of char
	NODE_FIELD,   // of the record, at .field.offset
	NODE_CONTEXT, // .number: enum expr_context
	NODE_LENGTH,  // of the dynamic field .field
	NODE_AT,      // where it lies in the record
	NODE_ADDRESS, // of a
	NODE_DEREF,   // what the pointer a points to
	NODE_INDEX,   // element b of a, a field with a known number of elements
	NODE_CAST,
	NODE_UNARY, // .op: NEG, NOT, ZERO
	NODE_ALU,   // .op
	NODE_AND,
	NODE_OR,
	NODE_COND,
	NODE_COMMA,
	NODE_ASSIGN,
	NODE_UPDATE, // a = a op b; .post: the value is the old one
	NODE_CALL,
	NODE_MATCH,
};

struct node {
	enum node_kind kind;
	enum expr_op op;
	struct expr_type type;
	struct expr_type common; // of NODE_UPDATE: the type in which op is done
	struct str where;
	struct node *a, *b, *c;
	struct node *next; // argument
	uint64_t number;   // also: which literal, call or match
	struct expr_field field;
	bool post, parens;
};

struct parser {
	struct expr *expr;
	const struct expr_fields *fields;
	struct str text;
	size_t pos;
	enum token token;
	struct str token_text; // where it is
	uint64_t number;       // of TOKEN_NUMBER
	struct expr_type number_type;
	struct str literal; // of TOKEN_TEXT: its bytes, in the arena
	unsigned depth;
	bool failed;
	bool for_kernel; // it failed as only the kernel can run this
	size_t failed_at;
	struct node *nothing; // what is returned after an error
};

enum { EXPR_DEPTH_MAX = 100 };

// Leaves the sentence (once) and returns p->nothing.
struct node *node_error(struct parser *p, struct str where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// lex.c: the next token into p->token.
void lex_next(struct parser *p);
struct str lex_join(struct str a, struct str b);

// parse.c, filter.c: the whole text; errors are in p->failed.
struct node *parse_expression(struct parser *p);
struct node *parse_kernel_filter(struct parser *p);

// An operator, and where it stands in the text.
struct sign {
	int token;
	struct str where;
};

// node.c: nodes of operators, with types checked and constants computed.
struct node *node_new(struct parser *p, enum node_kind kind, struct str where);
struct node *node_number(struct parser *p, struct str where, enum expr_base base, uint64_t value);
struct node *node_text(struct parser *p, struct str where, struct str text);
struct node *node_cast(struct parser *p, struct str where, struct expr_type type, struct node *a);
struct node *node_unary(struct parser *p, struct sign sign, struct node *a);
struct node *node_binary(struct parser *p, struct sign sign, struct node *a, struct node *b);
struct node *node_logic(struct parser *p, int token, struct node *a, struct node *b);
struct node *node_condition(struct parser *p, struct node *a, struct node *b, struct node *c);
struct node *node_comma(struct parser *p, struct node *a, struct node *b);
// '=', TOKEN_ASSIGN_...
struct node *node_assign(struct parser *p, struct sign sign, struct node *a, struct node *b);
// TOKEN_INC, TOKEN_DEC: prefix and, with `post`, postfix.
struct node *node_step(struct parser *p, struct sign sign, struct node *a, bool post);
// min and max, in the type that both have in common.
struct node *node_extreme(struct parser *p, bool is_max, struct node *a, struct node *b);
struct node *node_value(struct parser *p, struct node *a); // arrays become pointers
struct node *node_match(struct parser *p, struct str where, struct node *a, struct expr_match match);

// access.c: what leads into the record.
struct node *node_name(struct parser *p, struct str name);
bool node_find_field(struct parser *p, struct str name, struct expr_field *ret);
struct node *node_field(struct parser *p, struct str where, const struct expr_field *field);
void node_unknown_name(struct parser *p, struct str name);
struct node *node_index(struct parser *p, struct str where, struct node *a, struct node *b);
struct node *node_deref(struct parser *p, struct str where, struct node *a);
struct node *node_address(struct parser *p, struct str where, struct node *a);
struct node *node_sizeof(struct parser *p, struct str where, struct node *a);
struct node *node_context(struct parser *p, struct str where, enum expr_context context);
static inline bool node_is_lvalue(const struct node *n)
{
	return n->kind == NODE_FIELD || n->kind == NODE_DEREF || n->kind == NODE_INDEX;
}

// builtin.c: a call; args are linked by next.
struct node *node_call(struct parser *p, struct str name, struct str where, struct node *args);

// generate.c: the code of the tree.
void generate(struct parser *p, struct node *root);

static inline struct expr_type type_of(enum expr_base base)
{
	return (struct expr_type){.base = (uint8_t)base};
}
static inline struct expr_type type_pointer_to(enum expr_base base)
{
	return (struct expr_type){.base = (uint8_t)base, .pointers = 1};
}
// What a pointer points to, what an array consists of.
static inline struct expr_type type_element(struct expr_type type)
{
	if (type.is_array)
		return (struct expr_type){.base = type.base, .pointers = type.pointers};
	return (struct expr_type){.base = type.base, .pointers = (uint8_t)(type.pointers - 1)};
}
