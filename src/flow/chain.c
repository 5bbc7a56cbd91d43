// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/chain.h"
#include "base/num.h"
#include "flow/workers.h"

// Of stacks as run->stacks has them.
enum { MOST_FRAMES = 1024 };

struct run_unwind {
	struct unwinder *unwinder; // NULL: of a machine that can't be unwound
	VEC(uint64_t) chain;
	struct unwind_counts marked, added; // what others counted
	// Of processes that answer, and of the one that asks.
	uint32_t max_stack;
	const struct run_hooks *asked;
	void *asked_arg;
	struct str given; // workers->given, as far as it was not looked at
	uint64_t given_n;
};

static struct run_unwind *unwind_of(struct run *run)
{
	const char *arch = run->recording->info.arch;

	if (!run->unwind) {
		run->unwind = NEW(struct run_unwind);
		run->unwind->unwinder =
			unwinder_new(run->sym, arch ? unwind_machine(arch) : unwind_machine_here());
		if (run->unwind->unwinder)
			run->unwind->unwinder->is_live = run->sym->options.live;
	}
	return run->unwind;
}

void run_unwind_free(struct run_unwind *unwind)
{
	if (!unwind)
		return;
	unwinder_free(unwind->unwinder);
	vec_done(&unwind->chain);
	free(unwind);
}

// "stacks N N...", by enum unwind_end: a line of recording_info.notes.
static void add_noted(struct str line, struct unwind_counts *ret)
{
	static const char head[] = "stacks ";

	if (!str_starts(line, head))
		return;
	line = (struct str){line.p + strlen(head), line.n - strlen(head)};
	for (unsigned i = 0; i < UNWIND_ENDS && line.n; i++) {
		uint64_t n;

		if (num_parse_u64(str_cut(&line, ' '), &n) == 0)
			ret->ends[i] += n;
	}
}

static void add_counts(struct unwind_counts *to, const struct unwind_counts *more)
{
	for (int i = 0; i < UNWIND_ENDS; i++)
		to->ends[i] += more->ends[i];
	to->without += more->without;
	to->frames += more->frames;
}

static void count_own(const struct run *run, struct unwind_counts *ret)
{
	*ret = run->unwind && run->unwind->unwinder ? run->unwind->unwinder->counts
						    : (struct unwind_counts){0};
}

void run_unwind_mark(struct run *run)
{
	if (run->unwind)
		count_own(run, &run->unwind->marked);
}

void run_unwind_since_mark(const struct run *run, struct unwind_counts *ret)
{
	const struct unwind_counts *marked;

	count_own(run, ret);
	if (!run->unwind)
		return;
	marked = &run->unwind->marked;
	for (int i = 0; i < UNWIND_ENDS; i++)
		ret->ends[i] -= marked->ends[i];
	ret->without -= marked->without;
	ret->frames -= marked->frames;
}

void run_unwind_add(struct run *run, const struct unwind_counts *counts)
{
	if (!memcmp(counts, &(struct unwind_counts){0}, sizeof(*counts)))
		return;
	add_counts(&unwind_of(run)->added, counts);
}

void run_unwind_counts(const struct run *run, struct unwind_counts *ret)
{
	const char *notes = run->recording->info.notes;
	struct str rest = str_of(notes ? notes : "");

	count_own(run, ret);
	if (run->unwind)
		add_counts(ret, &run->unwind->added);
	while (rest.n)
		add_noted(str_cut(&rest, '\n'), ret);
}

// Where a stack ended as there was no unwind information.
static void count_cut(struct sym *sym, struct task *task, const struct sample *sample)
{
	struct location location;

	if (!sample->callchain_n)
		return;
	location = sym_resolve_map(sym, task, PERF_RECORD_MISC_USER,
				   sample->callchain[sample->callchain_n - 1]);
	if (location.dso)
		location.dso->cut_stacks_n++;
}

// A chain that another process has unwound, and its frames behind it. Of two samples that are equal in all that is here either has both's.
struct answer {
	uint64_t time, ip;
	uint32_t tid, event, max_stack, chain_n;
	struct unwind_counts counts; // what it adds
};

static const struct sample *unwind_here(struct run *run, const struct chain_of *of,
					const struct sample *sample, struct sample *ret)
{
	struct run_unwind *unwind = run->unwind;
	const struct unwind_sample copy = {of->task, sample, &of->event->plan};

	vec_clear(&unwind->chain);
	vec_reserve(&unwind->chain, (size_t)sample->callchain_n + 1 + of->max_stack);
	*ret = *sample;
	ret->at_calls = true;
	ret->callchain = unwind->chain.v;
	ret->callchain_n = unwind_sample(unwind->unwinder, &copy, unwind->chain.v, of->max_stack);
	return ret;
}

// Samples come in the same order there; those that nobody asks for are passed by.
static bool take_answer(struct run *run, const struct chain_of *of, const struct sample *sample,
			struct sample *ret)
{
	struct run_unwind *unwind = run->unwind;
	struct answer answer;
	struct str rest;

	if (unwind->given_n != run->workers->given_n) {
		unwind->given = run->workers->given;
		unwind->given_n = run->workers->given_n;
	}
	for (rest = unwind->given; rest.n;) {
		memcpy(&answer, rest.p, sizeof(answer));
		const char *frames = rest.p + sizeof(answer);
		size_t n = sizeof(answer) + answer.chain_n * sizeof(uint64_t);

		rest = (struct str){rest.p + n, rest.n - n};
		if (answer.time != sample->time || answer.ip != sample->ip ||
		    answer.tid != sample->tid || answer.event != of->event->index ||
		    answer.max_stack != of->max_stack)
			continue;
		unwind->given = rest;
		*ret = *sample;
		ret->at_calls = true;
		ret->callchain = (const void *)frames;
		ret->callchain_n = answer.chain_n;
		add_counts(&unwind->added, &answer.counts);
		if (answer.counts.ends[UNWIND_NO_INFO])
			count_cut(run->sym, of->task, ret);
		return true;
	}
	return false;
}

const struct sample *run_chain_unwound(struct run *run, const struct chain_of *of,
				       const struct sample *sample, struct sample *ret)
{
	struct run_unwind *unwind = unwind_of(run);
	uint64_t *cut, before;

	if (!unwind->unwinder)
		return sample;
	if (run->workers && run->workers->given.n && take_answer(run, of, sample, ret))
		return ret;
	cut = &unwind->unwinder->counts.ends[UNWIND_NO_INFO];
	before = *cut;
	unwind_here(run, of, sample, ret);
	if (*cut > before)
		count_cut(run->sym, of->task, ret);
	return ret;
}

static bool holds_stacks(const struct event *event)
{
	const uint64_t needed =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (event->attr.sample_type & needed) == needed;
}

static int answer_hit(void *arg, struct run *run, const struct hit *hit)
{
	struct run_unwind *unwind = arg;
	struct out *out = &run->workers->answers;
	struct sample whole;
	struct answer answer = {.time = hit->sample.time,
				.ip = hit->sample.ip,
				.tid = hit->sample.tid,
				.event = hit->event->index,
				.max_stack = unwind->max_stack};

	if (!holds_stacks(hit->event) || !hit->task ||
	    (unwind->asked->wants && !unwind->asked->wants(unwind->asked_arg, run, hit)))
		return 0;
	run_unwind_mark(run);
	unwind_here(run, &(struct chain_of){hit->event, hit->task, unwind->max_stack}, &hit->sample,
		    &whole);
	run_unwind_since_mark(run, &answer.counts);
	answer.chain_n = whole.callchain_n;
	out_bytes(out, &answer, sizeof(answer));
	out_bytes(out, whole.callchain, whole.callchain_n * sizeof(uint64_t));
	return 0;
}

void run_answer_chains(struct run *run)
{
	static const struct run_hooks hooks = {.hit = answer_hit};

	run->unwind->asked = run->hooks;
	run->unwind->asked_arg = run->arg;
	run->hooks = &hooks;
	run->arg = run->unwind;
	run->stacks = NULL;
}

void run_share_chains(struct run *run, unsigned jobs, uint32_t max_stack)
{
	const struct recording *recording = run->recording;
	bool any = false;

	for (size_t i = 0; i < recording->events.n; i++)
		any |= holds_stacks(recording->events.v[i]);
	if (recording->is_pipe || !any || !unwind_of(run)->unwinder)
		return;
	run->unwind->max_stack = max_stack ? max_stack : MOST_FRAMES;
	run->workers = workers_new(&(struct workers_options){.jobs = jobs});
}

void run_find_stacks(struct run *run, struct hit *hits, size_t n)
{
	struct stack_ask asks[RUN_BATCH];
	struct sample whole;
	size_t asked = 0;

	_Static_assert((int)RUN_BATCH <= (int)STACK_BATCH, "");
	for (size_t i = 0; i < n; i++) {
		struct hit *hit = &hits[i];

		if (!hit->task)
			hit->task = sym_task(run->sym, UINT32_MAX, 0);
		asks[asked].task = hit->task;
		asks[asked++].sample =
			run_chain(run, &(struct chain_of){hit->event, hit->task, MOST_FRAMES},
				  &hit->sample, &whole);
		// The next one is unwound into the same place.
		if (asks[asked - 1].sample != &whole && i + 1 < n)
			continue;
		stacks_of_samples(run->stacks, asks, asked);
		for (size_t k = 0; k < asked; k++)
			hits[i + 1 - asked + k].stack = asks[k].node;
		asked = 0;
	}
}
