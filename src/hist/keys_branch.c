// SPDX-License-Identifier: GPL-2.0-or-later
// Sort keys: the two ends of a branch.
#include "base/hash.h"
#include "base/perf_event.h"
#include "hist/keys.h"
#include <stdio.h>

static const char *end_srcline(R report, E e, bool from)
{
	return e->x->branch ? key_srcline_of(report, from ? &e->x->branch->from : &e->x->branch->to)
			    : "??:0";
}
static uint64_t srcline_from_hash(R report, E e)
{
	return key_text_hash(end_srcline(report, e, true));
}
static int64_t srcline_from_compare(R report, E l, E r)
{
	return strcmp(end_srcline(report, r, true), end_srcline(report, l, true));
}
static void srcline_from_print(R report, E e, struct out *out, int width)
{
	key_put(out, end_srcline(report, e, true), width);
}
static uint64_t srcline_to_hash(R report, E e)
{
	return key_text_hash(end_srcline(report, e, false));
}
static int64_t srcline_to_compare(R report, E l, E r)
{
	return strcmp(end_srcline(report, r, false), end_srcline(report, l, false));
}
static void srcline_to_print(R report, E e, struct out *out, int width)
{
	key_put(out, end_srcline(report, e, false), width);
}

// Branches

static int64_t no_branch(E l, E r, bool *ret)
{
	*ret = !l->x->branch || !r->x->branch;
	return *ret ? key_null_compare(l->x->branch, r->x->branch) : 0;
}
#define END_KEYS(end)                                                                                \
	static uint64_t dso_##end##_hash(R report, E e)                                              \
	{                                                                                            \
		return e->x->branch ? key_place_dso_hash(report, &e->x->branch->end) : 0;            \
	}                                                                                            \
	static int64_t dso_##end##_compare(R report, E l, E r)                                       \
	{                                                                                            \
		bool none;                                                                           \
		int64_t cmp = no_branch(l, r, &none);                                                \
		return none ? cmp                                                                    \
			    : key_place_dso_compare(report, &l->x->branch->end, &r->x->branch->end); \
	}                                                                                            \
	static void dso_##end##_print(R report, E e, struct out *out, int width)                     \
	{                                                                                            \
		if (e->x->branch)                                                                    \
			key_place_dso_print(report, &e->x->branch->end, out, width);                 \
		else                                                                                 \
			key_put(out, "N/A", width);                                                  \
	}                                                                                            \
	static uint64_t symbol_##end##_hash(R report, E e)                                           \
	{                                                                                            \
		const struct place *p;                                                               \
		if (!e->x->branch)                                                                   \
			return 0;                                                                    \
		p = &e->x->branch->end;                                                              \
		return p->sym ? key_place_symbol_hash(p) : hash_mix(p->ip, 1);                       \
	}                                                                                            \
	static int64_t symbol_##end##_compare(R report, E l, E r)                                    \
	{                                                                                            \
		bool none;                                                                           \
		int64_t cmp = no_branch(l, r, &none);                                                \
		if (none)                                                                            \
			return cmp;                                                                  \
		if (!l->x->branch->end.sym && !r->x->branch->end.sym)                                \
			return key_address_compare(l->x->branch->end.ip, r->x->branch->end.ip);      \
		return key_symbol_compare(l->x->branch->end.sym, r->x->branch->end.sym);             \
	}                                                                                            \
	static void symbol_##end##_print(R report, E e, struct out *out, int width)                  \
	{                                                                                            \
		if (e->x->branch)                                                                    \
			key_place_symbol_print(report, PLACE_AS_IS(&e->x->branch->end), out, width); \
		else                                                                                 \
			key_put(out, "N/A", width);                                                  \
	}                                                                                            \
	static uint64_t addr_##end##_hash(R report, E e)                                             \
	{                                                                                            \
		return e->x->branch ? hash_mix(e->x->branch->end.ip, dso_##end##_hash(report, e))    \
				    : 0;                                                             \
	}                                                                                            \
	static int64_t addr_##end##_compare(R report, E l, E r)                                      \
	{                                                                                            \
		bool none;                                                                           \
		int64_t cmp = no_branch(l, r, &none);                                                \
		if (none)                                                                            \
			return cmp;                                                                  \
		cmp = key_place_dso_compare(report, &l->x->branch->end, &r->x->branch->end);         \
		return cmp ? cmp : key_address_compare(l->x->branch->end.ip, r->x->branch->end.ip);  \
	}                                                                                            \
	static void addr_##end##_print(R report, E e, struct out *out, int width)                    \
	{                                                                                            \
		if (e->x->branch)                                                                    \
			end_address_print(e, &e->x->branch->end, out, width);                        \
		else                                                                                 \
			key_put(out, "N/A", width);                                                  \
	}
static void end_address_print(E e, const struct place *place, struct out *out, int width)
{
	out_printf(out, "[%c] ", e->place.level);
	if (!place->sym || !place->dso) {
		key_put_address(out, place->addr);
		return;
	}
	key_put_most(out, place->sym->name, width < 0 ? -1 : width - 4);
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
	key_put(out,
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
		key_put_most(out, "N/A", width);
	else if (!cycles)
		key_put_least(out, "-", width);
	else
		key_put_number(out, (short)cycles, width);
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
	key_put_least(out, !e->x->branch ? "N/A" : in_tx_hash(report, e) ? "T" : ".", width);
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
	key_put_least(out, !e->x->branch ? "N/A" : abort_hash(report, e) ? "A" : ".", width);
}

static void ipc_print(R report, E e, struct out *out, int width)
{
	struct function_ipc ipc;
	char text[64];

	if (!e->place.sym) {
		key_put_least(out, "-", width);
		return;
	}
	ipc = report_ipc((struct report *)report, &e->place);
	snprintf(text, sizeof(text), "%-5.2f [%5.1f%%]", ipc.ipc, ipc.coverage);
	key_put_least(out, text, width);
}

#define BRANCH .family = KEY_BRANCH

static const struct key keys[] = {
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
	K2("ipc_lbr", "IPC   [IPC Coverage]", WIDTH_SYMBOL_IPC, key_sym, ipc, BRANCH),
	K("addr_from", "Source Address", WIDTH_ADDR_FROM, addr_from, BRANCH),
	K("addr_to", "Target Address", WIDTH_ADDR_TO, addr_to, BRANCH),
};
const struct key_list key_list_branch = {keys, ARRAY_SIZE(keys)};
