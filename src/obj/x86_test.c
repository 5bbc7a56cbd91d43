// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions as a compiler wrote them, this program's own: their lengths are libcapstone's, and what they do to the stack is what
// the compiler's frame information says.
#include "obj/x86.h"
#include <stdlib.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/test.h"
#include "obj/cfi_code.h"
#include "obj/disasm.h"
#include "obj/elf.h"

struct self {
	struct mapped file;
	struct elf elf;
	struct elf_section section;
	const uint8_t *text;
	size_t n;
};

static bool open_self(struct self *ret)
{
	const char *path = getenv("X86_TEST_FILE"); // another file to look at

	assert_int_equal(file_map_plain(&ret->file, path ? path : "/proc/self/exe"), 0);
	assert_int_equal(elf_init(&ret->elf, ret->file.p, ret->file.n), 0);
	assert_true(elf_find_section(&ret->elf, ".text", &ret->section));
	ret->text = ret->file.p + ret->section.offset;
	ret->n = ret->section.size;
	return ret->elf.machine == EM_X86_64;
}

static void test_lengths(void **state)
{
	const struct disasm_options options = {.machine = EM_X86_64, .is_64bit = true};
	struct disasm_insn insn;
	struct disasm *disasm;
	struct self self;
	struct out out;
	size_t n = 0;

	if (!open_self(&self) || disasm_new(&disasm, &options) < 0)
		skip();
	for (size_t at = 0; at < self.n; at += insn.size, n++) {
		const struct str bytes = {(const char *)self.text + at, self.n - at};
		struct x86 x = x86_decode(self.text + at, self.n - at);

		out_init_memory(&out);
		insn = disasm_next(disasm, bytes, at, &out);
		out_done(&out);
		if (!insn.is_bad && x.length != insn.size)
			fail_msg("at %#zx: %u, not %u: %02x %02x %02x %02x %02x", at, x.length,
				 insn.size, self.text[at], self.text[at + 1], self.text[at + 2],
				 self.text[at + 3], self.text[at + 4]);
	}
	assert_true(n > 10000);
	disasm_free(disasm);
	file_unmap(&self.file);
}

// Do both find the same caller of a frame? Of what the code says a part is enough: rsp and rbp at the place are tied.
static bool same_caller(const struct cfi_rule *theirs, const struct cfi_rule *ours)
{
	if (theirs->cfa_reg != ours->cfa_reg)
		return theirs->cfa_reg == 6 || ours->cfa_reg == 6; // through the frame pointer or not
	return theirs->cfa_offset == ours->cfa_offset;
}

static bool is_nop(const uint8_t *p)
{
	while (*p == 0x66 || *p == 0x2e)
		p++;
	return *p == 0x90 || (p[0] == 0x0f && p[1] == 0x1f);
}

// Places behind calls and all others, in functions that the compiler describes.
static void test_frames(void **state)
{
	unsigned told[2] = {0}, asked[2] = {0}, wrong[2] = {0};
	struct cfi_table table;
	struct self self;
	bool is_gap = false;
	uint8_t length;

#ifdef __SANITIZE_ADDRESS__
	skip(); // its checks end in calls that never return
#endif
	if (!open_self(&self))
		skip();
	assert_int_equal(cfi_build(&table, &self.elf, NULL), 0);
	for (size_t at = 0, call = 0; at < self.n; at += length ? length : 1) {
		struct code_text text = {.p = self.text, .n = self.n, .at = at};
		const struct cfi_row *row = cfi_find(&table, self.section.offset + at);
		const struct cfi_rule *theirs;
		uint64_t words[CFI_CODE_WORDS];
		struct x86 x = x86_decode(self.text + at, self.n - at);

		length = x.length;
		// Nobody ever comes to what fills gaps.
		is_gap = (is_gap && is_nop(self.text + at)) || x.kind == X86_STOP;
		text.is_return = call && call == at;
		call = x.kind == X86_CALL ? at + x.length : 0;
		if (at > 1024) {
			text.p += at - 1024;
			text.at = 1024;
			text.n = MIN(self.n - (at - 1024), 5120);
		}
		if (x.kind == X86_RETURN || x.kind == X86_JUMP)
			is_gap = true;
		else if (is_gap)
			continue;
		if (!row || !row->rule)
			continue;
		theirs = cfi_rule_at(&table, row->rule);
		if (theirs->cfa != CFI_CFA_REGISTER || theirs->saved[0].where != CFI_AT_CFA)
			continue;
		asked[text.is_return]++;
		if (!cfi_of_code(&text, words))
			continue;
		told[text.is_return]++;
		if (same_caller(theirs, (const struct cfi_rule *)words))
			continue;
		wrong[text.is_return]++;
		if (getenv("X86_TEST_FILE"))
			print_message("%#llx: %u+%d, not %u+%d\n",
				      (unsigned long long)(self.section.addr + at),
				      ((struct cfi_rule *)words)->cfa_reg,
				      ((struct cfi_rule *)words)->cfa_offset, theirs->cfa_reg,
				      theirs->cfa_offset);
	}
	for (int i = 0; i < 2; i++) {
		print_message("%s: %u of %u told, %u of them wrong\n",
			      i ? "behind calls" : "inside", told[i], asked[i], wrong[i]);
		assert_true(told[i] > asked[i] / 10 * 6);
		assert_true(wrong[i] * 200 <= told[i]);
	}
	cfi_table_done(&table);
	file_unmap(&self.file);
}

RUN_TESTS(TEST(test_lengths), TEST(test_frames))
