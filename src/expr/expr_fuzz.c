// SPDX-License-Identifier: GPL-2.0-or-later
// Any text, as an expression and as a filter, over an event with fields of each kind.
#include "base/alloc.h"
#include "expr/bpf.h"
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	char name[8];
	struct expr_field field;
} fields[] = {
	{"a", {EXPR_FIELD_NUMBER, 0, 4, .is_signed = true}},
	{"b", {EXPR_FIELD_NUMBER, 8, 8}},
	{"c", {EXPR_FIELD_ARRAY, 16, 16, 1, .is_text = true}},
	{"d", {EXPR_FIELD_DYNAMIC, 4, 4, 1, .is_text = true}},
	{"e", {EXPR_FIELD_ARRAY, 32, 24, 8, .is_signed = true}},
	{"r", {EXPR_FIELD_RELATIVE, 4, 4, 2}},
	{"p", {EXPR_FIELD_NUMBER, 8, 8, .is_pointer = true, .is_text = true}},
};

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!str_is(name, fields[i].name))
			continue;
		*ret = fields[i].field;
		return true;
	}
	return false;
}

static const char *name(void *arg, size_t i)
{
	return i < ARRAY_SIZE(fields) ? fields[i].name : NULL;
}

static size_t to_bpf(const struct expr *expr)
{
	struct expr_bpf b = {.in_context = true, .record_bytes = 56};
	size_t n;

	expr_bpf_begin(&b);
	if (expr_is_text(expr))
		expr_bpf_text(&b, expr, -256, 16);
	else
		expr_bpf_number(&b, expr, -256);
	n = b.insns.n;
	expr_bpf_done(&b);
	return n;
}

static size_t run(const char *text, const struct expr_fields *all, bool filter)
{
	static const uint8_t bytes[64] = {1, 2, 3, 4, 20, 0,	9,    0,   9,
					  9, 9, 9, 0, 0,  0xff, 0xff, 'x', 'y'};
	static const uint64_t context[EXPR_CONTEXTS] = {1, 2, 3, 4, 5};
	const struct expr_record record = {bytes, sizeof(bytes), context};
	struct expr_machine *machine;
	struct expr_value value = {0};
	struct expr *expr = NULL;
	size_t sum = 0;
	struct out out;

	if ((filter ? expr_filter_compile : expr_compile)(&expr, text, all) < 0)
		return 0;
	out_init_memory(&out);
	machine = expr_machine_new(&(struct expr_env){.out = &out});
	if (expr_run(machine, expr, &record, &value) < 0)
		sum += (size_t)-expr_fault(machine, expr);
	for (size_t i = 0; i < value.text.n; i++)
		sum += (unsigned char)value.text.p[i];
	expr_dump(expr, &out);
	sum += out.n + to_bpf(expr);
	expr_machine_free(machine);
	out_done(&out);
	expr_free(expr);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expr_fields all = {find, name, NULL, size & 1};
	auto_free char *text = xmalloc(size + 1);
	size_t sum;

	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	sum = run(text, &all, false) + run(text, &all, true);
	return sum == SIZE_MAX;
}
