// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi_expr.h"
#include <errno.h>
#include <string.h>
#include "base/alloc.h"
#include "base/test.h"

enum { MEMORY = 0x1000 };

static bool read_memory(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	static const uint8_t bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xfe};

	if (addr < MEMORY || addr - MEMORY > sizeof(bytes) - size)
		return false;
	*ret = 0;
	memcpy(ret, bytes + (addr - MEMORY), size);
	return true;
}

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const struct {
	const char *name;
	const uint8_t *code;
	size_t n;
	int err;
	uint64_t value;
} cases[] = {
	{"register and offset", CODE(0x77, 0xa0, 1), 0, 0x7000 + 160},
	{"register and negative offset", CODE(0x76, 0x78), 0, 0x6000 - 8},
	{"pc", CODE(0x80, 1), 0, 0x4242 + 1},
	{"bregx", CODE(0x92, 3, 4), 0, 0x3000 + 4},
	{"literals", CODE(0x30 + 31), 0, 31},
	{"signed constant", CODE(0x09, 0xff), 0, UINT64_MAX},
	{"two bytes", CODE(0x0a, 0x34, 0x12), 0, 0x1234},
	{"uleb", CODE(0x10, 0xe5, 0x8e, 0x26), 0, 624485},
	{"sleb", CODE(0x11, 0x9b, 0xf1, 0x59), 0, (uint64_t)-624485},
	{"dereference", CODE(0x0a, 0, 0x10, 0x06), 0, 0x0807060504030201},
	{"of two bytes", CODE(0x0a, 8, 0x10, 0x94, 2), 0, 0xfeff},
	{"no memory", CODE(0x30, 0x06), -EFAULT, 0},
	{"of 9 bytes", CODE(0x0a, 0, 0x10, 0x94, 9), -EINVAL, 0},
	{"dup plus", CODE(0x35, 0x12, 0x22), 0, 10},
	{"swap minus", CODE(0x33, 0x38, 0x16, 0x1c), 0, 5},
	{"over", CODE(0x33, 0x38, 0x14), 0, 3},
	{"pick", CODE(0x31, 0x32, 0x33, 0x15, 2), 0, 1},
	{"rot", CODE(0x31, 0x32, 0x33, 0x17), 0, 2},
	{"drop", CODE(0x31, 0x32, 0x13), 0, 1},
	{"plus uconst", CODE(0x31, 0x23, 0x80, 1), 0, 129},
	{"neg abs", CODE(0x35, 0x1f, 0x19), 0, 5},
	{"not", CODE(0x30, 0x20), 0, UINT64_MAX},
	{"div is signed", CODE(0x09, 0xf8, 0x32, 0x1b), 0, (uint64_t)-4},
	{"div by 0", CODE(0x38, 0x30, 0x1b), -EINVAL, 0},
	{"smallest div -1", CODE(0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b), 0, 1ull << 63},
	{"mod", CODE(0x38, 0x33, 0x1d), 0, 2},
	{"mod 0", CODE(0x38, 0x30, 0x1d), -EINVAL, 0},
	{"shift by 64", CODE(0x31, 0x08, 64, 0x24), 0, 0},
	{"arithmetic shift", CODE(0x09, 0x80, 0x34, 0x26), 0, (uint64_t)-8},
	{"ge is signed", CODE(0x09, 0xff, 0x31, 0x2a), 0, 0},
	{"PLT", CODE(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0, 0x7008},
	{"skip", CODE(0x31, 0x2f, 1, 0, 0x13, 0x33), 0, 3},
	{"branch taken", CODE(0x31, 0x31, 0x28, 1, 0, 0x39), 0, 1},
	{"branch not taken", CODE(0x31, 0x30, 0x28, 1, 0, 0x39), 0, 9},
	{"loop", CODE(0x31, 0x2f, 0xfd, 0xff), -ELOOP, 0},
	{"jump in front", CODE(0x31, 0x2f, 0xf0, 0xff), -EINVAL, 0},
	{"jump behind", CODE(0x31, 0x2f, 0x10, 0), -EINVAL, 0},
	{"cfa", CODE(0x9c), -EINVAL, 0},
	{"empty", NULL, 0, -EINVAL, 0},
	{"underflow", CODE(0x22), -EINVAL, 0},
	{"unknown", CODE(0x31, 0xe0), -EINVAL, 0},
	{"cut", CODE(0x0e, 1, 2), -EINVAL, 0},
	{"no such register", CODE(0x92, 0x7f, 0), -EINVAL, 0},
};

static void test_cases(void **state)
{
	uint64_t regs[32];
	const struct cfi_expr expr = {.regs = regs,
				      .regs_n = 16,
				      .pc_reg = 16,
				      .pc = 0x4242,
				      .read = read_memory};

	for (uint64_t i = 0; i < ARRAY_SIZE(regs); i++)
		regs[i] = i << 12;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str code = {(const char *)cases[i].code, cases[i].n};
		uint64_t value = 0;
		int err = cfi_expr_run(&expr, code, NULL, &value);

		if (err != cases[i].err || (!err && value != cases[i].value))
			fail_msg("%s: %d, %#llx", cases[i].name, err, (unsigned long long)value);
	}
}

static void test_overflow(void **state)
{
	const struct cfi_expr expr = {.read = read_memory, .pc_reg = 255};
	char code[65];
	uint64_t value, cfa = 77;

	memset(code, 0x31, sizeof(code));
	assert_int_equal(cfi_expr_run(&expr, (struct str){code, 64}, NULL, &value), 0);
	assert_int_equal(cfi_expr_run(&expr, (struct str){code, 65}, NULL, &value), -EINVAL);
	// The CFA takes a place.
	assert_int_equal(cfi_expr_run(&expr, (struct str){code, 64}, &cfa, &value), -EINVAL);
	assert_int_equal(cfi_expr_run(&expr, (struct str){"\x9c", 1}, &cfa, &value), 0);
	assert_int_equal(value, 77);
	assert_int_equal(cfi_expr_run(&expr, (struct str){"", 0}, &cfa, &value), 0);
	assert_int_equal(value, 77);
}

RUN_TESTS(TEST(test_cases), TEST(test_overflow))
