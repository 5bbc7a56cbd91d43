// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/gopclntab.h"
#include "base/alloc.h"
#include "base/test.h"
#include "obj/cfi.h"
#include "obj/gopclntab_sample.h"

// A table while it is written, in the layout of one version.
struct made {
	uint8_t bytes[GO_SAMPLE_TABLE_MAX];
	uint32_t version, n, functions_n;
	uint32_t names, names_n, steps, steps_n, functions, records;
};

enum { AT_NAMES = 0x100, AT_STEPS = 0x200, AT_FUNCTIONS = 0x300, AT_RECORDS = 0x100 };

static void put(struct made *m, uint32_t at, uint64_t v, unsigned size)
{
	memcpy(m->bytes + at, &v, size);
	m->n = MAX(m->n, at + size);
}

static void start(struct made *m, uint32_t version, uint8_t quantum)
{
	static const uint32_t magics[] =
		{[2] = 0xfffffffb, [16] = 0xfffffffa, [18] = 0xfffffff0, [20] = 0xfffffff1};
	const uint32_t base = version == 2 ? 0 : AT_FUNCTIONS;

	memset(m, 0, sizeof(*m));
	m->version = version;
	put(m, 0, magics[version], 4);
	put(m, 6, quantum, 1);
	put(m, 7, 8, 1);
	m->names = AT_NAMES;
	m->steps = AT_STEPS;
	m->names_n = m->steps_n = 1;
	m->functions = version == 2 ? 16 : AT_FUNCTIONS;
	m->records = base + AT_RECORDS + (version == 2 ? AT_FUNCTIONS : 0);
	if (version == 16) {
		put(m, 8 + 2 * 8, AT_NAMES, 8);
		put(m, 8 + 5 * 8, AT_STEPS, 8);
		put(m, 8 + 6 * 8, AT_FUNCTIONS, 8);
	} else if (version >= 18) {
		put(m, 8 + 2 * 8, GO_SAMPLE_TEXT, 8);
		put(m, 8 + 3 * 8, AT_NAMES, 8);
		put(m, 8 + 6 * 8, AT_STEPS, 8);
		put(m, 8 + 7 * 8, AT_FUNCTIONS, 8);
	}
}

// `steps`: pairs of bytes as they lie there, behind them 0.
static void add(struct made *m, uint32_t offset, uint32_t end, const char *name, uint8_t flags,
		const char *steps)
{
	const bool is_new = m->version >= 18;
	const unsigned size = is_new ? 4 : 8;
	const uint64_t text = is_new ? 0 : GO_SAMPLE_TEXT;
	const uint32_t base = m->version == 2 ? 0 : AT_FUNCTIONS;
	const uint32_t own = m->version == 2 ? 0 : AT_NAMES,
		       own_steps = m->version == 2 ? 0 : AT_STEPS;
	uint32_t entry = m->functions + m->functions_n * 2 * size;

	put(m, entry, text + offset, size);
	put(m, entry + size, m->records - base, size);
	put(m, entry + 2 * size, text + end, size);
	put(m, m->records, text + offset, size);
	put(m, m->records + size, m->names + m->names_n - own, 4);
	put(m, m->records + size + 12, m->steps + m->steps_n - own_steps, 4);
	if (m->version >= 16)
		put(m, m->records + size + (m->version == 20 ? 37 : 33), flags, 1);
	m->records += 64;
	m->n = MAX(m->n, m->records);
	strcpy((char *)m->bytes + m->names + m->names_n, name);
	m->names_n += (uint32_t)strlen(name) + 1;
	strcpy((char *)m->bytes + m->steps + m->steps_n, steps);
	m->steps_n += (uint32_t)strlen(steps) + 1;
	put(m, 8, ++m->functions_n, 8);
}

static void make(struct made *m, uint32_t version, uint8_t quantum)
{
	start(m, version, quantum);
	// 0 for 4 instructions, 24 for 40 (in bytes of 7 bits: 48 is +24), 0 for 4.
	add(m, 0, 0x40 * quantum, "main.main", 0, "\2\4\60\50\57\24");
	add(m, 0x40 * quantum, 0x60 * quantum, "runtime.goexit", 0, "\2\40");
	add(m, 0x60 * quantum, 0x80 * quantum, "runtime.systemstack", 0, "\2\40");
	add(m, 0x80 * quantum, 0xa0 * quantum, "runtime.other", 2, "\2\40");
}

static void check_row(const struct cfi_table *table, uint64_t at, int32_t cfa, uint8_t where)
{
	const struct cfi_row *row = cfi_find(table, at);

	assert_non_null(row);
	assert_true(row->rule);
	assert_int_equal(cfi_rule_at(table, row->rule)->cfa_offset, cfa);
	assert_int_equal(cfi_rule_at(table, row->rule)->saved[0].where, where);
}

static void test_versions(void **state)
{
	static const uint32_t versions[] = {2, 16, 18, 20};
	static uint8_t image[GO_SAMPLE_SIZE];
	struct gopclntab_function function;
	struct gopclntab_steps steps;
	struct gopclntab table;
	struct cfi_table rows;
	struct elf elf;
	struct made m;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		make(&m, versions[i], 1);
		go_sample_elf(image, EM_X86_64, m.bytes, m.n);
		assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
		assert_true(gopclntab_init(&table, &elf));
		assert_int_equal(table.functions_n, 4);
		assert_true(gopclntab_function(&table, 0, &function));
		assert_string_equal(function.name, "main.main");
		assert_int_equal(function.addr, GO_SAMPLE_TEXT);
		assert_int_equal(function.end, GO_SAMPLE_TEXT + 0x40);
		assert_int_equal(function.kind, GO_PLAIN);
		gopclntab_steps(&table, &function, &steps);
		assert_true(gopclntab_step(&steps));
		assert_int_equal(steps.bytes, 0);
		assert_int_equal(steps.until, GO_SAMPLE_TEXT + 4);
		assert_true(gopclntab_step(&steps));
		assert_int_equal(steps.bytes, 24);
		assert_true(gopclntab_step(&steps));
		assert_int_equal(steps.bytes, 0);
		assert_false(gopclntab_step(&steps));
		assert_true(gopclntab_function(&table, 1, &function));
		assert_int_equal(function.kind, GO_ROOT);
		assert_true(gopclntab_function(&table, 3, &function));
		assert_int_equal(function.kind, versions[i] >= 16 ? GO_SWITCH : GO_PLAIN);

		assert_int_equal(cfi_build(&rows, &elf, NULL), 0);
		assert_true(cfi_table_valid(&rows));
		check_row(&rows, 0x1003, 8, CFI_AT_CFA);
		check_row(&rows, 0x1004, 32, CFI_AT_CFA);
		check_row(&rows, 0x1030, 8, CFI_AT_CFA);
		check_row(&rows, 0x1041, 8, CFI_UNDEFINED);
		check_row(&rows, 0x1061, 8, CFI_UNDEFINED);
		assert_int_equal(cfi_rule_at(&rows, cfi_find(&rows, 0x1061)->rule)->flags,
				 CFI_SWITCH);
		assert_int_equal(cfi_rule_at(&rows, cfi_find(&rows, 0x1041)->rule)->flags, 0);
		assert_int_equal(cfi_find(&rows, 0x10a0)->rule, 0);
		cfi_table_done(&rows);
	}
}

static void test_arm64(void **state)
{
	static uint8_t image[GO_SAMPLE_SIZE];
	struct cfi_table rows;
	struct elf elf;
	struct made m;

	make(&m, 18, 4);
	go_sample_elf(image, EM_AARCH64, m.bytes, m.n);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_int_equal(cfi_build(&rows, &elf, NULL), 0);
	assert_true(cfi_table_valid(&rows));
	check_row(&rows, 0x100c, 0, CFI_SAME);
	check_row(&rows, 0x1010, 24, CFI_AT_CFA);
	cfi_table_done(&rows);
}

// Numbers that lie are refused, not followed.
static void test_nonsense(void **state)
{
	static uint8_t image[GO_SAMPLE_SIZE];
	struct gopclntab_function function;
	struct gopclntab table;
	struct elf elf;
	struct made m;

	make(&m, 18, 1);
	put(&m, 8, 1 << 20, 8); // functions
	go_sample_elf(image, EM_X86_64, m.bytes, m.n);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_false(gopclntab_init(&table, &elf));
	make(&m, 18, 1);
	put(&m, 7, 4, 1); // bytes of a pointer
	go_sample_elf(image, EM_X86_64, m.bytes, m.n);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_false(gopclntab_init(&table, &elf));
	make(&m, 18, 1);
	put(&m, AT_FUNCTIONS + 4, 1 << 20, 4);			 // where the first one's record is
	put(&m, AT_FUNCTIONS + AT_RECORDS + 64 + 4, 1 << 30, 4); // the second one's name
	go_sample_elf(image, EM_X86_64, m.bytes, m.n);
	assert_int_equal(elf_init(&elf, image, sizeof(image)), 0);
	assert_true(gopclntab_init(&table, &elf));
	assert_false(gopclntab_function(&table, 0, &function));
	assert_true(gopclntab_function(&table, 1, &function));
	assert_string_equal(function.name, "");
}

RUN_TESTS(TEST(test_versions), TEST(test_arm64), TEST(test_nonsense))
