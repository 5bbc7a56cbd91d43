// SPDX-License-Identifier: GPL-2.0-or-later
// Any record, and fields wherever the first bytes say, under expressions that use all that the machine can do.
#include "base/alloc.h"
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const texts[] = {
	"a + b * 3 - (b >> 3) / (a | 1)",
	"d",
	"r",
	"c",
	"d ~ \"*a*b?[c-e]\" || r == \"x\" || c ~ \"*x\"",
	"e[a]",
	"*(long *)((char *)&a + b)",
	"*(int *)b",
	"e[a & 1] = b, e[1]++",
	"*(short *)((char *)&a + d_offset) = 3, d",
	"printf(\"%s|%.*s|%d %*u\", d, a, c, b, a, b)",
	"strcmp(d, r) + strlen(c) + strncmp((char *)b, d, a)",
	"a / b % e[0] ? ksymbol(b) : comm(a)",
	"ntohl(a) ^ ntohs(b) ^ ntohll(e[2])",
	"d[a] + r[b] + sizeof(d) + d_len + r_offset",
	"(c == d) + (r != c) + _cpu + _time",
};

struct layout {
	struct expr_field fields[6];
};

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	static const char names[] = "abcder";
	const struct layout *layout = arg;
	const char *at = name.n == 1 ? memchr(names, name.p[0], 6) : NULL;

	if (at)
		*ret = layout->fields[at - names];
	return at != NULL;
}

// Four bytes say kind, signs and offset, two the size.
static void lay_out(struct layout *layout, const uint8_t *data)
{
	static const enum expr_field_kind kinds[] = {EXPR_FIELD_NUMBER, EXPR_FIELD_NUMBER,
						     EXPR_FIELD_ARRAY,	EXPR_FIELD_DYNAMIC,
						     EXPR_FIELD_ARRAY,	EXPR_FIELD_RELATIVE};

	for (size_t i = 0; i < ARRAY_SIZE(layout->fields); i++, data += 4) {
		struct expr_field *field = &layout->fields[i];

		field->kind = kinds[i];
		field->is_signed = data[0] & 1;
		field->is_text = kinds[i] != EXPR_FIELD_NUMBER && i != 4;
		field->offset = data[1] | (data[0] & 2 ? data[2] << 8 : 0);
		field->size = i < 2 ? 1u << (data[3] & 3) : data[3];
		field->element_size = i == 4 ? 8 : 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t context[EXPR_CONTEXTS] = {1, 2, 3, 4, 5};
	enum { HEAD = 25 };
	struct layout layout = {0};
	struct expr_fields fields = {find, NULL, &layout, false};
	struct expr_machine *machine;
	struct expr_record record;
	uint64_t sum = 0;
	struct out out;

	if (size < HEAD)
		return 0;
	lay_out(&layout, data);
	fields.swapped = data[HEAD - 1] & 1;
	// a heap block of just this size shows each byte read behind it
	auto_free uint8_t *copy = xmalloc(size - HEAD + 1);
	memcpy(copy, data + HEAD, size - HEAD);
	record = (struct expr_record){copy, (uint32_t)(size - HEAD), context};
	copy = xrealloc(copy, MAX(size - HEAD, (size_t)1));
	record.data = copy;
	out_init_memory(&out);
	machine = expr_machine_new(&(struct expr_env){.out = &out});
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct expr_value value = {0};
		struct expr *expr = NULL;

		if (expr_compile(&expr, texts[i], &fields) < 0)
			continue;
		if (expr_run(machine, expr, &record, &value) < 0)
			sum += (uint64_t)-expr_fault(machine, expr);
		for (size_t k = 0; k < value.text.n; k++)
			sum += (unsigned char)value.text.p[k];
		sum += value.number;
		expr_free(expr);
	}
	expr_machine_free(machine);
	out_done(&out);
	return sum == UINT64_MAX;
}
