// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <errno.h>
#include "obj/btf.h"

// Types as the kernel has them, made by hand:
enum {
	INT = 1,   // int
	LONG,	   // unsigned long
	CHAR,	   // signed char
	NAME,	   // char[16]
	BITS,	   // struct { int; unsigned long low : 3, high : 5; }
	BOTH,	   // union { struct of BITS; int whole; } without a name
	TASK,	   // struct task { unsigned long state; <BOTH>; char name[16]; struct task *next; }
	TO_TASK,   // struct task *
	CONSTANT,  // const struct task
	TASK_T,	   // typedef const struct task task_t
	PROTOTYPE, // int (task_t *, char)
	TO_TASK_T, // task_t *
	FUNCTION,  // the function `run`
	KIND,	   // enum kind, signed
	LOOP,	   // typedef of itself
	HUGE,	   // array of as many arrays as fit
	TYPES
};

static const char strings[] =
	"\0int\0long\0char\0low\0high\0whole\0task\0state\0name\0next\0task_t\0run\0who\0how\0kind";

static uint32_t string(const char *text)
{
	for (size_t i = 0; i < sizeof(strings); i += strlen(strings + i) + 1)
		if (!strcmp(strings + i, text))
			return (uint32_t)i;
	fail_msg("no text %s", text);
	return 0;
}

struct made {
	uint32_t words[256];
	size_t n;
};

static void add(struct made *made, uint32_t word)
{
	assert_true(made->n < ARRAY_SIZE(made->words));
	made->words[made->n++] = word;
}

static void head(struct made *made, const char *name, uint32_t info, uint32_t size_or_type)
{
	add(made, string(name));
	add(made, info);
	add(made, size_or_type);
}

static uint32_t info(enum btf_kind kind, uint32_t count, uint32_t flag)
{
	return flag << 31 | (uint32_t)kind << 24 | count;
}

static void member(struct made *made, const char *name, uint32_t type, uint32_t offset)
{
	add(made, string(name));
	add(made, type);
	add(made, offset);
}

static void make_types(struct made *made)
{
	head(made, "int", info(BTF_INT, 0, 0), 4), add(made, 1 << 24 | 32);
	head(made, "long", info(BTF_INT, 0, 0), 8), add(made, 64);
	head(made, "char", info(BTF_INT, 0, 0), 1), add(made, 1 << 24 | 8);
	head(made, "", info(BTF_ARRAY, 0, 0), 0), member(made, "int", INT, 16);
	made->words[made->n - 3] = CHAR; // element, index, count
	head(made, "", info(BTF_STRUCT, 3, 1), 16);
	member(made, "", INT, 0), member(made, "low", LONG, 3 << 24 | 64);
	member(made, "high", LONG, 5 << 24 | 67);
	head(made, "", info(BTF_UNION, 2, 0), 16);
	member(made, "", BITS, 0), member(made, "whole", INT, 0);
	head(made, "task", info(BTF_STRUCT, 4, 0), 48);
	member(made, "state", LONG, 0), member(made, "", BOTH, 64);
	member(made, "name", NAME, 192), member(made, "next", TO_TASK, 320);
	head(made, "", info(BTF_PTR, 0, 0), TASK);
	head(made, "", info(BTF_CONST, 0, 0), TASK);
	head(made, "task_t", info(BTF_TYPEDEF, 0, 0), CONSTANT);
	head(made, "", info(BTF_FUNC_PROTO, 2, 0), INT);
	add(made, string("who")), add(made, TO_TASK_T), add(made, string("how")), add(made, CHAR);
	head(made, "", info(BTF_PTR, 0, 0), TASK_T);
	head(made, "run", info(BTF_FUNC, 1, 0), PROTOTYPE);
	head(made, "kind", info(BTF_ENUM, 1, 1), 4), add(made, string("low")), add(made, UINT32_MAX);
	head(made, "task_t", info(BTF_TYPEDEF, 0, 0), LOOP);
	head(made, "", info(BTF_ARRAY, 0, 0), 0), member(made, "", INT, UINT32_MAX);
	made->words[made->n - 3] = HUGE;
}

static size_t make(char bytes[4096])
{
	struct made made = {0};
	uint32_t header[6] = {0xeb9f | 1 << 16, sizeof(header), 0, 0, 0, sizeof(strings)};
	size_t n;

	make_types(&made);
	n = made.n * 4;
	header[3] = header[4] = (uint32_t)n;
	assert_true(sizeof(header) + n + sizeof(strings) <= 4096);
	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), made.words, n);
	memcpy(bytes + sizeof(header) + n, strings, sizeof(strings));
	return sizeof(header) + n + sizeof(strings);
}

static void open_types(char bytes[4096], struct btf *ret)
{
	size_t n = make(bytes);

	assert_int_equal(btf_init(ret, (struct str){bytes, n}), 0);
	assert_int_equal(ret->at.n, TYPES);
}

// A module's own types behind the kernel's: ids and strings go on.
static void test_module(void **state)
{
	enum { TO_TASK_M = TYPES, PROTOTYPE_M, FUNCTION_M, LIST_M, TYPES_M };
	static const char own[] = "\0step\0first\0";
	const uint32_t n = sizeof(strings);
	const uint32_t types[] = {
		0,
		info(BTF_PTR, 0, 0),
		TASK_T,
		0,
		info(BTF_FUNC_PROTO, 2, 0),
		INT,
		n + 6,
		TO_TASK_M,
		string("how"),
		INT,
		n + 1,
		info(BTF_FUNC, 1, 0),
		PROTOTYPE_M,
		0,
		info(BTF_STRUCT, 1, 0),
		8,
		n + 6,
		TO_TASK_M,
		0,
	};
	const uint32_t header[6] = {0xeb9f | 1 << 16, sizeof(header), 0,
				    sizeof(types),    sizeof(types),  sizeof(own)};
	char bytes[4096], more[sizeof(header) + sizeof(types) + sizeof(own)];
	struct btf kernel, module;
	struct btf_member member;
	struct btf_param param;

	open_types(bytes, &kernel);
	memcpy(more, header, sizeof(header));
	memcpy(more + sizeof(header), types, sizeof(types));
	memcpy(more + sizeof(header) + sizeof(types), own, sizeof(own));
	assert_int_equal(btf_init_module(&module, &kernel, (struct str){more, sizeof(more)}), 0);
	assert_int_equal(btf_function(&module, "step"), PROTOTYPE_M);
	assert_int_equal(btf_function(&module, "run"), 0); // the kernel's
	assert_true(btf_param(&module, PROTOTYPE_M, 0, &param));
	assert_string_equal(param.name, "first");
	assert_int_equal(param.type, TO_TASK_M);
	assert_true(btf_param(&module, PROTOTYPE_M, 1, &param));
	assert_string_equal(param.name, "how");
	assert_int_equal(btf_size(&module, TO_TASK_M), 8);
	assert_int_equal(btf_size(&module, btf_to(&module, TO_TASK_M)), 48);
	assert_string_equal(btf_name(&module, btf_real(&module, TASK_T)), "task");
	assert_true(btf_member(&module, btf_to(&module, TO_TASK_M), STR("high"), &member));
	assert_int_equal(member.bits, 5);
	assert_true(btf_member(&module, LIST_M, STR("first"), &member));
	assert_int_equal(member.type, TO_TASK_M);
	assert_int_equal(btf_kind(&module, TYPES_M), BTF_VOID);
	assert_true(btf_is_signed(&module, CHAR));
	btf_done(&module);
	btf_done(&kernel);
}

static void test_sizes(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t size;
		bool is_signed;
	} cases[] = {
		{INT, 4, true},	       {LONG, 8, false},    {CHAR, 1, true},
		{NAME, 16, false},     {BITS, 16, false},   {TASK, 48, false},
		{TO_TASK, 8, false},   {TASK_T, 48, false}, {KIND, 4, true},
		{PROTOTYPE, 0, false}, {LOOP, 0, false},    {HUGE, 0, false},
		{0, 0, false},	       {TYPES, 0, false},   {UINT32_MAX, 0, false},
	};
	char bytes[4096];
	struct btf btf;

	open_types(bytes, &btf);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(btf_size(&btf, cases[i].type), cases[i].size);
		assert_int_equal(btf_is_signed(&btf, cases[i].type), cases[i].is_signed);
	}
	assert_int_equal(btf_real(&btf, TASK_T), TASK);
	assert_int_equal(btf_to(&btf, TO_TASK_T), TASK_T);
	assert_int_equal(btf_to(&btf, NAME), CHAR);
	assert_int_equal(btf_to(&btf, INT), 0);
	assert_int_equal(btf_kind(&btf, btf_real(&btf, LOOP)), BTF_VOID);
	assert_string_equal(btf_name(&btf, TASK), "task");
	btf_done(&btf);
}

static void test_functions(void **state)
{
	struct btf_param param;
	char bytes[4096];
	struct btf btf;
	uint32_t prototype;

	open_types(bytes, &btf);
	prototype = btf_function(&btf, "run");
	assert_int_equal(prototype, PROTOTYPE);
	assert_int_equal(btf_function(&btf, "task"), 0); // is no function
	assert_int_equal(btf_function(&btf, "walk"), 0);
	assert_true(btf_param(&btf, prototype, 0, &param));
	assert_string_equal(param.name, "who");
	assert_int_equal(param.type, TO_TASK_T);
	assert_true(btf_param(&btf, prototype, 1, &param));
	assert_string_equal(param.name, "how");
	assert_int_equal(param.type, CHAR);
	assert_false(btf_param(&btf, prototype, 2, &param));
	assert_false(btf_param(&btf, TASK, 0, &param));
	btf_done(&btf);
}

static void test_members(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t bit_at;
		uint32_t bits;
	} cases[] = {
		{"state", LONG, 0, 0}, {"low", LONG, 128, 3},  {"high", LONG, 131, 5},
		{"whole", INT, 64, 0}, {"name", NAME, 192, 0}, {"next", TO_TASK, 320, 0},
		{"int", 0, 0, 0},      {"", 0, 0, 0},	       {"nam", 0, 0, 0},
	};
	char bytes[4096];
	struct btf btf;

	open_types(bytes, &btf);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct btf_member found = {0};

		assert_int_equal(btf_member(&btf, TASK_T, str_of(cases[i].name), &found),
				 cases[i].type != 0);
		assert_int_equal(found.type, cases[i].type);
		assert_int_equal(found.bit_at, cases[i].bit_at);
		assert_int_equal(found.bits, cases[i].bits);
	}
	btf_done(&btf);
}

// What is cut anywhere, or changed anywhere, is refused or has less in it.
static void test_broken(void **state)
{
	char bytes[4096], copy[4096];
	size_t n = make(bytes);
	struct btf_member found;
	struct btf btf;

	for (size_t cut = 0; cut < n; cut++) {
		// its own memory, so that a sanitizer sees its end
		char *part = memcpy(malloc(cut + 1), bytes, cut);

		assert_int_equal(btf_init(&btf, (struct str){part, cut}), -EINVAL);
		free(part);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(copy, bytes, n);
		copy[i] = (char)(copy[i] ^ 0xff);
		if (btf_init(&btf, (struct str){copy, n}) < 0)
			continue;
		assert_true(btf.at.n <= n / 12);
		for (uint32_t id = 0; id < TYPES; id++) {
			(void)btf_size(&btf, id);
			(void)btf_member(&btf, id, STR("whole"), &found);
		}
		btf_done(&btf);
	}
}

RUN_TESTS(TEST(test_module), TEST(test_sizes), TEST(test_functions), TEST(test_members),
	  TEST(test_broken))
