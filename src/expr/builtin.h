// SPDX-License-Identifier: GPL-2.0-or-later
// The functions that expressions may call, and the machine that they run on. Inside src/expr only.
#pragma once
#include "base/arena.h"
#include "expr/code.h"

struct expr_machine {
	struct expr_env env;
	const uint8_t *data;
	uint32_t size;
	const uint64_t *context;
	bool swapped;
	const struct expr *expr;
	VEC(struct str) results; // texts of calls, by number
	struct arena arena;	 // of those
	uint8_t *copy;		 // of a record that is assigned to
	size_t copy_capacity;
	int error;
	uint32_t fault; // instruction
	uint64_t fault_value;
};

enum { EXPR_CALL_FAILED = 1 };

struct expr_builtin {
	const char *name;
	struct expr_type type;
	uint8_t min_args, max_args;
	struct expr_type args[3]; // the type they are converted to; void: any, see `any`
	// Its value; on an error machine->error is set.
	uint64_t (*run)(struct expr_machine *machine, const struct expr_call *call,
			const uint64_t *args);
	uint8_t swap_bytes; // 2, 4, 8: an instruction of its own
	uint8_t is_max;	    // 1: min, 2: max; made of the types of the arguments
};

// The text that a pointer points to, at most `limit` bytes (0: to the NUL or the end of what it lies in). False: nowhere; machine->error
// is set.
bool expr_machine_text(struct expr_machine *machine, uint64_t pointer, uint32_t limit,
		       struct str *ret);

// printf's format, taken apart when it is compiled. The arguments' types are checked against it: NULL with *ret_problem.
struct expr_types {
	struct expr_type v[EXPR_ARGS_MAX];
	unsigned n;
};
struct expr_format_problem {
	char text[160];
	unsigned argument; // UINT32_MAX: the format itself
};
const struct expr_format *expr_format_compile(struct arena *arena, struct str format,
					      const struct expr_types *types,
					      struct expr_format_problem *ret_problem);
// The count of bytes written.
uint64_t expr_format_run(struct expr_machine *machine, const struct expr_call *call,
			 const uint64_t *args);
