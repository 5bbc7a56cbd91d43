// SPDX-License-Identifier: GPL-2.0-or-later
// code/annotate makes the lines of one function: code from sym/code (the mapped file, a vmlinux, /proc/kcore), instructions by
// obj/disasm, names of addresses by obj/names, source by the line table. They are in objdump's order and words, as perf's
// layout is what objdump printed, so nothing is parsed back; view/annotated is the model that text, tables and screens show.
// Counts are kept by (symbol, address) beside the rows, so a screen can open any function without reading the recording again.
// libcapstone only decodes: its text has other suffixes, numbers and names than objdump's, so x86 is written from the operands
// (obj/disasm_x86; of perf's own 575,980 instructions none differs).
#include "code/annotate.h"
#include "base/search.h"
#include "code/source_text.h"
#include "obj/demangle.h"
#include "obj/disasm.h"
#include "obj/inline.h"
#include "obj/line.h"
#include "sym/code.h"
#include "sym/source.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

struct shown_source {		 // what a function has shown of a file
	const char *name, *path; // as the compiler called it; where it is looked for
	uint32_t last, reach;	 // lines; reach: the last one that was shown
};

struct annotator {
	struct sym *sym;
	struct annotate_options options;
	struct sources *sources;
	VEC(struct code *) codes; // by dso->id
	struct source_texts *source_texts;
	struct intern texts;
	const struct dwarf_unit *marked; // whose marks these are
	struct line_marks marks;
};

struct annotator *annotator_new(struct sym *sym, const struct annotate_options *options)
{
	struct annotator *annotator = NEW(struct annotator);

	annotator->sym = sym;
	annotator->options = *options;
	annotator->sources = sources_new(sym);
	annotator->source_texts = source_texts_new();
	intern_init(&annotator->texts);
	return annotator;
}

void annotator_free(struct annotator *annotator)
{
	if (!annotator)
		return;
	for (size_t i = 0; i < annotator->codes.n; i++)
		code_free(annotator->codes.v[i]);
	vec_done(&annotator->codes);
	intern_done(&annotator->texts);
	vec_done(&annotator->marks);
	source_texts_free(annotator->source_texts);
	sources_free(annotator->sources);
	free(annotator);
}

static void source_path(const struct annotator *annotator, const char *name, char ret[PATH_MAX])
{
	const char *rest = name;

	if (!annotator->options.prefix || *name != '/') {
		snprintf(ret, PATH_MAX, "%s", name);
		return;
	}
	for (unsigned i = 0; i < annotator->options.strip && *rest; i++) {
		rest = strchr(rest + 1, '/');
		if (!rest) {
			rest = name;
			break;
		}
	}
	snprintf(ret, PATH_MAX, "%s%s", annotator->options.prefix, rest);
}

// ---- lines

struct maker {
	struct annotator *annotator;
	const struct annotate_request *request;
	struct annotated *to;
	struct code *code;
	struct code_bytes bytes;
	struct disasm *disasm;
	struct dwarf *dwarf;
	struct out scratch;
	VEC(struct shown_source) shown;
	uint32_t number; // perf's count of lines
	// of the instruction before
	const char *function, *file;
	uint32_t line;
	uint32_t said_line, said_discriminator; // that a note told last
};

// White space at both ends goes, tabs become spaces: as perf does with each line that it reads.
static const char *tidy(struct maker *maker, const char *text, size_t n)
{
	struct str s = str_trim((struct str){text, n});
	struct out *out = &maker->scratch;

	out->n = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\t')
			out_fill(out, ' ', 8 - out->n % 8);
		else
			out_char(out, s.p[i] ? s.p[i] : ' ');
	}
	return arena_strdup(&maker->to->arena, (struct str){out->buf, out->n});
}

static struct annotated_line *add_line(struct maker *maker, enum annotated_kind kind, const char *text)
{
	struct annotated_line *line = vec_add(&maker->to->lines);

	line->kind = kind;
	line->text = text;
	line->number = maker->number++;
	line->jump_to = ANNOTATED_NOWHERE;
	line->file = maker->file;
	line->line = maker->line;
	line->function = maker->function;
	return line;
}

__attribute__((format(printf, 2, 3))) static void add_note(struct maker *maker, const char *fmt, ...)
{
	char text[PATH_MAX + 64];
	va_list args;

	if (maker->annotator->options.own_lines)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	add_line(maker, ANNOTATED_NOTE, tidy(maker, text, strlen(text)));
}

// Lines [from, to] of a file, counted from 1.
static void add_source(struct maker *maker, const struct shown_source *file, uint32_t from,
		       uint32_t to)
{
	struct str text;

	for (uint32_t i = from; i <= to; i++) {
		struct annotated_line *line;

		if (!source_texts_line(maker->annotator->source_texts, file->path, i, &text))
			return;
		line = add_line(maker, ANNOTATED_SOURCE, tidy(maker, text.p, text.n));
		line->file = file->name;
		line->line = i;
	}
}

static struct shown_source *shown_of(struct maker *maker, const char *name)
{
	struct shown_source *shown;
	char path[PATH_MAX];

	for (size_t i = 0; i < maker->shown.n; i++) {
		if (maker->shown.v[i].name == name)
			return &maker->shown.v[i];
	}
	source_path(maker->annotator, name, path);
	shown = vec_add(&maker->shown);
	shown->name = name;
	shown->path = arena_strdup(&maker->to->arena, str_of(path));
	return shown;
}

// Which lines of a file stand before an instruction of `line`: those that were not shown yet, at most five before it; of
// what was shown already only the line itself. (GNU objdump's rule.)
static void show_source(struct maker *maker, const char *name, uint32_t line)
{
	enum { BEFORE = 5 };
	struct shown_source *shown = shown_of(maker, name);
	uint32_t from = line > BEFORE ? line - BEFORE : 1;

	if (shown->last == line)
		return;
	if (maker->annotator->options.own_lines)
		from = line;
	else if (shown->reach >= from)
		from = shown->reach < line ? shown->reach + 1 : line;
	add_source(maker, shown, from, line);
	shown->reach = MAX(shown->reach, line);
	shown->last = line;
}

static const char *keep(struct maker *maker, const char *text)
{
	struct intern *texts = &maker->annotator->texts;

	return text ? intern_get(texts, intern_text(texts, text)) : NULL;
}

// The function as objdump writes it: "name():", or as demangling gives it.
static const char *function_note(struct maker *maker, const char *name)
{
	char *plain = NULL;
	const char *note;

	if (!maker->annotator->sym->options.no_demangle && demangle_maybe(name))
		plain = demangle(name, true);
	note = arena_fmt(&maker->to->arena, "%s%s", plain ? plain : name, plain ? ":" : "():");
	free(plain);
	return note;
}

// Which of several pieces of code of a line it is; 0: the compiler didn't say.
static uint32_t discriminator_of(struct annotator *annotator, struct dwarf *dwarf, uint64_t addr,
				 uint32_t line)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, addr);
	struct line_marks *marks = &annotator->marks;
	size_t at;

	if (!unit)
		return 0;
	if (unit != annotator->marked) {
		vec_clear(marks);
		lines_read_marks(unit, marks);
		annotator->marked = unit;
	}
	at = SEARCH(marks->n, i, marks->v[i].addr <= addr);
	return at && marks->v[at - 1].line == line ? marks->v[at - 1].discriminator : 0;
}

// What the debug information says of an address comes before its instruction, when it is new.
static void add_place(struct maker *maker, uint64_t addr)
{
	struct dwarf_frame frames[1] = {{0}};
	const char *function = NULL, *file = NULL;
	uint32_t line = 0, discriminator = 0;

	if (maker->dwarf && dwarf_frames(maker->dwarf, addr, frames, 1)) {
		function = keep(maker, frames[0].function);
		file = keep(maker, frames[0].file);
		line = frames[0].line;
	}
	if (!function)
		function = keep(maker, code_function(maker->code, addr));
	maker->file = file;
	maker->line = line;
	if (function && function != maker->function) {
		add_note(maker, "%s", function_note(maker, function));
		maker->function = function;
		maker->said_line = 0;
	}
	if (!line)
		return;
	if (!maker->annotator->options.own_lines)
		discriminator = discriminator_of(maker->annotator, maker->dwarf, addr, line);
	if (line != maker->said_line || discriminator != maker->said_discriminator) {
		// perf takes the number from an absolute path and doesn't show it.
		if (file && *file == '/')
			maker->number = line;
		else if (discriminator)
			add_note(maker, "%s:%u (discriminator %u)", file ? file : "??", line,
				 discriminator);
		else
			add_note(maker, "%s:%u", file ? file : "??", line);
	}
	maker->said_line = line;
	maker->said_discriminator = discriminator;
	if (file && !maker->annotator->options.no_source)
		show_source(maker, file, line);
}

static void add_instruction(struct maker *maker, struct str bytes, uint64_t addr, uint32_t *ret_size)
{
	struct annotated_line *line;
	struct disasm_insn insn;
	static const enum annotated_flow flows[] = {
		[DISASM_PLAIN] = ANNOTATED_ON,
		[DISASM_JUMP] = ANNOTATED_JUMP,
		[DISASM_CALL] = ANNOTATED_CALL,
		[DISASM_RETURN] = ANNOTATED_RETURN,
	};

	add_place(maker, addr);
	maker->scratch.n = 0;
	insn = disasm_next(maker->disasm, bytes, addr, &maker->scratch);
	*ret_size = insn.size;
	line = add_line(maker, ANNOTATED_INSTRUCTION,
			arena_strdup(&maker->to->arena,
				     str_trim((struct str){maker->scratch.buf, maker->scratch.n})));
	line->addr = addr;
	line->offset = (uint32_t)(addr - maker->bytes.addr);
	line->size = insn.size;
	line->bytes = arena_memdup(&maker->to->arena, bytes.p, insn.size);
	line->flow = flows[insn.kind];
	line->is_nop = insn.is_nop;
	line->has_target = insn.has_target;
	line->target = insn.target;
	line->counts = arena_zalloc(&maker->to->arena, maker->to->events_n * sizeof(*line->counts));
}

// A long run of zeros is no code: objdump writes "...". Returns how many bytes that is.
static size_t zeros(const struct str bytes, size_t at)
{
	enum { LEAST = 8, LEAST_AT_END = 4 };
	size_t end = at;

	while (end < bytes.n && !bytes.p[end])
		end++;
	if (end - at < LEAST && !(end == bytes.n && end - at < LEAST_AT_END && end > at))
		return 0;
	return end == bytes.n ? end - at : (end - at) & ~(size_t)3;
}

static void add_code(struct maker *maker)
{
	const struct code_bytes *code = &maker->bytes;
	uint64_t next = code->addr;

	if (!maker->annotator->options.own_lines) {
		for (int i = 0; i < 3; i++)
			add_note(maker, "%s", "");
		add_note(maker, "Disassembly of section %s:", code->section);
	}
	for (size_t at = 0; at < code->bytes.n;) {
		uint64_t addr = code->addr + at, offset = 0;
		size_t skip = zeros(code->bytes, at);
		uint32_t size;

		if (addr >= next) {
			const char *name = code_name(maker->code, addr, &offset);

			add_note(maker, "%s", "");
			if (offset)
				add_note(maker, "%016llx <%s+0x%llx>:", (unsigned long long)addr,
					 name, (unsigned long long)offset);
			else
				add_note(maker, "%016llx <%s>:", (unsigned long long)addr,
					 name ? name : maker->request->symbol->name);
			if (!code_next_name(maker->code, addr, code->section_index, &next))
				next = UINT64_MAX;
		}
		if (skip) {
			add_note(maker, "...");
			at += skip;
			continue;
		}
		add_instruction(maker,
				(struct str){code->bytes.p + at, MIN(code->bytes.n - at, next - addr)},
				addr, &size);
		at += size;
	}
}

static const char *name_of(void *arg, uint64_t addr, uint64_t *ret_offset)
{
	return code_name(arg, addr, ret_offset);
}

// Padding behind a function that kallsyms gives no size is not its own.
static void drop_last_nops(struct annotated *annotated)
{
	while (annotated->lines.n && vec_last(&annotated->lines).is_nop)
		annotated->lines.n--;
}

static int open_code(struct annotator *annotator, struct dso *dso, struct code **ret)
{
	int err;

	while (annotator->codes.n <= dso->id)
		vec_push(&annotator->codes, NULL);
	if (!annotator->codes.v[dso->id]) {
		err = code_new(&annotator->codes.v[dso->id], annotator->sym, dso);
		if (err < 0)
			return err;
	}
	*ret = annotator->codes.v[dso->id];
	return 0;
}

int annotator_lines(struct annotator *annotator, const struct annotate_request *request,
		    struct annotated *ret)
{
	const struct symbol *symbol = request->symbol;
	struct maker maker = {.annotator = annotator, .request = request, .to = ret};
	struct disasm_options options;
	int err = open_code(annotator, request->dso, &maker.code);

	if (!err)
		err = code_read(maker.code, symbol->start, symbol->end, &maker.bytes);
	if (err < 0)
		return err;
	options = (struct disasm_options){
		.machine = maker.bytes.machine,
		.is_64bit = maker.bytes.is_64bit,
		.big_endian = maker.bytes.big_endian,
		.syntax = annotator->options.intel ? DISASM_INTEL : DISASM_ATT,
		.name_of = name_of,
		.arg = maker.code,
	};
	err = disasm_new(&maker.disasm, &options);
	if (err < 0)
		return err;
	annotated_init(ret, request->n);
	ret->symbol = symbol->name;
	ret->path = code_path(maker.code);
	ret->addr = maker.bytes.addr;
	ret->size = maker.bytes.wanted;
	maker.dwarf = source_dwarf(annotator->sources, request->dso);
	out_init_memory(&maker.scratch);
	add_code(&maker);
	if (!strcmp(maker.bytes.section, "load0"))
		drop_last_nops(ret);
	annotated_link(ret);
	annotator_recount(request, ret);
	if (request->blocks)
		blocks_annotate(blocks_find(request->blocks, symbol), ret);
	disasm_free(maker.disasm);
	out_done(&maker.scratch);
	vec_done(&maker.shown);
	return 0;
}

void annotator_recount(const struct annotate_request *request, struct annotated *annotated)
{
	const struct annotate_counts *counts = request->counts;
	const struct counted *counted = counts ? annotate_counts_find(counts, request->symbol) : NULL;
	struct annotated_line *lines = annotated->lines.v;

	vec_each(const uint32_t, i, &annotated->instructions)
		memset(lines[*i].counts, 0, annotated->events_n * sizeof(*lines[*i].counts));
	memset(annotated->totals, 0, annotated->events_n * sizeof(*annotated->totals));
	if (!counted)
		return;
	for (uint32_t k = 0; k < annotated->events_n && request->first + k < counts->events_n; k++)
		annotated->totals[k] = counted->totals[request->first + k];
	vec_each(const struct counted_place, place, &counted->places) {
		uint32_t at = annotated_before(annotated, annotated->addr + place->offset);
		struct annotated_count *to;

		if (at == ANNOTATED_NOWHERE || place->event < request->first ||
		    place->event - request->first >= annotated->events_n)
			continue;
		to = &lines[at].counts[place->event - request->first];
		to->samples += place->count.samples;
		to->period += place->count.period;
	}
}
