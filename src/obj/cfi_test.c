// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi.h"
#include <dwarf.h>
#include <errno.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/test.h"
#include "obj/cfi_sample.h"

// CFA = rsp+8, return address below it.
static const uint8_t x86_64_start[] = {0x0c, 7, 8, 0x90, 1};

static void build(struct cfi_table *table, uint16_t machine, const struct sample_frames *frames)
{
	static uint8_t image[SAMPLE_SIZE];
	struct elf elf;

	sample_elf(image, machine, frames);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_int_equal(cfi_build(table, &elf, NULL), 0);
	assert_true(cfi_table_valid(table));
}

static const struct cfi_rule *rule_of(const struct cfi_table *table, uint64_t at)
{
	const struct cfi_row *row = cfi_find(table, at);

	return row && row->rule ? cfi_rule_at(table, row->rule) : NULL;
}

static void test_function(void **state)
{
	// push rbp; mov rbp,rsp; push rbx; ... leave; ret
	static const uint8_t code[] = {0x41, 0x0e, 16,	 0x86, 2, 0x43, 0x0d, 6,    0x41, 0x83,
				       3,    0x5e, 0x0a, 0x0c, 7, 8,	0x41, 0x0b, 0x41};
	struct sample_frames frames = {0};
	struct cfi_table table;
	const struct cfi_rule *rule;

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1010, 0x30, code, sizeof(code));
	sample_fde(&frames, 0x1040, 0x10, "", 0);
	build(&table, EM_X86_64, &frames);
	assert_null(cfi_find(&table, 0x100f));
	rule = rule_of(&table, 0x1010);
	assert_int_equal(rule->cfa, CFI_CFA_REGISTER);
	assert_int_equal(rule->cfa_reg, 7);
	assert_int_equal(rule->cfa_offset, 8);
	assert_int_equal(rule->saved_n, 1);
	assert_int_equal(rule->saved[0].reg, CFI_RA_COLUMN);
	assert_int_equal(rule->saved[0].value, -8);
	assert_int_equal(rule->flags, CFI_SIMPLE);
	rule = rule_of(&table, 0x1011);
	assert_int_equal(rule->cfa_offset, 16);
	assert_int_equal(rule->saved_n, 2);
	assert_int_equal(rule->saved[1].reg, 6);
	assert_int_equal(rule->saved[1].value, -16);
	rule = rule_of(&table, 0x1014);
	assert_int_equal(rule->cfa_reg, 6);
	assert_int_equal(rule->cfa_offset, 16);
	rule = rule_of(&table, 0x1015);
	assert_int_equal(rule->saved_n, 3);
	assert_int_equal(rule->saved[1].reg, 3);
	assert_int_equal(rule->saved[1].value, -24);
	// Behind remember and restore.
	assert_int_equal(rule_of(&table, 0x1033)->cfa_reg, 7);
	assert_ptr_equal(rule_of(&table, 0x1034), rule);
	// The next function begins with the rule of the first.
	assert_ptr_equal(rule_of(&table, 0x1040), rule_of(&table, 0x1010));
	assert_null(rule_of(&table, 0x1050));
	cfi_table_done(&table);
}

static void test_functions(void **state)
{
	struct sample_frames frames = {0};
	struct cfi_function *functions;
	static uint8_t image[SAMPLE_SIZE];
	struct elf elf;
	size_t n;

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1040, 0x10, "", 0);
	sample_fde(&frames, 0x1000, 0x30, "", 0);
	sample_fde(&frames, 0x1000, 0x20, "", 0);
	sample_elf(image, EM_X86_64, &frames);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_int_equal(cfi_functions(&elf, &functions, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(functions[0].at, 0x1000);
	assert_int_equal(functions[0].end, 0x1030);
	assert_int_equal(functions[1].vaddr, 0x1040 + SAMPLE_BASE);
	free(functions);
}

static void test_rare(void **state)
{
	static const uint8_t plt[] = {0x0f, 11,	  0x77, 8,    0x80, 0,	 0x3f,
				      0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	static const uint8_t realigned[] = {0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 2, 0x76, 0};
	static const uint8_t root[] = {7, 16};
	static const uint8_t unknown[] = {0x41, 0x3f, 1, 2, 3};
	struct sample_frames frames = {0};
	struct cfi_table table;
	const struct cfi_rule *rule;
	struct str code;

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1000, 0x20, plt, sizeof(plt));
	sample_fde(&frames, 0x1020, 0x20, realigned, sizeof(realigned));
	sample_fde(&frames, 0x1040, 0x20, root, sizeof(root));
	sample_fde(&frames, 0x1060, 0x20, unknown, sizeof(unknown));
	sample_cie(&frames, "zRS", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1100, 0x10, "", 0);
	build(&table, EM_X86_64, &frames);
	rule = rule_of(&table, 0x1010);
	assert_int_equal(rule->cfa, CFI_CFA_PLT);
	assert_int_equal(rule->cfa_offset, 11);
	rule = rule_of(&table, 0x1020);
	assert_int_equal(rule->cfa, CFI_CFA_EXPRESSION);
	code = cfi_expression(&table, rule->cfa_offset);
	assert_int_equal(code.n, 3);
	assert_memory_equal(code.p, realigned + 2, 3);
	assert_int_equal(rule->saved[1].where, CFI_AT_EXPRESSION);
	rule = rule_of(&table, 0x1040);
	assert_int_equal(rule->saved[0].where, CFI_UNDEFINED);
	assert_int_equal(rule->flags, 0);
	// What nobody understands is not guessed, what stands before it holds.
	assert_non_null(rule_of(&table, 0x1060));
	assert_null(rule_of(&table, 0x1061));
	assert_null(rule_of(&table, 0x1080));
	assert_int_equal(rule_of(&table, 0x1100)->flags, CFI_SIGNAL | CFI_SIMPLE);
	cfi_table_done(&table);
}

static void test_arm64(void **state)
{
	// stp x29, x30, [sp, -32]!; with a signed return address
	static const uint8_t code[] = {0x44, 0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3};
	struct sample_frames frames = {0};
	struct cfi_table table;
	const struct cfi_rule *rule;

	sample_cie(&frames, "zR", 30, "\x0c\x1f\0", 3);
	sample_fde(&frames, 0x1000, 0x40, code, sizeof(code));
	build(&table, EM_AARCH64, &frames);
	rule = rule_of(&table, 0x1000);
	assert_int_equal(rule->cfa_reg, 31);
	assert_int_equal(rule->saved[0].where, CFI_SAME); // in x30
	rule = rule_of(&table, 0x1008);
	assert_int_equal(rule->cfa_offset, 32);
	assert_int_equal(rule->saved[0].where, CFI_AT_CFA);
	assert_int_equal(rule->saved[0].value, -24);
	assert_int_equal(rule->saved[1].reg, 29);
	assert_int_equal(rule->saved[1].value, -32);
	cfi_table_done(&table);
}

// ---- beside libdw

struct beside {
	const struct elf *elf;
	Dwarf_CFI *cfi;
	const struct cfi_table *table;
	uint64_t compared, different;
};

static bool vaddr_of(const struct elf *elf, uint64_t at, uint64_t *ret)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type == PT_LOAD && (segment.flags & PF_X) && at >= segment.offset &&
		    at - segment.offset < segment.file_size) {
			*ret = at - segment.offset + segment.vaddr;
			return true;
		}
	}
	return false;
}

static bool same_cfa(const struct cfi_rule *rule, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t n;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	if (rule->cfa != CFI_CFA_REGISTER)
		return n > 1;
	return n == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == rule->cfa_reg &&
	       (int64_t)ops[0].number2 == rule->cfa_offset;
}

static bool same_register(const struct cfi_rule *rule, Dwarf_Frame *frame, int reg, int column)
{
	const struct cfi_saved *saved = NULL;
	Dwarf_Op mem[3], *ops;
	size_t n;

	for (uint32_t i = 0; i < rule->saved_n; i++) {
		if (rule->saved[i].reg == column)
			saved = &rule->saved[i];
	}
	assert_int_equal(dwarf_frame_register(frame, reg, mem, &ops, &n), 0);
	if (!saved)
		return n == 0;
	switch (saved->where) {
	case CFI_AT_CFA:
		// CFA + offset; an offset of 0 is left out
		return n >= 1 && ops[0].atom == DW_OP_call_frame_cfa &&
		       (n == 1 ? 0 : (int64_t)ops[1].number) == saved->value;
	case CFI_UNDEFINED:
		return n == 0 && ops == mem;
	case CFI_AT_EXPRESSION:
	case CFI_VAL_EXPRESSION:
		return n >= 1;
	default:
		return n == 1;
	}
}

static void compare_row(struct beside *beside, uint32_t at, const struct cfi_rule *rule)
{
	static const int registers[] = {3, 6, 12, 13, 14, 15};
	Dwarf_Frame *frame;
	uint64_t vaddr;
	bool same;

	if (!vaddr_of(beside->elf, at, &vaddr) || dwarf_cfi_addrframe(beside->cfi, vaddr, &frame) < 0)
		return; // as of a PLT that only we describe
	same = same_cfa(rule, frame) && same_register(rule, frame, 16, CFI_RA_COLUMN);
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		same = same && same_register(rule, frame, registers[i], registers[i]);
	beside->compared++;
	if (!same && !beside->different++)
		print_message("first difference at %#llx\n", (unsigned long long)vaddr);
	free(frame);
}

static void compare_file(const char *path)
{
	struct beside beside = {0};
	struct cfi_table table;
	struct mapped file;
	struct elf elf;
	Elf *theirs;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_map(&file, path), 0);
	assert_int_equal(elf_init(&elf, file.p, file.n), 0);
	if (cfi_build(&table, &elf, NULL) == -ENOTSUP || elf.machine != EM_X86_64) {
		print_message("not compared: no x86-64 file\n");
	} else {
		assert_true(cfi_table_valid(&table));
		elf_version(EV_CURRENT);
		theirs = elf_begin(fd, ELF_C_READ, NULL);
		beside.cfi = dwarf_getcfi_elf(theirs);
		beside.elf = &elf;
		beside.table = &table;
		assert_non_null(beside.cfi);
		// Of large files every 7th row is enough: libdw takes its time.
		for (uint32_t i = 0; i<table.rows_n; i += table.rows_n> 10000 ? 7 : 1) {
			if (table.rows[i].rule)
				compare_row(&beside, table.rows[i].at,
					    cfi_rule_at(&table, table.rows[i].rule));
		}
		print_message("%s: %u rows, %u words of rules, %llu compared\n", path, table.rows_n,
			      table.rules_n, (unsigned long long)beside.compared);
		assert_int_equal(beside.different, 0);
		assert_true(beside.compared > table.rows_n / 20);
		// Memory: at most 16 bytes a row.
		assert_true(table.rows_n * 8ull + table.rules_n * 8ull + table.expressions_n <=
			    table.rows_n * 16ull);
		dwarf_cfi_end(beside.cfi);
		elf_end(theirs);
		cfi_table_done(&table);
	}
	file_unmap(&file);
	close(fd);
}

static void test_beside_libdw(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], last[4096] = "";

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(line, "r-xp"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		// This program and the C library: all that is special stands there.
		if (strcmp(path, last) == 0 ||
		    (!strstr(path, "cfi_test") && !strstr(path, "/libc.so")))
			continue;
		snprintf(last, sizeof(last), "%s", path);
		compare_file(path);
	}
	fclose(maps);
}

static void test_invalid(void **state)
{
	const struct cfi_row rows[] = {{16, 1}, {32, 3}, {48, 0}};
	const struct cfi_rule rule = {CFI_CFA_REGISTER, 7, CFI_SIMPLE, 1, 8};
	const struct cfi_saved ra = {CFI_RA_COLUMN, CFI_AT_CFA, 0, -8};
	const struct cfi_rule by_code = {CFI_CFA_EXPRESSION, 0, 0, 1, 0};
	uint64_t good[5] = {0}, words[5];
	struct cfi_row good_rows[3];
	struct cfi_table table = {.rows = good_rows,
				  .rules = words,
				  .expressions = (const uint8_t *)"\1\0\x96",
				  .rows_n = 3,
				  .rules_n = 5,
				  .expressions_n = 3,
				  .machine = EM_X86_64};
	// byte of the rules, what it is made
	static const struct {
		uint8_t at, value;
	} damages[] = {
		{0, 1},	    // the rule of nothing
		{8, 9},	    // kind of CFA
		{9, 32},    // register
		{10, 0},    // simple, but not called so
		{11, 0},    // no return address
		{11, 5},    // longer than all
		{16, 3},    // the first is not the return address
		{17, 7},    // kind of place
		{17, 4},    // in register -8
		{28, 1},    // the expression reaches behind the end
		{28, 200},  // it begins there
		{31, 0x80}, // before the start
	};

	memcpy(good + 1, &rule, 8);
	memcpy(good + 2, &ra, 8);
	memcpy(good + 3, &by_code, 8);
	memcpy(good + 4, &ra, 8);
	memcpy(words, good, sizeof(words));
	memcpy(good_rows, rows, sizeof(rows));
	assert_true(cfi_table_valid(&table));
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		memcpy(words, good, sizeof(words));
		((uint8_t *)words)[damages[i].at] = damages[i].value;
		if (cfi_table_valid(&table))
			fail_msg("damage %zu is not seen", i);
	}
	memcpy(words, good, sizeof(words));
	good_rows[1].rule = 2; // inside of a rule
	assert_false(cfi_table_valid(&table));
	good_rows[1].rule = 5;
	assert_false(cfi_table_valid(&table));
	good_rows[1] = (struct cfi_row){16, 3};
	assert_false(cfi_table_valid(&table));
	good_rows[1] = rows[1];
	good_rows[2].rule = 1; // without end
	assert_false(cfi_table_valid(&table));
}

// What CPython writes to its jitdump for a trampoline of 15 bytes.
static void test_pieces(void **state)
{
	static const uint8_t frames[] = {0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x7a,
					 0x52, 0x00, 0x01, 0x78, 0x10, 0x01, 0x1b, 0x0c, 0x07, 0x08,
					 0x90, 0x01, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x1c, 0x00,
					 0x00, 0x00, 0xd0, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x00, 0x00,
					 0x00, 0x48, 0x0e, 0x10, 0x46, 0x0e, 0x08, 0x00};
	const struct str bytes = {(const char *)frames, sizeof(frames)};
	const struct cfi_piece pieces[] = {{bytes, 0x1234, 15},
					   {bytes, 0x2000, 15},
					   {bytes, 0x3000, 3}};
	struct cfi_table table;

	assert_int_equal(cfi_build_pieces(&table, EM_X86_64, pieces, ARRAY_SIZE(pieces)), 0);
	assert_true(cfi_table_valid(&table));
	assert_int_equal(rule_of(&table, 0x1234)->cfa_offset, 8);
	assert_int_equal(rule_of(&table, 0x123c)->cfa_offset, 16);
	assert_int_equal(rule_of(&table, 0x2000)->cfa_offset, 8);
	assert_int_equal(rule_of(&table, 0x2008)->cfa_offset, 16);
	assert_int_equal(rule_of(&table, 0x200d)->cfa_offset, 16);
	assert_int_equal(rule_of(&table, 0x200e)->cfa_offset, 8);
	assert_null(rule_of(&table, 0x200f));
	assert_null(rule_of(&table, 0x3000)); // does not fit
	cfi_table_done(&table);
}

RUN_TESTS(TEST(test_pieces), TEST(test_function), TEST(test_functions), TEST(test_rare),
	  TEST(test_arm64), TEST(test_beside_libdw), TEST(test_invalid))
