// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi.h"
#include <errno.h>
#include "obj/cfi_build.h"
#include "obj/dwarf_read.h"
#include "obj/relocate.h"
#include "obj/unpack.h"

enum { SECTION_MAX = 1 << 28, FDES_MAX = 1 << 24, SEGMENTS_MAX = 64 };

static uint64_t address_of(const struct elf *elf, const char *name)
{
	struct elf_section section;

	return elf_find_section(elf, name, &section) ? section.addr : 0;
}

// Without section headers the program headers lead there: PT_GNU_EH_FRAME begins with the encoded place of .eh_frame.
static bool eh_frame_by_segment(const struct elf *elf, struct cfi_section *ret)
{
	struct elf_segment segment, around;
	const uint8_t *p;
	int32_t by;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type != PT_GNU_EH_FRAME)
			continue;
		if (segment.offset > elf->n || elf->n - segment.offset < 8)
			return false;
		p = elf->p + segment.offset;
		if (p[0] != 1 || p[1] != 0x1b) // version; pcrel sdata4
			return false;
		memcpy(&by, p + 4, 4);
		ret->addr = segment.vaddr + 4 + (uint64_t)(int64_t)by;
		if (!elf_segment_of(elf, ret->addr, &around) ||
		    ret->addr - around.vaddr >= around.file_size)
			return false;
		uint64_t at = around.offset + (ret->addr - around.vaddr);
		uint64_t n = around.file_size - (ret->addr - around.vaddr);

		if (at >= elf->n)
			return false;
		ret->bytes = (struct str){(const char *)elf->p + at, MIN(n, elf->n - at)};
		// Nobody says where it ends but the empty entry.
		struct dwarf_reader r = dwarf_reader_at(ret->bytes, 0, false);

		while (!r.bad && dwarf_left(&r) >= 4) {
			uint8_t offset_size;
			const uint8_t *end = r.end;
			bool is_last;

			dwarf_length(&r, &offset_size);
			is_last = !dwarf_left(&r) || r.bad;
			r.p = r.end;
			r.end = end;
			if (is_last)
				break;
		}
		ret->bytes.n = (size_t)((const char *)r.p - ret->bytes.p);
		return true;
	}
	return false;
}

// What is there once it is relocated; *ret_owned: to be freed.
static struct str frame_bytes(const struct elf *elf, const struct elf_section *section,
			      uint8_t **ret_owned)
{
	struct str bytes = unpack_section(elf, section, SECTION_MAX, ret_owned);
	struct relocate relocate;

	relocate_init(&relocate, elf);
	if (bytes.n && relocate_wanted(&relocate, section->index)) {
		if (!*ret_owned)
			*ret_owned = xmemdup(bytes.p, bytes.n);
		bytes.p = (const char *)*ret_owned;
		relocate_apply(&relocate, elf,
			       &(struct relocate_bytes){section->index, *ret_owned, bytes.n});
	}
	relocate_done(&relocate);
	return bytes;
}

static void add_eh_frame(struct cfi_builder *builder, const struct elf *elf)
{
	struct cfi_section section = {.text = address_of(elf, ".text"),
				      .data = address_of(elf, ".got"),
				      .address_size = elf->is_64bit ? 8 : 4};
	struct elf_section found;

	// Relocatable files that sonde reads are the kernel's, which have .debug_frame.
	if (elf->type == ET_REL)
		return;
	if (elf_find_section(elf, ".eh_frame", &found) && found.type != SHT_NOBITS) {
		section.bytes = elf_content(elf, &found);
		section.addr = found.addr;
		cfi_read_section(builder, &section);
	} else if (!elf->sections_n && eh_frame_by_segment(elf, &section)) {
		cfi_read_section(builder, &section);
	}
}

static void add_debug_frame(struct cfi_builder *builder, const struct elf *elf, uint8_t **ret_unpacked)
{
	struct cfi_section section = {.is_debug = true, .address_size = elf->is_64bit ? 8 : 4};
	struct elf_section found;

	if ((elf_find_section(elf, ".debug_frame", &found) && found.type != SHT_NOBITS) ||
	    elf_find_section(elf, ".zdebug_frame", &found))
		section.bytes = frame_bytes(elf, &found, ret_unpacked);
	cfi_read_section(builder, &section);
}

// Linkers other than GNU's describe no PLT; all entries are of 16 bytes: a jump, a push, a jump.
static void add_plt(struct cfi_builder *builder)
{
	static const struct {
		const char *name;
		int32_t from;
	} kinds[] = {{".plt", 11}, {".plt.sec", 16}, {".plt.got", 16}};
	struct elf_section section;

	if (builder->machine != EM_X86_64)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct cfi_cie cie = {.good = true, .code_align = 1, .data_align = -8, .ra = 16};

		if (!elf_find_section(builder->runtime, kinds[i].name, &section) ||
		    section.type != SHT_PROGBITS || section.offset > UINT32_MAX || !section.size ||
		    section.size > UINT32_MAX - section.offset)
			continue;
		cie.state.cfa = CFI_CFA_PLT;
		cie.state.cfa_reg = 7;
		cie.state.cfa_offset = kinds[i].from;
		cie.state.set = 1ull << CFI_RA_COLUMN;
		cie.state.columns[CFI_RA_COLUMN].where = CFI_AT_CFA;
		cie.state.columns[CFI_RA_COLUMN].value = -8;
		vec_push(&builder->cies, cie);
		vec_push(&builder->fdes, (struct cfi_fde){.at = (uint32_t)section.offset,
							  .size = (uint32_t)section.size,
							  .cie = (uint32_t)builder->cies.n - 1,
							  .rank = UINT32_MAX,
							  .vaddr = section.addr});
	}
}

// .init and .fini are put together from pieces without a description: rsp goes down by 8 at the start, up again in front
// of the last instruction.
static void add_init(struct cfi_builder *builder)
{
	static const char *const names[] = {".init", ".fini"};
	static const uint8_t down[] = {0x48, 0x83, 0xec, 8}, up[] = {0x48, 0x83, 0xc4, 8, 0xc3};
	struct cfi_cie cie = {.good = true, .code_align = 1, .data_align = -8, .ra = 16};
	struct elf_section section;

	if (builder->machine != EM_X86_64)
		return;
	cie.state.cfa = CFI_CFA_REGISTER;
	cie.state.cfa_reg = 7;
	cie.state.cfa_offset = 8;
	cie.state.set = 1ull << CFI_RA_COLUMN;
	cie.state.columns[CFI_RA_COLUMN].where = CFI_AT_CFA;
	cie.state.columns[CFI_RA_COLUMN].value = -8;
	vec_push(&builder->cies, cie);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint8_t *code = builder->init_code[i];
		struct str bytes = {0};
		const char *at;

		if (elf_find_section(builder->runtime, names[i], &section) &&
		    section.type == SHT_PROGBITS && section.offset <= UINT32_MAX - 256)
			bytes = elf_content(builder->runtime, &section);
		if (bytes.n < 12 || bytes.n > 200 ||
		    memcmp(bytes.p + bytes.n - sizeof(up), up, sizeof(up)) != 0 ||
		    !(at = memmem(bytes.p, 8, down, sizeof(down))))
			continue;
		code[0] = 2; // advance
		code[1] = (uint8_t)(at + sizeof(down) - bytes.p);
		code[2] = 0x0e; // rsp + 16
		code[3] = 16;
		code[4] = 2;
		code[5] = (uint8_t)(bytes.n - 1 - code[1]);
		code[6] = 0x0e;
		code[7] = 8;
		vec_push(&builder->fdes, (struct cfi_fde){.at = (uint32_t)section.offset,
							  .size = (uint32_t)bytes.n,
							  .cie = (uint32_t)builder->cies.n - 1,
							  .rank = UINT32_MAX,
							  .vaddr = section.addr,
							  .code = {(const char *)code,
								   sizeof(builder->init_code[i])}});
	}
}

static int compare_fdes(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

// In the order of places, none twice, none inside of another one's start.
static void sort_fdes(struct cfi_builder *builder)
{
	struct cfi_fde *fdes = builder->fdes.v;
	size_t n = 0, all = builder->fdes.n;

	if (!all)
		return;
	for (size_t i = 1; i < all; i++) {
		if (compare_fdes(&fdes[i - 1], &fdes[i]) > 0) {
			qsort(fdes, all, sizeof(*fdes), compare_fdes);
			break;
		}
	}
	for (size_t i = 0; i < all; i++) {
		const struct cfi_fde *last = n ? &fdes[n - 1] : NULL;

		// A second description of the same code, or of a part of what has one.
		if (last && (fdes[i].at == last->at ||
			     (fdes[i].rank > last->rank && fdes[i].at < last->at + last->size)))
			continue;
		fdes[n++] = fdes[i];
	}
	builder->fdes.n = n;
}

static uint32_t fde_end(const struct cfi_builder *builder, size_t i)
{
	const struct cfi_fde *fde = &builder->fdes.v[i];

	return i + 1 < builder->fdes.n ? MIN(fde->at + fde->size, fde[1].at) : fde->at + fde->size;
}

static void make_rows(struct cfi_builder *builder)
{
	for (size_t i = 0; i < builder->fdes.n && !builder->err; i++)
		cfi_run_fde(builder, &builder->fdes.v[i], fde_end(builder, i));
}

// One block of memory: rows, rules, expressions.
static void take_table(struct cfi_builder *builder, struct cfi_table *ret)
{
	size_t rows = builder->rows.n * sizeof(struct cfi_row), rules = builder->rules.n * 8;
	char *p = xmalloc(rows + rules + builder->expressions.n + 1);

	*ret = (struct cfi_table){.rows = (const void *)p,
				  .rules = (const void *)(p + rows),
				  .expressions = (const void *)(p + rows + rules),
				  .rows_n = (uint32_t)builder->rows.n,
				  .rules_n = (uint32_t)builder->rules.n,
				  .expressions_n = (uint32_t)builder->expressions.n,
				  .machine = builder->machine,
				  .owned = p};
	if (rows)
		memcpy(p, builder->rows.v, rows);
	memcpy(p + rows, builder->rules.v, rules);
	if (builder->expressions.n)
		memcpy(p + rows + rules, builder->expressions.v, builder->expressions.n);
}

static void builder_done(struct cfi_builder *builder)
{
	vec_done(&builder->segments);
	vec_done(&builder->cies);
	vec_done(&builder->fdes);
	vec_done(&builder->rows);
	vec_done(&builder->rules);
	vec_done(&builder->expressions);
	map_done(&builder->rule_ids);
	map_done(&builder->expression_ids);
}

static bool is_known(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64 || machine == EM_386;
}

// Code, as it is mapped; of relocatable files as it is placed.
static void find_code(struct cfi_builder *builder)
{
	const struct elf *elf = builder->runtime;
	struct elf_segment segment;
	struct elf_section section;
	struct relocate relocate;
	uint64_t addr;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type == PT_LOAD && (segment.flags & PF_X) &&
		    builder->segments.n < SEGMENTS_MAX)
			vec_push(&builder->segments, segment);
	}
	relocate_init(&relocate, elf);
	for (uint32_t i = 1; i < relocate.n && builder->segments.n < SEGMENTS_MAX; i++) {
		addr = 0;
		if (elf_section(elf, i, &section) && (section.flags & SHF_EXECINSTR) &&
		    relocate_address(&relocate, elf, i, &addr))
			vec_push(&builder->segments, (struct elf_segment){.offset = addr,
									  .vaddr = addr,
									  .file_size = section.size,
									  .flags = PF_X});
	}
	relocate_done(&relocate);
}

static bool is_supported(const struct elf *runtime)
{
	return !runtime->swap && is_known(runtime->machine) &&
	       runtime->is_64bit == (runtime->machine != EM_386);
}

static int finish(struct cfi_builder *builder, struct cfi_table *ret)
{
	int err;

	sort_fdes(builder);
	make_rows(builder);
	err = builder->err;
	if (!err) {
		take_table(builder, ret);
		cfi_table_index(ret);
	}
	builder_done(builder);
	return err;
}

int cfi_build_pieces(struct cfi_table *ret, uint16_t machine, const struct cfi_piece *pieces, size_t n)
{
	struct cfi_builder builder = {.machine = machine};

	if (!is_known(machine))
		return -ENOTSUP;
	vec_push(&builder.rules, 0);
	vec_push(&builder.segments, (struct elf_segment){0});
	for (size_t i = 0; i < n; i++) {
		const struct cfi_piece *piece = &pieces[i];
		const struct cfi_section section = {.bytes = piece->eh_frame,
						    .addr = piece->at + ((piece->size + 7) & ~7ull),
						    .address_size = machine == EM_386 ? 4 : 8};

		if (piece->at > UINT32_MAX || piece->size > UINT32_MAX - piece->at)
			continue;
		builder.segments.v[0] = (struct elf_segment){.offset = piece->at,
							     .vaddr = piece->at,
							     .file_size = piece->size,
							     .flags = PF_X};
		cfi_read_section(&builder, &section);
	}
	return finish(&builder, ret);
}

int cfi_build(struct cfi_table *ret, const struct elf *runtime, const struct elf *debug)
{
	struct cfi_builder builder = {.machine = runtime->machine, .runtime = runtime};
	uint8_t *unpacked[2] = {NULL, NULL};
	int err;

	if (!is_supported(runtime))
		return -ENOTSUP;
	find_code(&builder);
	vec_push(&builder.rules, 0);
	cfi_read_go(&builder);
	add_eh_frame(&builder, runtime);
	add_debug_frame(&builder, runtime, &unpacked[0]);
	if (debug && debug->is_64bit == runtime->is_64bit && !debug->swap)
		add_debug_frame(&builder, debug, &unpacked[1]);
	add_plt(&builder);
	add_init(&builder);
	err = finish(&builder, ret);
	free(unpacked[0]);
	free(unpacked[1]);
	return err;
}

static bool is_in(const struct elf_section *sections, size_t n, uint32_t at)
{
	for (size_t i = 0; i < n; i++) {
		if (at - sections[i].offset < sections[i].size)
			return true;
	}
	return false;
}

int cfi_functions(const struct elf *runtime, struct cfi_function **ret, size_t *ret_n)
{
	struct cfi_builder builder = {.machine = runtime->machine, .runtime = runtime};
	static const char *const plt_names[] = {".plt", ".plt.sec", ".plt.got"};
	struct elf_section plts[ARRAY_SIZE(plt_names)];
	VEC(struct cfi_function) functions = {0};
	uint8_t *unpacked = NULL;
	size_t plts_n = 0;

	if (!is_supported(runtime))
		return -ENOTSUP;
	find_code(&builder);
	cfi_read_go(&builder);
	add_eh_frame(&builder, runtime);
	add_debug_frame(&builder, runtime, &unpacked);
	sort_fdes(&builder);
	// Entries of the PLT share one description, and have names of their own.
	for (size_t i = 0; i < ARRAY_SIZE(plt_names); i++)
		plts_n += elf_find_section(runtime, plt_names[i], &plts[plts_n]);
	for (size_t i = 0; i < builder.fdes.n; i++) {
		const struct cfi_fde *fde = &builder.fdes.v[i];

		if (!is_in(plts, plts_n, fde->at))
			vec_push(&functions, (struct cfi_function){.at = fde->at,
								   .end = fde_end(&builder, i),
								   .vaddr = fde->vaddr});
	}
	builder_done(&builder);
	free(unpacked);
	*ret = functions.v;
	*ret_n = functions.n;
	return 0;
}

void cfi_table_done(struct cfi_table *table)
{
	if (!table)
		return;
	free(table->owned);
	free(table->index);
	*table = (struct cfi_table){0};
}

static bool expression_valid(const struct cfi_table *table, int32_t at)
{
	uint32_t n;

	if (at < 0 || table->expressions_n < 2 || (uint32_t)at > table->expressions_n - 2)
		return false;
	n = table->expressions[at] | (uint32_t)table->expressions[at + 1] << 8;
	return n <= table->expressions_n - 2 - (uint32_t)at;
}

static bool saved_valid(const struct cfi_table *table, const struct cfi_saved *saved)
{
	if (saved->reg >= CFI_REGS || saved->where > CFI_VAL_EXPRESSION)
		return false;
	if (saved->where == CFI_REGISTER && (saved->value < 0 || saved->value >= CFI_REGS))
		return false;
	return (saved->where != CFI_AT_EXPRESSION && saved->where != CFI_VAL_EXPRESSION) ||
	       expression_valid(table, saved->value);
}

static bool rule_valid(const struct cfi_table *table, uint32_t at)
{
	const struct cfi_rule *rule = cfi_rule_at(table, at);
	bool simple = rule->cfa == CFI_CFA_REGISTER;

	if (rule->cfa > CFI_CFA_EXPRESSION || rule->cfa_reg >= CFI_REGS - 1 || !rule->saved_n ||
	    rule->saved_n >= table->rules_n - at)
		return false;
	if (rule->cfa == CFI_CFA_EXPRESSION && !expression_valid(table, rule->cfa_offset))
		return false;
	if (rule->saved[0].reg != CFI_RA_COLUMN)
		return false;
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		if (!saved_valid(table, &rule->saved[i]) ||
		    (i && rule->saved[i].reg == CFI_RA_COLUMN))
			return false;
		simple = simple && rule->saved[i].where == CFI_AT_CFA;
	}
	return simple == !!(rule->flags & CFI_SIMPLE);
}

bool cfi_table_valid(const struct cfi_table *table)
{
	bool good = table->rules_n && table->rules[0] == 0;
	uint8_t *starts; // of rules

	if (!good || !is_known(table->machine))
		return false;
	if (table->rows_n && table->rows[table->rows_n - 1].rule)
		return false;
	starts = xcalloc(table->rules_n, 1);
	starts[0] = 1;
	for (uint32_t at = 1; at < table->rules_n && good;) {
		good = rule_valid(table, at);
		starts[at] = 1;
		at += 1u + cfi_rule_at(table, at)->saved_n;
	}
	for (uint32_t i = 0; i < table->rows_n && good; i++) {
		const struct cfi_row *row = &table->rows[i];

		good = row->rule < table->rules_n && starts[row->rule] &&
		       (!i || row->at > row[-1].at);
	}
	free(starts);
	return good;
}

void cfi_table_index(struct cfi_table *table)
{
	const struct cfi_row *rows = table->rows;
	uint32_t bytes, shift = 4, row = 0;

	if (table->index || table->rows_n < 2)
		return;
	bytes = rows[table->rows_n - 1].at - rows[0].at;
	while (bytes >> shift > table->rows_n / 4)
		shift++;
	table->index_shift = shift;
	table->index_n = (bytes >> shift) + 2;
	table->index = xmalloc(table->index_n * sizeof(*table->index));
	for (uint32_t block = 0; block < table->index_n; block++) {
		uint64_t at = rows[0].at + ((uint64_t)block << shift);

		while (row + 1 < table->rows_n && rows[row + 1].at <= at)
			row++;
		table->index[block] = row;
	}
}

const struct cfi_row *cfi_find(const struct cfi_table *table, uint64_t at)
{
	const struct cfi_row *rows = table->rows;
	uint32_t n = table->rows_n;

	if (!n || at < rows[0].at || at > UINT32_MAX)
		return NULL;
	if (table->index) {
		uint64_t block = (at - rows[0].at) >> table->index_shift;

		if (block + 1 >= table->index_n)
			return &rows[n - 1];
		rows += table->index[block];
		n = table->index[block + 1] - table->index[block] + 1;
	}
	// The last row that is not behind `at`; without branches that can't be foreseen.
	while (n > 1) {
		uint32_t half = n / 2;

		rows = rows[half].at <= at ? rows + half : rows;
		n -= half;
	}
	return rows;
}

struct str cfi_expression(const struct cfi_table *table, int32_t at)
{
	const uint8_t *p = table->expressions + at;

	return (struct str){(const char *)p + 2, (size_t)(p[0] | p[1] << 8)};
}
