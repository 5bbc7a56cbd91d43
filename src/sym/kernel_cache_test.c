// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <elf.h>
#include "sym/kernel_cache.h"
#include "sym/private.h"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct kernel_cache_key key = {{1, 2}};

static struct symtab symbols_of_two(void)
{
	struct symtab symtab = {0};

	symtab_add(&symtab, &(struct symbol){.start = 0xffffffff81000000,
					     .end = 0xffffffff81000100,
					     .name = "_text",
					     .binding = STB_GLOBAL,
					     .type = STT_FUNC});
	symtab_add(&symtab, &(struct symbol){.start = 0xffffffffc0000000,
					     .end = 0xffffffffc0000010,
					     .name = "init\0[ext4]",
					     .hidden_width = 7});
	return symtab;
}

static void save(const char *folder)
{
	struct symtab symtab = symbols_of_two();
	uint64_t references[2] = {7, 8};

	setenv("XDG_CACHE_HOME", folder, 1);
	kernel_cache_save(&key, &symtab, references);
	symtab_done(&symtab);
}

static void test_round_trip(void **state)
{
	char folder[] = "/tmp/sonde-test-XXXXXX", path[64];
	const struct kernel_cache_key other = {{1, 3}};
	struct symtab symtab = {0};
	const struct symbol *found;
	struct kernel_copy copy;
	struct mapped map;

	assert_non_null(mkdtemp(folder));
	save(folder);
	assert_false(kernel_cache_load(&other, &copy, &map));
	assert_true(kernel_cache_load(&key, &copy, &map));
	assert_int_equal(copy.kernel_n, 1);
	copy.rows.delta = 0x1000000;
	symtab_set_rows(&symtab, &copy.rows);
	symtab_ready(&symtab);
	assert_int_equal(symtab.symbols.n, 2);
	// Made when it is asked for, and it stays where it is.
	assert_null(symtab_find(&symtab, 0xffffffff7fffffff));
	assert_null(symtab.symbols.v[0].name);
	found = symtab_find(&symtab, 0xffffffff800000ff);
	assert_ptr_equal(found, symtab.symbols.v);
	assert_int_equal(found->start, 0xffffffff80000000);
	assert_null(symtab.symbols.v[1].name);
	assert_null(symtab_find(&symtab, 0xffffffff80000100));
	assert_ptr_equal(symtab_find(&symtab, 0xffffffff80000000), found);
	symtab_done(&symtab);
	copy.rows.delta = 0;
	symtab_set_rows(&symtab, &copy.rows);
	symtab_fill(&symtab);
	assert_string_equal(symtab.symbols.v[0].name, "_text");
	assert_int_equal(symtab.symbols.v[0].binding, STB_GLOBAL);
	assert_int_equal(symtab.symbols.v[0].type, STT_FUNC);
	assert_string_equal(symtab.symbols.v[1].name, "init");
	assert_string_equal(symtab.symbols.v[1].name + 5, "[ext4]");
	assert_true(symtab.symbols.v[1].hidden_width);
	assert_int_equal(symtab.symbols.v[1].end, 0xffffffffc0000010);
	assert_int_equal(copy.references[0], 7);
	assert_int_equal(copy.references[1], 8);
	// It can still grow.
	symtab_add(&symtab, &(struct symbol){.start = 0xffffffffa0000000, .name = "more"});
	symtab_sort(&symtab);
	assert_int_equal(symtab.symbols.n, 3);
	assert_string_equal(symtab.symbols.v[1].name, "more");
	assert_string_equal(symtab.symbols.v[2].name, "init");
	symtab_done(&symtab);
	file_unmap(&map);
	snprintf(path, sizeof(path), "%s/sonde/kernel-symbols", folder);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
}

enum { KERNEL_BYTES = 0x40000000, MODULE_BYTES = 0x1000 };

static void map_to(struct sym *sym, const char *name, uint64_t start, uint64_t pgoff)
{
	_Alignas(8) char bytes[sizeof(struct record_mmap2) + 64] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header = (struct perf_event_header){.type = PERF_RECORD_MMAP2,
						    .misc = PERF_RECORD_MISC_KERNEL,
						    .size = sizeof(bytes)};
	record->pid = UINT32_MAX;
	record->start = start;
	record->len = pgoff ? KERNEL_BYTES : MODULE_BYTES;
	record->pgoff = pgoff;
	record->prot = PROT_READ | PROT_EXEC;
	snprintf(record->filename, 256, "%s", name);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
}

static const char *name_at(struct sym *sym, uint64_t addr)
{
	struct location location = sym_resolve(sym, NULL, PERF_RECORD_MISC_KERNEL, addr);

	return location.sym ? location.sym->name : "none";
}

// The kernel's own, those of a module that is mapped, those of one that is not, and the kernel's behind both, from the copy; of a recording
// of before the kernel moved.
static void check_split(uint64_t moved, bool behind)
{
	static const struct symbol symbols[] = {
		{.start = 0xffffffff81000000, .end = 0xffffffff81000100, .name = "_text"},
		{.start = 0xffffffff81000100, .end = 0xffffffff81000200, .name = "work"},
		{.start = 0xffffffffa0000000,
		 .end = 0xffffffffa0000100,
		 .name = "go\0[there]",
		 .hidden_width = 8},
		{.start = 0xffffffffa0000100,
		 .end = 0xffffffffa0000200,
		 .name = "on\0[there]",
		 .hidden_width = 8},
		{.start = 0xffffffffa0009000,
		 .end = 0xffffffffa0009100,
		 .name = "x\0[gone]",
		 .hidden_width = 7},
		{.start = 0xffffffffa000a000, .end = 0xffffffffa000a100, .name = "behind"},
	};
	const struct sym_options options = {.root = "", .ignore_vmlinux = true};
	uint64_t references[2] = {0xffffffff81000000};
	const struct symbol *found;
	struct kernel_cache_key own;
	struct symtab symtab = {0};
	struct sym *sym;

	if (!kernel_cache_key(&own)) {
		print_message("the running kernel hides its addresses\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(symbols) - !behind; i++)
		symtab_add(&symtab, &symbols[i]);
	kernel_cache_save(&own, &symtab, references);
	symtab_done(&symtab);
	assert_int_equal(sym_new(&sym, &options), 0);
	map_to(sym, "[kernel.kallsyms]_text", 0xffffffff81000000 - moved, 0xffffffff81000000 - moved);
	map_to(sym, "[there]", 0xffffffffa0000000, 0);
	assert_string_equal(name_at(sym, 0xffffffff810001ff - moved), "work");
	assert_string_equal(name_at(sym, 0xffffffff81000000 - moved), "_text");
	assert_string_equal(name_at(sym, 0xffffffffa0000020), "go");
	assert_string_equal(name_at(sym, 0xffffffffa0000120), "on");
	assert_string_equal(name_at(sym, 0xffffffffa0009020), "none");
	found = dso_find_symbol(sym, sym->private->kernel_dso, 0xffffffffa000a020 - moved);
	assert_string_equal(found ? found->name : "none", behind ? "behind" : "none");
	assert_int_equal(sym->private->copies.n, 1);
	sym_free(sym);
}

static void test_modules(void **state)
{
	char folder[] = "/tmp/sonde-test-XXXXXX", command[64];

	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("HOME", folder, 1);
	check_split(0, false);
	check_split(0, true);
	check_split(0x200000, false);
	check_split(0x200000, true);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

RUN_TESTS(TEST(test_round_trip), TEST(test_modules))
