// SPDX-License-Identifier: GPL-2.0-or-later
// The less common fields of a sample as text.
#pragma once
#include "cmd/core/script/chains.h"

struct registers {
	uint64_t mask, abi;
	const uint64_t *v;
};
static inline struct registers registers_user(const struct event *event, const struct sample *sample)
{
	return (struct registers){event->attr.sample_regs_user, sample->user_abi, sample->user_regs};
}
static inline struct registers registers_intr(const struct event *event, const struct sample *sample)
{
	return (struct registers){event->attr.sample_regs_intr, sample->intr_abi, sample->intr_regs};
}
// " ABI:2  AX:0x... " of the registers in mask; nothing when abi is 0. arch: of the recording ("x86_64").
void put_registers(struct out *out, const char *arch, struct registers registers);
const char *register_name(const char *arch, unsigned bit);

struct branches {
	const struct chains *chains;
	struct task *task;
	const struct sample *sample;
	enum field field; // brstack, brstacksym, brstackoff
	bool dso;	  // names of dsos stand behind
};
void put_branches(struct out *out, const struct branches *branches);
const char *branch_type(const struct perf_branch_entry *branch);

// "|OP LOAD|LVL ..." with the number before it; *width grows with the longest text so far.
void put_data_src(struct out *out, uint64_t data_src, size_t *width);
// "4K", "2M", "N/A".
void put_page_size(struct out *out, uint64_t size);
void put_bpf_output(struct out *out, const uint8_t *data, uint32_t size);
// The five letters of the misc field, padded to 6.
void put_misc(struct out *out, uint32_t type, uint16_t misc);
// A record's bytes as in -D.
void put_time_of_day(struct out *out, const struct recording_info *info, uint64_t time, bool ns);
