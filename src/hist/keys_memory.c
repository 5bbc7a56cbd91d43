// SPDX-License-Identifier: GPL-2.0-or-later
// Sort keys: memory accesses.
#include "base/hash.h"
#include "base/perf_event.h"
#include "abi/mem_levels.h"
#include "hist/keys.h"
#include <stdio.h>

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
	return key_address_compare(daddr(l), daddr(r));
}
static void daddr_print(R report, E e, struct out *out, int width)
{
	key_place_symbol_print(report, e->x->mem ? &e->x->mem->data : &no_place, daddr(e),
			       e->place.level, out, width);
}
static uint64_t iaddr_hash(R report, E e)
{
	return iaddr(e);
}
static int64_t iaddr_compare(R report, E l, E r)
{
	return key_address_compare(iaddr(l), iaddr(r));
}
static void iaddr_print(R report, E e, struct out *out, int width)
{
	key_place_symbol_print(report, e->x->mem ? &e->x->mem->code : &no_place, iaddr(e),
			       e->place.level, out, width);
}
static uint64_t dso_daddr_hash(R report, E e)
{
	return e->x->mem ? key_place_dso_hash(report, &e->x->mem->data) : 0;
}
static int64_t dso_daddr_compare(R report, E l, E r)
{
	return key_place_dso_compare(report, l->x->mem ? &l->x->mem->data : &no_place,
				     r->x->mem ? &r->x->mem->data : &no_place);
}
static void dso_daddr_print(R report, E e, struct out *out, int width)
{
	key_place_dso_print(report, e->x->mem ? &e->x->mem->data : &no_place, out, width);
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

	key_put_most(out,
		     !e->x->mem || lock & PERF_MEM_LOCK_NA ? "N/A"
		     : lock & PERF_MEM_LOCK_LOCKED	   ? "Yes"
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
	key_put_least(out, text, width);
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
	key_put_least(out, text, width);
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
	key_put_least(out, n ? text : "N/A", width);
}
static void blocked_print(R report, E e, struct out *out, int width)
{
	unsigned blocked = e->x->mem ? source(e).mem_blk : PERF_MEM_BLK_NA;
	char text[32];

	snprintf(text, sizeof(text), "%s%s", blocked & PERF_MEM_BLK_DATA ? " Data" : "",
		 blocked & PERF_MEM_BLK_ADDR ? " Addr" : "");
	key_put_most(out, !blocked || blocked & PERF_MEM_BLK_NA ? " N/A" : text, width);
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
	key_place_symbol_print(report, e->x->mem ? &e->x->mem->data : &no_place, cache_line(e),
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
	return key_address_compare(phys(l), phys(r));
}
static void phys_print(R report, E e, struct out *out, int width)
{
	size_t start = out->n;

	out_printf(out, "[%c] ", e->place.level);
	key_put_address(out, phys(e));
	if (width > (int)(out->n - start))
		out_fill(out, ' ', (size_t)width - (out->n - start));
}
static uint64_t data_page_size_hash(R report, E e)
{
	return e->x->mem ? e->x->mem->page_size : 0;
}
static int64_t data_page_size_compare(R report, E l, E r)
{
	return key_address_compare(data_page_size_hash(report, l), data_page_size_hash(report, r));
}
static void data_page_size_print(R report, E e, struct out *out, int width)
{
	char text[32];

	key_page_size_text(text, sizeof(text), data_page_size_hash(report, e));
	key_put_least(out, text, width);
}

#define MEMORY .family = KEY_MEMORY

static const struct key keys[] = {
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
const struct key_list key_list_memory = {keys, ARRAY_SIZE(keys)};
