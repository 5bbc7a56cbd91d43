// SPDX-License-Identifier: GPL-2.0-or-later
// Basic blocks are made of branch stacks that carry cycles: what ran between where one branch went and the next one began, told
// by the branch at its end; of blocks that overlap the longest counts, as in perf. Lines of annotate, ipc columns and report
// --total-cycles are views of these. cmd/annotate/ranges cuts the same stacks at all begins and ends, to say how often a branch
// was taken; it needs no cycles. The tests have no processor with branch stacks: test/diff/branches.c steps through programs.
#include "code/blocks.h"
#include "base/search.h"

enum { TOO_MANY_RESETS = 0x7fff }; // blocks that overlap so much say nothing

struct blocks *blocks_new(void)
{
	return NEW(struct blocks);
}

void blocks_free(struct blocks *blocks)
{
	if (!blocks)
		return;
	for (size_t i = 0; i < blocks->all.n; i++) {
		map_done(&blocks->all.v[i]->by_end);
		vec_done(&blocks->all.v[i]->blocks);
		free(blocks->all.v[i]);
	}
	vec_done(&blocks->all);
	map_done(&blocks->by_symbol);
	free(blocks);
}

static struct function_blocks *function_of(struct blocks *blocks, const struct symbol *symbol)
{
	struct function_blocks *function = map_find_ptr(&blocks->by_symbol, (uintptr_t)symbol);

	if (!function) {
		function = NEW(struct function_blocks);
		function->symbol = symbol;
		map_set_ptr(&blocks->by_symbol, (uintptr_t)symbol, function);
		vec_push(&blocks->all, function);
	}
	return function;
}

static struct block *block_at(struct function_blocks *function, uint64_t end)
{
	uint64_t *at = map_at(&function->by_end, end, NULL);

	if (!*at) {
		vec_push(&function->blocks, (struct block){.end = end});
		*at = function->blocks.n;
	}
	return &function->blocks.v[*at - 1];
}

static void count_all(struct block *block, unsigned cycles)
{
	block->n_all++;
	block->cycles_all += cycles;
	block->cycles_most = MAX(block->cycles_most, cycles);
	block->cycles_least = block->cycles_least ? MIN(block->cycles_least, cycles) : cycles;
}

// Does this block count as the longest so far? Shorter ones than the one that is known don't.
static bool takes_over(struct block *block, bool has_start, uint64_t start)
{
	if (!has_start)
		return !block->has_start;
	if (!block->n || (block->has_start && block->start == start))
		return true;
	if (block->has_start && block->start < start)
		return false;
	block->cycles = 0;
	block->n = 0;
	if (block->resets < UINT16_MAX)
		block->resets++;
	return true;
}

void blocks_add(struct blocks *blocks, const struct location *from, const struct location *came_to,
		unsigned cycles)
{
	const struct symbol *symbol = from->sym;
	bool has_start = came_to && came_to->sym == symbol;
	struct block *block;
	uint64_t start = 0;

	if (!cycles || !symbol || from->addr < symbol->start || from->addr >= symbol->end)
		return;
	if (has_start) {
		if (came_to->addr < symbol->start || came_to->addr >= symbol->end)
			return;
		has_start = came_to->addr < from->addr;
		start = has_start ? came_to->addr - symbol->start : 0;
	}
	block = block_at(function_of(blocks, symbol), from->addr - symbol->start);
	count_all(block, cycles);
	if (!takes_over(block, has_start, start))
		return;
	if (block->n < BLOCK_SPARKS)
		block->sparks[block->n] = cycles;
	block->has_start = has_start;
	block->start = start;
	block->cycles += cycles;
	block->n++;
}

void blocks_add_sample(struct blocks *blocks, struct sym *sym, struct task *task,
		       const struct sample *sample)
{
	struct location at[2], *from = &at[0], *to = &at[1];
	bool known = false;

	if (!sample->branches || !sample->branch_n || !branch_cycles(&sample->branches[0]))
		return;
	// The newest stands first.
	for (uint64_t i = sample->branch_n; i-- > 0;) {
		const struct perf_branch_entry *branch = &sample->branches[i];
		unsigned cycles = branch_cycles(branch);

		*from = sym_resolve_any(sym, task, branch->from);
		blocks_add(blocks, from, known ? to : NULL, cycles);
		blocks->total_cycles += cycles;
		*to = sym_resolve_any(sym, task, branch->to);
		known = !blocks->no_starts;
	}
}

static int by_end(const void *a, const void *b)
{
	uint64_t x = ((const struct block *)a)->end, y = ((const struct block *)b)->end;

	return x < y ? -1 : x > y;
}

struct function_blocks *blocks_find(const struct blocks *blocks, const struct symbol *symbol)
{
	struct function_blocks *function = map_find_ptr(&blocks->by_symbol, (uintptr_t)symbol);
	bool sorted = true;

	if (!function)
		return NULL;
	for (size_t i = 1; i < function->blocks.n && sorted; i++)
		sorted = function->blocks.v[i - 1].end < function->blocks.v[i].end;
	if (sorted)
		return function;
	qsort(function->blocks.v, function->blocks.n, sizeof(*function->blocks.v), by_end);
	for (size_t i = 0; i < function->blocks.n; i++)
		*map_at(&function->by_end, function->blocks.v[i].end, NULL) = i + 1;
	return function;
}

// How many instructions lie before an offset from the function's start.
static size_t instructions_before(const struct annotated *lines, uint64_t offset)
{
	const uint32_t *instructions = lines->instructions.v;

	return SEARCH(lines->instructions.n, i, lines->lines.v[instructions[i]].offset < offset);
}

static void fill(const struct block *block, struct annotated *lines)
{
	size_t from = instructions_before(lines, block->start),
	       to = instructions_before(lines, block->end + 1);
	struct annotated_cycles *sum = &lines->cycles;
	uint64_t n = to - from, covered = 0;
	float ipc;

	if (!n || !block->n || !block->cycles || block->resets >= TOO_MANY_RESETS)
		return;
	ipc = (float)((double)n / ((double)block->cycles / (double)block->n));
	for (size_t i = from; i < to; i++) {
		struct annotated_line *line = &lines->lines.v[lines->instructions.v[i]];

		if (line->ipc == 0) {
			line->ipc = ipc;
			covered++;
		}
	}
	if (!covered)
		return;
	sum->cycles += block->cycles;
	sum->instructions += n * block->n;
	sum->covered += covered;
}

void blocks_annotate(struct function_blocks *blocks, struct annotated *lines)
{
	lines->cycles = (struct annotated_cycles){0};
	if (!blocks)
		return;
	// From the end on: of blocks that overlap, the one that ends later says how fast an instruction was; so in perf.
	for (size_t i = blocks->blocks.n; i-- > 0;) {
		const struct block *block = &blocks->blocks.v[i];
		size_t at = instructions_before(lines, block->end);
		struct annotated_line *line;

		if (!block->cycles)
			continue;
		lines->cycles.any = true;
		if (block->has_start)
			fill(block, lines);
		if (at == lines->instructions.n)
			continue;
		line = &lines->lines.v[lines->instructions.v[at]];
		if (line->offset != block->end)
			continue;
		line->cycles = block->cycles_all / block->n_all;
		line->cycles_least = block->cycles_least;
		line->cycles_most = block->cycles_most;
	}
}
