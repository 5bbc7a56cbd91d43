// SPDX-License-Identifier: GPL-2.0-or-later
// Sort keys: who ran and where, by thread, file, symbol and source line.
#include "base/hash.h"
#include "hist/keys.h"
#include <elf.h>

// Names of threads and commands

static uint64_t pid_hash(R report, E e)
{
	return e->task ? e->task->tid : 0;
}
static int64_t pid_compare(R report, E l, E r)
{
	return (int32_t)pid_hash(report, r) - (int64_t)(int32_t)pid_hash(report, l);
}
static void pid_print(R report, E e, struct out *out, int width)
{
	const char *comm = e->task ? task_comm(report->run->sym, e->task) : "";

	out_printf(out, "%*d:", width < 0 ? 0 : 7, (int)pid_hash(report, e));
	key_put(out, comm,
		width < 0			  ? -1
		: (width > 7 ? width : 7) - 8 < 0 ? 0
						  : (width > 7 ? width : 7) - 8);
}

static const char *comm_of(R report, E e)
{
	return intern_get(&report->run->sym->strings, e->comm);
}
static uint64_t comm_hash(R report, E e)
{
	return e->comm;
}
static int64_t comm_compare(R report, E l, E r)
{
	return l->comm == r->comm ? 0 : strcmp(comm_of(report, r), comm_of(report, l));
}
static void comm_print(R report, E e, struct out *out, int width)
{
	key_put(out, comm_of(report, e), width);
}

// DSOs

static const char *dso_name(R report, const struct dso *dso)
{
	return report->verbose > 0 ? dso->long_name : dso->short_name;
}
uint64_t key_place_dso_hash(R report, const struct place *place)
{
	struct report *writable = (struct report *)report;
	const struct dso *dso = place->dso;
	uint64_t *hash;

	if (!dso)
		return 0;
	while (writable->dso_hashes.n <= dso->id)
		vec_push(&writable->dso_hashes, 0);
	hash = &writable->dso_hashes.v[dso->id];
	if (!*hash)
		*hash = hash_bytes(dso_name(report, dso), strlen(dso_name(report, dso))) | 1;
	return *hash;
}
int64_t key_place_dso_compare(R report, const struct place *l, const struct place *r)
{
	if (!l->dso || !r->dso)
		return key_null_compare(r->dso, l->dso);
	return l->dso == r->dso ? 0 : strcmp(dso_name(report, l->dso), dso_name(report, r->dso));
}
void key_place_dso_print(R report, const struct place *place, struct out *out, int width)
{
	key_put(out, place->dso ? dso_name(report, place->dso) : "[unknown]", width);
}
static uint64_t dso_hash(R report, E e)
{
	return key_place_dso_hash(report, &e->place);
}
static int64_t dso_compare(R report, E l, E r)
{
	return key_place_dso_compare(report, &r->place, &l->place);
}
static void dso_print(R report, E e, struct out *out, int width)
{
	key_place_dso_print(report, &e->place, out, width);
}

// Symbols

uint64_t key_place_symbol_hash(const struct place *place)
{
	return place->sym ? hash_mix(place->sym->start, place->sym->end) : hash_mix(place->addr, 1);
}
int64_t key_symbol_compare(const struct symbol *l, const struct symbol *r)
{
	if (!l || !r)
		return key_null_compare(l, r);
	if (l == r)
		return 0;
	if (l->inlined || r->inlined) {
		int cmp = strcmp(l->name, r->name);

		if (cmp)
			return cmp;
		if (l->start <= r->end && l->end >= r->start)
			return 0;
	}
	if (l->start != r->start)
		return key_address_compare(l->start, r->start);
	return key_address_compare(l->end, r->end);
}
void key_put_address(struct out *out, uint64_t addr)
{
	// "%-#.16llx": no 0x before zero
	if (addr)
		out_text(out, "0x");
	out_hex_zeros(out, addr, 16);
}
void key_place_symbol_print(R report, const struct shown_place *shown, struct out *out, int width)
{
	const struct place *place = shown->place;
	size_t start = out->n;

	if (report->verbose > 0) {
		uint64_t addr = shown->addr;

		if (place->dso && place->dso->adjust_symbols &&
		    (place->dso->kind == DSO_KERNEL || place->dso->kind == DSO_MODULE))
			addr = place->ip;
		out_printf(out, "%-#18llx %c ", (unsigned long long)addr,
			   place->dso ? place->dso->origin : '!');
	}
	if (width >= 0 || shown->level != ' ') {
		out_char(out, '[');
		out_char(out, shown->level);
		out_text(out, "] ");
	}
	if (!place->sym || !place->dso) {
		key_put_address(out, shown->addr);
	} else if (place->sym->type == STT_OBJECT) {
		out_text(out, place->sym->name);
		out_printf(out, "+0x%llx", (unsigned long long)(place->addr - place->sym->start));
	} else {
		key_put_most(out, place->sym->name, width < 0 ? -1 : width - (int)(out->n - start));
		if (place->sym->inlined)
			out_text(out, " (inlined)");
	}
}
uint64_t key_sym_hash(R report, E e)
{
	if (!e->place.sym && report->joins_unresolved)
		return 0;
	uint64_t h = key_place_symbol_hash(&e->place);

	return e->place.sym && !report->has_dso ? hash_mix(h, dso_hash(report, e)) : h;
}
int64_t key_sym_compare(R report, E l, E r)
{
	if (!l->place.sym && !r->place.sym)
		return report->joins_unresolved ? 0
						: key_address_compare(l->place.addr, r->place.addr);
	if (!report->has_dso) {
		int64_t cmp = dso_compare(report, l, r);

		if (cmp)
			return cmp;
	}
	return key_symbol_compare(l->place.sym, r->place.sym);
}
static int64_t sym_sort(R report, E l, E r)
{
	if (!l->place.sym || !r->place.sym)
		return key_null_compare(l->place.sym, r->place.sym);
	return strcmp(r->place.sym->name, l->place.sym->name);
}
static void sym_print(R report, E e, struct out *out, int width)
{
	key_place_symbol_print(report, PLACE_AS_IS(&e->place), out, width);
}

static uint64_t symbol_size_of(E e)
{
	return e->place.sym ? e->place.sym->end - e->place.sym->start : 0;
}
static uint64_t symbol_size_hash(R report, E e)
{
	return symbol_size_of(e);
}
static int64_t smaller(uint64_t l, uint64_t r)
{
	return l < r ? -1 : l > r;
}
static int64_t symbol_size_compare(R report, E l, E r)
{
	return smaller(symbol_size_of(r), symbol_size_of(l));
}
static void symbol_size_print(R report, E e, struct out *out, int width)
{
	if (e->place.sym)
		key_put_number_right(out, (int)symbol_size_of(e), width);
	else
		out_text_right(out, "unknown", width > 0 ? width : 0);
}
static uint64_t dso_size_hash(R report, E e)
{
	return e->x->map_size;
}
static int64_t dso_size_compare(R report, E l, E r)
{
	int64_t a = (int64_t)r->x->map_size, b = (int64_t)l->x->map_size;

	return a < b ? -1 : a > b;
}
static void dso_size_print(R report, E e, struct out *out, int width)
{
	if (e->place.dso)
		key_put_number_right(out, (int)e->x->map_size, width);
	else
		out_text_right(out, "unknown", width > 0 ? width : 0);
}
static uint64_t addr_hash(R report, E e)
{
	return e->place.ip;
}
static int64_t addr_compare(R report, E l, E r)
{
	return key_address_compare(l->place.ip, r->place.ip);
}
static void addr_print(R report, E e, struct out *out, int width)
{
	out_printf(out, "%-#*llx", width > 0 ? width : 0, (unsigned long long)e->place.ip);
}

// The IPC columns need annotation of the sampled code; perf shows these values without it.
static void ipc_null_print(R report, E e, struct out *out, int width)
{
	key_put_least(out, "-      -", width);
}
// Source lines. Without line information perf shows where in the symbol or file it is.

const char *report_known_srcline(struct report *report, const struct place *place)
{
	uint64_t *known =
		map_at(&report->srclines, hash_mix(place->dso->id + 1ull, place->addr), NULL);
	struct source_frame line;
	const char *text = NULL;

	if (*known > 1)
		return (const char *)(uintptr_t)*known;
	if (*known == 1)
		return NULL;
	if (source_line(report->sources, place->dso, place->addr, &line))
		text = source_text(report->sources, &line);
	*known = text ? (uintptr_t)text : 1;
	return text;
}
// The same place always has the same text, however often it is seen.
static const char *place_text(struct report *report, const char *name, const char *between, uint64_t n)
{
	struct out *out = &report->scratch;
	size_t start = out->n;
	uint32_t id;

	out_printf(out, "%s%s", name, between);
	if (*between == '[') {
		out_hex(out, n);
		out_char(out, ']');
	} else {
		out_u64(out, n);
	}
	id = intern_str(&report->texts, (struct str){out->buf + start, out->n - start});
	out->n = start;
	return intern_get(&report->texts, id);
}
const char *key_srcline_of(R report, const struct place *place)
{
	struct report *writable = (struct report *)report;
	const char *known;
	uint64_t at;

	if (!place->dso)
		return "??:0";
	known = report_known_srcline(writable, place);
	if (known)
		return known;
	if (place->sym && source_exists(report->sources, place->dso))
		return "??:0";
	if (place->sym)
		return place_text(writable, place->sym->name, "+", place->addr - place->sym->start);
	if (place->dso->kind == DSO_KERNEL || place->dso->kind == DSO_MODULE)
		at = place->dso->adjust_symbols ? place->ip : place->addr;
	else
		at = source_address(report->sources, place->dso, place->addr);
	return place_text(writable, place->dso->short_name, "[", at);
}
static const char *srcline(R report, E e)
{
	if (!e->x->srcline)
		e->x->srcline = key_srcline_of(report, &e->place);
	return e->x->srcline;
}
uint64_t key_text_hash(const char *text)
{
	return hash_bytes(text, strlen(text));
}
static uint64_t srcline_hash(R report, E e)
{
	return key_text_hash(srcline(report, e));
}
static int64_t srcline_compare(R report, E l, E r)
{
	return strcmp(srcline(report, r), srcline(report, l));
}
static void srcline_print(R report, E e, struct out *out, int width)
{
	key_put_most(out, srcline(report, e), width);
}
static const char *srcfile(R report, E e)
{
	struct report *writable = (struct report *)report;
	const char *line = e->x->srcline, *colon;

	if (e->x->srcfile)
		return e->x->srcfile;
	if (!line && e->place.dso)
		line = report_known_srcline(writable, &e->place);
	colon = line && strcmp(line, "??:0") ? strrchr(line, ':') : NULL;
	e->x->srcfile = !colon ? ""
			       : intern_get(&writable->texts,
					    intern_str(&writable->texts,
						       (struct str){line, (size_t)(colon - line)}));
	return e->x->srcfile;
}
static uint64_t srcfile_hash(R report, E e)
{
	return key_text_hash(srcfile(report, e));
}
static int64_t srcfile_compare(R report, E l, E r)
{
	return strcmp(srcfile(report, r), srcfile(report, l));
}
static void srcfile_print(R report, E e, struct out *out, int width)
{
	key_put_most(out, srcfile(report, e), width);
}

#define FRAME .flags = KEY_OF_FRAME

static const struct key keys[] = {
	K("pid", "    Pid:Command", WIDTH_THREAD, pid, .flags = 0),
	K("comm", "Command", WIDTH_COMM, comm, .flags = KEY_COLLAPSES),
	K("dso", "Shared Object", WIDTH_DSO, dso, FRAME),
	K2("symbol", "Symbol", WIDTH_SYMBOL, key_sym, sym, FRAME, .sort = sym_sort),
	K("srcline", "Source:Line", WIDTH_SRCLINE, srcline, FRAME),
	K("srcfile", "Source File", WIDTH_SRCFILE, srcfile, FRAME),
	K("symbol_size", "Symbol size", WIDTH_SYM_SIZE, symbol_size, FRAME),
	K("dso_size", "DSO size", WIDTH_DSO_SIZE, dso_size, FRAME),
	K2("ipc_null", "IPC   [IPC Coverage]", WIDTH_SYMBOL_IPC, key_sym, ipc_null, FRAME),
	K("addr", "Address", WIDTH_ADDR, addr, FRAME),
};
const struct key_list key_list_place = {keys, ARRAY_SIZE(keys)};
