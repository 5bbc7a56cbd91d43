// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/sdt.h"
#include "base/alloc.h"
#include "base/test.h"

static void test_arguments(void **state)
{
	static const struct {
		uint16_t machine;
		const char *from, *to; // NULL: not possible
	} cases[] = {
		{EM_X86_64, "-4@%edi", "%di:s32"},
		{EM_X86_64, "8@%rsi", "%si:u64"},
		{EM_X86_64, "4@-20(%rbp)", "-20(%bp):u32"},
		{EM_X86_64, "8@(%rax)", "+0(%ax):u64"},
		{EM_X86_64, "8@24(%rsp)", "+24(%sp):u64"},
		{EM_X86_64, "-1@%r9b", "%r9:s8"},
		{EM_X86_64, "-8@%r15", "%r15:s64"},
		{EM_X86_64, "2@%dil", "%di:u16"},
		{EM_X86_64, "-4@$7", NULL},
		{EM_X86_64, "8@8(%rax,%rbx,4)", NULL},
		{EM_X86_64, "4@var(%rip)", NULL},
		{EM_X86_64, "16@%xmm0", NULL},
		{EM_X86_64, "8f@%xmm1", NULL},
		{EM_X86_64, "%rax", NULL},
		{EM_X86_64, "8@%r16", NULL},
		{EM_X86_64, "", NULL},
		{EM_AARCH64, "8@x0", "%x0:u64"},
		{EM_AARCH64, "-4@w12", "%x12:s32"},
		{EM_AARCH64, "4@[sp, 12]", "+12(%sp):u32"},
		{EM_AARCH64, "4@[x29, -8]", "-8(%x29):u32"},
		{EM_AARCH64, "4@[x29", NULL},
		{EM_ARM, "4@r0", NULL},
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is_good =
			sdt_argument(cases[i].machine, str_of(cases[i].from), text, sizeof(text));

		assert_int_equal(is_good, cases[i].to != NULL);
		if (is_good)
			assert_string_equal(text, cases[i].to);
	}
}

static void test_this_program_has_none(void **state)
{
	static const uint8_t nothing[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	struct sdt_notes notes;
	struct elf elf;

	assert_int_equal(elf_init(&elf, nothing, sizeof(nothing)), 0);
	assert_false(sdt_notes_init(&notes, &elf));
}

RUN_TESTS(TEST(test_arguments), TEST(test_this_program_has_none))
