// SPDX-License-Identifier: GPL-2.0-or-later
// Random expressions over random records: `c SEED N` writes them as a C program that prints their values, `run SEED N` prints the values
// that sonde's machine computes, `bpf SEED N` those that the kernel computes with the eBPF made of them. All three must be the same.
#include "base/alloc.h"
#include "base/err.h"
#include "base/out.h"
#include "expr/expr.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "expr/bpf.h"
#include "sys/bpf.h"

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

static unsigned below(unsigned n)
{
	return (unsigned)((next_random() >> 33) % n);
}

static const struct {
	const char *name, *type;
	struct expr_field field;
} fields[] = {
	{"s8", "signed char", {EXPR_FIELD_NUMBER, 8, 1, .is_signed = true}},
	{"u8", "unsigned char", {EXPR_FIELD_NUMBER, 9, 1}},
	{"s16", "short", {EXPR_FIELD_NUMBER, 10, 2, .is_signed = true}},
	{"u16", "unsigned short", {EXPR_FIELD_NUMBER, 12, 2}},
	{"pad", "short", {EXPR_FIELD_NUMBER, 14, 2, .is_signed = true}},
	{"s32", "int", {EXPR_FIELD_NUMBER, 16, 4, .is_signed = true}},
	{"u32", "unsigned int", {EXPR_FIELD_NUMBER, 20, 4}},
	{"s64", "long", {EXPR_FIELD_NUMBER, 24, 8, .is_signed = true}},
	{"u64", "unsigned long", {EXPR_FIELD_NUMBER, 32, 8}},
	{"ints", "int", {EXPR_FIELD_ARRAY, 40, 16, 4, .is_signed = true}},
	{"longs", "unsigned long", {EXPR_FIELD_ARRAY, 56, 32, 8}},
	{"text", "char", {EXPR_FIELD_ARRAY, 88, 16, 1, .is_text = true}},
};
enum { NUMBERS = 9, RECORD_BYTES = 104 };

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

static void make_record(uint8_t *record)
{
	static const uint64_t special[] =
		{0,	 1,    UINT64_MAX, 0x7fffffff, 0x80000000, INT64_MAX, (uint64_t)INT64_MIN,
		 0x8000, 0x80, 2,	   255,	       65535};
	static const char *const texts[] = {"bash", "", "kworker/0:1", "fifteen letters"};
	uint64_t v;

	memset(record, 0, RECORD_BYTES);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(fields); i++) {
		const struct expr_field *f = &fields[i].field;
		const uint32_t size = f->element_size ? f->element_size : f->size;

		for (uint32_t at = 0; at < f->size; at += size) {
			v = below(3) ? special[below(ARRAY_SIZE(special))] + below(3) - 1
				     : next_random();
			memcpy(record + f->offset + at, &v, size);
		}
	}
	strcpy((char *)record + 88, texts[below(ARRAY_SIZE(texts))]);
}

static void gen(struct out *out, unsigned depth);

static void gen_leaf(struct out *out)
{
	static const char *const numbers[] = {"0",	    "1",
					      "2",	    "3u",
					      "7",	    "10l",
					      "'x'",	    "255",
					      "0x7fffffff", "0x80000000",
					      "-1",	    "65536",
					      "100u",	    "4294967296",
					      "1ul << 63",  "-9223372036854775807",
					      "0377",	    "0xffull"};

	switch (below(8)) {
	case 0:
	case 1:
		out_printf(out, "(%s)", numbers[below(ARRAY_SIZE(numbers))]);
		break;
	case 2:
		out_printf(out, "ints[%u]", below(4));
		break;
	case 3:
		out_printf(out, "longs[%u]", below(4));
		break;
	default:
		out_text(out, fields[below(NUMBERS)].name);
	}
}

// Without what C leaves undefined: shifts beyond the width, division by zero and of the smallest number by -1.
static void gen_binary(struct out *out, unsigned depth)
{
	static const char *const ops[] = {"+", "-",  "*",  "&",	 "|",  "^",  "+",  "-", "*", "<",
					  ">", "<=", ">=", "==", "!=", "&&", "||", ",", "<", "=="};
	const unsigned which = below(ARRAY_SIZE(ops) + 6);

	out_char(out, '(');
	gen(out, depth);
	if (which < ARRAY_SIZE(ops)) {
		out_printf(out, " %s ", ops[which]);
		gen(out, depth);
	} else if (which < ARRAY_SIZE(ops) + 2) {
		out_text(out, below(2) ? " << ((" : " >> ((");
		gen(out, depth);
		out_text(out, ") & 31)");
	} else {
		out_text(out, below(2) ? " / " : " % ");
		out_text(out, below(2) ? "(((" : "(-2 - ((");
		gen(out, depth);
		out_text(out, ") & 0x1ff | 1))");
	}
	out_char(out, ')');
}

static void gen_call(struct out *out, unsigned depth)
{
	static const char *const names[] = {"min", "max", "ntohs", "ntohl", "ntohll"};
	const unsigned which = below(ARRAY_SIZE(names));

	out_printf(out, "%s(", names[which]);
	gen(out, depth);
	if (which < 2) {
		out_text(out, ", ");
		gen(out, depth);
	}
	out_char(out, ')');
}

static void gen(struct out *out, unsigned depth)
{
	static const char *const casts[] = {"char",  "unsigned char", "short",	  "unsigned short",
					    "int",   "unsigned",      "long",	  "unsigned long",
					    "_Bool", "signed char",   "long long"};
	static const char *const places[] = {"s8", "u16", "s32", "longs[1]", "ints[3]"};

	if (!depth || below(8) == 0) {
		gen_leaf(out);
		return;
	}
	depth--;
	switch (below(14)) {
	case 0:
	case 1:
		out_printf(out, "(%s)(", casts[below(ARRAY_SIZE(casts))]);
		gen(out, depth);
		out_char(out, ')');
		break;
	case 2:
	case 3:
		out_text(out, (const char *const[]){"-(", "~(", "!(", "+("}[below(4)]);
		gen(out, depth);
		out_char(out, ')');
		break;
	case 4:
		out_char(out, '(');
		gen(out, depth);
		out_text(out, " ? ");
		gen(out, depth);
		out_text(out, " : ");
		gen(out, depth);
		out_char(out, ')');
		break;
	case 5:
		gen_call(out, depth);
		break;
	case 6:
		out_printf(out, "%s[(", below(2) ? "ints" : "longs");
		gen(out, depth);
		out_text(out, ") & 3]");
		break;
	case 7:
		switch (below(5)) {
		case 0:
			out_printf(out, "*(unsigned short *)((char *)&s64 + %u)", below(7));
			break;
		case 1:
			out_printf(out, "*(%s *)&%s", casts[below(7)],
				   places[below(ARRAY_SIZE(places))]);
			break;
		case 2:
			out_printf(out, "(strcmp(text, \"%s\") %s 0)", below(2) ? "bash" : "lash",
				   (const char *const[]){"<", "==", ">"}[below(3)]);
			break;
		case 3:
			out_printf(out, "sizeof(%s)", casts[below(9)]);
			break;
		default:
			out_printf(out, "(&longs[%u] - longs)", below(4));
		}
		break;
	default:
		gen_binary(out, depth);
	}
}

// Changes of fields stand alone: C does not say in which order the parts of one operator are done.
static void gen_statements(struct out *out, bool assigns)
{
	static const char *const ops[] = {"=", "+=", "-=", "*=", "&=", "|=", "^="};
	static const char *const places[] = {"s8",  "u8",  "s16", "u16",      "s32",
					     "u32", "s64", "u64", "longs[2]", "ints[1]"};

	while (assigns && below(2)) {
		const char *place = places[below(ARRAY_SIZE(places))];

		if (below(4) == 0) {
			out_printf(out, below(2) ? "s64 = %s%s, " : "u64 = %2$s%1$s, ", place,
				   below(2) ? "++" : "--");
			continue;
		}
		out_printf(out, "%s %s ", place, ops[below(ARRAY_SIZE(ops))]);
		gen(out, 2);
		out_text(out, ", ");
	}
	gen(out, 1 + below(5));
}

static void put_program_head(struct out *out)
{
	uint32_t end = 0;

	out_text(out, "#include <stdio.h>\n#include <string.h>\n#include <arpa/inet.h>\n"
		      "struct __attribute__((packed)) record {\n");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct expr_field *f = &fields[i].field;

		if (f->offset > end)
			out_printf(out, "char pad%zu[%u];\n", i, f->offset - end);
		end = f->offset + f->size;
		out_printf(out, "%s %s", fields[i].type, fields[i].name);
		if (f->kind == EXPR_FIELD_ARRAY)
			out_printf(out, "[%u]", f->size / f->element_size);
		out_text(out, ";\n");
	}
	out_text(out, "};\n");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		out_printf(out, "#define %s (r.%s)\n", fields[i].name, fields[i].name);
	out_text(out, "#define EXTREME(a, op, b) ({ __typeof__(0 ? (a) : (b)) a_ = (a), b_ = (b); "
		      "a_ op b_ ? a_ : b_; })\n"
		      "#define min(a, b) EXTREME(a, <, b)\n#define max(a, b) EXTREME(a, >, b)\n"
		      "static unsigned long ntohll_(unsigned long x) { return __builtin_bswap64(x); }\n"
		      "#define ntohll(x) ntohll_(x)\n");
}

static void put_c(struct out *out, unsigned i, const char *text, const uint8_t *record)
{
	out_printf(out,
		   "static unsigned long f%u(void)\n{\n\tstatic const unsigned char bytes[] = {", i);
	for (size_t k = 0; k < RECORD_BYTES; k++)
		out_printf(out, "%u,", record[k]);
	out_printf(out,
		   "};\n\tstruct record r;\n\tmemcpy(&r, bytes, sizeof(r));\n"
		   "\treturn (unsigned long)(%s);\n}\n",
		   text);
}

static int print_value(const char *text, const uint8_t *record)
{
	const struct expr_record r = {record, RECORD_BYTES, NULL};
	const struct expr_fields all = {.find = find};
	struct expr_machine *machine = expr_machine_new(NULL);
	struct expr_value value = {0};
	struct expr *expr = NULL;
	int err = expr_compile(&expr, text, &all);

	if (!err) {
		err = expr_run(machine, expr, &r, &value);
		if (err)
			expr_fault(machine, expr);
	}
	if (err)
		printf("%s: %s\n", text, err_sentence());
	else
		printf("%016" PRIx64 " %s\n", value.number, text);
	expr_free(expr);
	expr_machine_free(machine);
	return err;
}

// BPF_PROG_TYPE_RAW_TRACEPOINT, without a context (since Linux 5.10).
static int try_once(int program)
{
	union bpf_attr attr = {.test.prog_fd = (uint32_t)program};

	return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

// The record lies in a map, followed by the value and by 1 once it is computed, 2 when it can't be.
static int run_bpf(const struct expr *expr, const uint8_t *record, uint64_t *ret)
{
	struct expr_bpf b = {.record_bytes = RECORD_BYTES};
	const uint32_t zero = 0;
	uint8_t bytes[RECORD_BYTES + 16] = {0};
	char *log = NULL;
	int map, program, err;
	size_t jump, failed;

	map = bpf_map_new(BPF_MAP_TYPE_ARRAY, 4, sizeof(bytes), 1);
	if (map < 0)
		return fail(-map, "no map: %s", strerror(-map));
	memcpy(bytes, record, RECORD_BYTES);
	bpf_map_set(map, &zero, bytes);
	expr_bpf_emit(&b, bpf_alu_imm(BPF_MOV, BPF_REG_1, 0));
	expr_bpf_emit(&b, bpf_store(BPF_W, BPF_REG_10, -256, BPF_REG_1));
	expr_bpf_emit_map(&b, BPF_REG_1, map);
	expr_bpf_emit(&b, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_10));
	expr_bpf_emit(&b, bpf_alu_imm(BPF_ADD, BPF_REG_2, -256));
	expr_bpf_emit_call(&b, BPF_FUNC_map_lookup_elem);
	jump = expr_bpf_jump(&b, BPF_JNE, BPF_REG_0, 0);
	expr_bpf_emit(&b, bpf_exit());
	expr_bpf_land(&b, jump);
	expr_bpf_emit(&b, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_0));
	expr_bpf_begin(&b);
	err = expr_bpf_number(&b, expr, -256);
	expr_bpf_emit(&b, bpf_load(BPF_DW, BPF_REG_0, BPF_REG_10, -256));
	expr_bpf_emit(&b, bpf_store(BPF_DW, BPF_REG_9, RECORD_BYTES, BPF_REG_0));
	expr_bpf_emit(&b, bpf_alu_imm(BPF_MOV, BPF_REG_0, 1));
	if (b.failed.n) { // code that nothing leads to is refused
		failed = expr_bpf_jump(&b, BPF_JA, 0, 0);
		expr_bpf_land_failed(&b);
		expr_bpf_emit(&b, bpf_alu_imm(BPF_MOV, BPF_REG_0, 2));
		expr_bpf_land(&b, failed);
	}
	expr_bpf_emit(&b, bpf_store(BPF_DW, BPF_REG_9, RECORD_BYTES + 8, BPF_REG_0));
	expr_bpf_emit(&b, bpf_alu_imm(BPF_MOV, BPF_REG_0, 0));
	expr_bpf_emit(&b, bpf_exit());
	if (!err) {
		program = bpf_program_load(BPF_PROG_TYPE_RAW_TRACEPOINT, b.insns.v, b.insns.n, &log);
		err = program < 0 ? fail(-program, "the kernel refuses it: %s\n%s",
					 strerror(-program), log ? log : "")
				  : try_once(program);
		if (program >= 0)
			close(program);
	}
	bpf_map_get(map, &zero, bytes);
	if (!err && bytes[RECORD_BYTES + 8] != 1)
		err = fail(EFAULT, "it fails in the kernel");
	memcpy(ret, bytes + RECORD_BYTES, 8);
	expr_bpf_done(&b);
	close(map);
	free(log);
	return err;
}

static int print_bpf_value(const char *text, const uint8_t *record)
{
	const struct expr_fields all = {.find = find};
	struct expr *expr = NULL;
	uint64_t value = 0;
	int err = expr_compile(&expr, text, &all);

	if (!err)
		err = run_bpf(expr, record, &value);
	if (err == -EOPNOTSUPP)
		err = 0;
	else if (err)
		printf("%s: %s\n", text, err_sentence());
	else
		printf("%016" PRIx64 " %s\n", value, text);
	expr_free(expr);
	return err;
}

// Can this kernel run such programs, and may we? The script skips when not.
static int try_bpf(void)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_program_load(BPF_PROG_TYPE_RAW_TRACEPOINT, nothing, 2, NULL);
	int err = program < 0 ? program : try_once(program);

	if (err < 0)
		printf("%s\n", strerror(-err));
	return err < 0;
}

int main(int argc, char **argv)
{
	const bool c = argc == 4 && !strcmp(argv[1], "c"), bpf = argc == 4 && !strcmp(argv[1], "bpf");
	const unsigned n = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
	uint8_t record[RECORD_BYTES];
	struct out program, text, calls;
	int err = 0;

	if (argc == 2 && !strcmp(argv[1], "try"))
		return try_bpf();
	if (argc != 4)
		return 2;
	state = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull | 1;
	out_init_fd(&program, 1);
	out_init_memory(&calls);
	if (c)
		put_program_head(&program);
	for (unsigned i = 0; i < n; i++) {
		const bool assigns = below(4) == 0;

		make_record(record);
		out_init_memory(&text);
		gen_statements(&text, assigns);
		out_char(&text, 0);
		if (c) {
			put_c(&program, i, text.buf, record);
			out_printf(&calls, "\tprintf(\"%%016lx %%s\\n\", f%u(), f%u_text);\n", i, i);
			out_printf(&program, "static const char f%u_text[] = \"", i);
			for (const char *t = text.buf; *t; t++)
				out_printf(&program, *t == '"' || *t == '\\' ? "\\%c" : "%c", *t);
			out_text(&program, "\";\n");
		} else if (bpf) {
			if (!assigns)
				err |= print_bpf_value(text.buf, record);
		} else {
			err |= print_value(text.buf, record);
		}
		out_done(&text);
	}
	if (c) {
		out_text(&program, "int main(void)\n{\n");
		out_bytes(&program, calls.buf, calls.n);
		out_text(&program, "\treturn 0;\n}\n");
	}
	out_done(&calls);
	err |= out_close(&program, "the program");
	out_done(&program);
	return err != 0;
}
