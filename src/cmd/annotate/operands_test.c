// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotate/operands.h"
#include "base/test.h"

static void texts(void **state)
{
	static const struct operands_place inside = {.offset = 0x58, .target_name = "work"},
					   behind = {.offset = 0x90,
						     .target_name = "next",
						     .outside = true},
					   before = {.offset = -0x20,
						     .target_name = "cold",
						     .outside = true},
					   nowhere = {.outside = true};
	static const struct {
		const char *text, *wanted;
		const struct operands_place *place;
	} cases[] = {
		{"jle    11e8 <work+0x58>", "jle   58", &inside},
		{"jmp    2000 <next+0x10>", "jmp   next", &behind},
		{"jb     1000 <cold>", "jb    1000 <cold>", &before},
		{"jmp    *%rax", "jmp   *%rax", &nowhere},
		{"jmp    5000", "jmp   5000", &nowhere},
		{"call   2000 <next@@V1>", "call  next", &behind},
		{"call   2000 <next@@V1>", "call  next@@V1", &nowhere},
		{"call   2000", "call  2000", &nowhere},
		{"call   *0x38(%rbp)", "call  *0x38(%rbp)", &nowhere},
		{"mov    0x2e0c(%rip),%rcx        # 4048 <sink>", "mov   sink,%rcx", &nowhere},
		{"cmpl   $0x0,0x10(%rip)   # 4048 <sink+0x4>", "cmpl  $0x0,sink+0x4", &nowhere},
		{"mov    0x10(%rip),%rcx   # 4048", "mov   0x10(%rip),%rcx", &nowhere},
		{"lea    (%rcx,%rax,1),%rdi", "lea   (%rcx,%rax,1),%rdi", &nowhere},
		{"incl   0x10(%rip)   # 4048 <sink>", "incl  sink", &nowhere},
		{"setne  0x10(%rip)   # 4048 <sink>", "setne 0x10(%rip)   # 4048 <sink>", &nowhere},
		{"lock cmpxchg %edx,0x10(%rip)   # 4048 <sink>", "lock  cmpxchg %edx,sink", &nowhere},
		{"lock (bad)", "lock  (bad)", &nowhere},
		{"nopw   0x0(%rax,%rax,1)", "nop  ", &nowhere},
		{"ret", "ret   ", &nowhere},
		{"", "      ", &nowhere},
		{"mov", "mov   ", &nowhere},
		{"call", "call  ", &nowhere},
		{"mov    (", "mov   (", &nowhere},
	};
	struct out out;

	out_init_memory(&out);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		out.n = 0;
		operands_put(&out, cases[i].text, 5, cases[i].place);
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].wanted);
	}
	out_done(&out);
}

RUN_TESTS(TEST(texts))
