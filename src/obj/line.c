// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/line.h"
#include "base/search.h"
#include <dwarf.h>

enum {
	MOST_OVERLAPPING = 256, // sequences before an address that are looked at
	MOST_FORMATS = 16,
	LONGEST_PATH = 4096,
};

struct line_header {
	uint16_t version;
	uint8_t min_bytes, line_range, opcode_base;
	bool is_stmt; // at the start of a sequence
	int8_t line_base;
	uint8_t lengths[256]; // arguments of standard opcodes
	const uint8_t *program;
};

struct state {
	struct lines *lines;
	uint64_t addr;
	uint32_t file, line, discriminator;
	bool open; // inside of a sequence
	bool is_stmt, starts_as_stmt;
	struct line_marks *marks; // NULL: rows are wanted
	bool zero_is_code;
	uint64_t last_addr; // the highest address there is
	struct line_sequence sequence;
};

static void close_sequence(struct state *s, uint64_t high)
{
	struct lines *lines = s->lines;
	struct line_sequence *sequence = &s->sequence;

	if (!s->open)
		return;
	s->open = false;
	sequence->high = high;
	sequence->n = (uint32_t)lines->rows.n - sequence->first;
	// Linkers leave code that they left out at the lowest or the highest addresses.
	if (high <= sequence->low || sequence->low >= s->last_addr - 1 ||
	    (!sequence->low && !s->zero_is_code))
		lines->rows.n = sequence->first;
	else
		vec_push(&lines->sequences, *sequence);
}

static inline void emit(struct state *s)
{
	struct lines *lines = s->lines;
	struct line_row *last;

	if (s->marks) {
		vec_push(s->marks,
			 (struct line_mark){s->addr, s->file, s->line, (uint32_t)s->marks->n,
					    s->discriminator, s->is_stmt});
		s->discriminator = 0;
		return;
	}
	if (s->open && s->addr < vec_last(&lines->rows).addr)
		close_sequence(s, vec_last(&lines->rows).addr);
	if (!s->open) {
		s->open = true;
		s->sequence =
			(struct line_sequence){.low = s->addr, .first = (uint32_t)lines->rows.n};
		vec_push(&lines->rows, (struct line_row){s->addr, s->file, s->line});
		return;
	}
	last = &vec_last(&lines->rows);
	if (last->addr == s->addr) {
		last->file = s->file;
		last->line = s->line;
	} else if (last->file != s->file || last->line != s->line) {
		vec_push(&lines->rows, (struct line_row){s->addr, s->file, s->line});
	}
}

static void start_state(struct state *s)
{
	s->addr = 0;
	s->file = s->line = 1;
	s->discriminator = 0;
	s->is_stmt = s->starts_as_stmt;
}

// Opcodes behind a 0 byte.
static void extended(struct state *s, struct dwarf_reader *r)
{
	uint64_t n = dwarf_uleb(r);
	struct dwarf_reader in = *r;

	dwarf_skip(r, n);
	if (r->bad || !n)
		return;
	in.end = in.p + n;
	switch (dwarf_u8(&in)) {
	case DW_LNE_end_sequence:
		close_sequence(s, s->addr);
		start_state(s);
		break;
	case DW_LNE_set_address:
		s->addr = dwarf_uint(&in, n - 1 == 4 ? 4 : 8);
		break;
	case DW_LNE_set_discriminator:
		s->discriminator = (uint32_t)dwarf_uleb(&in);
		break;
	case DW_LNE_define_file: {
		struct line_file file = {.name = dwarf_cstr(&in)};

		file.dir = (uint32_t)dwarf_uleb(&in);
		vec_push(&s->lines->files, file);
		break;
	}
	}
}

static void standard(struct state *s, struct dwarf_reader *r, const struct line_header *header,
		     uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		emit(s);
		break;
	case DW_LNS_advance_pc:
		s->addr += dwarf_uleb(r) * header->min_bytes;
		break;
	case DW_LNS_advance_line:
		s->line += (uint32_t)dwarf_sleb(r);
		break;
	case DW_LNS_negate_stmt:
		s->is_stmt = !s->is_stmt;
		break;
	case DW_LNS_set_file:
		s->file = (uint32_t)dwarf_uleb(r);
		break;
	case DW_LNS_const_add_pc:
		s->addr += (uint64_t)((255 - header->opcode_base) / header->line_range) *
			   header->min_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		s->addr += dwarf_u16(r);
		break;
	default:
		for (unsigned i = 0; i < header->lengths[opcode]; i++)
			dwarf_uleb(r);
	}
}

static void run_program(struct state *s, struct dwarf_reader *r, const struct line_header *header)
{
	// What each special opcode adds.
	uint32_t addr_steps[256];
	int32_t line_steps[256];

	for (unsigned i = header->opcode_base; i < 256; i++) {
		unsigned n = i - header->opcode_base;

		addr_steps[i] = n / header->line_range * header->min_bytes;
		line_steps[i] = header->line_base + (int)(n % header->line_range);
	}
	s->starts_as_stmt = header->is_stmt;
	start_state(s);
	while (r->p < r->end && !r->bad && s->lines->rows.n < UINT32_MAX &&
	       (!s->marks || s->marks->n < UINT32_MAX)) {
		uint8_t opcode = *r->p++;

		if (opcode >= header->opcode_base) {
			s->addr += addr_steps[opcode];
			s->line += (uint32_t)line_steps[opcode];
			emit(s);
		} else if (opcode) {
			standard(s, r, header, opcode);
		} else {
			extended(s, r);
		}
	}
	// A sequence without its end.
	if (s->open)
		close_sequence(s, vec_last(&s->lines->rows).addr + 1);
}

// Folders and files as versions 2 to 4 have them; number 1 is the first.
static void old_tables(struct lines *lines, struct dwarf_reader *r, const struct dwarf_unit *unit)
{
	const char *text;

	vec_push(&lines->dirs, lines->comp_dir);
	while (*(text = dwarf_cstr(r)))
		vec_push(&lines->dirs, text);
	vec_push(&lines->files, (struct line_file){.name = unit->name});
	while (*(text = dwarf_cstr(r))) {
		struct line_file file = {.name = text, .dir = (uint32_t)dwarf_uleb(r)};

		dwarf_uleb(r);
		dwarf_uleb(r);
		vec_push(&lines->files, file);
	}
}

// One of the two tables of version 5.
static void new_table(struct lines *lines, struct dwarf_reader *r, const struct dwarf_unit *unit,
		      bool is_dirs)
{
	struct dwarf_attr formats[MOST_FORMATS];
	unsigned formats_n = dwarf_u8(r);
	uint64_t n;

	if (formats_n > MOST_FORMATS) {
		r->bad = true;
		return;
	}
	for (unsigned i = 0; i < formats_n; i++) {
		formats[i] = (struct dwarf_attr){.name = (uint16_t)dwarf_uleb(r)};
		formats[i].form = (uint16_t)dwarf_uleb(r);
	}
	n = dwarf_uleb(r);
	if (!formats_n || n > dwarf_left(r)) {
		r->bad |= n != 0;
		return;
	}
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		struct line_file file = {0};

		for (unsigned k = 0; k < formats_n; k++) {
			struct dwarf_value value;

			dwarf_read_value(r, unit, &formats[k], &value);
			if (formats[k].name == DW_LNCT_path)
				file.name = dwarf_text(unit, &value);
			else if (formats[k].name == DW_LNCT_directory_index)
				file.dir = (uint32_t)value.u;
		}
		if (is_dirs)
			vec_push(&lines->dirs, file.name);
		else
			vec_push(&lines->files, file);
	}
}

// Leaves the reader at the program.
static bool read_header(struct lines *lines, struct dwarf_reader *r, const struct dwarf_unit *unit,
			struct line_header *ret)
{
	struct dwarf_unit how = *unit; // forms of offsets depend on the table's own
	struct line_header header = {0};
	uint64_t length;

	dwarf_length(r, &how.offset_size);
	header.version = dwarf_u16(r);
	if (r->bad || header.version < 2 || header.version > 5)
		return false;
	how.version = header.version;
	if (header.version >= 5) {
		how.address_size = dwarf_u8(r);
		if (dwarf_u8(r) || (how.address_size != 4 && how.address_size != 8))
			return false;
	}
	length = dwarf_uint(r, how.offset_size);
	if (r->bad || length > dwarf_left(r))
		return false;
	header.program = r->p + length;
	header.min_bytes = dwarf_u8(r);
	if (header.version >= 4)
		dwarf_u8(r); // operations an instruction: more than one for IA-64 only
	header.is_stmt = dwarf_u8(r) != 0;
	header.line_base = (int8_t)dwarf_u8(r);
	header.line_range = dwarf_u8(r);
	header.opcode_base = dwarf_u8(r);
	if (!header.line_range || !header.opcode_base)
		return false;
	for (unsigned i = 1; i < header.opcode_base; i++)
		header.lengths[i] = dwarf_u8(r);
	if (header.version >= 5) {
		new_table(lines, r, &how, true);
		new_table(lines, r, &how, false);
	} else {
		old_tables(lines, r, unit);
	}
	r->p = header.program;
	*ret = header;
	return !r->bad;
}

static int by_low(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void sort_sequences(struct lines *lines)
{
	struct line_sequence *v = lines->sequences.v;
	size_t n = lines->sequences.n, i;
	uint64_t reach = 0;

	for (i = 1; i < n && v[i - 1].low <= v[i].low; i++)
		;
	if (i < n)
		qsort(v, n, sizeof(*v), by_low);
	for (i = 0; i < n; i++) {
		reach = MAX(reach, v[i].high);
		v[i].reach = reach;
	}
}

static struct lines *read_lines(struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->dwarf;
	struct dwarf_reader r =
		dwarf_reader_at(dwarf_section(dwarf, DWARF_LINE), unit->line_at, dwarf->elf.swap);
	const uint8_t *start = r.p;
	struct lines *lines = NEW(struct lines);
	struct line_header header;
	struct state state = {
		.lines = lines,
		.zero_is_code = dwarf->zero_is_code,
		.last_addr = unit->address_size == 4 ? UINT32_MAX : UINT64_MAX,
	};

	lines->comp_dir = unit->comp_dir;
	lines->arena = &dwarf->arena;
	// Together they can't be longer than the section, unless they were made up.
	if (dwarf_left(&r) > dwarf->line_budget)
		r.end = r.p + dwarf->line_budget;
	if (r.bad || !read_header(lines, &r, unit, &header)) {
		dwarf->line_budget -= MIN(dwarf->line_budget, (uint64_t)(r.p - start) + 1);
		return lines;
	}
	vec_reserve(&lines->rows, dwarf_left(&r) / 4 + 8);
	run_program(&state, &r, &header);
	dwarf->line_budget -= MIN(dwarf->line_budget, (uint64_t)(r.p - start));
	sort_sequences(lines);
	return lines;
}

struct lines *lines_of(struct dwarf_unit *unit)
{
	struct lines *lines;

	if (unit->skeleton)
		unit = unit->skeleton;
	if (!dwarf_unit_root(unit) || unit->line_at == UINT64_MAX)
		return NULL;
	lines = map_find_ptr(&unit->dwarf->lines, unit->line_at);
	if (!lines) {
		lines = read_lines(unit);
		map_set_ptr(&unit->dwarf->lines, unit->line_at, lines);
	}
	return lines;
}

static int by_addr(const void *a, const void *b)
{
	const struct line_mark *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void lines_read_marks(struct dwarf_unit *unit, struct line_marks *ret)
{
	struct lines scratch = {0};
	struct line_header header;
	struct dwarf_reader r;
	struct state state;

	if (unit->skeleton)
		unit = unit->skeleton;
	if (!dwarf_unit_root(unit) || unit->line_at == UINT64_MAX)
		return;
	r = dwarf_reader_at(dwarf_section(unit->dwarf, DWARF_LINE), unit->line_at,
			    unit->dwarf->elf.swap);
	state = (struct state){.lines = &scratch, .marks = ret};
	if (!r.bad && read_header(&scratch, &r, unit, &header))
		run_program(&state, &r, &header);
	vec_done(&scratch.dirs);
	vec_done(&scratch.files);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_addr);
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	vec_done(&lines->rows);
	vec_done(&lines->sequences);
	vec_done(&lines->files);
	vec_done(&lines->dirs);
	free(lines);
}

static const struct line_row *row_in(const struct lines *lines,
				     const struct line_sequence *sequence, uint64_t addr)
{
	const struct line_row *row = &lines->rows.v[sequence->first];
	size_t low = SEARCH(sequence->n, i, row[i].addr <= addr);

	return low ? &row[low - 1] : NULL;
}

const struct line_row *lines_find(const struct lines *lines, uint64_t addr)
{
	size_t low = SEARCH(lines->sequences.n, i, lines->sequences.v[i].low <= addr);

	for (size_t n = 0; low-- > 0 && n < MOST_OVERLAPPING; n++) {
		const struct line_sequence *sequence = &lines->sequences.v[low];

		if (addr < sequence->high)
			return row_in(lines, sequence, addr);
		if (addr >= sequence->reach)
			return NULL;
	}
	return NULL;
}

const char *lines_path(struct lines *lines, uint32_t file)
{
	struct line_file *f;
	const char *dir, *top;

	if (file >= lines->files.n)
		return NULL;
	f = &lines->files.v[file];
	if (f->path || !f->name || !*f->name)
		return f->path;
	dir = f->dir < lines->dirs.n ? lines->dirs.v[f->dir] : NULL;
	top = lines->comp_dir;
	// The first one is the unit's own.
	if (dir && (*dir == '/' || !f->dir))
		top = NULL;
	if (*f->name == '/')
		dir = top = NULL;
	f->path = arena_fmt(lines->arena, "%.*s%s%.*s%s%.*s", LONGEST_PATH, top ? top : "",
			    top && *top ? "/" : "", LONGEST_PATH, dir ? dir : "",
			    dir && *dir ? "/" : "", LONGEST_PATH, f->name);
	return f->path;
}
