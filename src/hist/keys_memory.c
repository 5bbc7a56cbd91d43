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
	const struct shown_place shown = {e->x->mem ? &e->x->mem->data : &no_place, daddr(e),
					  e->place.level};

	key_place_symbol_print(report, &shown, out, width);
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
	const struct shown_place shown = {e->x->mem ? &e->x->mem->code : &no_place, iaddr(e),
					  e->place.level};

	key_place_symbol_print(report, &shown, out, width);
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

// A text that grows by names, "or" between them.
struct names {
	char text[256];
	size_t n;
	bool any;
};

static void put_name(struct names *names, const char *name)
{
	names->n += (size_t)snprintf(names->text + names->n, sizeof(names->text) - names->n, "%s%s",
				     names->any ? " or " : "", name);
	names->any = true;
}

static void put_names_of_bits(struct names *names, uint64_t bits, const char *const *of, size_t n)
{
	for (size_t i = 0; bits && i < n; i++, bits >>= 1) {
		if (bits & 1)
			put_name(names, of[i]);
	}
}

// Then whether it was found there: these bits are the same of caches and of translations. A column is at most 63 wide.
_Static_assert((int)PERF_MEM_TLB_HIT == (int)PERF_MEM_LVL_HIT &&
		       (int)PERF_MEM_TLB_MISS == (int)PERF_MEM_LVL_MISS,
	       "");
static void print_names(struct names *names, uint64_t bits, struct out *out, int width)
{
	snprintf(names->text + names->n, sizeof(names->text) - names->n, "%s%s%s",
		 names->n ? "" : "N/A", bits & PERF_MEM_LVL_HIT ? " hit" : "",
		 bits & PERF_MEM_LVL_MISS ? " miss" : "");
	names->text[63] = 0;
	key_put_least(out, names->text, width);
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
	static const char *const of[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
	uint64_t bits = e->x->mem ? source(e).mem_dtlb : PERF_MEM_TLB_NA;
	struct names names = {0};

	put_names_of_bits(&names, bits & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), of,
			  ARRAY_SIZE(of));
	print_names(&names, bits, out, width);
}
static void mem_print(R report, E e, struct out *out, int width)
{
	static const char *const hops[] = {"N/A", "core, same node", "node, same socket",
					   "socket, same board", "board"};
	union perf_mem_data_src src = source(e);
	uint64_t bits = e->x->mem ? src.mem_lvl : PERF_MEM_LVL_NA;
	struct names names = {0};
	char number[8];

	if (e->x->mem && src.mem_remote)
		names.n += (size_t)snprintf(names.text, sizeof(names.text), "Remote ");
	if (e->x->mem && src.mem_hops)
		names.n +=
			(size_t)snprintf(names.text + names.n, sizeof(names.text) - names.n, "%s ",
					 src.mem_hops < ARRAY_SIZE(hops) ? hops[src.mem_hops] : "");
	else
		put_names_of_bits(&names, bits & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS),
				  mem_level_bits, ARRAY_SIZE(mem_level_bits));
	if (e->x->mem && src.mem_lvl_num) {
		snprintf(number, sizeof(number), "L%d", (int)src.mem_lvl_num);
		put_name(&names, mem_level_numbers[src.mem_lvl_num]
					 ? mem_level_numbers[src.mem_lvl_num]
					 : number);
	}
	print_names(&names, bits, out, width);
}
static void snoop_print(R report, E e, struct out *out, int width)
{
	static const char *const of[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const more[] = {"Fwd", "Peer"};
	struct names names = {0};

	put_names_of_bits(&names, e->x->mem ? source(e).mem_snoop : PERF_MEM_SNOOP_NA, of,
			  ARRAY_SIZE(of));
	if (e->x->mem)
		put_names_of_bits(&names, source(e).mem_snoopx, more, ARRAY_SIZE(more));
	key_put_least(out, names.n ? names.text : "N/A", width);
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
	const struct shown_place shown = {e->x->mem ? &e->x->mem->data : &no_place, cache_line(e),
					  e->x->mem && !e->x->mem->data.dso ? 'X' : e->place.level};

	key_place_symbol_print(report, &shown, out, width);
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
