// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of the compiler of print fmts share.
#pragma once
#include "abi/tracepoint_program.h"

#define DEPTH_MAX 1000 // of expressions

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

// tracepoint_expr.c: numbers and texts of the arguments.
const struct expr *tp_compile_number(struct compiler *c, const struct tep_print_arg *arg);
const struct text *tp_compile_text(struct compiler *c, const struct tep_print_arg *arg);
const struct tep_format_field *tp_find_tep_field(const struct compiler *c,
						 const struct tep_format_field *field,
						 const char *name);

// tracepoint_pointer.c: what stands behind %p.
void tp_add_pointer(struct compiler *c, const char *letters, const struct tep_print_arg *arg,
		    const struct tep_print_arg *length_arg);
size_t tp_pointer_letters(const char *p);

// tracepoint_compile.c
void tp_add_message(struct compiler *c, const char *text);
void tp_add_step(struct compiler *c, struct step step);
