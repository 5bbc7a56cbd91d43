// SPDX-License-Identifier: GPL-2.0-or-later
// How long unwinding takes: unwind RECORDING. Each user stack of a recording with registers and stack bytes is unwound as
// it comes (its bytes are then cold), and three times more at once (warm).
#include <stdio.h>
#include <time.h>
#include "base/err.h"
#include "flow/chain.h"

enum { MOST = 127, AGAIN = 3 };

struct bench {
	struct unwinder *unwinder;
	uint64_t samples, frames, first_ns, again_ns, ends[UNWIND_ENDS];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int take(void *arg, struct run *run, const struct hit *hit)
{
	struct bench *bench = arg;
	const struct sample *sample = &hit->sample;
	const struct unwind_input input = {.task = hit->task,
					   .regs = sample->user_regs,
					   .regs_mask = hit->event->plan.user_mask,
					   .regs_abi = sample->user_abi,
					   .stack = sample->user_stack,
					   .stack_size = sample->user_stack_size};
	uint64_t ips[MOST], start, middle;
	struct unwound unwound = {.ips = ips, .max = MOST};
	uint32_t n;

	if (!hit->task || !input.regs || !input.stack_size)
		return 0;
	if (!bench->unwinder)
		bench->unwinder = unwinder_new(run->sym, unwind_machine(run->recording->info.arch));
	if (!bench->unwinder)
		return fail(ENOTSUP, "recorded on a machine that can't be unwound");
	start = now();
	n = unwind_stack(bench->unwinder, &input, &unwound);
	middle = now();
	for (int i = 0; i < AGAIN; i++)
		n = unwind_stack(bench->unwinder, &input, &unwound);
	bench->again_ns += now() - middle;
	bench->first_ns += middle - start;
	bench->frames += n;
	bench->samples++;
	bench->ends[unwound.end]++;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct run_hooks hooks = {.hit = take};
	const struct run_options options = {.path = argc > 1 ? argv[1] : NULL};
	struct bench bench = {0};
	struct run *run;
	uint64_t start, clock_ns;

	if (run_open(&run, &options) < 0 || run_process(run, &hooks, &bench) < 0) {
		fprintf(stderr, "unwind: %s\n", err_sentence());
		return 1;
	}
	start = now();
	for (int i = 0; i < 1000; i++)
		now();
	clock_ns = (now() - start) / 1000 * bench.samples;
	printf("%llu stacks, %llu frames: %.1f ns a frame as they come, %.1f ns warm\n",
	       (unsigned long long)bench.samples, (unsigned long long)bench.frames,
	       ((double)bench.first_ns - (double)clock_ns) / (double)bench.frames,
	       ((double)bench.again_ns - (double)clock_ns) / (double)bench.frames / AGAIN);
	for (int i = 0; i < UNWIND_ENDS; i++)
		printf("  %s: %llu\n", unwind_end_text((enum unwind_end)i),
		       (unsigned long long)bench.ends[i]);
	unwinder_free(bench.unwinder);
	run_close(run);
	return 0;
}
