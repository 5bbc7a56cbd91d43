// SPDX-License-Identifier: GPL-2.0-or-later
// Samples decoded by a plan compiled once per attr (the one decoder of the program).
// Layout: include/uapi/linux/perf_event.h, PERF_RECORD_SAMPLE and struct sample_id.
#pragma once
#include "abi/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What is not in the sample is 0 / NULL, but: cpu, pid, tid are UINT32_MAX, time, id and branch_hw_idx
// UINT64_MAX, and the period of a SAMPLE is its attr's. All pointers point into the record.
struct sample {
	const struct perf_event_header *header;
	uint64_t id, ip, time, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	uint8_t cpumode; // PERF_RECORD_MISC_CPUMODE_MASK part of header->misc

	// read_format values (READ): as it lies there, see sample_read_next
	const uint64_t *read;
	uint32_t read_words;

	uint32_t callchain_n; // entries, PERF_CONTEXT_* markers included
	const uint64_t *callchain;
	// Callers of user space stand where they called (what was unwound), not where the call returns to (as the kernel has it).
	bool at_calls;
	uint32_t raw_size;
	const void *raw;
	uint64_t branch_n;
	const struct perf_branch_entry *branches;
	uint64_t branch_hw_idx; // UINT64_MAX when absent
	const uint64_t *branch_counters;
	uint64_t user_abi; // PERF_SAMPLE_REGS_ABI_*
	const uint64_t *user_regs;
	uint64_t user_stack_size; // valid bytes (dyn_size)
	const uint8_t *user_stack;
	uint64_t intr_abi;
	const uint64_t *intr_regs;
	uint64_t weight; // whole u64 of WEIGHT or WEIGHT_STRUCT
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	uint64_t aux_size;
	const void *aux;
};

// Compiled from an attr. Offsets are from the record's start; -1: not there.
struct sample_plan {
	uint64_t sample_type, read_format, branch_sample_type, user_mask, intr_mask;
	uint64_t default_period; // attr.sample_period, for samples without one
	int16_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint16_t fixed_size; // header and fixed part
	// the trailing struct sample_id of other records: offsets back from its end (record_end)
	int16_t t_tid, t_time, t_id, t_stream_id, t_cpu, t_identifier;
	uint16_t trailer_size; // 0: no sample_id_all
	bool fixed_only;       // nothing of variable size follows
};

void sample_plan_init(struct sample_plan *plan, const struct perf_event_attr *attr);

// Decodes a PERF_RECORD_SAMPLE. -EFAULT with a sentence (what doesn't fit) when the record is too short for
// what its attr promises; every pointer given out lies inside the record. About 10 ns.
int sample_decode(const struct sample_plan *plan, const struct perf_event_header *header,
		  struct sample *ret);
// Of a record that has none.
static inline void sample_ids_init(struct sample *ret, const struct perf_event_header *header)
{
	*ret = (struct sample){.header = header,
			       .id = UINT64_MAX,
			       .time = UINT64_MAX,
			       .pid = UINT32_MAX,
			       .tid = UINT32_MAX,
			       .cpu = UINT32_MAX};
}
// Decodes the trailing ids of any other record (pid, tid, time, id, stream_id, cpu). Records that are too short have none.
void sample_decode_trailer(const struct sample_plan *plan, const struct perf_event_header *header,
			   struct sample *ret);

// When a record of the kernel happened, without decoding the rest; 0: it carries no time, or is too short for one. Some ns.
static inline uint64_t sample_plan_time(const struct sample_plan *plan,
					const struct perf_event_header *header)
{
	const char *p = (const char *)header;
	uint64_t time = 0;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (plan->time > 0 && plan->time + 8 <= header->size)
			memcpy(&time, p + plan->time, 8);
	} else if (plan->trailer_size && plan->t_time > 0 &&
		   header->size >= sizeof(*header) + plan->trailer_size) {
		memcpy(&time, p + record_end(header, plan->trailer_size) - plan->t_time, 8);
	}
	return time;
}

// Walks READ values: one {value, id, lost} after another (one only when not PERF_FORMAT_GROUP).
struct sample_read {
	uint64_t value, id, lost, time_enabled, time_running; // times are the same for all
};
// *pos starts at 0. False at the end.
bool sample_read_next(const struct sample_plan *plan, const struct sample *sample, uint32_t *pos,
		      struct sample_read *ret);

// Whose addresses stand behind a PERF_CONTEXT_* marker of a callchain; PERF_RECORD_MISC_CPUMODE_UNKNOWN (0): nobody knows it.
uint8_t cpumode_of_context(uint64_t marker);

// Where the id of a SAMPLE lies (for finding its attr before decoding): byte offset from the start, and
// from record_end for other records (negative); 0 = not there. By perf's perf_evsel__id_pos rules.
int sample_id_offset(const struct perf_event_attr *attr);
int trailer_id_offset(const struct perf_event_attr *attr);
