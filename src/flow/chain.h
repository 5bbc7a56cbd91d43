// SPDX-License-Identifier: GPL-2.0-or-later
// Whole call chains of the samples of a run: what a sample has of registers and stack of user space is unwound.
#pragma once
#include "flow/run.h"
#include "sym/unwind.h"

struct chain_of {
	const struct event *event;
	struct task *task;
	uint32_t max_stack;
};

void run_unwind_free(struct run_unwind *unwind);
// Of one that holds all that it takes; for run_chain.
const struct sample *run_chain_unwound(struct run *run, const struct chain_of *of,
				       const struct sample *sample, struct sample *ret);
// The sample with its whole chain. Where it holds registers and stack of user space and a chain was asked for when it was
// recorded, that is *ret: the frames of the kernel (at most `max_stack`), PERF_CONTEXT_USER, those of user space
// (likewise). Else `sample` itself. The chain lives until the next call.
static inline const struct sample *run_chain(struct run *run, const struct chain_of *of,
					     const struct sample *sample, struct sample *ret)
{
	const uint64_t needed =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	if ((of->event->attr.sample_type & needed) != needed || !of->task)
		return sample;
	return run_chain_unwound(run, of, sample, ret);
}
// Their stacks and tasks, for run->stacks. Some 50 ns each where they were seen before.
void run_find_stacks(struct run *run, struct hit *hits, size_t n);
// How the stacks of user space ended that were unwound for this run, and those that sonde unwound when it recorded.
void run_unwind_counts(const struct run *run, struct unwind_counts *ret);
// Lets other processes unwind (workers.h), where the recording has what is unwound: `jobs` as there, `max_stack` as run_chain will be asked
// for, 0: for run->stacks. What the hook `wants` refuses is not unwound; a consumer that refuses most of the samples itself had better not
// call this.
void run_share_chains(struct run *run, unsigned jobs, uint32_t max_stack);
// One of the others begins: in place of the run's hooks.
void run_answer_chains(struct run *run);
// For processes that share a run's work: what one has counted since the mark is added to another one's.
void run_unwind_mark(struct run *run);
void run_unwind_since_mark(const struct run *run, struct unwind_counts *ret);
void run_unwind_add(struct run *run, const struct unwind_counts *counts);
