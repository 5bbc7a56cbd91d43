// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include "code/blocks.h"

enum { START = 0x1000 };
static const struct symbol function = {.start = START, .end = START + 0x40, .name = "function"},
			   other = {.start = START + 0x40, .end = START + 0x80, .name = "other"};

static struct location at(const struct symbol *symbol, uint64_t offset)
{
	return (struct location){.sym = symbol, .addr = symbol ? symbol->start + offset : offset};
}

// A block of the function; start < 0: nobody knows where it began.
static void add(struct blocks *blocks, int64_t start, uint64_t end, unsigned cycles)
{
	struct location from = at(&function, end), to = at(&function, (uint64_t)start);

	blocks_add(blocks, &from, start < 0 ? NULL : &to, cycles);
}

// Instructions of four bytes.
static void make_lines(struct annotated *lines)
{
	annotated_init(lines, 1);
	lines->addr = START;
	for (uint32_t i = 0; i < 16; i++) {
		struct annotated_line *line = vec_add(&lines->lines);

		line->kind = ANNOTATED_INSTRUCTION;
		line->addr = START + 4 * i;
		line->offset = 4 * i;
		line->size = 4;
	}
	annotated_link(lines);
}

static void test_longest_counts(void **state)
{
	struct blocks *blocks = blocks_new();
	const struct block *block;

	add(blocks, 0x10, 0x1c, 9);
	add(blocks, 0x08, 0x1c, 20); // longer: begins anew
	add(blocks, 0x10, 0x1c, 3);
	add(blocks, -1, 0x1c, 40);
	add(blocks, 0x08, 0x1c, 24);
	add(blocks, 0x08, 0x1c, 0); // says nothing
	block = blocks_find(blocks, &function)->blocks.v;
	assert_int_equal(block->start, 0x08);
	assert_int_equal(block->cycles, 44);
	assert_int_equal(block->n, 2);
	assert_int_equal(block->n_all, 5);
	assert_int_equal(block->cycles_all, 96);
	assert_int_equal(block->cycles_least, 3);
	assert_int_equal(block->cycles_most, 40);
	assert_int_equal(block->sparks[0], 20);
	assert_int_equal(block->sparks[1], 24);
	assert_int_equal(block->resets, 1);
	blocks_free(blocks);
}

static void test_where_it_began(void **state)
{
	static const struct {
		const struct symbol *symbol;
		uint64_t offset;
		bool known;
	} cases[] = {
		{&function, 0, true},	  {&function, 0x18, true}, {&function, 0x1c, false},
		{&function, 0x20, false}, {&other, 0, false},	   {NULL, 0x10, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct blocks *blocks = blocks_new();
		struct location from = at(&function, 0x1c), to = at(cases[i].symbol, cases[i].offset);

		blocks_add(blocks, &from, &to, 5);
		assert_int_equal(blocks_find(blocks, &function)->blocks.v[0].has_start,
				 cases[i].known);
		blocks_free(blocks);
	}
}

static void test_no_function(void **state)
{
	struct blocks *blocks = blocks_new();
	struct location nowhere = at(NULL, 0x5000), behind = at(&function, 0x40);

	blocks_add(blocks, &nowhere, &nowhere, 5);
	blocks_add(blocks, &behind, NULL, 5);
	assert_null(blocks_find(blocks, &function));
	assert_int_equal(blocks->all.n, 0);
	blocks_free(blocks);
	blocks_free(NULL);
}

static void test_lines(void **state)
{
	struct blocks *blocks = blocks_new();
	struct annotated lines;

	// Later ends first, so that they must be put in order. 4 instructions in 2 cycles; 6 in 3, of which 4 are new ...
	add(blocks, 0x20, 0x2c, 2);
	add(blocks, 0x20, 0x2c, 2);
	add(blocks, 0x10, 0x24, 3);
	add(blocks, -1, 0x3c, 7); // ... and one that covers nothing
	add(blocks, -1, 0x3a, 7); // in the middle of an instruction
	make_lines(&lines);
	assert_true(annotated_ipc(&lines) == 0 && annotated_ipc_coverage(&lines) == 0);
	blocks_annotate(blocks_find(blocks, &function), &lines);
	for (size_t i = 0; i < 16; i++) {
		float ipc = i >= 4 && i < 12 ? 2.0f : 0;

		assert_true(lines.lines.v[i].ipc == ipc);
		assert_int_equal(lines.lines.v[i].cycles, i == 11   ? 2
							  : i == 9  ? 3
							  : i == 15 ? 7
								    : 0);
	}
	assert_true(lines.cycles.any);
	assert_true(annotated_ipc(&lines) == (2 * 4 + 6) / (4.0 + 3.0));
	assert_true(annotated_ipc_coverage(&lines) == 50);
	blocks_annotate(NULL, &lines);
	assert_false(lines.cycles.any);
	annotated_done(&lines);
	blocks_free(blocks);
}

// Blocks are found again after they were put in order.
static void test_add_after_find(void **state)
{
	struct blocks *blocks = blocks_new();
	struct function_blocks *found;

	for (uint64_t end = 0x3c; end > 0x10; end -= 4)
		add(blocks, 0x10, end, 1);
	blocks_find(blocks, &function);
	for (uint64_t end = 0x3c; end > 0x10; end -= 4)
		add(blocks, 0x10, end, 1);
	found = blocks_find(blocks, &function);
	assert_int_equal(found->blocks.n, 11);
	for (size_t i = 0; i < found->blocks.n; i++) {
		assert_int_equal(found->blocks.v[i].end, 0x14 + 4 * i);
		assert_int_equal(found->blocks.v[i].n, 2);
	}
	blocks_free(blocks);
}

RUN_TESTS(TEST(test_longest_counts), TEST(test_where_it_began), TEST(test_no_function),
	  TEST(test_lines), TEST(test_add_after_find))
