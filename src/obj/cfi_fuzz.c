// SPDX-License-Identifier: GPL-2.0-or-later
// An ELF file, or the frame information of one, or of pieces of code, becomes a table that makes sense.
#include "base/alloc.h"
#include "obj/cfi.h"
#include "obj/cfi_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct cfi_table *table)
{
	if (!cfi_table_valid(table))
		abort();
	for (uint32_t i = 0; i < table->rows_n; i++) {
		if (cfi_find(table, table->rows[i].at) != &table->rows[i])
			abort();
	}
	cfi_table_done(table);
}

static void use_pieces(uint8_t first_size, struct str frames)
{
	const size_t half = frames.n / 2;
	const struct cfi_piece pieces[] = {
		{{frames.p, half}, 4096, first_size},
		{{frames.p + half, frames.n - half}, 4096 + 128, 4096},
	};
	struct cfi_table table;

	if (cfi_build_pieces(&table, first_size & 1 ? EM_AARCH64 : EM_X86_64, pieces,
			     ARRAY_SIZE(pieces)) == 0)
		check(&table);
}

static void use(const struct elf *elf)
{
	struct cfi_function *functions;
	struct cfi_table table;
	size_t n;

	if (cfi_build(&table, elf, elf) < 0)
		return;
	check(&table);
	if (cfi_functions(elf, &functions, &n) < 0)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (functions[i].at > functions[i].end ||
		    (i && functions[i - 1].end > functions[i].at))
			abort();
	}
	free(functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[SAMPLE_SIZE];
	struct sample_frames frames = {0};
	struct elf elf;

	if (elf_init(&elf, data, size) == 0) {
		use(&elf);
		return 0;
	}
	if (!size)
		return 0;
	use_pieces(data[0], (struct str){(const char *)data + 1, size - 1});
	frames.n = (uint32_t)MIN(size - 1, sizeof(frames.bytes));
	memcpy(frames.bytes, data + 1, frames.n);
	sample_elf(image, data[0] & 1 ? EM_AARCH64 : EM_X86_64, &frames);
	if (elf_init(&elf, image, sizeof(image)) == 0)
		use(&elf);
	return 0;
}
