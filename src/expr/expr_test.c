// SPDX-License-Identifier: GPL-2.0-or-later
#include "expr/expr.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"
#include <stdio.h>

// An event: what the fields below say.
static const struct __attribute__((packed)) {
	uint16_t common_type;
	uint8_t common_flags, common_preempt_count;
	int32_t common_pid;
	char comm[16]; // 8
	int32_t pid;   // 24
	uint32_t flags;
	int64_t big;	   // 32
	uint64_t ubig;	   // 40
	int8_t tiny;	   // 48
	uint8_t utiny;	   // 49
	int16_t small;	   // 50
	uint32_t name_loc; // 52
	uint32_t rel_loc;  // 56
	uint64_t args[6];  // 60
	uint16_t shorts[3];
	char full[4]; // 114
	char name[8]; // 118
	char rel[8];  // 126
} record = {
	.common_type = 374,
	.common_pid = 4242,
	.comm = "bash",
	.pid = -5,
	.flags = 0xfffffff0,
	.big = -1,
	.ubig = 0xffffffff81000000ull,
	.tiny = -3,
	.utiny = 253,
	.small = -300,
	.name_loc = 118 | 6 << 16,
	.rel_loc = (126 - 60) | 8 << 16,
	.args = {3, 0x1122334455667788ull, 2, 5, 7, 9},
	.shorts = {1, 0x1234, 0xffff},
	.full = {'f', 'u', 'l', 'l'},
	.name = "/a/sh",
	.rel = "rel", // 8 bytes, NUL inside
};

static const struct {
	const char *name;
	struct expr_field field;
} fields[] = {
	{"common_type", {EXPR_FIELD_NUMBER, 0, 2}},
	{"common_pid", {EXPR_FIELD_NUMBER, 4, 4, .is_signed = true}},
	{"comm", {EXPR_FIELD_ARRAY, 8, 16, 1, .is_text = true}},
	{"pid", {EXPR_FIELD_NUMBER, 24, 4, .is_signed = true}},
	{"flags", {EXPR_FIELD_NUMBER, 28, 4}},
	{"big", {EXPR_FIELD_NUMBER, 32, 8, .is_signed = true}},
	{"ubig", {EXPR_FIELD_NUMBER, 40, 8, .is_pointer = true}},
	{"tiny", {EXPR_FIELD_NUMBER, 48, 1, .is_signed = true}},
	{"utiny", {EXPR_FIELD_NUMBER, 49, 1}},
	{"small", {EXPR_FIELD_NUMBER, 50, 2, .is_signed = true}},
	{"name", {EXPR_FIELD_DYNAMIC, 52, 4, 1, .is_text = true}},
	{"rel", {EXPR_FIELD_RELATIVE, 56, 4, 1, .is_text = true}},
	{"args", {EXPR_FIELD_ARRAY, 60, 48, 8}},
	{"shorts", {EXPR_FIELD_ARRAY, 108, 6, 2}},
	{"full", {EXPR_FIELD_ARRAY, 114, 4, 1, .is_text = true}},
	{"text_pointer", {EXPR_FIELD_NUMBER, 40, 8, .is_text = true, .is_pointer = true}},
	{"blob", {EXPR_FIELD_NUMBER, 60, 12}},
	{"far", {EXPR_FIELD_NUMBER, 1000, 8}},
};

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (str_is(name, fields[i].name)) {
			*ret = fields[i].field;
			return true;
		}
	}
	return false;
}

static const char *field_name(void *arg, size_t i)
{
	return i < ARRAY_SIZE(fields) ? fields[i].name : NULL;
}

static const struct expr_fields all = {find, field_name, NULL, false};
static const uint64_t context[EXPR_CONTEXTS] = {3, 4242, 4243, 1000000007, 1};
static const struct expr_record whole = {&record, sizeof(record), context};

static const char *ksymbol(void *arg, uint64_t addr)
{
	return addr == 0xffffffff81000000ull ? "_text" : NULL;
}
static const char *usymbol(void *arg, uint32_t pid, uint64_t addr)
{
	static char text[40];

	snprintf(text, sizeof(text), "f%u_%llu", pid, (unsigned long long)addr);
	return text;
}
static const char *comm(void *arg, uint32_t tid)
{
	return tid == 4243 ? "zsh" : tid == 1 ? "init" : NULL;
}
static const char *syscall_name(void *arg, uint64_t number)
{
	return number == 39 ? "getpid" : NULL;
}

static struct expr_machine *machine_with(struct out *out)
{
	return expr_machine_new(&(struct expr_env){.ksymbol = ksymbol,
						   .usymbol = usymbol,
						   .comm = comm,
						   .syscall = syscall_name,
						   .out = out});
}

static struct expr *compiled(const char *text)
{
	struct expr *expr = NULL;

	if (expr_compile(&expr, text, &all) < 0)
		fail_msg("%s: %s", text, err_sentence());
	return expr;
}

static void check_number(struct expr_machine *machine, const char *text, uint64_t expected,
			 const char *type)
{
	struct expr *expr = compiled(text);
	struct expr_value value = {0};

	if (expr_run(machine, expr, &whole, &value) < 0) {
		expr_fault(machine, expr);
		fail_msg("%s: %s", text, err_sentence());
	}
	if (value.number != expected || (type && strcmp(expr_type_text(expr), type) != 0))
		fail_msg("%s = 0x%llx (%s), expected 0x%llx (%s)", text,
			 (unsigned long long)value.number, expr_type_text(expr),
			 (unsigned long long)expected, type);
	expr_free(expr);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		const char *type;
	} cases[] = {
		{"1", 1, "int"},
		{"0x10", 16, "int"},
		{"010", 8, "int"},
		{"0b101", 5, "int"},
		{"0", 0, "int"},
		{"2147483648", 2147483648, "long"},
		{"0x80000000", 0x80000000, "unsigned int"},
		{"18446744073709551615", UINT64_MAX, "unsigned long"},
		{"1u", 1, "unsigned int"},
		{"1UL", 1, "unsigned long"},
		{"1ll", 1, "long"},
		{"'a'", 'a', "int"},
		{"'\\n'", '\n', "int"},
		{"'\\x41'", 'A', "int"},
		{"'\\377'", (uint64_t)-1, "int"},
		{"'\\''", '\'', "int"},
		// precedence
		{"1 + 2 * 3", 7, "int"},
		{"(1 + 2) * 3", 9, "int"},
		{"1 << 2 + 1", 8, "int"},
		{"1 | 2 ^ 3 & 4", 3, "int"},
		{"1 < 2 == 1", 1, "int"},
		{"7 & 3 == 3", 1, "int"},
		{"1 || 0 && 0", 1, "int"},
		{"10 - 4 - 3", 3, "int"},
		{"100 / 10 / 2", 5, "int"},
		{"1 ? 2 : 0 ? 3 : 4", 2, "int"},
		{"0 ? 2 : 0 ? 3 : 4", 4, "int"},
		{"1, 2, 3", 3, "int"},
		{"-2147483648", (uint64_t)-2147483648ll, "long"},
		{"- -3", 3, "int"},
		{"!5", 0, "int"},
		{"~0", UINT64_MAX, "int"},
		{"~0u", UINT32_MAX, "unsigned int"},
		{"!!pid", 1, "int"},
		// conversions
		{"pid", (uint64_t)-5, "int"},
		{"flags", 0xfffffff0, "unsigned int"},
		{"tiny", (uint64_t)-3, "char"},
		{"utiny + 10", 263, "int"},
		{"small", (uint64_t)-300, "short"},
		{"pid < 0u", 0, "int"},
		{"pid < 0", 1, "int"},
		{"pid < flags", 0, "int"},
		{"pid + 1u", 0xfffffffc, "unsigned int"},
		{"pid + 1ul", (uint64_t)-4, "unsigned long"},
		{"pid > big", 0, "int"},
		{"(unsigned char)pid", 251, "unsigned char"},
		{"(short)0x18000", (uint64_t)-32768, "short"},
		{"(unsigned)pid", 0xfffffffb, "unsigned int"},
		{"(unsigned short)tiny", 0xfffd, "unsigned short"},
		{"(bool)pid", 1, "bool"},
		{"(bool)256", 1, "bool"},
		{"(u64)pid >> 60", 15, "unsigned long"},
		{"pid >> 1", (uint64_t)-3, "int"},
		{"flags >> 4", 0xfffffff, "unsigned int"},
		{"flags << 4", 0xffffff00, "unsigned int"},
		{"1 << 33", 2, "int"},
		{"pid / 2", (uint64_t)-2, "int"},
		{"pid % 3", (uint64_t)-2, "int"},
		{"flags / 2", 0x7ffffff8, "unsigned int"},
		{"2147483647 + pid * 0 + 1", (uint64_t)-2147483648ll, "int"},
		{"(-2147483647 - 1 - pid * 0) / -1", (uint64_t)-2147483648ll, "int"},
		{"big * big", 1, "long"},
		{"min(pid, 3)", (uint64_t)-5, "int"},
		{"max(pid, 3)", 3, "int"},
		{"max(pid, 3u)", 0xfffffffb, "unsigned int"},
		{"min(big, 7)", UINT64_MAX, "long"},
		{"min(ubig, 7)", 7, "unsigned long"},
		{"pid ? small : big", (uint64_t)-300, "long"},
		// logic that is not evaluated
		{"pid || 1 / (pid + 5)", 1, "int"},
		{"!pid && 1 / (pid + 5)", 0, "int"},
		// arrays, pointers
		{"args[0] + args[5]", 12, "unsigned long"},
		{"args[args[2]]", 2, "unsigned long"},
		{"2[args]", 2, "unsigned long"},
		{"*args", 3, "unsigned long"},
		{"*(args + args[0])", 5, "unsigned long"},
		{"&args[4] - args", 4, "long"},
		{"(int)args[1]", 0x55667788, "int"},
		{"*(int *)&args[1]", 0x55667788, "int"},
		{"((unsigned char *)&args[1])[7]", 0x11, "unsigned char"},
		{"*((short *)shorts + 2)", UINT64_MAX, "short"},
		{"comm[1]", 'a', "char"},
		{"*comm == 'b'", 1, "int"},
		{"&pid == (int *)((char *)&common_type + 24)", 1, "int"},
		{"*&pid", (uint64_t)-5, "int"},
		{"\"abc\"[1]", 'b', "char"},
		{"name[0]", '/', "char"},
		{"*(name + 1)", 'a', "char"},
		{"rel[1]", 'e', "char"},
		{"name_offset", 118, "unsigned short"},
		{"rel_offset", 126, "unsigned short"},
		{"name_len", 6, "unsigned short"},
		{"*((char *)&common_type + name_offset)", '/', "char"},
		{"ubig", 0xffffffff81000000ull, "unsigned long"},
		{"blob[0]", 3, "unsigned char"},
		// sizeof
		{"sizeof(int)", 4, "unsigned long"},
		{"sizeof(unsigned long long)", 8, "unsigned long"},
		{"sizeof comm", 16, "unsigned long"},
		{"sizeof(comm)", 16, "unsigned long"},
		{"sizeof(comm[0])", 1, "unsigned long"},
		{"sizeof pid + 1", 5, "unsigned long"},
		{"sizeof(args) / sizeof(args[0])", 6, "unsigned long"},
		{"sizeof(char *)", 8, "unsigned long"},
		{"sizeof(pid + 1ul)", 8, "unsigned long"},
		{"sizeof(name)", 6, "unsigned long"},
		{"sizeof(\"abc\")", 4, "unsigned long"},
		{"sizeof(common_type)", 2, "unsigned long"},
		// assignments
		{"pid = 7", 7, "int"},
		{"pid = 7, pid * pid", 49, "int"},
		{"pid++", (uint64_t)-5, "int"},
		{"pid++, pid", (uint64_t)-4, "int"},
		{"++pid", (uint64_t)-4, "int"},
		{"--utiny + utiny--", 504, "int"},
		{"utiny += 10", 7, "unsigned char"},
		{"utiny += 10, utiny", 7, "unsigned char"},
		{"flags >>= 4, flags", 0xfffffff, "unsigned int"},
		{"tiny = 200", (uint64_t)-56, "char"},
		{"args[args[2]] = pid, args[2]", (uint64_t)-5, "unsigned long"},
		{"*(short *)&pid = 0, pid", 0xffffffffffff0000ull, "int"},
		{"pid = flags = 3, pid + flags", 6, "unsigned int"},
		{"pid += big", (uint64_t)-6, "int"},
		// functions
		{"ntohs(shorts[1])", 0x3412, "unsigned short"},
		{"ntohl(0x11223344)", 0x44332211, "unsigned int"},
		{"htonll(args[1])", 0x8877665544332211ull, "unsigned long"},
		{"strcmp(comm, \"bash\")", 0, "int"},
		{"strcmp(comm, \"basi\")", UINT64_MAX, "int"},
		{"strncmp(comm, \"basalt\", 3)", 0, "int"},
		{"strlen(name)", 5, "unsigned long"},
		{"strlen(full)", 4, "unsigned long"},
		// text
		{"comm == \"bash\"", 1, "int"},
		{"\"bash\" == comm", 1, "int"},
		{"comm != \"bash\"", 0, "int"},
		{"name == \"/a/sh\"", 1, "int"},
		{"rel == \"rel\"", 1, "int"},
		{"full == \"full\"", 1, "int"},
		{"full == \"ful\"", 0, "int"},
		{"name == rel", 0, "int"},
		{"comm ~ \"b*h\"", 1, "int"},
		{"comm ~ \"*as*\" && name ~ \"*sh\"", 1, "int"},
		{"comm ~ \"[ab]?s[!a-g]\"", 1, "int"},
		{"comm ~ \"bas\"", 0, "int"},
		{"ksymbol(ubig) == \"_text\"", 1, "int"},
		// the sample's own
		{"_cpu", 3, "int"},
		{"_tid - _pid", 1, "int"},
		{"_time / 1000000", 1000, "unsigned long"},
	};
	struct expr_machine *machine = machine_with(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_number(machine, cases[i].text, cases[i].value, cases[i].type);
	assert_int_equal(record.pid, -5); // assignments don't reach it
	expr_machine_free(machine);
}

static void test_texts(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{"comm", "bash"},
		{"name", "/a/sh"},
		{"rel", "rel"},
		{"full", "full"},
		{"(char *)&common_type+name_offset", "/a/sh"},
		{"(char *)&common_type+rel_offset", "rel"},
		{"pid < 0 ? \"minus\" : \"plus\"", "minus"},
		{"ksymbol(ubig)", "_text"},
		{"ksymbol(5)", "0x5"},
		{"usymbol(16)", "f4242_16"},
		{"usymbol(16, 8)", "f8_16"},
		{"comm(1)", "init"},
		{"comm(2)", ":2"},
		{"syscall(39)", "getpid"},
		{"syscall(-1)", "-1"},
		{"comm_get(1)", "init"},
		{"syscall_name(39)", "getpid"},
		{"comm + 2", "sh"},
		{"&comm[1]", "ash"},
		{"\"a\" \"b\\t\\x41\"", "ab\tA"},
		{"comm[0] = 'B', (char *)comm", "Bash"},
	};
	struct expr_machine *machine = machine_with(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct expr *expr = compiled(cases[i].text);
		struct expr_value value = {0};

		assert_true(expr_is_text(expr));
		assert_int_equal(expr_run(machine, expr, &whole, &value), 0);
		if (!str_is(value.text, cases[i].value))
			fail_msg("%s = '%.*s'", cases[i].text, STR_FMT(value.text));
		expr_free(expr);
	}
	expr_machine_free(machine);
}

static void test_printf(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{"printf(\"PID=%d %s\\n\", pid*10, pid>120?\"LO PRIO\":\"HI PRIO\")",
		 "PID=-50 HI PRIO\n"},
		{"printf(\"%5d|%-5d|%05d|%+d|% d\", 42, 42, 42, 42, 42)", "   42|42   |00042|+42| 42"},
		{"printf(\"%u %x %X %o %#x %#o\", flags, flags, flags, 8, 255, 8)",
		 "4294967280 fffffff0 FFFFFFF0 10 0xff 010"},
		{"printf(\"%d %u %ld %lu\", pid, pid, pid, big)",
		 "-5 4294967291 -5 18446744073709551615"},
		{"printf(\"%hhd %hu %llx\", 255, 65537, ubig)", "-1 1 ffffffff81000000"},
		{"printf(\"%d\", ubig)", "-2130706432"},
		{"printf(\"%c%c%%\", 'o', 107)", "ok%"},
		{"printf(\"[%8s|%-8s|%.2s|%*s]\", comm, comm, comm, 6, full)",
		 "[    bash|bash    |ba|  full]"},
		{"printf(\"%p %s\", ubig, ksymbol(ubig))", "0xffffffff81000000 _text"},
		{"printf(\"%.5d %.0d|\", 42, 0)", "00042 |"},
		{"printf(\"a\") + printf(\"bc\")", "abc"},
		{"printf(\"%s %s\", ksymbol(1), ksymbol(2))", "0x1 0x2"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct expr *expr = compiled(cases[i].text);
		struct expr_value value = {0};
		struct expr_machine *machine;
		struct out out;

		out_init_memory(&out);
		machine = machine_with(&out);
		assert_true(expr_prints(expr));
		assert_int_equal(expr_run(machine, expr, &whole, &value), 0);
		if (!str_is((struct str){out.buf, out.n}, cases[i].printed))
			fail_msg("%s printed '%.*s'", cases[i].text, (int)out.n, out.buf);
		assert_int_equal(value.number, out.n);
		expr_machine_free(machine);
		out_done(&out);
		expr_free(expr);
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"", "something is missing"},
		{"pid +", "something is missing at the end"},
		{"pid pid", "there should be an operator"},
		{"(pid", "')' at the end"},
		{"pidd", "no field 'pidd'; the nearest name is 'pid'"},
		{"zzzzzzzzz", "there are: common_type, common_pid"},
		{"1 + foo * 2", "column 5"},
		{"1 + foo * 2", "\n  1 + foo * 2\n      ^^^"},
		{"ksymboll(1)", "the nearest name is 'ksymbol'"},
		{"ksymbol()", "takes 1 argument"},
		{"ksymbol(1, 2)", "at most 1 argument"},
		{"strlen(3)", "takes text"},
		{"1.5", "no whole number"},
		{"0x", "no whole number"},
		{"09", "no whole number"},
		{"1lul", "no whole number"},
		{"99999999999999999999", "larger than 64 bits"},
		{"'ab'", "one character"},
		{"''", "one character"},
		{"\"abc", "closing \" is missing"},
		{"\"\\q\"", "no such escape"},
		{"pid @ 1", "no such character"},
		{"pid = \"x\"", "a cast makes it one"},
		{"3 = 4", "can't be assigned to"},
		{"comm = 4", "elements of it can"},
		{"++3", "can't be assigned to"},
		{"*pid", "only a pointer can be followed"},
		{"*(void *)pid", "void pointer"},
		{"pid[0]", "is no array"},
		{"args[6]", "there are 6 elements, the last one is [5]"},
		{"args[-1]", "there are 6 elements"},
		{"&3", "has no address"},
		{"comm * 2", "this is a pointer (char *)"},
		{"-comm", "this is a pointer"},
		{"comm + name", "don't go together"},
		{"1 / 0", "divides by zero"},
		{"pid ~ \"a*\"", "~ compares text"},
		{"comm ~ 3", "~ compares text"},
		{"(unsigned signed)1", "this is no type"},
		{"sizeof(void)", "void has no size"},
		{"(void)pid + 1", "this has no value"},
		{"printf(comm)", "must be a text in quotes"},
		{"printf(\"%d\")", "more conversions than arguments"},
		{"printf(\"%d\", 1, 2)", "no conversion for this argument"},
		{"printf(\"%s\", 1)", "%s prints text"},
		{"printf(\"%d\", comm)", "%p prints it"},
		{"printf(\"%f\", 1)", "printf knows"},
		{"printf(\"%n\", 1)", "printf knows"},
		{"pid ? comm : 1", "both pointers"},
		{"far", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct expr *expr = NULL;
		int err = expr_compile(&expr, cases[i].text, &all);

		if (!cases[i].sentence) {
			assert_int_equal(err, 0);
		} else if (err != -EINVAL || !strstr(err_sentence(), cases[i].sentence)) {
			fail_msg("%s: %d %s", cases[i].text, err, err_sentence());
		}
		expr_free(expr);
	}
}

static void test_faults(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *sentence;
	} cases[] = {
		{"10 / (pid + 5)", -EDOM, "'10 / (pid + 5)' divides by zero"},
		{"10 % (pid + 5)", -EDOM, "divides by zero"},
		{"flags /= tiny + 3", -EDOM, "divides by zero"},
		{"*(char *)0", -EFAULT, "leads out of the event"},
		{"*(long *)ubig", -EFAULT, "0xffffffff81000000"},
		{"text_pointer", -EFAULT, "leads out of the event"},
		{"printf(\"%s\", (char *)1)", -EFAULT, "leads out of the event"},
		{"args[pid]", -EFAULT, "there are 6 elements"},
		{"*(&common_type - 1)", -EFAULT, "leads out of the event"},
		{"*(long *)((char *)&common_type + 130)", -EFAULT, "leads out of the event"},
		{"\"abc\"[pid]", -EFAULT, "leads out of the event"},
		{"*(char *)0x5358000000050000", -EFAULT, "leads out of the event"},
		{"\"abc\"[0] = 1", -EFAULT, "leads out of the event"},
		{"(char *)&common_type + 100000", -EFAULT, "leads out of the event"},
		{"far", -ENODATA, "the record has 134 bytes, and 'far' needs 1008"},
	};
	struct expr_machine *machine = machine_with(NULL);
	const struct expr_record no_context = {&record, sizeof(record), NULL};
	struct expr_value value = {.number = 99};
	struct expr *expr;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		expr = compiled(cases[i].text);
		int err = expr_run(machine, expr, &whole, &value);
		if (err != cases[i].err || expr_fault(machine, expr) != err ||
		    !strstr(err_sentence(), cases[i].sentence))
			fail_msg("%s: %d %s", cases[i].text, err, err_sentence());
		assert_int_equal(value.number, 99);
		assert_false(expr_true(machine, expr, &whole));
		expr_free(expr);
	}
	expr = compiled("_cpu");
	assert_int_equal(expr_run(machine, expr, &no_context, &value), -ENODATA);
	expr_free(expr);
	expr_machine_free(machine);
}

static void test_filters(void **state)
{
	static const struct {
		const char *text;
		bool value, kernel;
	} cases[] = {
		{"", true, false},
		{"pid<10", true, true},
		{"pid == -5", true, true},
		{"pid < 10 && pid > -10", true, true},
		{"pid > 10 || comm == \"bash\" && flags & 0x10", true, true},
		{"(pid > 10 || comm == \"bash\") && !(flags & 0x10)", false, true},
		{"!pid==3", true, true}, // ! is for the whole comparison
		{"comm ~ \"ba*\"", true, true},
		{"comm ~ 'ba*'", true, true},
		{"comm ~ \"*as*\"", true, false}, // kernels look behind the text's end
		{"comm ~ \"*sh\"", true, false},
		{"name ~ \"*sh\"", true, true},
		{"comm ~ \"!ba*\"", false, true},
		{"comm ~ \"[a-c]a?h\"", true, true},
		{"comm != \"zsh\"", true, true},
		{"full == \"fullness\"", true, true}, // as strncmp over the array
		{"utiny == 509", true, true},	      // the constant is cut to the field's type
		{"utiny & 0x100", false, true},
		{"ubig >= 0xffffffff81000000", true, true},
		{"flags&16", true, true},
		{"CPU == 3", true, true},
		{"COMM == \"zsh\"", true, true},
		// C only
		{"(flags & 0xf0) == 0xf0", true, false},
		{"flags & 4 == 4", false, false},
		{"pid + 5 == 0", true, false},
		{"args[0] == 3", true, false},
		{"pid == tiny - 2", true, false},
		{"strlen(name) > 3", true, false},
	};
	static const char *const bad[] = {"pid",
					  "pid ==",
					  "pid = 3",
					  "comm == bash",
					  "comm < \"a\"",
					  "pid ~ \"1\"",
					  "flags == -1",
					  "pid == 3 &&",
					  "(pid == 3",
					  "pid == 3)",
					  "ubig.function == \"x\"",
					  "foo == 1",
					  "comm == \"x",
					  "args == 3",
					  "text_pointer == \"x\""};
	struct expr_machine *machine = machine_with(NULL);
	struct expr *expr;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (expr_filter_compile(&expr, cases[i].text, &all) < 0)
			fail_msg("%s: %s", cases[i].text, err_sentence());
		if (expr_true(machine, expr, &whole) != cases[i].value ||
		    expr_is_kernel_filter(expr) != cases[i].kernel)
			fail_msg("%s: %d, by the kernel: %d", cases[i].text, !cases[i].value,
				 expr_is_kernel_filter(expr));
		expr_free(expr);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (expr_filter_compile_kernel(&expr, bad[i], &all) >= 0)
			fail_msg("%s is no filter of the kernel", bad[i]);
	assert_int_equal(expr_filter_compile(&expr, "ubig.function == \"x\"", &all), -EOPNOTSUPP);
	assert_int_equal(expr_filter_compile(&expr, "text_pointer == \"x\"", &all), -EOPNOTSUPP);
	assert_int_equal(expr_filter_compile(&expr, "comm == 'bash' && pod == 3", &all), -EINVAL);
	assert_non_null(strstr(err_sentence(), "nearest name is 'pid'"));
	expr_machine_free(machine);
}

// The same record in the other byte order.
static void test_swapped(void **state)
{
	struct expr_fields swapped = all;
	struct expr_machine *machine = machine_with(NULL);
	struct expr_value value;
	struct expr *expr;

	swapped.swapped = true;
	assert_int_equal(expr_compile(&expr, "common_type", &swapped), 0);
	assert_int_equal(expr_run(machine, expr, &whole, &value), 0);
	assert_int_equal(value.number, 0x7601);
	expr_free(expr);
	assert_int_equal(expr_compile(&expr, "small", &swapped), 0);
	assert_int_equal(expr_run(machine, expr, &whole, &value), 0);
	assert_int_equal(value.number, (uint64_t)(int16_t)0xd4fe);
	expr_free(expr);
	assert_int_equal(expr_compile(&expr, "common_type += 1, *(u16 *)&common_type", &swapped), 0);
	assert_int_equal(expr_run(machine, expr, &whole, &value), 0);
	assert_int_equal(value.number, 0x7602);
	expr_free(expr);
	expr_machine_free(machine);
}

static void test_deep(void **state)
{
	char text[8300];
	struct expr *expr = NULL;

	memset(text, '(', 4000);
	text[4000] = 0;
	assert_int_equal(expr_compile(&expr, text, &all), -EINVAL);
	memset(text, '-', 4000);
	assert_int_equal(expr_compile(&expr, text, &all), -EINVAL);
	for (size_t i = 0; i < 4000; i += 4)
		memcpy(text + i, "1?1:", 4);
	assert_int_equal(expr_compile(&expr, text, &all), -EINVAL);
	strcpy(text, "pid");
	for (size_t i = 3; i < 8000; i += 4)
		memcpy(text + i, "+pid", 5);
	assert_int_equal(expr_compile(&expr, text, &all), 0);
	expr_free(expr);
	strcpy(text, "pid");
	for (size_t i = 0; i < 99; i++)
		strcat(text, "+(pid");
	for (size_t i = 0; i < 99; i++)
		strcat(text, ")");
	assert_int_equal(expr_compile(&expr, text, &all), -EINVAL);
	assert_non_null(strstr(err_sentence(), "too much is inside each other"));
}

static void test_constants_and_dump(void **state)
{
	struct expr *expr = compiled("4096 << 1 | sizeof(int)");
	uint64_t value = 0;
	struct out out;

	assert_true(expr_is_constant(expr, &value));
	assert_int_equal(value, 8196);
	expr_free(expr);
	expr = compiled("pid > 10 && comm ~ \"b*\"");
	assert_false(expr_is_constant(expr, &value));
	out_init_memory(&out);
	expr_dump(expr, &out);
	out_char(&out, 0);
	assert_string_equal(out.buf, "   0  LD_S32   t0 24\n"
				     "   1  GTS      t0 t0 10\n"
				     "   2  JZ       t0 -> 4\n"
				     "   3  MATCH    t0 t0 like \"b*\"\n"
				     "   4  RET      t0\n");
	out_done(&out);
	expr_free(expr);
}

// What needs no machine has the machine's value.
static void test_steps(void **state)
{
	static const char *const steps[] = {"big < 0",		 "big >= -1",  "pid == -5",
					    "tiny > -4",	 "ubig / 9",   "utiny < 254",
					    "small < -299",	 "ubig % 7",   "ubig >> 3",
					    "big & 255",	 "flags + 1l", "ubig / 0",
					    "common_type != 374"};
	static const char *const others[] = {"big",	  "4",
					     "big < pid", "big < 0 && pid < 0",
					     "_cpu < 4",  "flags + 1",
					     "comm",	  "args[big] < 1"};
	struct expr_machine *machine = machine_with(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct expr *expr = compiled(steps[i]);
		struct expr_value value = {0};
		struct expr_step step;
		uint64_t number = 0;
		int err;

		if (!expr_is_step(expr, &step))
			fail_msg("%s is no step", steps[i]);
		memcpy(&number, (const char *)&record + step.offset, step.width);
		if (step.is_signed && step.width < 8 && number >> (step.width * 8 - 1))
			number |= UINT64_MAX << step.width * 8;
		err = expr_run(machine, expr, &whole, &value);
		assert_int_equal(expr_step_run(&step, number, &number), err == 0);
		if (!err && number != value.number)
			fail_msg("%s: %llx, not %llx", steps[i], (unsigned long long)number,
				 (unsigned long long)value.number);
		expr_free(expr);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct expr *expr = compiled(others[i]);

		if (expr_is_step(expr, &(struct expr_step){0}))
			fail_msg("%s is a step", others[i]);
		expr_free(expr);
	}
	expr_machine_free(machine);
}

RUN_TESTS(TEST(test_steps), TEST(test_numbers), TEST(test_texts), TEST(test_printf),
	  TEST(test_errors), TEST(test_faults), TEST(test_filters), TEST(test_swapped),
	  TEST(test_deep), TEST(test_constants_and_dump))
