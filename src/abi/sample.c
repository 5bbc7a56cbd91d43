// SPDX-License-Identifier: GPL-2.0-or-later
// An attr is compiled once (sample_plan_init): fixed fields have a known offset, the rest is a short walk with every size
// checked against the record.
#include "abi/sample.h"
#include "base/err.h"
#include <string.h>

#define HEADER_SIZE ((int)sizeof(struct perf_event_header))
#define WEIGHT_BITS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define BRANCH_COUNTERS (1u << 19) // PERF_SAMPLE_BRANCH_COUNTERS, since 6.8
#define FIXED_BITS                                                                                 \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)
#define VARIABLE_BITS                                                                              \
	(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |   \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | WEIGHT_BITS | PERF_SAMPLE_DATA_SRC |     \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |                 \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |            \
	 PERF_SAMPLE_AUX)

void sample_plan_init(struct sample_plan *plan, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	// Fixed words in their order in a SAMPLE.
	const struct {
		uint64_t bit;
		int16_t *offset;
	} fixed[] = {
		{PERF_SAMPLE_IDENTIFIER, &plan->identifier},
		{PERF_SAMPLE_IP, &plan->ip},
		{PERF_SAMPLE_TID, &plan->tid},
		{PERF_SAMPLE_TIME, &plan->time},
		{PERF_SAMPLE_ADDR, &plan->addr},
		{PERF_SAMPLE_ID, &plan->id},
		{PERF_SAMPLE_STREAM_ID, &plan->stream_id},
		{PERF_SAMPLE_CPU, &plan->cpu},
		{PERF_SAMPLE_PERIOD, &plan->period},
	};
	// The words behind any other record, from its end.
	const struct {
		uint64_t bit;
		int16_t *offset;
	} trailer[] = {
		{PERF_SAMPLE_IDENTIFIER, &plan->t_identifier},
		{PERF_SAMPLE_CPU, &plan->t_cpu},
		{PERF_SAMPLE_STREAM_ID, &plan->t_stream_id},
		{PERF_SAMPLE_ID, &plan->t_id},
		{PERF_SAMPLE_TIME, &plan->t_time},
		{PERF_SAMPLE_TID, &plan->t_tid},
	};
	int16_t at = HEADER_SIZE;

	*plan = (struct sample_plan){
		.sample_type = type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.user_mask = attr->sample_regs_user,
		.intr_mask = attr->sample_regs_intr,
		.default_period = attr->sample_period,
	};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		bool there = type & fixed[i].bit;

		*fixed[i].offset = there ? at : -1;
		at += there ? 8 : 0;
	}
	plan->fixed_size = (uint16_t)at;
	plan->fixed_only = !(type & VARIABLE_BITS);
	at = 0;
	for (size_t i = 0; i < sizeof(trailer) / sizeof(trailer[0]); i++) {
		bool there = attr->sample_id_all && (type & trailer[i].bit);

		at += there ? 8 : 0;
		*trailer[i].offset = there ? at : -1;
	}
	plan->trailer_size = (uint16_t)at;
}

int sample_id_offset(const struct perf_event_attr *attr)
{
	uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return HEADER_SIZE;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return 0;
	return HEADER_SIZE + 8 * __builtin_popcountll(attr->sample_type & before);
}

int trailer_id_offset(const struct perf_event_attr *attr)
{
	if (!attr->sample_id_all)
		return 0;
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return -8;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return 0;
	return -8 - 8 * __builtin_popcountll(attr->sample_type &
					     (PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID));
}

static inline uint64_t load_u64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

// 16 bytes at a time: for this size the compiler's own choice (rep stos) costs as much as all the rest.
static inline void clear(struct sample *sample)
{
	typedef uint64_t block __attribute__((vector_size(16), aligned(8), may_alias));
	block *p = (block *)sample;

	_Static_assert(sizeof(*sample) % 8 == 0, "cleared in words");
#pragma GCC unroll 32
	for (size_t i = 0; i < sizeof(*sample) / sizeof(block); i++)
		p[i] = (block){0, 0};
	if (sizeof(*sample) % sizeof(block))
		((uint64_t *)sample)[sizeof(*sample) / 8 - 1] = 0;
}

__attribute__((cold)) static int too_short(const char *what, const struct perf_event_header *header)
{
	return fail(EFAULT, "sample of %u bytes is too short for its %s", header->size, what);
}

// The part behind the fixed words. p and end bound what remains.
struct cursor {
	const uint8_t *p, *end;
};

static inline size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool take_u64(struct cursor *c, uint64_t *ret)
{
	if (left(c) < 8)
		return false;
	*ret = load_u64(c->p);
	c->p += 8;
	return true;
}

// n elements of `size` bytes (a small constant).
static inline bool take_array(struct cursor *c, uint64_t n, size_t size, const void **ret)
{
	if (n > left(c) / size)
		return false;
	*ret = c->p;
	c->p += n * size;
	return true;
}

static bool take_read(const struct sample_plan *plan, struct cursor *c, struct sample *ret)
{
	unsigned times = (plan->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
			 (plan->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0);
	unsigned each = 1 + (plan->read_format & PERF_FORMAT_ID ? 1 : 0) +
			(plan->read_format & PERF_FORMAT_LOST ? 1 : 0);
	uint64_t words = times + each;
	const void *p;

	if (plan->read_format & PERF_FORMAT_GROUP) {
		if (left(c) < 8)
			return false;
		words = load_u64(c->p);
		if (words > left(c) / 8)
			return false;
		words = 1 + times + words * each;
	}
	if (!take_array(c, words, 8, &p))
		return false;
	ret->read = p;
	ret->read_words = (uint32_t)words;
	return true;
}

static bool take_raw(struct cursor *c, struct sample *ret)
{
	size_t padded;

	if (left(c) < 4)
		return false;
	ret->raw_size = load_u32(c->p);
	if (ret->raw_size > left(c) - 4)
		return false;
	ret->raw = c->p + 4;
	// The kernel pads so that the next word is aligned; be sure of it.
	padded = ((size_t)ret->raw_size + 4 + 7) & ~(size_t)7;
	c->p = padded > left(c) ? c->end : c->p + padded;
	return true;
}

static bool take_branches(const struct sample_plan *plan, struct cursor *c, struct sample *ret)
{
	const void *p;

	ret->branch_hw_idx = UINT64_MAX;
	if (!take_u64(c, &ret->branch_n))
		return false;
	if ((plan->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) &&
	    !take_u64(c, &ret->branch_hw_idx))
		return false;
	if (!take_array(c, ret->branch_n, sizeof(struct perf_branch_entry), &p))
		return false;
	ret->branches = p;
	if (plan->branch_sample_type & BRANCH_COUNTERS) {
		if (!take_array(c, ret->branch_n, 8, &p))
			return false;
		ret->branch_counters = p;
	}
	return true;
}

static bool take_registers(struct cursor *c, uint64_t mask, uint64_t *ret_abi, const uint64_t **ret)
{
	const void *p;

	if (!take_u64(c, ret_abi))
		return false;
	if (*ret_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if (!take_array(c, (uint64_t)__builtin_popcountll(mask), 8, &p))
		return false;
	*ret = p;
	return true;
}

static bool take_stack(struct cursor *c, struct sample *ret)
{
	const void *p;
	uint64_t size;

	if (!take_u64(c, &size))
		return false;
	if (!size)
		return true;
	// Words behind it must stay aligned, as the kernel keeps them.
	if (size % 8 || !take_array(c, size, 1, &p) || !take_u64(c, &ret->user_stack_size) ||
	    ret->user_stack_size > size)
		return false;
	ret->user_stack = p;
	return true;
}

// Everything but the most common: what follows RAW. In the order of the kernel's perf_output_sample.
static int decode_rare(const struct sample_plan *plan, struct cursor *c, struct sample *ret)
{
	const uint64_t type = plan->sample_type;
	const void *p;

	if ((type & PERF_SAMPLE_BRANCH_STACK) && !take_branches(plan, c, ret))
		return too_short("branch stack", ret->header);
	if ((type & PERF_SAMPLE_REGS_USER) &&
	    !take_registers(c, plan->user_mask, &ret->user_abi, &ret->user_regs))
		return too_short("user registers", ret->header);
	if ((type & PERF_SAMPLE_STACK_USER) && !take_stack(c, ret))
		return too_short("user stack", ret->header);
	if ((type & WEIGHT_BITS) && !take_u64(c, &ret->weight))
		return too_short("weight", ret->header);
	if ((type & PERF_SAMPLE_DATA_SRC) && !take_u64(c, &ret->data_src))
		return too_short("data source", ret->header);
	if ((type & PERF_SAMPLE_TRANSACTION) && !take_u64(c, &ret->transaction))
		return too_short("transaction", ret->header);
	if ((type & PERF_SAMPLE_REGS_INTR) &&
	    !take_registers(c, plan->intr_mask, &ret->intr_abi, &ret->intr_regs))
		return too_short("interrupted registers", ret->header);
	if ((type & PERF_SAMPLE_PHYS_ADDR) && !take_u64(c, &ret->phys_addr))
		return too_short("physical address", ret->header);
	if ((type & PERF_SAMPLE_CGROUP) && !take_u64(c, &ret->cgroup))
		return too_short("cgroup", ret->header);
	if ((type & PERF_SAMPLE_DATA_PAGE_SIZE) && !take_u64(c, &ret->data_page_size))
		return too_short("data page size", ret->header);
	if ((type & PERF_SAMPLE_CODE_PAGE_SIZE) && !take_u64(c, &ret->code_page_size))
		return too_short("code page size", ret->header);
	if (type & PERF_SAMPLE_AUX) {
		if (!take_u64(c, &ret->aux_size) || !take_array(c, ret->aux_size, 1, &p))
			return too_short("AUX data", ret->header);
		ret->aux = p;
	}
	return 0;
}

#define COMMON_VARIABLE_BITS (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

static int decode_variable(const struct sample_plan *plan, struct cursor *c, struct sample *ret)
{
	const uint64_t type = plan->sample_type;

	if ((type & PERF_SAMPLE_READ) && !take_read(plan, c, ret))
		return too_short("counter values", ret->header);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n;
		const void *p;

		if (!take_u64(c, &n) || !take_array(c, n, 8, &p))
			return too_short("call chain", ret->header);
		ret->callchain_n = (uint32_t)n;
		ret->callchain = p;
	}
	if ((type & PERF_SAMPLE_RAW) && !take_raw(c, ret))
		return too_short("raw data", ret->header);
	if (type & VARIABLE_BITS & ~COMMON_VARIABLE_BITS)
		return decode_rare(plan, c, ret);
	return 0;
}

int sample_decode(const struct sample_plan *plan, const struct perf_event_header *header,
		  struct sample *ret)
{
	const uint8_t *p = (const uint8_t *)header;
	struct cursor c;

	if (__builtin_expect(header->size < plan->fixed_size, 0))
		return too_short("fixed fields", header);
	clear(ret);
	ret->header = header;
	ret->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	ret->id = plan->id > 0		 ? load_u64(p + plan->id)
		  : plan->identifier > 0 ? load_u64(p + plan->identifier)
					 : UINT64_MAX;
	if (plan->ip > 0)
		ret->ip = load_u64(p + plan->ip);
	ret->pid = ret->tid = UINT32_MAX;
	if (plan->tid > 0) {
		ret->pid = load_u32(p + plan->tid);
		ret->tid = load_u32(p + plan->tid + 4);
	}
	ret->time = plan->time > 0 ? load_u64(p + plan->time) : UINT64_MAX;
	if (plan->addr > 0)
		ret->addr = load_u64(p + plan->addr);
	if (plan->stream_id > 0)
		ret->stream_id = load_u64(p + plan->stream_id);
	ret->cpu = plan->cpu > 0 ? load_u32(p + plan->cpu) : UINT32_MAX;
	ret->period = plan->period > 0 ? load_u64(p + plan->period) : plan->default_period;
	ret->branch_hw_idx = UINT64_MAX;
	if (plan->fixed_only)
		return 0;
	c = (struct cursor){p + plan->fixed_size, p + header->size};
	return decode_variable(plan, &c, ret);
}

void sample_decode_trailer(const struct sample_plan *plan, const struct perf_event_header *header,
			   struct sample *ret)
{
	const uint8_t *end = (const uint8_t *)header + record_end(header, plan->trailer_size);

	clear(ret);
	ret->header = header;
	ret->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	ret->id = ret->time = ret->branch_hw_idx = UINT64_MAX;
	ret->pid = ret->tid = ret->cpu = UINT32_MAX;
	// perf's own records (64 and above) never have ids behind them.
	if (!plan->trailer_size || header->size < HEADER_SIZE + plan->trailer_size ||
	    header->type >= 64)
		return;
	if (plan->t_tid > 0) {
		ret->pid = load_u32(end - plan->t_tid);
		ret->tid = load_u32(end - plan->t_tid + 4);
	}
	if (plan->t_time > 0)
		ret->time = load_u64(end - plan->t_time);
	if (plan->t_id > 0)
		ret->id = load_u64(end - plan->t_id);
	else if (plan->t_identifier > 0)
		ret->id = load_u64(end - plan->t_identifier);
	if (plan->t_stream_id > 0)
		ret->stream_id = load_u64(end - plan->t_stream_id);
	if (plan->t_cpu > 0)
		ret->cpu = load_u32(end - plan->t_cpu);
}

bool sample_read_next(const struct sample_plan *plan, const struct sample *sample, uint32_t *pos,
		      struct sample_read *ret)
{
	const bool group = plan->read_format & PERF_FORMAT_GROUP;
	const bool enabled = plan->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	const bool running = plan->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	const bool id = plan->read_format & PERF_FORMAT_ID;
	const bool lost = plan->read_format & PERF_FORMAT_LOST;
	// {value, enabled, running, id, lost}, or {nr, enabled, running, {value, id, lost}...}
	uint32_t times = 1, at = *pos, need = 1u + id + lost;
	const uint8_t *words = (const uint8_t *)sample->read;

	if (!words)
		return false;
	if (at == 0)
		at = group ? 1u + enabled + running : 0;
	if (!group)
		need += enabled + running;
	if (at + need > sample->read_words)
		return false;
	*ret = (struct sample_read){.value = load_u64(words + 8 * at++)};
	if (enabled)
		ret->time_enabled = load_u64(words + 8 * times++);
	if (running)
		ret->time_running = load_u64(words + 8 * times++);
	if (!group)
		at = times;
	if (id)
		ret->id = load_u64(words + 8 * at++);
	if (lost)
		ret->lost = load_u64(words + 8 * at++);
	*pos = at;
	return true;
}

uint8_t cpumode_of_context(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	}
}
