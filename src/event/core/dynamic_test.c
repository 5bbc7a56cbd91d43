// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/core/dynamic.h"
#include "base/out.h"
#include "base/test.h"
#include <elf.h>

static void test_fetch(void **state)
{
	static const struct {
		uint16_t machine;
		const char *arguments, *fetch;
		unsigned left;
	} cases[] = {
		{EM_X86_64, "", "", 0},
		{EM_X86_64, "-4@%edi", " arg1=%di:s32", 0},
		{EM_X86_64, "8@%rdi -1@-5(%rbp)", " arg1=%di:u64 arg2=-5(%bp):s8", 0},
		{EM_X86_64, "-4@$-7 8@$3", " arg1=\\-7:s32 arg2=\\3:u64", 0},
		{EM_X86_64, "4@(%rax,%rbx,4) 4@%r8d", " arg2=%r8:u32", 1},
		{EM_X86_64, "4@name(%rip)", "", 1},
		{EM_X86_64, "3@$1 4@$ 4@$x @$1 $1 $", "", 6},
		{EM_X86_64, "  4@%eax  4@%ebx ", " arg1=%ax:u32 arg2=%bx:u32", 0},
		{EM_AARCH64, "-4@[sp, 12] 8@x3", " arg1=+12(%sp):s32 arg2=%x3:u64", 0},
		{EM_AARCH64, "8@[x1, 4", "", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned left = 99;
		struct out out;

		out_init_memory(&out);
		event_dynamic_fetch(&out, cases[i].machine, cases[i].arguments, &left);
		out_char(&out, '\0');
		assert_string_equal(out.buf, cases[i].fetch);
		assert_int_equal(left, cases[i].left);
		out_done(&out);
	}
}

RUN_TESTS(TEST(test_fetch))
