// SPDX-License-Identifier: GPL-2.0-or-later
// The first 40 bytes choose the attr, the rest is the body of a record. It is decoded as a sample, read
// to the end, and swapped.
#include "abi/attr.h"
#include "abi/record.h"
#include "abi/sample.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(const void *p, uint64_t n)
{
	const uint8_t *bytes = p;

	if (n)
		sink += bytes[0] + bytes[n - 1];
}

static void read_all(const struct sample_plan *plan, const struct sample *s)
{
	struct sample_read read;
	uint32_t pos = 0;

	while (sample_read_next(plan, s, &pos, &read))
		sink += read.value + read.lost + read.id;
	touch(s->callchain, s->callchain_n * 8ull);
	touch(s->raw, s->raw_size);
	touch(s->branches, s->branch_n * sizeof(*s->branches));
	if (s->branch_counters)
		touch(s->branch_counters, s->branch_n * 8);
	if (s->user_regs)
		touch(s->user_regs, 8ull * (unsigned)__builtin_popcountll(plan->user_mask));
	touch(s->user_stack, s->user_stack_size);
	if (s->intr_regs)
		touch(s->intr_regs, 8ull * (unsigned)__builtin_popcountll(plan->intr_mask));
	touch(s->aux, s->aux_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = {0};
	struct sample_plan plan;
	struct sample sample;
	uint64_t words[5];
	struct perf_event_header *header;
	size_t n;

	if (size < sizeof(words) + 8)
		return 0;
	memcpy(words, data, sizeof(words));
	attr.sample_type = words[0];
	attr.read_format = words[1] & 0x1f;
	attr.sample_id_all = words[1] >> 63;
	attr.branch_sample_type = words[2];
	attr.sample_regs_user = words[3];
	attr.sample_regs_intr = words[4];
	data += sizeof(words);
	n = (size - sizeof(words)) & ~(size_t)7;
	if (n > 65528)
		n = 65528;
	header = malloc(n);
	memcpy(header, data, n);
	header->size = (uint16_t)n;
	sample_plan_init(&plan, &attr);
	if (sample_decode(&plan, header, &sample) == 0)
		read_all(&plan, &sample);
	sample_decode_trailer(&plan, header, &sample);
	sink += record_is_whole(header);
	header->size = (uint16_t)(n << 8 | n >> 8);
	if (record_swap(header, data[0] & 1 ? &attr : NULL) == 0 && header->size != n)
		abort();
	free(header);
	return 0;
}
