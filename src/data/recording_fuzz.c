// SPDX-License-Identifier: GPL-2.0-or-later
// Whole recordings: open, header text, every record, every sample; twice, as rewound.
#include "base/out.h"
#include "data/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t walk(struct recording *recording)
{
	struct record record;
	uint64_t sum = 0;

	while (recording_next(recording, &record) > 0) {
		struct event *event = recording_event(recording, record.header);
		struct sample sample;

		if (!event)
			continue;
		if (record.header->type != PERF_RECORD_SAMPLE) {
			sample_decode_trailer(&event->plan, record.header, &sample);
			sum += sample.time;
		} else if (sample_decode(&event->plan, record.header, &sample) >= 0) {
			for (uint32_t i = 0; i < sample.callchain_n; i++)
				sum += sample.callchain[i];
			for (uint32_t i = 0; i < sample.raw_size; i++)
				sum += ((const uint8_t *)sample.raw)[i];
			for (uint64_t i = 0; i < sample.branch_n; i++)
				sum += sample.branches[i].from;
			for (uint64_t i = 0; i < sample.user_stack_size; i++)
				sum += sample.user_stack[i];
		}
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording *recording;
	struct out out;

	if (recording_open_memory(&recording, data, size, "fuzz") < 0)
		return 0;
	out_init_memory(&out);
	recording_print_header(&out, recording, true);
	out_done(&out);
	walk(recording);
	if (recording_rewind(recording) >= 0)
		walk(recording);
	recording_close(recording);
	return 0;
}
