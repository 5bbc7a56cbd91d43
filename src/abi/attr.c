// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/attr.h"
#include "base/alloc.h"
#include "base/err.h"
#include <byteswap.h>
#include <stdio.h>
#include <string.h>

// Where the one-bit fields lie: the 64-bit word behind read_format.
#define FLAGS_OFFSET 40
#define PRECISE_IP_SHIFT 15

// Members of struct perf_event_attr by width, for swapping. The flag word is not among them.
static const struct {
	uint8_t offset, width;
} members[] = {
	{0, 4},	  {4, 4},   {8, 8},   {16, 8},	{24, 8},  {32, 8},  {48, 4}, {52, 4},
	{56, 8},  {64, 8},  {72, 8},  {80, 8},	{88, 4},  {92, 4},  {96, 8}, {104, 4},
	{108, 2}, {110, 2}, {112, 4}, {116, 4}, {120, 8}, {128, 8},
};

static uint8_t reverse_bits(uint8_t b)
{
	b = (uint8_t)(b << 4 | b >> 4);
	b = (uint8_t)((b & 0x33) << 2 | (b & 0xcc) >> 2);
	return (uint8_t)((b & 0x55) << 1 | (b & 0xaa) >> 1);
}

void attr_swap(struct perf_event_attr *attr)
{
	uint8_t *p = (uint8_t *)attr, flags[8];

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		uint8_t *at = p + members[i].offset;

		switch (members[i].width) {
		case 2:
			*(uint16_t *)at = bswap_16(*(uint16_t *)at);
			break;
		case 4:
			*(uint32_t *)at = bswap_32(*(uint32_t *)at);
			break;
		default:
			*(uint64_t *)at = bswap_64(*(uint64_t *)at);
		}
	}
	// Bit fields are allocated from the other end of the word, byte for byte.
	memcpy(flags, p + FLAGS_OFFSET, sizeof(flags));
	for (size_t i = 0; i < sizeof(flags); i++)
		flags[i] = reverse_bits(flags[i]);
	memcpy(p + FLAGS_OFFSET, flags, sizeof(flags));
	// The only field wider than a bit now has its two bits the wrong way round.
	attr->precise_ip = (attr->precise_ip >> 1 | attr->precise_ip << 1) & 3;
}

int attr_read(struct perf_event_attr *ret, const void *p, size_t size, bool swap)
{
	struct perf_event_attr attr = {0};

	if (size < PERF_ATTR_SIZE_VER0)
		return fail(EINVAL, "event attributes of %zu bytes (at least %d are needed)", size,
			    PERF_ATTR_SIZE_VER0);
	memcpy(&attr, p, MIN(size, sizeof(attr)));
	if (swap)
		attr_swap(&attr);
	attr.size = (uint32_t)size;
	*ret = attr;
	return 0;
}

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

// Which operations a cache has, as bits of PERF_COUNT_HW_CACHE_OP_*.
static const struct {
	const char *name;
	uint8_t operations;
} caches[] = {
	{"L1-dcache", 7}, {"L1-icache", 5}, {"LLC", 7},	 {"dTLB", 7},
	{"iTLB", 1},	  {"branch", 1},    {"node", 7},
};

static const char *const operations[][2] = {
	{"load", "loads"},
	{"store", "stores"},
	{"prefetch", "prefetches"},
};

static size_t cache_name(uint64_t config, char *buf, size_t size)
{
	unsigned cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
	int n;

	if (cache >= ARRAY_SIZE(caches))
		n = snprintf(buf, size, "unknown-ext-hardware-cache-type");
	else if (operation >= ARRAY_SIZE(operations))
		n = snprintf(buf, size, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		n = snprintf(buf, size, "unknown-ext-hardware-cache-result");
	else if (!(caches[cache].operations >> operation & 1))
		n = snprintf(buf, size, "invalid-cache");
	else if (result)
		n = snprintf(buf, size, "%s-%s-misses", caches[cache].name, operations[operation][0]);
	else
		n = snprintf(buf, size, "%s-%s", caches[cache].name, operations[operation][1]);
	return (size_t)n;
}

enum { MODIFIERS_MAX = 12 };

// The modifiers alone (":ppp", ":u", ":HG" or ""), into MODIFIERS_MAX bytes; returns the length.
static size_t modifiers_text(const struct perf_event_attr *attr, char *buf)
{
	bool guest_default =
		attr->exclude_kernel || attr->exclude_user || attr->exclude_hv || attr->precise_ip;
	size_t n = 0;

	buf[n++] = ':';
	if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
		if (!attr->exclude_kernel)
			buf[n++] = 'k';
		if (!attr->exclude_user)
			buf[n++] = 'u';
		if (!attr->exclude_hv)
			buf[n++] = 'h';
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		buf[n++] = 'p';
	if (attr->exclude_host || attr->exclude_guest == guest_default) {
		if (!attr->exclude_host)
			buf[n++] = 'H';
		if (!attr->exclude_guest)
			buf[n++] = 'G';
	}
	if (n == 1)
		n = 0;
	buf[n] = 0;
	return n;
}

char *attr_name(const struct perf_event_attr *attr, char *buf, size_t size)
{
	char modifiers[MODIFIERS_MAX];
	bool wants_modifiers = true;
	size_t n = 0;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		n = (size_t)snprintf(buf, size, "%s",
				     attr->config < ARRAY_SIZE(hardware_names)
					     ? hardware_names[attr->config]
					     : "unknown-hardware");
		break;
	case PERF_TYPE_SOFTWARE:
		n = (size_t)snprintf(buf, size, "%s",
				     attr->config < ARRAY_SIZE(software_names)
					     ? software_names[attr->config]
					     : "unknown-software");
		break;
	case PERF_TYPE_HW_CACHE:
		n = cache_name(attr->config, buf, size);
		break;
	case PERF_TYPE_RAW:
		n = (size_t)snprintf(buf, size, "raw 0x%llx", (unsigned long long)attr->config);
		break;
	case PERF_TYPE_BREAKPOINT:
		n = (size_t)snprintf(buf, size, "mem:0x%llx:%s%s%s",
				     (unsigned long long)attr->bp_addr, attr->bp_type & 1 ? "r" : "",
				     attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
		break;
	case PERF_TYPE_TRACEPOINT:
		n = (size_t)snprintf(buf, size, "unknown tracepoint");
		wants_modifiers = false;
		break;
	default:
		n = (size_t)snprintf(buf, size, "unknown attr type: %u", attr->type);
		wants_modifiers = false;
	}
	if (wants_modifiers && modifiers_text(attr, modifiers) && n < size)
		snprintf(buf + n, size - n, "%s", modifiers);
	return buf;
}

// Names of single bits, in perf's order.
struct bit_name {
	uint64_t bit;
	const char *name;
};

static const struct bit_name sample_type_bits[] = {
	{PERF_SAMPLE_IP, "IP"},
	{PERF_SAMPLE_TID, "TID"},
	{PERF_SAMPLE_TIME, "TIME"},
	{PERF_SAMPLE_ADDR, "ADDR"},
	{PERF_SAMPLE_READ, "READ"},
	{PERF_SAMPLE_CALLCHAIN, "CALLCHAIN"},
	{PERF_SAMPLE_ID, "ID"},
	{PERF_SAMPLE_CPU, "CPU"},
	{PERF_SAMPLE_PERIOD, "PERIOD"},
	{PERF_SAMPLE_STREAM_ID, "STREAM_ID"},
	{PERF_SAMPLE_RAW, "RAW"},
	{PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	{PERF_SAMPLE_REGS_USER, "REGS_USER"},
	{PERF_SAMPLE_STACK_USER, "STACK_USER"},
	{PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"},
	{PERF_SAMPLE_REGS_INTR, "REGS_INTR"},
	{PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
	{PERF_SAMPLE_WEIGHT, "WEIGHT"},
	{PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR"},
	{PERF_SAMPLE_AUX, "AUX"},
	{PERF_SAMPLE_CGROUP, "CGROUP"},
	{PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
	{PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
	{0, NULL},
};

static const struct bit_name branch_type_bits[] = {
	{PERF_SAMPLE_BRANCH_USER, "USER"},
	{PERF_SAMPLE_BRANCH_KERNEL, "KERNEL"},
	{PERF_SAMPLE_BRANCH_HV, "HV"},
	{PERF_SAMPLE_BRANCH_ANY, "ANY"},
	{PERF_SAMPLE_BRANCH_ANY_CALL, "ANY_CALL"},
	{PERF_SAMPLE_BRANCH_ANY_RETURN, "ANY_RETURN"},
	{PERF_SAMPLE_BRANCH_IND_CALL, "IND_CALL"},
	{PERF_SAMPLE_BRANCH_ABORT_TX, "ABORT_TX"},
	{PERF_SAMPLE_BRANCH_IN_TX, "IN_TX"},
	{PERF_SAMPLE_BRANCH_NO_TX, "NO_TX"},
	{PERF_SAMPLE_BRANCH_COND, "COND"},
	{PERF_SAMPLE_BRANCH_CALL_STACK, "CALL_STACK"},
	{PERF_SAMPLE_BRANCH_IND_JUMP, "IND_JUMP"},
	{PERF_SAMPLE_BRANCH_CALL, "CALL"},
	{PERF_SAMPLE_BRANCH_NO_FLAGS, "NO_FLAGS"},
	{PERF_SAMPLE_BRANCH_NO_CYCLES, "NO_CYCLES"},
	{PERF_SAMPLE_BRANCH_TYPE_SAVE, "TYPE_SAVE"},
	{PERF_SAMPLE_BRANCH_HW_INDEX, "HW_INDEX"},
	{PERF_SAMPLE_BRANCH_PRIV_SAVE, "PRIV_SAVE"},
	{0, NULL},
};

static const struct bit_name read_format_bits[] = {
	{PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED"},
	{PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING"},
	{PERF_FORMAT_ID, "ID"},
	{PERF_FORMAT_GROUP, "GROUP"},
	{PERF_FORMAT_LOST, "LOST"},
	{0, NULL},
};

struct printer {
	struct out *out;
	bool started;
};

static void put_name(struct printer *p, const char *name)
{
	if (p->started)
		out_text(p->out, ", ");
	p->started = true;
	out_text(p->out, name);
	out_text(p->out, ": ");
}

static void put_u64(struct printer *p, const char *name, uint64_t v)
{
	if (!v)
		return;
	put_name(p, name);
	out_u64(p->out, v);
}

static void put_hex(struct printer *p, const char *name, uint64_t v)
{
	if (!v)
		return;
	put_name(p, name);
	out_text(p->out, "0x");
	out_hex(p->out, v);
}

static void put_bits(struct printer *p, const char *name, uint64_t v, const struct bit_name *bits)
{
	bool first = true;

	if (!v)
		return;
	put_name(p, name);
	for (; bits->name; bits++) {
		if (!(v & bits->bit))
			continue;
		if (!first)
			out_char(p->out, '|');
		out_text(p->out, bits->name);
		first = false;
	}
}

static void print_fields(struct printer *p, const struct perf_event_attr *attr)
{
	uint64_t flags;
	// In the order of the bits of the flag word; precise_ip, which has two, is "".
	static const char *const flag_names[] = {
		"disabled",
		"inherit",
		"pinned",
		"exclusive",
		"exclude_user",
		"exclude_kernel",
		"exclude_hv",
		"exclude_idle",
		"mmap",
		"comm",
		"freq",
		"inherit_stat",
		"enable_on_exec",
		"task",
		"watermark",
		"",
		NULL,
		"mmap_data",
		"sample_id_all",
		"exclude_host",
		"exclude_guest",
		"exclude_callchain_kernel",
		"exclude_callchain_user",
		"mmap2",
		"comm_exec",
		"use_clockid",
		"context_switch",
		"write_backward",
		"namespaces",
		"ksymbol",
		"bpf_event",
		"aux_output",
		"cgroup",
		"text_poke",
		"build_id",
		"inherit_thread",
		"remove_on_exec",
		"sigtrap",
	};

	put_u64(p, "type", attr->type);
	put_u64(p, "size", attr->size);
	put_hex(p, "config", attr->config);
	put_u64(p, "{ sample_period, sample_freq }", attr->sample_period);
	put_bits(p, "sample_type", attr->sample_type, sample_type_bits);
	put_bits(p, "read_format", attr->read_format, read_format_bits);
	memcpy(&flags, (const char *)attr + FLAGS_OFFSET, sizeof(flags));
	for (unsigned i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (i == PRECISE_IP_SHIFT)
			put_u64(p, "precise_ip", attr->precise_ip);
		else if (flag_names[i])
			put_u64(p, flag_names[i], flags >> i & 1);
	}
	put_u64(p, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	put_u64(p, "bp_type", attr->bp_type);
	put_hex(p, "{ bp_addr, config1 }", attr->bp_addr);
	put_hex(p, "{ bp_len, config2 }", attr->bp_len);
	put_bits(p, "branch_sample_type", attr->branch_sample_type, branch_type_bits);
	put_hex(p, "sample_regs_user", attr->sample_regs_user);
	put_u64(p, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid) {
		put_name(p, "clockid");
		out_i64(p->out, attr->clockid);
	}
	put_hex(p, "sample_regs_intr", attr->sample_regs_intr);
	put_u64(p, "aux_watermark", attr->aux_watermark);
	put_u64(p, "sample_max_stack", attr->sample_max_stack);
	put_u64(p, "aux_sample_size", attr->aux_sample_size);
	put_u64(p, "sig_data", attr->sig_data);
	put_hex(p, "config3", attr->config3);
}

void attr_print(struct out *out, const struct perf_event_attr *attr)
{
	print_fields(&(struct printer){.out = out}, attr);
}
