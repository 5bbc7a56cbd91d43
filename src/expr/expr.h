// SPDX-License-Identifier: GPL-2.0-or-later
// C expressions over the fields of an event: compiled once to typed bytecode, evaluated in tens of ns.
//
// The language is C's: all operators and their precedences, integer types of LP64, casts, pointers, arrays, sizeof, strings. Beyond C:
//  - a dynamic field (__data_loc, __rel_loc) is an array in the record; NAME_offset and NAME_len are where it lies
//  - text == "x" and text != "x" compare text, text ~ "x*" matches a glob
//  - _cpu, _pid, _tid, _time, _period are the sample's own
// What C leaves undefined is defined: numbers wrap around, shifts take their count modulo the width, a division by zero and a pointer
// to anywhere but the record or a text are errors of that one evaluation. Expressions have no loops, so every one ends.
#pragma once
#include "base/out.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

struct expr;	     // compiled; never changes, may be used by several machines at once
struct expr_machine; // runs expressions; one a thread

enum expr_field_kind {
	EXPR_FIELD_NUMBER,   // 1, 2, 4 or 8 bytes
	EXPR_FIELD_ARRAY,    // size / element_size elements
	EXPR_FIELD_DYNAMIC,  // __data_loc: 4 bytes, offset in the record | size << 16
	EXPR_FIELD_RELATIVE, // __rel_loc: the offset counts from behind these 4 bytes
};

struct expr_field {
	enum expr_field_kind kind;
	uint32_t offset, size; // in the record, bytes; below 64 KiB
	uint32_t element_size; // of arrays and dynamic ones: 1, 2, 4 or 8; else taken as bytes
	bool is_signed;
	bool is_text;	 // the elements are char
	bool is_pointer; // a number that is an address; of char, when is_text
};

// The fields of an event, by callback. Another long size or byte order than ours is the fields' business.
struct expr_fields {
	// Fills *ret; false: there is none of that name.
	bool (*find)(void *arg, struct str name, struct expr_field *ret);
	// The name of field i, NULL behind the last: for "did you mean". May be NULL.
	const char *(*name)(void *arg, size_t i);
	void *arg;
	bool swapped; // the record is of the other byte order
};

// What belongs to a sample and not to its record; index of expr_record.context.
enum expr_context {
	EXPR_CPU,
	EXPR_PID,
	EXPR_TID,
	EXPR_TIME, // ns
	EXPR_PERIOD,
	EXPR_CONTEXTS
};
// "_cpu"
const char *expr_context_name(enum expr_context context);

struct expr_record {
	const void *data; // the raw bytes of the event; only read
	uint32_t size;
	const uint64_t *context; // EXPR_CONTEXTS numbers; NULL: not known
};

struct expr_value {
	uint64_t number; // extended to 64 bits as its type says; of texts: not meant to be shown
	struct str text; // when expr_is_text; valid until the machine's next run
};

// Compiles; the text is copied. -EINVAL with a sentence that shows the place. Cost: microseconds.
int expr_compile(struct expr **ret, const char *text, const struct expr_fields *fields);
// A filter: what the kernel's trace-event filter language knows means what it means to the kernel (Documentation/trace/events.rst,
// "Event filtering"); any other text is a C expression, true when it is not 0. Empty text: true. -EOPNOTSUPP with a sentence: only the
// kernel can run it, as it follows addresses (FIELD.function, char * fields).
int expr_filter_compile(struct expr **ret, const char *text, const struct expr_fields *fields);
// Like the kernel's parser alone: -EINVAL when the kernel would not take it.
int expr_filter_compile_kernel(struct expr **ret, const char *text, const struct expr_fields *fields);
void expr_free(struct expr *expr); // NULL is allowed

bool expr_is_text(const struct expr *expr); // its value is text
// The longest text it can have: of an array of fixed size; 0: not known.
uint32_t expr_text_limit(const struct expr *expr);
bool expr_is_void(const struct expr *expr);   // it has no value
bool expr_is_signed(const struct expr *expr); // of a number
unsigned expr_size(const struct expr *expr);  // of its type, bytes
// A name of its type as in C: "unsigned int", "char *".
const char *expr_type_text(const struct expr *expr);
// May the kernel run this filter text and give the same answer as expr_run? False for what is C only, and for texts that kernels
// get wrong ("*x" and "*x*" against an array of fixed size, a glob that starts with a digit).
bool expr_is_kernel_filter(const struct expr *expr);
// Does it print (printf)? Such an expression is run for what it does.
bool expr_prints(const struct expr *expr);
// What of a system its functions ask for: names of symbols (ksymbol, usymbol), of tasks (comm).
bool expr_asks_symbols(const struct expr *expr);
bool expr_asks_tasks(const struct expr *expr);
// The value of a constant expression: true and *ret.
bool expr_is_constant(const struct expr *expr, uint64_t *ret);
// Is it one operation on a number in the record and a constant ("ret < 0", "runtime / 1000")? Then *ret says so, and who has the number
// needs no machine: expr_step_run has the value; false: division by zero.
struct expr_step {
	uint64_t operand;
	uint32_t offset;
	uint8_t width, op; // bytes of the number
	bool is_signed;	   // the number
};
bool expr_is_step(const struct expr *expr, struct expr_step *ret);
bool expr_step_run(const struct expr_step *step, uint64_t number, uint64_t *ret);
// The bytecode, one instruction a line.
void expr_dump(const struct expr *expr, struct out *out);

// What the built-ins ask for. Each may be NULL: addresses and numbers then stand for their names. Texts that are returned stay valid until
// the next call; NULL: not known.
struct expr_env {
	const char *(*ksymbol)(void *arg, uint64_t addr);
	const char *(*usymbol)(void *arg, uint32_t pid, uint64_t addr);
	const char *(*comm)(void *arg, uint32_t tid);
	const char *(*syscall)(void *arg, uint64_t number);
	void *arg;
	struct out *out; // of printf; NULL: it prints nothing, and counts
};

struct expr_machine *expr_machine_new(const struct expr_env *env); // env may be NULL; copied
void expr_machine_free(struct expr_machine *machine);

// Evaluates. 0; -ENODATA: the record ends before a field that is used, or has no context; -EFAULT: a pointer leads out of
// record and texts; -EDOM: division by zero. No sentence: expr_fault makes it. A record is never written: assignments change a
// copy that lasts for this run.
int expr_run(struct expr_machine *machine, const struct expr *expr,
	     const struct expr_record *record, struct expr_value *ret);
// Is the filter true? An error counts as false.
bool expr_true(struct expr_machine *machine, const struct expr *expr,
	       const struct expr_record *record);
// The sentence for the last failed expr_run; returns its error.
int expr_fault(const struct expr_machine *machine, const struct expr *expr);
