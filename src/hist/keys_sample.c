// SPDX-License-Identifier: GPL-2.0-or-later
// Sort keys: what else a sample tells: its CPU, time, cgroup, weights, page size, transaction.
#include "base/hash.h"
#include "base/perf_event.h"
#include "hist/keys.h"
#include <stdio.h>

// Of the sample

static uint64_t parent_hash(R report, E e)
{
	return e->x->parent ? key_text_hash(e->x->parent->name) : 0;
}
static int64_t parent_compare(R report, E l, E r)
{
	if (!l->x->parent || !r->x->parent)
		return key_null_compare(l->x->parent, r->x->parent);
	return strcmp(r->x->parent->name, l->x->parent->name);
}
static void parent_print(R report, E e, struct out *out, int width)
{
	key_put(out, e->x->parent ? e->x->parent->name : "[other]", width);
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
		key_put_number(out, e->cpu, 0);
	else
		out_printf(out, "%*.*d", width, width, e->cpu);
}
static uint64_t socket_hash(R report, E e)
{
	return (uint64_t)entry_socket(report, e);
}
static int64_t socket_compare(R report, E l, E r)
{
	return (int64_t)entry_socket(report, r) - entry_socket(report, l);
}
static void socket_print(R report, E e, struct out *out, int width)
{
	if (width < 0)
		key_put_number(out, entry_socket(report, e), 0);
	else
		out_printf(out, "%*.*d", width, width - 3, entry_socket(report, e));
}
static uint64_t time_hash(R report, E e)
{
	return e->x->time;
}
static int64_t time_compare(R report, E l, E r)
{
	return key_address_compare(l->x->time, r->x->time);
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
	key_put_most(out, text, width);
}
static uint64_t cgroup_hash(R report, E e)
{
	return e->x->cgroup;
}
static int64_t cgroup_compare(R report, E l, E r)
{
	return key_address_compare(l->x->cgroup, r->x->cgroup);
}
static const char *cgroup_name(R report, E e)
{
	const char *name;

	if (!e->x->cgroup)
		return "N/A";
	name = sym_cgroup(report->run->sym, e->x->cgroup);
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
	int64_t cmp = key_address_compare(r->x->cgroup_dev, l->x->cgroup_dev);

	return cmp ? cmp : key_address_compare(r->x->cgroup_ino, l->x->cgroup_ino);
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
	key_put_most(out, e->x->trace ? e->x->trace : "N/A", width);
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
	key_put_number(out, (long long)e->x->weight, width);
}
static void weight_print(R report, E e, struct out *out, int width)
{
	key_put_number(out, (long long)(e->x->weight * e->samples), width);
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
	key_put_number(out, e->x->ins_lat, width);
}
static void ins_lat_print(R report, E e, struct out *out, int width)
{
	key_put_number(out, e->x->ins_lat * e->samples, width);
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
	key_put_number(out, e->x->p_stage_cyc, width);
}
static void stage_print(R report, E e, struct out *out, int width)
{
	key_put_number(out, e->x->p_stage_cyc * e->samples, width);
}
void key_page_size_text(char *text, size_t size, uint64_t n)
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
	return key_address_compare(l->x->code_page_size, r->x->code_page_size);
}
static void code_page_size_print(R report, E e, struct out *out, int width)
{
	char text[32];

	key_page_size_text(text, sizeof(text), e->x->code_page_size);
	key_put_least(out, text, width);
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
	key_put_least(out, text, width);
}

static const struct key keys[] = {
	K("parent", "Parent symbol", WIDTH_PARENT, parent, .flags = 0),
	K("cpu", "CPU", WIDTH_CPU, cpu, .flags = 0),
	K("socket", "Socket", WIDTH_SOCKET, socket, .flags = 0),
	K2("local_weight", "Local Weight", WIDTH_LOCAL_WEIGHT, weight, local_weight, .flags = 0),
	K("weight", "Weight", WIDTH_GLOBAL_WEIGHT, weight, .flags = 0),
	K("transaction", "Transaction                ", WIDTH_TRANSACTION, transaction, .flags = 0),
	K("trace", "Trace output", WIDTH_TRACE, trace, .flags = 0),
	K("cgroup", "Cgroup", WIDTH_CGROUP, cgroup, .flags = 0),
	K("cgroup_id", "cgroup id (dev/inode)", WIDTH_CGROUP_ID, cgroup_id, .flags = 0),
	K("time", "Time", WIDTH_TIME, time, .flags = 0),
	K("code_page_size", "Code Page Size", WIDTH_CODE_PAGE_SIZE, code_page_size, .flags = 0),
	K2("local_ins_lat", "Local INSTR Latency", WIDTH_LOCAL_INS_LAT, ins_lat, local_ins_lat,
	   .flags = 0),
	K("ins_lat", "INSTR Latency", WIDTH_GLOBAL_INS_LAT, ins_lat, .flags = 0),
	K2("local_p_stage_cyc", "Local Pipeline Stage Cycle", WIDTH_LOCAL_P_STAGE_CYC, stage,
	   local_stage, .flags = 0),
	K("p_stage_cyc", "Pipeline Stage Cycle", WIDTH_GLOBAL_P_STAGE_CYC, stage, .flags = 0),
};
const struct key_list key_list_sample = {keys, ARRAY_SIZE(keys)};
