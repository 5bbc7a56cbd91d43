// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "base/file.h"
#include "obj/names.h"
#include <link.h>
#include <stdio.h>

struct image {
	struct mapped file;
	struct elf elf;
	struct names names;
};

static void open_image(struct image *image, const char *path)
{
	assert_int_equal(file_map(&image->file, path), 0);
	assert_int_equal(elf_init(&image->elf, image->file.p, image->file.n), 0);
	names_init(&image->names, &image->elf, NULL);
}

static void close_image(struct image *image)
{
	names_done(&image->names);
	file_unmap(&image->file);
}

__attribute__((noinline)) int names_test_a_function(int n);

__attribute__((noinline)) int names_test_a_function(int n)
{
	return n * 3 + 1;
}

static int first_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

// This program: where it is loaded is known.
static void test_own(void **state)
{
	struct image image;
	uint64_t base = 0, addr, offset, next;

	dl_iterate_phdr(first_base, &base);
	addr = (uintptr_t)names_test_a_function - base;
	open_image(&image, "/proc/self/exe");
	assert_string_equal(names_find(&image.names, addr, &offset), "names_test_a_function");
	assert_int_equal(offset, 0);
	assert_string_equal(names_find(&image.names, addr + 2, &offset), "names_test_a_function");
	assert_int_equal(offset, 2);
	assert_string_equal(names_function(&image.names, addr + 2), "names_test_a_function");
	assert_true(names_next(&image.names, addr, SHN_UNDEF, &next));
	assert_true(next > addr);
	close_image(&image);
}

// Functions of others that it calls: through the PLT, or by an address that the linker fills in.
static void test_others(void **state)
{
	struct image image;
	bool has_plt = false, has_version = false;
	uint64_t offset;

	open_image(&image, "/proc/self/exe");
	for (size_t i = 0; i < image.names.all.n; i++) {
		const char *name = names_find(&image.names, image.names.all.v[i].addr, &offset);

		has_plt |= !strcmp(name, "printf@plt") || !strcmp(name, "memcpy@plt") ||
			   !strcmp(name, "strcmp@plt") || text_ends(name, "@plt");
	}
	for (size_t i = 0; i < image.names.relocations.n; i++) {
		const char *name =
			names_find(&image.names, image.names.relocations.v[i].addr, &offset);

		has_version |= name && !offset && strstr(name, "@GLIBC_") != NULL;
	}
	assert_true(has_plt || image.elf.machine != EM_X86_64);
	assert_true(has_version);
	close_image(&image);
}

static void test_nothing(void **state)
{
	struct names names;
	struct elf elf = {0};
	uint64_t offset;

	names_init(&names, &elf, NULL);
	assert_null(names_find(&names, 1, &offset));
	assert_null(names_function(&names, 1));
	names_done(&names);
}

RUN_TESTS(TEST(test_own), TEST(test_others), TEST(test_nothing))
