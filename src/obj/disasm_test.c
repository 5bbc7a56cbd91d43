// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/err.h"
#include "obj/disasm.h"
#include <elf.h>
#include <stdio.h>

#ifdef HAVE_CAPSTONE

struct example {
	const char *bytes; // hex
	const char *att, *intel;
};

static const char *name_of(void *arg, uint64_t addr, uint64_t *ret_offset)
{
	if (addr < 0x1000)
		return NULL;
	*ret_offset = addr - 0x1000;
	return "main";
}

static size_t from_hex(const char *hex, uint8_t *ret)
{
	size_t n = 0;

	for (; hex[0] && hex[1]; hex += 2) {
		unsigned byte;

		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		ret[n++] = (uint8_t)byte;
	}
	return n;
}

static void check(const struct disasm_options *options, const char *hex, const char *text)
{
	uint8_t bytes[32];
	size_t n = from_hex(hex, bytes);
	struct disasm_insn insn;
	struct disasm *disasm;
	struct out out;

	out_init_memory(&out);
	assert_int_equal(disasm_new(&disasm, options), 0);
	insn = disasm_next(disasm, (struct str){(char *)bytes, n}, 0x1000, &out);
	assert_int_equal(insn.size, n);
	out_char(&out, '\0');
	assert_string_equal(out.buf, text);
	disasm_free(disasm);
	out_done(&out);
}

// What GNU objdump 2.40 writes.
static const struct example examples[] = {
	{"55", "push   %rbp", "push   rbp"},
	{"4889e5", "mov    %rsp,%rbp", "mov    rbp,rsp"},
	{"48c7c0ffffffff", "mov    $0xffffffffffffffff,%rax", "mov    rax,0xffffffffffffffff"},
	{"8345fcff", "addl   $0xffffffff,-0x4(%rbp)", "add    DWORD PTR [rbp-0x4],0xffffffff"},
	{"0fb60a", "movzbl (%rdx),%ecx", "movzx  ecx,BYTE PTR [rdx]"},
	{"4863d0", "movslq %eax,%rdx", "movsxd rdx,eax"},
	{"4898", "cltq", "cdqe"},
	{"d1ea", "shr    %edx", "shr    edx,1"},
	{"d3ea", "shr    %cl,%edx", "shr    edx,cl"},
	{"ff1510000000", "call   *0x10(%rip)        # 1016 <main+0x16>",
	 "call   QWORD PTR [rip+0x10]        # 1016 <main+0x16>"},
	{"e8fbffffff", "call   1000 <main>", "call   1000 <main>"},
	{"7e10", "jle    1012 <main+0x12>", "jle    1012 <main+0x12>"},
	{"ffe0", "jmp    *%rax", "jmp    rax"},
	{"3effe0", "notrack jmp *%rax", "notrack jmp rax"},
	{"0f1f440000", "nopl   0x0(%rax,%rax,1)", "nop    DWORD PTR [rax+rax*1+0x0]"},
	{"66662e0f1f840000000000", "data16 cs nopw 0x0(%rax,%rax,1)",
	 "data16 cs nop WORD PTR [rax+rax*1+0x0]"},
	{"6690", "xchg   %ax,%ax", "xchg   ax,ax"},
	{"f3aa", "rep stos %al,%es:(%rdi)", "rep stos BYTE PTR es:[rdi],al"},
	{"f3a6", "repz cmpsb %es:(%rdi),%ds:(%rsi)", "repz cmps BYTE PTR ds:[rsi],BYTE PTR es:[rdi]"},
	{"f00fb10f", "lock cmpxchg %ecx,(%rdi)", "lock cmpxchg DWORD PTR [rdi],ecx"},
	{"64488b042528000000", "mov    %fs:0x28,%rax", "mov    rax,QWORD PTR fs:0x28"},
	{"f2480f2ac0", "cvtsi2sd %rax,%xmm0", "cvtsi2sd xmm0,rax"},
	{"f20f2a00", "cvtsi2sdl (%rax),%xmm0", "cvtsi2sd xmm0,DWORD PTR [rax]"},
	{"db2b", "fldt   (%rbx)", "fld    TBYTE PTR [rbx]"},
	{"ddd8", "fstp   %st(0)", "fstp   st(0)"},
	{"dec9", "fmulp  %st,%st(1)", "fmulp  st(1),st"},
	{"c5fc28c1", "vmovaps %ymm1,%ymm0", "vmovaps ymm0,ymm1"},
	{"488d742600", "lea    0x0(%rsi,%riz,1),%rsi", "lea    rsi,[rsi+riz*1+0x0]"},
	{"f30f1efa", "endbr64", "endbr64"},
	{"c3", "ret", "ret"},
};

static void test_x86(void **state)
{
	struct disasm_options options = {.machine = EM_X86_64, .is_64bit = true, .name_of = name_of};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		options.syntax = DISASM_ATT;
		check(&options, examples[i].bytes, examples[i].att);
		options.syntax = DISASM_INTEL;
		check(&options, examples[i].bytes, examples[i].intel);
	}
}

static void test_flow(void **state)
{
	static const struct {
		const char *bytes;
		enum disasm_kind kind;
		bool has_target;
		uint64_t target;
	} cases[] = {
		{"7e10", DISASM_JUMP, true, 0x1012},	   {"ebfe", DISASM_JUMP, true, 0x1000},
		{"e8fbffffff", DISASM_CALL, true, 0x1000}, {"ffe0", DISASM_JUMP, false, 0},
		{"c3", DISASM_RETURN, false, 0},	   {"90", DISASM_PLAIN, false, 0},
	};
	const struct disasm_options options = {.machine = EM_X86_64, .is_64bit = true};
	struct disasm *disasm;
	struct out out;

	assert_int_equal(disasm_new(&disasm, &options), 0);
	out_init_memory(&out);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct disasm_insn insn;
		uint8_t bytes[16];
		size_t n = from_hex(cases[i].bytes, bytes);

		insn = disasm_next(disasm, (struct str){(char *)bytes, n}, 0x1000, &out);
		assert_int_equal(insn.kind, cases[i].kind);
		assert_int_equal(insn.has_target, cases[i].has_target);
		assert_int_equal(insn.target, cases[i].target);
	}
	out_done(&out);
	disasm_free(disasm);
}

// What is not known is passed over in whole, so that the next one begins where it does.
static void test_unknown(void **state)
{
	const struct disasm_options options = {.machine = EM_X86_64, .is_64bit = true};

	check(&options, "06", "(bad)");
	check(&options, "c4e37dffc000", "(bad)");
}

static void test_other_machines(void **state)
{
	const struct disasm_options arm = {.machine = EM_AARCH64, .is_64bit = true, .name_of = name_of};
	const struct disasm_options none = {.machine = EM_68K};
	struct disasm *disasm;

	check(&arm, "c0035fd6", "ret");
	check(&arm, "04000094", "bl     #0x1010 <main+0x10>");
	assert_int_equal(disasm_new(&disasm, &none), -ENOTSUP);
}

RUN_TESTS(TEST(test_x86), TEST(test_flow), TEST(test_unknown), TEST(test_other_machines))

#else

static void test_says_why(void **state)
{
	const struct disasm_options options = {.machine = EM_X86_64, .is_64bit = true};
	struct disasm *disasm;

	assert_int_equal(disasm_new(&disasm, &options), -ENOTSUP);
	assert_non_null(strstr(err_sentence(), "libcapstone"));
}

RUN_TESTS(TEST(test_says_why))

#endif
