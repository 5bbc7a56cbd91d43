// SPDX-License-Identifier: GPL-2.0-or-later
// The sort keys: how entries compare and how their columns look. Both are perf's (tools/perf/util/sort.c of 6.1).
#include "base/hash.h"
#include "base/perf_event.h"
#include "cmd/core/mem_levels.h"
#include "cmd/report/report.h"
#include <stdio.h>

typedef const struct report *R;
typedef const struct entry *E;

static int64_t null_compare(const void *l, const void *r)
{
	if (!l && !r)
		return 0;
	return l ? 1 : -1;
}

static int64_t address_compare(uint64_t l, uint64_t r)
{
	return (int64_t)(r - l);
}

// "%-*.*s"
static void put(struct out *out, const char *text, int width)
{
	int n = (int)strlen(text);

	if (width >= 0 && n > width)
		n = width;
	out_bytes(out, text, (size_t)n);
	if (width > n)
		out_fill(out, ' ', (size_t)(width - n));
}

// "%-*s"
static void put_least(struct out *out, const char *text, int width)
{
	int n = (int)strlen(text);

	out_text(out, text);
	if (width > n)
		out_fill(out, ' ', (size_t)(width - n));
}

// "%-.*s"
static void put_most(struct out *out, const char *text, int width)
{
	size_t n = strlen(text);

	out_bytes(out, text, width >= 0 && n > (size_t)width ? (size_t)width : n);
}

static void put_number(struct out *out, long long n, int width)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", n);
	put_least(out, text, width);
}

static void put_number_right(struct out *out, long long n, int width)
{
	out_printf(out, "%*lld", width > 0 ? width : 0, n);
}

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
	const char *comm = e->task ? task_comm(report->session->sym, e->task) : "";

	out_printf(out, "%*d:", width < 0 ? 0 : 7, (int)pid_hash(report, e));
	put(out, comm,
	    width < 0			      ? -1
	    : (width > 7 ? width : 7) - 8 < 0 ? 0
					      : (width > 7 ? width : 7) - 8);
}

static const char *comm_of(R report, E e)
{
	return intern_get(&report->session->sym->strings, e->comm);
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
	put(out, comm_of(report, e), width);
}

// DSOs

static const char *dso_name(R report, const struct dso *dso)
{
	return report->verbose > 0 ? dso->long_name : dso->short_name;
}
static uint64_t place_dso_hash(R report, const struct place *place)
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
static int64_t place_dso_compare(R report, const struct place *l, const struct place *r)
{
	if (!l->dso || !r->dso)
		return null_compare(r->dso, l->dso);
	return l->dso == r->dso ? 0 : strcmp(dso_name(report, l->dso), dso_name(report, r->dso));
}
static void place_dso_print(R report, const struct place *place, struct out *out, int width)
{
	put(out, place->dso ? dso_name(report, place->dso) : "[unknown]", width);
}
static uint64_t dso_hash(R report, E e)
{
	return place_dso_hash(report, &e->place);
}
static int64_t dso_compare(R report, E l, E r)
{
	return place_dso_compare(report, &r->place, &l->place);
}
static void dso_print(R report, E e, struct out *out, int width)
{
	place_dso_print(report, &e->place, out, width);
}

// Symbols

static uint64_t place_symbol_hash(const struct place *place)
{
	return place->sym ? hash_mix(place->sym->start, place->sym->end) : hash_mix(place->addr, 1);
}
static int64_t symbol_compare(const struct symbol *l, const struct symbol *r)
{
	if (!l || !r)
		return null_compare(l, r);
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
		return address_compare(l->start, r->start);
	return address_compare(l->end, r->end);
}
static void put_address(struct out *out, uint64_t addr)
{
	// "%-#.16llx": no 0x before zero
	if (addr)
		out_text(out, "0x");
	out_hex_zeros(out, addr, 16);
}
static void place_symbol_print(R report, const struct place *place, uint64_t addr, char level,
			       struct out *out, int width)
{
	size_t start = out->n;

	if (report->verbose > 0) {
		uint64_t shown = addr;

		if (place->dso && place->dso->adjust_symbols &&
		    (place->dso->kind == DSO_KERNEL || place->dso->kind == DSO_MODULE))
			shown = place->ip;
		out_printf(out, "%-#18llx %c ", (unsigned long long)shown,
			   place->dso ? place->dso->origin : '!');
	}
	if (width >= 0 || level != ' ') {
		out_char(out, '[');
		out_char(out, level);
		out_text(out, "] ");
	}
	if (!place->sym || !place->dso) {
		put_address(out, addr);
	} else if (place->sym->type == 1 /* STT_OBJECT */) {
		out_text(out, place->sym->name);
		out_printf(out, "+0x%llx", (unsigned long long)(place->addr - place->sym->start));
	} else {
		put_most(out, place->sym->name, width < 0 ? -1 : width - (int)(out->n - start));
		if (place->sym->inlined)
			out_text(out, " (inlined)");
	}
}
static uint64_t sym_hash(R report, E e)
{
	uint64_t h = place_symbol_hash(&e->place);

	return e->place.sym && !report->has_dso ? hash_mix(h, dso_hash(report, e)) : h;
}
static int64_t sym_compare(R report, E l, E r)
{
	if (!l->place.sym && !r->place.sym)
		return address_compare(l->place.addr, r->place.addr);
	if (!report->has_dso) {
		int64_t cmp = dso_compare(report, l, r);

		if (cmp)
			return cmp;
	}
	return symbol_compare(l->place.sym, r->place.sym);
}
static int64_t sym_sort(R report, E l, E r)
{
	if (!l->place.sym || !r->place.sym)
		return null_compare(l->place.sym, r->place.sym);
	return strcmp(r->place.sym->name, l->place.sym->name);
}
static void sym_print(R report, E e, struct out *out, int width)
{
	place_symbol_print(report, &e->place, e->place.addr, e->place.level, out, width);
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
		put_number_right(out, (int)symbol_size_of(e), width);
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
		put_number_right(out, (int)e->x->map_size, width);
	else
		out_text_right(out, "unknown", width > 0 ? width : 0);
}
static uint64_t addr_hash(R report, E e)
{
	return e->place.ip;
}
static int64_t addr_compare(R report, E l, E r)
{
	return address_compare(l->place.ip, r->place.ip);
}
static void addr_print(R report, E e, struct out *out, int width)
{
	out_printf(out, "%-#*llx", width > 0 ? width : 0, (unsigned long long)e->place.ip);
}

// The IPC columns need annotation of the sampled code; perf shows these values without it.
static void ipc_null_print(R report, E e, struct out *out, int width)
{
	put_least(out, "-      -", width);
}
static void ipc_print(R report, E e, struct out *out, int width)
{
	put_least(out, e->place.sym ? "0.00  [  0.0%]" : "-", width);
}

// Source lines. Without line information perf shows where in the symbol or file it is.

// "file.c:12", or NULL when it is not known.
static const char *known_srcline(struct report *report, const struct place *place)
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
		text = source_text(report->sources, &line, false);
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
static const char *srcline_of(R report, const struct place *place)
{
	struct report *writable = (struct report *)report;
	const char *known;

	if (!place->dso)
		return "??:0";
	known = known_srcline(writable, place);
	if (known)
		return known;
	if (place->sym && source_exists(report->sources, place->dso))
		return "??:0";
	if (place->sym)
		return place_text(writable, place->sym->name, "+", place->addr - place->sym->start);
	return place_text(writable, place->dso->short_name, "[",
			  place->dso->adjust_symbols ? place->ip : place->addr);
}
static const char *srcline(R report, E e)
{
	if (!e->x->srcline)
		e->x->srcline = srcline_of(report, &e->place);
	return e->x->srcline;
}
static uint64_t text_hash(const char *text)
{
	return hash_bytes(text, strlen(text));
}
static uint64_t srcline_hash(R report, E e)
{
	return text_hash(srcline(report, e));
}
static int64_t srcline_compare(R report, E l, E r)
{
	return strcmp(srcline(report, r), srcline(report, l));
}
static void srcline_print(R report, E e, struct out *out, int width)
{
	put_most(out, srcline(report, e), width);
}
static const char *srcfile(R report, E e)
{
	struct report *writable = (struct report *)report;
	const char *line = e->x->srcline, *colon;

	if (e->x->srcfile)
		return e->x->srcfile;
	if (!line && e->place.dso)
		line = known_srcline(writable, &e->place);
	colon = line && strcmp(line, "??:0") ? strrchr(line, ':') : NULL;
	e->x->srcfile = !colon ? ""
			       : intern_get(&writable->texts,
					    intern_str(&writable->texts,
						       (struct str){line, (size_t)(colon - line)}));
	return e->x->srcfile;
}
static uint64_t srcfile_hash(R report, E e)
{
	return text_hash(srcfile(report, e));
}
static int64_t srcfile_compare(R report, E l, E r)
{
	return strcmp(srcfile(report, r), srcfile(report, l));
}
static void srcfile_print(R report, E e, struct out *out, int width)
{
	put_most(out, srcfile(report, e), width);
}
static const char *end_srcline(R report, E e, bool from)
{
	return e->x->branch ? srcline_of(report, from ? &e->x->branch->from : &e->x->branch->to)
			    : "??:0";
}
static uint64_t srcline_from_hash(R report, E e)
{
	return text_hash(end_srcline(report, e, true));
}
static int64_t srcline_from_compare(R report, E l, E r)
{
	return strcmp(end_srcline(report, r, true), end_srcline(report, l, true));
}
static void srcline_from_print(R report, E e, struct out *out, int width)
{
	put(out, end_srcline(report, e, true), width);
}
static uint64_t srcline_to_hash(R report, E e)
{
	return text_hash(end_srcline(report, e, false));
}
static int64_t srcline_to_compare(R report, E l, E r)
{
	return strcmp(end_srcline(report, r, false), end_srcline(report, l, false));
}
static void srcline_to_print(R report, E e, struct out *out, int width)
{
	put(out, end_srcline(report, e, false), width);
}

// Of the sample

static uint64_t parent_hash(R report, E e)
{
	return e->parent ? text_hash(e->parent->name) : 0;
}
static int64_t parent_compare(R report, E l, E r)
{
	if (!l->parent || !r->parent)
		return null_compare(l->parent, r->parent);
	return strcmp(r->parent->name, l->parent->name);
}
static void parent_print(R report, E e, struct out *out, int width)
{
	put(out, e->parent ? e->parent->name : "[other]", width);
}
static uint64_t cpu_hash(R report, E e)
{
	return (uint64_t)e->cpu;
}
static int64_t cpu_compare(R report, E l, E r)
{
	return (int64_t)r->cpu - l->cpu;
}
static void cpu_print(R report, E e, struct out *out, int width)
{
	if (width < 0)
		put_number(out, e->cpu, 0);
	else
		out_printf(out, "%*.*d", width, width, e->cpu);
}
static uint64_t socket_hash(R report, E e)
{
	return (uint64_t)e->socket;
}
static int64_t socket_compare(R report, E l, E r)
{
	return (int64_t)r->socket - l->socket;
}
static void socket_print(R report, E e, struct out *out, int width)
{
	if (width < 0)
		put_number(out, e->socket, 0);
	else
		out_printf(out, "%*.*d", width, width - 3, e->socket);
}
static uint64_t time_hash(R report, E e)
{
	return e->x->time;
}
static int64_t time_compare(R report, E l, E r)
{
	return address_compare(l->x->time, r->x->time);
}
static void time_print(R report, E e, struct out *out, int width)
{
	char text[48];

	if (report->o.ns)
		snprintf(text, sizeof(text), "%llu.%09llu",
			 (unsigned long long)(e->x->time / 1000000000),
			 (unsigned long long)(e->x->time % 1000000000));
	else
		snprintf(text, sizeof(text), "%llu.%06llu",
			 (unsigned long long)(e->x->time / 1000000000),
			 (unsigned long long)(e->x->time % 1000000000 / 1000));
	put_most(out, text, width);
}
static uint64_t cgroup_hash(R report, E e)
{
	return e->x->cgroup;
}
static int64_t cgroup_compare(R report, E l, E r)
{
	return address_compare(l->x->cgroup, r->x->cgroup);
}
static const char *cgroup_name(R report, E e)
{
	const char *name;

	if (!e->x->cgroup)
		return "N/A";
	name = sym_cgroup(report->session->sym, e->x->cgroup);
	return name ? name : "unknown";
}
static void cgroup_print(R report, E e, struct out *out, int width)
{
	out_text(out, cgroup_name(report, e));
}
static uint64_t cgroup_id_hash(R report, E e)
{
	return hash_mix(e->x->cgroup_dev, e->x->cgroup_ino);
}
static int64_t cgroup_id_compare(R report, E l, E r)
{
	int64_t cmp = address_compare(r->x->cgroup_dev, l->x->cgroup_dev);

	return cmp ? cmp : address_compare(r->x->cgroup_ino, l->x->cgroup_ino);
}
static void cgroup_id_print(R report, E e, struct out *out, int width)
{
	out_printf(out, "%llu/0x%llx", (unsigned long long)e->x->cgroup_dev,
		   (unsigned long long)e->x->cgroup_ino);
}

static const char *trace(E e)
{
	return e->x->trace ? e->x->trace : "";
}
static uint64_t trace_hash(R report, E e)
{
	return (uintptr_t)e->x->trace;
}
static int64_t trace_compare(R report, E l, E r)
{
	return l->x->trace == r->x->trace ? 0 : strcmp(trace(r), trace(l));
}
static void trace_print(R report, E e, struct out *out, int width)
{
	put_most(out, e->x->trace ? e->x->trace : "N/A", width);
}

// Weights

static uint64_t weight_hash(R report, E e)
{
	return e->x->weight;
}
static int64_t weight_compare(R report, E l, E r)
{
	return (int64_t)(l->x->weight - r->x->weight);
}
static void local_weight_print(R report, E e, struct out *out, int width)
{
	put_number(out, (long long)e->x->weight, width);
}
static void weight_print(R report, E e, struct out *out, int width)
{
	put_number(out, (long long)(e->x->weight * e->samples), width);
}
static uint64_t ins_lat_hash(R report, E e)
{
	return e->x->ins_lat;
}
static int64_t ins_lat_compare(R report, E l, E r)
{
	return (int64_t)l->x->ins_lat - r->x->ins_lat;
}
static void local_ins_lat_print(R report, E e, struct out *out, int width)
{
	put_number(out, e->x->ins_lat, width);
}
static void ins_lat_print(R report, E e, struct out *out, int width)
{
	put_number(out, e->x->ins_lat * e->samples, width);
}
static uint64_t stage_hash(R report, E e)
{
	return e->x->p_stage_cyc;
}
static int64_t stage_compare(R report, E l, E r)
{
	return (int64_t)l->x->p_stage_cyc - r->x->p_stage_cyc;
}
static void local_stage_print(R report, E e, struct out *out, int width)
{
	put_number(out, e->x->p_stage_cyc, width);
}
static void stage_print(R report, E e, struct out *out, int width)
{
	put_number(out, e->x->p_stage_cyc * e->samples, width);
}
static void page_size_text(char *text, size_t size, uint64_t n)
{
	int i = 0;

	if (!n) {
		snprintf(text, size, "N/A");
		return;
	}
	for (; n / 1024 > 1 && i < 3; i++)
		n /= 1024;
	snprintf(text, size, "%llu%c", (unsigned long long)n, "BKMG"[i]);
}
static uint64_t code_page_size_hash(R report, E e)
{
	return e->x->code_page_size;
}
static int64_t code_page_size_compare(R report, E l, E r)
{
	return address_compare(l->x->code_page_size, r->x->code_page_size);
}
static void code_page_size_print(R report, E e, struct out *out, int width)
{
	char text[32];

	page_size_text(text, sizeof(text), e->x->code_page_size);
	put_least(out, text, width);
}
static uint64_t transaction_hash(R report, E e)
{
	return e->x->transaction;
}
static int64_t transaction_compare(R report, E l, E r)
{
	return (int64_t)(l->x->transaction - r->x->transaction);
}
static void transaction_print(R report, E e, struct out *out, int width)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} bits[] = {{PERF_TXN_ELISION, "EL "},
		    {PERF_TXN_TRANSACTION, "TX "},
		    {PERF_TXN_SYNC, "SYNC "},
		    {PERF_TXN_ASYNC, "ASYNC "},
		    {PERF_TXN_RETRY, "RETRY "},
		    {PERF_TXN_CONFLICT, "CON "},
		    {PERF_TXN_CAPACITY_WRITE, "CAP-WRITE "},
		    {PERF_TXN_CAPACITY_READ, "CAP-READ "}};
	uint64_t t = e->x->transaction;
	char text[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (t & bits[i].bit)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", bits[i].name);
	}
	if (t && !(t & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "NEITHER ");
	if (t & PERF_TXN_ABORT_MASK)
		snprintf(text + n, sizeof(text) - n, ":%llx",
			 (unsigned long long)((t & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT));
	put_least(out, text, width);
}

// Branches

static int64_t no_branch(E l, E r, bool *ret)
{
	*ret = !l->x->branch || !r->x->branch;
	return *ret ? null_compare(l->x->branch, r->x->branch) : 0;
}
#define END_KEYS(end)                                                                              \
	static uint64_t dso_##end##_hash(R report, E e)                                            \
	{                                                                                          \
		return e->x->branch ? place_dso_hash(report, &e->x->branch->end) : 0;              \
	}                                                                                          \
	static int64_t dso_##end##_compare(R report, E l, E r)                                     \
	{                                                                                          \
		bool none;                                                                         \
		int64_t cmp = no_branch(l, r, &none);                                              \
		return none ? cmp                                                                  \
			    : place_dso_compare(report, &l->x->branch->end, &r->x->branch->end);   \
	}                                                                                          \
	static void dso_##end##_print(R report, E e, struct out *out, int width)                   \
	{                                                                                          \
		if (e->x->branch)                                                                  \
			place_dso_print(report, &e->x->branch->end, out, width);                   \
		else                                                                               \
			put(out, "N/A", width);                                                    \
	}                                                                                          \
	static uint64_t symbol_##end##_hash(R report, E e)                                         \
	{                                                                                          \
		const struct place *p;                                                             \
		if (!e->x->branch)                                                                 \
			return 0;                                                                  \
		p = &e->x->branch->end;                                                            \
		return p->sym ? place_symbol_hash(p) : hash_mix(p->ip, 1);                         \
	}                                                                                          \
	static int64_t symbol_##end##_compare(R report, E l, E r)                                  \
	{                                                                                          \
		bool none;                                                                         \
		int64_t cmp = no_branch(l, r, &none);                                              \
		if (none)                                                                          \
			return cmp;                                                                \
		if (!l->x->branch->end.sym && !r->x->branch->end.sym)                              \
			return address_compare(l->x->branch->end.ip, r->x->branch->end.ip);        \
		return symbol_compare(l->x->branch->end.sym, r->x->branch->end.sym);               \
	}                                                                                          \
	static void symbol_##end##_print(R report, E e, struct out *out, int width)                \
	{                                                                                          \
		if (e->x->branch)                                                                  \
			place_symbol_print(report, &e->x->branch->end, e->x->branch->end.addr,     \
					   e->x->branch->end.level, out, width);                   \
		else                                                                               \
			put(out, "N/A", width);                                                    \
	}                                                                                          \
	static uint64_t addr_##end##_hash(R report, E e)                                           \
	{                                                                                          \
		return e->x->branch ? hash_mix(e->x->branch->end.ip, dso_##end##_hash(report, e))  \
				    : 0;                                                           \
	}                                                                                          \
	static int64_t addr_##end##_compare(R report, E l, E r)                                    \
	{                                                                                          \
		bool none;                                                                         \
		int64_t cmp = no_branch(l, r, &none);                                              \
		if (none)                                                                          \
			return cmp;                                                                \
		cmp = place_dso_compare(report, &l->x->branch->end, &r->x->branch->end);           \
		return cmp ? cmp : address_compare(l->x->branch->end.ip, r->x->branch->end.ip);    \
	}                                                                                          \
	static void addr_##end##_print(R report, E e, struct out *out, int width)                  \
	{                                                                                          \
		if (e->x->branch)                                                                  \
			end_address_print(report, e, &e->x->branch->end, out, width);              \
		else                                                                               \
			put(out, "N/A", width);                                                    \
	}
static void end_address_print(R report, E e, const struct place *place, struct out *out, int width)
{
	out_printf(out, "[%c] ", e->place.level);
	if (!place->sym || !place->dso) {
		put_address(out, place->addr);
		return;
	}
	put_most(out, place->sym->name, width < 0 ? -1 : width - 4);
	if (place->addr != place->sym->start)
		out_printf(out, "+0x%llx", (unsigned long long)(place->addr - place->sym->start));
}
END_KEYS(from)
END_KEYS(to)

static unsigned branch_bits(E e, unsigned shift, unsigned n)
{
	return e->x->branch ? (unsigned)(e->x->branch->flags >> shift & ((1u << n) - 1)) : 0;
}
enum { BRANCH_MISPRED, BRANCH_PREDICTED, BRANCH_IN_TX, BRANCH_ABORT, BRANCH_CYCLES };
static uint64_t mispredict_hash(R report, E e)
{
	return branch_bits(e, BRANCH_MISPRED, 2);
}
static int64_t mispredict_compare(R report, E l, E r)
{
	bool none;
	int64_t cmp = no_branch(l, r, &none);

	return none ? cmp : branch_bits(l, BRANCH_MISPRED, 2) != branch_bits(r, BRANCH_MISPRED, 2);
}
static void mispredict_print(R report, E e, struct out *out, int width)
{
	put(out,
	    branch_bits(e, BRANCH_PREDICTED, 1) ? "N"
	    : branch_bits(e, BRANCH_MISPRED, 1) ? "Y"
						: "N/A",
	    width);
}
static uint64_t cycles_hash(R report, E e)
{
	return branch_bits(e, BRANCH_CYCLES, 16);
}
static int64_t cycles_compare(R report, E l, E r)
{
	bool none;
	int64_t cmp = no_branch(l, r, &none);

	return none ? cmp
		    : (int64_t)branch_bits(l, BRANCH_CYCLES, 16) - branch_bits(r, BRANCH_CYCLES, 16);
}
static void cycles_print(R report, E e, struct out *out, int width)
{
	unsigned cycles = branch_bits(e, BRANCH_CYCLES, 16);

	if (!e->x->branch)
		put_most(out, "N/A", width);
	else if (!cycles)
		put_least(out, "-", width);
	else
		put_number(out, (short)cycles, width);
}
static uint64_t in_tx_hash(R report, E e)
{
	return branch_bits(e, BRANCH_IN_TX, 1);
}
static int64_t in_tx_compare(R report, E l, E r)
{
	bool none;
	int64_t cmp = no_branch(l, r, &none);

	return none ? cmp : in_tx_hash(report, l) != in_tx_hash(report, r);
}
static void in_tx_print(R report, E e, struct out *out, int width)
{
	put_least(out, !e->x->branch ? "N/A" : in_tx_hash(report, e) ? "T" : ".", width);
}
static uint64_t abort_hash(R report, E e)
{
	return branch_bits(e, BRANCH_ABORT, 1);
}
static int64_t abort_compare(R report, E l, E r)
{
	bool none;
	int64_t cmp = no_branch(l, r, &none);

	return none ? cmp : abort_hash(report, l) != abort_hash(report, r);
}
static void abort_print(R report, E e, struct out *out, int width)
{
	put_least(out, !e->x->branch ? "N/A" : abort_hash(report, e) ? "A" : ".", width);
}

// Memory accesses

static const struct place no_place = {.level = '.'};

static uint64_t daddr(E e)
{
	return e->x->mem ? e->x->mem->data.ip : 0;
}
static uint64_t iaddr(E e)
{
	return e->x->mem ? e->x->mem->code.ip : 0;
}
static uint64_t daddr_hash(R report, E e)
{
	return daddr(e);
}
static int64_t daddr_compare(R report, E l, E r)
{
	return address_compare(daddr(l), daddr(r));
}
static void daddr_print(R report, E e, struct out *out, int width)
{
	place_symbol_print(report, e->x->mem ? &e->x->mem->data : &no_place, daddr(e),
			   e->place.level, out, width);
}
static uint64_t iaddr_hash(R report, E e)
{
	return iaddr(e);
}
static int64_t iaddr_compare(R report, E l, E r)
{
	return address_compare(iaddr(l), iaddr(r));
}
static void iaddr_print(R report, E e, struct out *out, int width)
{
	place_symbol_print(report, e->x->mem ? &e->x->mem->code : &no_place, iaddr(e),
			   e->place.level, out, width);
}
static uint64_t dso_daddr_hash(R report, E e)
{
	return e->x->mem ? place_dso_hash(report, &e->x->mem->data) : 0;
}
static int64_t dso_daddr_compare(R report, E l, E r)
{
	return place_dso_compare(report, l->x->mem ? &l->x->mem->data : &no_place,
				 r->x->mem ? &r->x->mem->data : &no_place);
}
static void dso_daddr_print(R report, E e, struct out *out, int width)
{
	place_dso_print(report, e->x->mem ? &e->x->mem->data : &no_place, out, width);
}
static union perf_mem_data_src source(E e)
{
	union perf_mem_data_src src = {.val = e->x->mem ? e->x->mem->source : 0};

	return src;
}
#define SOURCE_KEY(name, field)                                                                    \
	static uint64_t name##_hash(R report, E e)                                                 \
	{                                                                                          \
		return source(e).field;                                                            \
	}                                                                                          \
	static int64_t name##_compare(R report, E l, E r)                                          \
	{                                                                                          \
		return (int64_t)source(r).field - (int64_t)source(l).field;                        \
	}
SOURCE_KEY(locked, mem_lock)
SOURCE_KEY(tlb, mem_dtlb)
SOURCE_KEY(mem, mem_lvl)
SOURCE_KEY(snoop, mem_snoop)
SOURCE_KEY(blocked, mem_blk)

// The names of the set bits of `bits`, "or" between them; returns how long the text is.
static size_t names_of_bits(char *text, size_t size, size_t n, uint64_t bits,
			    const char *const *names, size_t names_n, bool *first)
{
	for (size_t i = 0; bits && i < names_n; i++, bits >>= 1) {
		if (!(bits & 1))
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%s", *first ? "" : " or ", names[i]);
		*first = false;
	}
	return n;
}
static void locked_print(R report, E e, struct out *out, int width)
{
	unsigned lock = source(e).mem_lock;

	put_most(out,
		 !e->x->mem || lock & PERF_MEM_LOCK_NA ? "N/A"
		 : lock & PERF_MEM_LOCK_LOCKED	       ? "Yes"
						       : "No",
		 width);
}
static void tlb_print(R report, E e, struct out *out, int width)
{
	static const char *const names[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
	uint64_t bits = e->x->mem ? source(e).mem_dtlb : PERF_MEM_TLB_NA;
	char text[128] = "";
	bool first = true;
	size_t n = names_of_bits(text, sizeof(text), 0,
				 bits & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), names,
				 ARRAY_SIZE(names), &first);

	if (!n)
		n = (size_t)snprintf(text, sizeof(text), "N/A");
	snprintf(text + n, sizeof(text) - n, "%s%s", bits & PERF_MEM_TLB_HIT ? " hit" : "",
		 bits & PERF_MEM_TLB_MISS ? " miss" : "");
	text[63] = 0;
	put_least(out, text, width);
}
static void mem_print(R report, E e, struct out *out, int width)
{
	static const char *const hops[] = {"N/A", "core, same node", "node, same socket",
					   "socket, same board", "board"};
	union perf_mem_data_src src = source(e);
	uint64_t bits = e->x->mem ? src.mem_lvl : PERF_MEM_LVL_NA;
	char text[256] = "";
	bool first = true;
	size_t n = 0;

	if (e->x->mem && src.mem_remote)
		n += (size_t)snprintf(text, sizeof(text), "Remote ");
	if (e->x->mem && src.mem_hops)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
				      src.mem_hops < ARRAY_SIZE(hops) ? hops[src.mem_hops] : "");
	else
		n = names_of_bits(text, sizeof(text), n,
				  bits & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS),
				  mem_level_bits, ARRAY_SIZE(mem_level_bits), &first);
	if (e->x->mem && src.mem_lvl_num) {
		if (mem_level_numbers[src.mem_lvl_num])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", first ? "" : " or ",
					      mem_level_numbers[src.mem_lvl_num]);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%sL%d",
					      first ? "" : " or ", (int)src.mem_lvl_num);
	}
	if (!n)
		n += (size_t)snprintf(text, sizeof(text), "N/A");
	snprintf(text + n, sizeof(text) - n, "%s%s", bits & PERF_MEM_LVL_HIT ? " hit" : "",
		 bits & PERF_MEM_LVL_MISS ? " miss" : "");
	text[63] = 0;
	put_least(out, text, width);
}
static void snoop_print(R report, E e, struct out *out, int width)
{
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const more[] = {"Fwd", "Peer"};
	char text[96] = "";
	bool first = true;
	size_t n = names_of_bits(text, sizeof(text), 0,
				 e->x->mem ? source(e).mem_snoop : PERF_MEM_SNOOP_NA, names,
				 ARRAY_SIZE(names), &first);

	if (e->x->mem)
		n = names_of_bits(text, sizeof(text), n, source(e).mem_snoopx, more,
				  ARRAY_SIZE(more), &first);
	put_least(out, n ? text : "N/A", width);
}
static void blocked_print(R report, E e, struct out *out, int width)
{
	unsigned blocked = e->x->mem ? source(e).mem_blk : PERF_MEM_BLK_NA;
	char text[32];

	snprintf(text, sizeof(text), "%s%s", blocked & PERF_MEM_BLK_DATA ? " Data" : "",
		 blocked & PERF_MEM_BLK_ADDR ? " Addr" : "");
	put_most(out, !blocked || blocked & PERF_MEM_BLK_NA ? " N/A" : text, width);
}
// The line of the cache that the data lies in; perf takes the line size of the running machine.
static uint64_t cache_line(E e)
{
	return e->x->mem ? e->x->mem->data.addr & ~63ull : 0;
}
static uint64_t dcacheline_hash(R report, E e)
{
	return hash_mix(cache_line(e), hash_mix(e->cpumode, dso_daddr_hash(report, e)));
}
static int64_t dcacheline_compare(R report, E l, E r)
{
	if (!l->x->mem)
		return -1;
	if (!r->x->mem)
		return 1;
	if (l->cpumode != r->cpumode)
		return l->cpumode > r->cpumode ? -1 : 1;
	if (l->x->mem->data.dso != r->x->mem->data.dso) {
		if (!l->x->mem->data.dso)
			return -1;
		if (!r->x->mem->data.dso)
			return 1;
		return l->x->mem->data.dso->id > r->x->mem->data.dso->id ? -1 : 1;
	}
	if (cache_line(l) != cache_line(r))
		return cache_line(l) > cache_line(r) ? -1 : 1;
	return 0;
}
static void dcacheline_print(R report, E e, struct out *out, int width)
{
	place_symbol_print(report, e->x->mem ? &e->x->mem->data : &no_place, cache_line(e),
			   e->x->mem && !e->x->mem->data.dso ? 'X' : e->place.level, out, width);
}
static uint64_t phys(E e)
{
	return e->x->mem ? e->x->mem->phys_addr : 0;
}
static uint64_t phys_hash(R report, E e)
{
	return phys(e);
}
static int64_t phys_compare(R report, E l, E r)
{
	return address_compare(phys(l), phys(r));
}
static void phys_print(R report, E e, struct out *out, int width)
{
	size_t start = out->n;

	out_printf(out, "[%c] ", e->place.level);
	put_address(out, phys(e));
	if (width > (int)(out->n - start))
		out_fill(out, ' ', (size_t)width - (out->n - start));
}
static uint64_t data_page_size_hash(R report, E e)
{
	return e->x->mem ? e->x->mem->page_size : 0;
}
static int64_t data_page_size_compare(R report, E l, E r)
{
	return address_compare(data_page_size_hash(report, l), data_page_size_hash(report, r));
}
static void data_page_size_print(R report, E e, struct out *out, int width)
{
	char text[32];

	page_size_text(text, sizeof(text), data_page_size_hash(report, e));
	put_least(out, text, width);
}

#define K(n, h, w, p, ...)                                                                         \
	{                                                                                          \
		.name = n, .header = h, .width = w, .hash = p##_hash, .compare = p##_compare,      \
		.print = p##_print, __VA_ARGS__                                                    \
	}
#define K2(n, h, w, p, pr, ...)                                                                    \
	{                                                                                          \
		.name = n, .header = h, .width = w, .hash = p##_hash, .compare = p##_compare,      \
		.print = pr##_print, __VA_ARGS__                                                   \
	}
#define FRAME .flags = KEY_OF_FRAME
#define BRANCH .family = KEY_BRANCH
#define MEMORY .family = KEY_MEMORY

// In perf's order: an abbreviation means the first key that it begins.
const struct key report_keys[] = {
	K("pid", "    Pid:Command", WIDTH_THREAD, pid, .flags = 0),
	K("comm", "Command", WIDTH_COMM, comm, .flags = KEY_COLLAPSES),
	K("dso", "Shared Object", WIDTH_DSO, dso, FRAME),
	K("symbol", "Symbol", WIDTH_SYMBOL, sym, FRAME, .sort = sym_sort),
	K("parent", "Parent symbol", WIDTH_PARENT, parent, .flags = 0),
	K("cpu", "CPU", WIDTH_CPU, cpu, .flags = 0),
	K("socket", "Socket", WIDTH_SOCKET, socket, .flags = 0),
	K("srcline", "Source:Line", WIDTH_SRCLINE, srcline, FRAME),
	K("srcfile", "Source File", WIDTH_SRCFILE, srcfile, FRAME),
	K2("local_weight", "Local Weight", WIDTH_LOCAL_WEIGHT, weight, local_weight, .flags = 0),
	K("weight", "Weight", WIDTH_GLOBAL_WEIGHT, weight, .flags = 0),
	K("transaction", "Transaction                ", WIDTH_TRANSACTION, transaction, .flags = 0),
	K("trace", "Trace output", WIDTH_TRACE, trace, .flags = 0),
	K("symbol_size", "Symbol size", WIDTH_SYM_SIZE, symbol_size, FRAME),
	K("dso_size", "DSO size", WIDTH_DSO_SIZE, dso_size, FRAME),
	K("cgroup", "Cgroup", WIDTH_CGROUP, cgroup, .flags = 0),
	K("cgroup_id", "cgroup id (dev/inode)", WIDTH_CGROUP_ID, cgroup_id, .flags = 0),
	K2("ipc_null", "IPC   [IPC Coverage]", WIDTH_SYMBOL_IPC, sym, ipc_null, FRAME),
	K("time", "Time", WIDTH_TIME, time, .flags = 0),
	K("code_page_size", "Code Page Size", WIDTH_CODE_PAGE_SIZE, code_page_size, .flags = 0),
	K2("local_ins_lat", "Local INSTR Latency", WIDTH_LOCAL_INS_LAT, ins_lat, local_ins_lat,
	   .flags = 0),
	K("ins_lat", "INSTR Latency", WIDTH_GLOBAL_INS_LAT, ins_lat, .flags = 0),
	K2("local_p_stage_cyc", "Local Retire Latency", WIDTH_LOCAL_P_STAGE_CYC, stage, local_stage,
	   .flags = 0),
	K("p_stage_cyc", "Retire Latency", WIDTH_GLOBAL_P_STAGE_CYC, stage, .flags = 0),
	K("addr", "Address", WIDTH_ADDR, addr, FRAME),
	K("dso_from", "Source Shared Object", WIDTH_DSO_FROM, dso_from, BRANCH),
	K("dso_to", "Target Shared Object", WIDTH_DSO_TO, dso_to, BRANCH),
	K("symbol_from", "Source Symbol", WIDTH_SYMBOL_FROM, symbol_from, BRANCH),
	K("symbol_to", "Target Symbol", WIDTH_SYMBOL_TO, symbol_to, BRANCH),
	K("mispredict", "Branch Mispredicted", WIDTH_MISPREDICT, mispredict, BRANCH,
	  .flags = KEY_NO_ORDER),
	K("in_tx", "Branch in transaction", WIDTH_IN_TX, in_tx, BRANCH, .flags = KEY_NO_ORDER),
	K("abort", "Transaction abort", WIDTH_ABORT, abort, BRANCH, .flags = KEY_NO_ORDER),
	K("cycles", "Basic Block Cycles", WIDTH_CYCLES, cycles, BRANCH),
	K("srcline_from", "From Source:Line", WIDTH_SRCLINE_FROM, srcline_from, BRANCH),
	K("srcline_to", "To Source:Line", WIDTH_SRCLINE_TO, srcline_to, BRANCH),
	K2("ipc_lbr", "IPC   [IPC Coverage]", WIDTH_SYMBOL_IPC, sym, ipc, BRANCH),
	K("addr_from", "Source Address", WIDTH_ADDR_FROM, addr_from, BRANCH),
	K("addr_to", "Target Address", WIDTH_ADDR_TO, addr_to, BRANCH),
	K("symbol_daddr", "Data Symbol", WIDTH_MEM_DADDR_SYMBOL, daddr, MEMORY),
	K("dso_daddr", "Data Object", WIDTH_MEM_DADDR_DSO, dso_daddr, MEMORY),
	K("locked", "Locked", WIDTH_MEM_LOCKED, locked, MEMORY),
	K("tlb", "TLB access", WIDTH_MEM_TLB, tlb, MEMORY),
	K("mem", "Memory access", WIDTH_MEM_LVL, mem, MEMORY),
	K("snoop", "Snoop", WIDTH_MEM_SNOOP, snoop, MEMORY),
	K("dcacheline", "Data Cacheline", WIDTH_MEM_DCACHELINE, dcacheline, MEMORY),
	K("symbol_iaddr", "Code Symbol", WIDTH_MEM_IADDR_SYMBOL, iaddr, MEMORY),
	K("phys_daddr", "Data Physical Address", WIDTH_MEM_PHYS_DADDR, phys, MEMORY),
	K("data_page_size", "Data Page Size", WIDTH_MEM_DATA_PAGE_SIZE, data_page_size, MEMORY),
	K("blocked", "Blocked", WIDTH_MEM_BLOCKED, blocked, MEMORY),
};
const size_t report_keys_n = ARRAY_SIZE(report_keys);

const struct key *report_key(const char *name)
{
	for (size_t i = 0; i < report_keys_n; i++) {
		if (!strcmp(report_keys[i].name, name))
			return &report_keys[i];
	}
	return NULL;
}
