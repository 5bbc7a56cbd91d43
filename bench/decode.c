// SPDX-License-Identifier: GPL-2.0-or-later
// ns per sample decoded and per tracepoint printed, beside libtraceevent. Built by bench/decode.
#include "abi/sample.h"
#include "abi/tracepoint.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/time.h"
#include <stdio.h>
#include <traceevent/event-parse.h>

#define ROUNDS 3000000
#define PEER_ROUNDS 200000

static volatile uint64_t sink;

static void row(const char *what, uint64_t start_ns, unsigned rounds)
{
	uint64_t ns = time_now_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;

	printf("%-52s %8.1f ns\n", what, (double)ns / rounds);
}

static void bench_decode(const char *what, uint64_t sample_type, const uint64_t *body, size_t n)
{
	const struct perf_event_attr attr = {.sample_type = sample_type, .sample_id_all = 1};
	enum { RECORDS = 512 }; // more than the first cache holds
	static uint64_t words[RECORDS * 64];
	struct sample_plan plan;
	struct sample sample;
	uint64_t start;

	for (size_t i = 0; i < RECORDS; i++) {
		struct perf_event_header *header = (void *)&words[i * 64];

		*header = (struct perf_event_header){PERF_RECORD_SAMPLE, 2, (uint16_t)(8 + n * 8)};
		memcpy(header + 1, body, n * 8);
	}
	sample_plan_init(&plan, &attr);
	start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (sample_decode(&plan, (void *)&words[i % RECORDS * 64], &sample) < 0)
			return;
		sink += sample.ip + sample.callchain_n;
	}
	row(what, start, ROUNDS);
}

static void bench_print(const char *name, const uint8_t *raw, uint32_t size)
{
	char path[256], what[300];
	auto_free char *text = NULL;
	size_t n;
	struct tracepoints *all = tracepoints_new(&(struct tp_options){.long_size = 8});
	struct tep_handle *tep = tep_alloc();
	struct tep_record record = {.size = (int)size, .data = (void *)raw};
	const struct tracepoint *tp;
	struct trace_seq s;
	struct out out;
	uint64_t start;

	snprintf(path, sizeof(path), "test/data/formats/%s.format", name);
	if (file_read(path, 1 << 20, &text, &n) < 0)
		return;
	tracepoints_add(all, "bench", (struct str){text, n});
	tep_parse_event(tep, text, n, "bench");
	tp = tracepoints_by_id(all, (uint32_t)atoi(strstr(text, "ID:") + 3));
	out_init_memory(&out);
	start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < ROUNDS; i++) {
		out.n = 0;
		tracepoint_print(&out, tp, raw, size);
	}
	snprintf(what, sizeof(what), "print %s", name);
	row(what, start, ROUNDS);
	out_char(&out, 0);
	trace_seq_init(&s);
	memcpy((void *)raw, &(uint16_t){(uint16_t)tracepoint_id(tp)}, 2);
	start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < PEER_ROUNDS; i++) {
		trace_seq_reset(&s);
		tep_print_event(tep, &s, &record, "%s", TEP_PRINT_INFO);
	}
	row("  the same by libtraceevent", start, PEER_ROUNDS);
	printf("  %s\n", out.buf);
	trace_seq_destroy(&s);
	out_done(&out);
	tep_free(tep);
	tracepoints_free(all);
}

int main(void)
{
	uint64_t body[40] = {1, 0xffffffff81000000, 0x0000000b0000000a, 1234, 3, 1};
	uint8_t switched[64] = {0}, waked[40] = {0}, timer[64] = {0};

	bench_decode("decode IP TID TIME CPU PERIOD IDENTIFIER",
		     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		     body, 6);
	body[6] = 30;
	bench_decode("  and a call chain of 30",
		     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		     body, 37);
	body[6] = 60;
	bench_decode("  and raw data",
		     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
		     body, 14);

	memcpy(switched + 8, "swapper/0", 10);
	switched[28] = 120;
	switched[32] = 1;
	memcpy(switched + 40, "kworker/0:1", 12);
	switched[56] = 77;
	switched[60] = 120;
	bench_print("sched.sched_switch", switched, sizeof(switched));
	memcpy(waked + 8, "kworker/0:1", 12);
	bench_print("sched.sched_wakeup", waked, sizeof(waked));
	bench_print("timer.timer_start", timer, sizeof(timer));
	return 0;
}
