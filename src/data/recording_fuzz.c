// SPDX-License-Identifier: GPL-2.0-or-later
// Whole recordings: open, header text, every record, every sample; twice, as rewound.
#include "base/out.h"
#include "data/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t look_at(struct recording *recording, const struct perf_event_header *header)
{
	struct event *event = recording_event(recording, header);
	struct sample sample;
	uint64_t sum = 0;

	if (!event)
		return 0;
	if (header->type != PERF_RECORD_SAMPLE) {
		sample_decode_trailer(&event->plan, header, &sample);
		return sample.time;
	}
	if (sample_decode(&event->plan, header, &sample) < 0)
		return 0;
	for (uint32_t i = 0; i < sample.callchain_n; i++)
		sum += sample.callchain[i];
	for (uint32_t i = 0; i < sample.raw_size; i++)
		sum += ((const uint8_t *)sample.raw)[i];
	for (uint64_t i = 0; i < sample.branch_n; i++)
		sum += sample.branches[i].from;
	for (uint64_t i = 0; i < sample.user_stack_size; i++)
		sum += sample.user_stack[i];
	return sum;
}

static uint64_t walk(struct recording *recording, bool by_runs)
{
	const struct perf_event_header *header;
	struct sample_run run;
	struct record record;
	uint64_t sum = 0;

	while (recording_next(recording, &record) > 0) {
		sum += look_at(recording, record.header);
		if (!by_runs || !recording_run_begin(recording, &run))
			continue;
		for (; (header = sample_run_look(&run)); sample_run_pass(&run, header))
			sum += look_at(recording, header);
		recording_run_end(recording, &run);
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
	walk(recording, false);
	if (recording_rewind(recording) >= 0)
		walk(recording, true);
	recording_close(recording);
	return 0;
}
