// SPDX-License-Identifier: GPL-2.0-or-later
// The built-in functions. One row a function.
#include "base/nearest.h"
#include "expr/builtin.h"
#include "expr/node.h"
#include <stdio.h>

#define TEXT                                                                                       \
	{                                                                                          \
		.base = EXPR_S8, .pointers = 1                                                     \
	}
#define ANY                                                                                        \
	{                                                                                          \
		.base = EXPR_VOID                                                                  \
	}

enum { RESULT_MAX = 4096 };

// Keeps a text until the next run and makes a pointer to it.
static uint64_t keep(struct expr_machine *machine, const struct expr_call *call, struct str text)
{
	const struct str s = {text.p, MIN(text.n, (size_t)RESULT_MAX)};

	machine->results.v[call->text] = (struct str){arena_strdup(&machine->arena, s), s.n};
	return EXPR_TEXT_AREA + ((uint64_t)call->text << 32);
}

static uint64_t keep_number(struct expr_machine *machine, const struct expr_call *call,
			    const char *format, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), format, (unsigned long)value);
	return keep(machine, call, str_of(text));
}

static uint64_t run_ksymbol(struct expr_machine *machine, const struct expr_call *call,
			    const uint64_t *args)
{
	const struct expr_env *env = &machine->env;
	const char *name = env->ksymbol ? env->ksymbol(env->arg, args[0]) : NULL;

	return name ? keep(machine, call, str_of(name))
		    : keep_number(machine, call, "0x%lx", args[0]);
}

static uint64_t run_usymbol(struct expr_machine *machine, const struct expr_call *call,
			    const uint64_t *args)
{
	const struct expr_env *env = &machine->env;
	uint64_t pid = UINT32_MAX;
	const char *name = NULL;

	if (call->n > 1)
		pid = args[1];
	else if (machine->context)
		pid = machine->context[EXPR_PID];
	if (env->usymbol)
		name = env->usymbol(env->arg, (uint32_t)pid, args[0]);
	return name ? keep(machine, call, str_of(name))
		    : keep_number(machine, call, "0x%lx", args[0]);
}

static uint64_t run_comm(struct expr_machine *machine, const struct expr_call *call,
			 const uint64_t *args)
{
	const struct expr_env *env = &machine->env;
	const char *name = env->comm ? env->comm(env->arg, (uint32_t)args[0]) : NULL;

	return name ? keep(machine, call, str_of(name))
		    : keep_number(machine, call, ":%ld", (uint64_t)(int64_t)(int32_t)args[0]);
}

static uint64_t run_syscall(struct expr_machine *machine, const struct expr_call *call,
			    const uint64_t *args)
{
	const struct expr_env *env = &machine->env;
	const char *name = env->syscall ? env->syscall(env->arg, args[0]) : NULL;

	return name ? keep(machine, call, str_of(name)) : keep_number(machine, call, "%ld", args[0]);
}

// As strncmp: -1, 0, 1.
static uint64_t compare(struct str a, struct str b, uint64_t n)
{
	int order;

	a.n = MIN(a.n, n);
	b.n = MIN(b.n, n);
	order = memcmp(a.p, b.p, MIN(a.n, b.n));
	if (!order)
		order = a.n < b.n ? -1 : a.n > b.n;
	return (uint64_t)(int64_t)(order < 0 ? -1 : order > 0);
}

static uint64_t run_strcmp(struct expr_machine *machine, const struct expr_call *call,
			   const uint64_t *args)
{
	struct str a, b;

	if (!expr_machine_text(machine, args[0], call->limits[0], &a) ||
	    !expr_machine_text(machine, args[1], call->limits[1], &b))
		return 0;
	return compare(a, b, call->n > 2 ? args[2] : UINT64_MAX);
}

static uint64_t run_strlen(struct expr_machine *machine, const struct expr_call *call,
			   const uint64_t *args)
{
	struct str a;

	return expr_machine_text(machine, args[0], call->limits[0], &a) ? a.n : 0;
}

static const struct expr_builtin builtins[] = {
	{"printf", {EXPR_S32}, 1, EXPR_ARGS_MAX, {TEXT}, expr_format_run},
	{"ksymbol", TEXT, 1, 1, {{EXPR_U64}}, run_ksymbol},
	{"usymbol", TEXT, 1, 2, {{EXPR_U64}, {EXPR_S32}}, run_usymbol},
	{"comm", TEXT, 1, 1, {{EXPR_S32}}, run_comm},
	{"syscall", TEXT, 1, 1, {{EXPR_U64}}, run_syscall},
	{"strcmp", {EXPR_S32}, 2, 2, {TEXT, TEXT}, run_strcmp},
	{"strncmp", {EXPR_S32}, 3, 3, {TEXT, TEXT, {EXPR_U64}}, run_strcmp},
	{"strlen", {EXPR_U64}, 1, 1, {TEXT}, run_strlen},
	{"ntohs", {EXPR_U16}, 1, 1, {{EXPR_U16}}, .swap_bytes = 2},
	{"htons", {EXPR_U16}, 1, 1, {{EXPR_U16}}, .swap_bytes = 2},
	{"ntohl", {EXPR_U32}, 1, 1, {{EXPR_U32}}, .swap_bytes = 4},
	{"htonl", {EXPR_U32}, 1, 1, {{EXPR_U32}}, .swap_bytes = 4},
	{"ntohll", {EXPR_U64}, 1, 1, {{EXPR_U64}}, .swap_bytes = 8},
	{"htonll", {EXPR_U64}, 1, 1, {{EXPR_U64}}, .swap_bytes = 8},
	{"min", ANY, 2, 2, {ANY, ANY}, .is_max = 1},
	{"max", ANY, 2, 2, {ANY, ANY}, .is_max = 2},
};

// perf-prof's names of the same.
static const struct {
	const char *name, *ours;
} aliases[] = {{"comm_get", "comm"}, {"syscall_name", "syscall"}};

bool expr_asks_symbols(const struct expr *expr)
{
	vec_each(const struct expr_call, call, &expr->calls) {
		if (call->builtin->run == run_ksymbol || call->builtin->run == run_usymbol)
			return true;
	}
	return false;
}

bool expr_asks_tasks(const struct expr *expr)
{
	vec_each(const struct expr_call, call, &expr->calls) {
		if (call->builtin->run == run_comm)
			return true;
	}
	return false;
}

static struct node *unknown_function(struct parser *p, struct str name)
{
	const char *names[ARRAY_SIZE(builtins) + 1], *near;
	char *word = str_dup(name), list[256];
	struct node *n;
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		names[i] = builtins[i].name;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	}
	names[ARRAY_SIZE(builtins)] = NULL;
	near = nearest(word, names);
	if (near)
		n = node_error(p, name, "there is no function '%s'; the nearest name is '%s'", word,
			       near);
	else
		n = node_error(p, name, "there is no function '%s'; there are: %s", word, list);
	free(word);
	return n;
}

// C's conversion of an argument, with errors that name what the function wants.
static struct node *convert_argument(struct parser *p, const struct expr_builtin *builtin,
				     unsigned i, struct node *arg)
{
	const struct expr_type wanted =
		i < ARRAY_SIZE(builtin->args) ? builtin->args[i] : (struct expr_type)ANY;

	if (arg->type.base == EXPR_VOID && !arg->type.pointers)
		return node_error(p, arg->where, "this has no value");
	if (wanted.pointers) {
		if (arg->type.pointers != 1 || arg->type.base > EXPR_U8)
			return node_error(p, arg->where, "%s takes text (char *) here",
					  builtin->name);
		return arg;
	}
	if (wanted.base == EXPR_VOID)
		return arg;
	if (arg->type.pointers && wanted.base != EXPR_U64)
		return node_error(p, arg->where, "%s takes a number here", builtin->name);
	return node_cast(p, arg->where, wanted, arg);
}

static bool compile_format(struct parser *p, struct expr_call *call, struct node *args)
{
	struct expr_types types = {.n = 0};
	struct expr_format_problem problem;
	struct node *arg, *format = args;

	if (format->kind != NODE_ADDRESS || format->a->kind != NODE_TEXT) {
		node_error(p, format->where, "the format must be a text in quotes");
		return false;
	}
	for (arg = args->next; arg; arg = arg->next)
		types.v[types.n++] = arg->type;
	call->format = expr_format_compile(p->expr->arena, p->expr->literals.v[format->a->number],
					   &types, &problem);
	if (call->format)
		return true;
	arg = problem.argument == UINT32_MAX ? format : args->next;
	for (unsigned i = 0; problem.argument != UINT32_MAX && i < problem.argument; i++)
		arg = arg->next;
	node_error(p, arg->where, "%s", problem.text);
	return false;
}

struct node *node_call(struct parser *p, struct str name, struct str where, struct node *args)
{
	const struct expr_builtin *builtin = NULL;
	struct expr_call call = {0};
	struct node *n, **tail = &args;
	unsigned skipped;

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (str_is(name, aliases[i].name))
			name = str_of(aliases[i].ours);
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (str_is(name, builtins[i].name))
			builtin = &builtins[i];
	if (!builtin)
		return unknown_function(p, name);
	skipped = builtin->run == expr_format_run; // the format is no argument of its own
	for (; *tail; tail = &(*tail)->next, call.n++) {
		struct node *next = (*tail)->next, *arg;

		if (call.n >= builtin->max_args)
			return node_error(p, (*tail)->where, "%s takes at most %u argument%s",
					  builtin->name, builtin->max_args,
					  builtin->max_args > 1 ? "s" : "");
		arg = *tail;
		if (arg->kind == NODE_ADDRESS && arg->a->type.is_array &&
		    !arg->a->type.is_dynamic && call.n >= skipped)
			call.limits[call.n - skipped] = arg->a->type.count;
		arg = convert_argument(p, builtin, call.n, arg);
		if (p->failed)
			return p->nothing;
		arg->next = next;
		*tail = arg;
	}
	if (call.n < builtin->min_args)
		return node_error(p, where, "%s takes %u argument%s", builtin->name,
				  builtin->min_args, builtin->min_args > 1 ? "s" : "");
	if (builtin->is_max)
		return node_extreme(p, builtin->is_max == 2, args, args->next);
	if (p->expr->calls.n >= EXPR_CALLS_MAX)
		return node_error(p, where, "there are more than %d calls", EXPR_CALLS_MAX);
	call.builtin = builtin;
	if (builtin->run == expr_format_run) {
		p->expr->prints = true;
		if (!compile_format(p, &call, args))
			return p->nothing;
	}
	if (builtin->type.pointers) {
		call.text = (uint16_t)p->expr->literals.n;
		vec_push(&p->expr->literals, (struct str){0});
	}
	n = node_new(p, NODE_CALL, where);
	n->type = builtin->type;
	n->a = args;
	n->number = p->expr->calls.n;
	vec_push(&p->expr->calls, call);
	return n;
}
