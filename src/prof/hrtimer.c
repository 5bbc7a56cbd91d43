// SPDX-License-Identifier: GPL-2.0-or-later
// A timer on each CPU that shows where it is when a condition on what happened since its last tick holds.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "prof/core/flame.h"
#include "prof/core/rows.h"

enum { MOST_CPUS = 4096 };

struct hr_cpu {
	uint64_t last_ns; // of the timer; 0: none yet
	uint64_t *counts; // by event, since then
};

struct hrtimer_options {
	struct prof_options common;
	uint64_t period_ns, frequency;
};

struct hrtimer {
	uint64_t period_ns, frequency;
	struct prof_event *timer;
	struct expr *condition; // NULL: any event at all
	struct hr_cpu *cpus;
	size_t events_n; // of -e
	uint64_t shown_n;
	struct prof_rows rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to look for"),
	PROF_OPTIONS_EVENTS,
	PROF_DURATION(0, "period", offsetof(struct hrtimer_options, period_ns), "TIME",
		      "between two ticks (default 10ms)"),
	PROF_U64('F', "freq", offsetof(struct hrtimer_options, frequency), "HZ", "ticks a second"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof hrtimer -e sched:sched_switch -C 0 --period 50ms -g 'sched_switch==0'",
	 "where a CPU is when it has not switched tasks for 50 ms",
	 "sonde prof hrtimer -e sched:sched_switch -C 0 --period 5ms -N 100 'sched_switch==0' -- sleep 0.3 >out.txt"},
	{0},
};

static bool find_count(void *arg, struct str name, struct expr_field *ret)
{
	const struct prof *prof = arg;

	for (size_t i = 0; i < prof->events.n; i++) {
		if (!str_is(name, prof->events.v[i]->label))
			continue;
		*ret = (struct expr_field){.kind = EXPR_FIELD_NUMBER,
					   .offset = (uint32_t)i * 8,
					   .size = 8};
		return true;
	}
	return false;
}

static const char *count_name(void *arg, size_t i)
{
	const struct prof *prof = arg;

	return i < prof->events.n ? prof->events.v[i]->label : NULL;
}

static int setup(struct prof *prof)
{
	struct hrtimer *state = PROF_STATE(struct hrtimer, prof);
	struct expr_fields fields = {.find = find_count, .name = count_name, .arg = prof};
	int err = 0;

	state->period_ns = PROF_OPTIONS(struct hrtimer_options, prof)->period_ns;
	state->frequency = PROF_OPTIONS(struct hrtimer_options, prof)->frequency;
	if (state->frequency && state->period_ns)
		return fail(EINVAL, "-F and --period exclude each other");
	if (state->frequency)
		state->period_ns = NSEC_PER_SEC / state->frequency;
	if (!state->period_ns)
		state->period_ns = 10000000;
	if (state->period_ns < 10000)
		return fail(EINVAL,
			    "a timer every %llu ns would be all that a CPU does; 10us is the shortest",
			    (unsigned long long)state->period_ns);
	state->events_n = prof->events.n;
	if (prof->options->word)
		err = expr_compile(&state->condition, prof->options->word, &fields);
	if (!err)
		err = prof_add(prof, "cpu-clock", NULL, &state->timer);
	if (err)
		return err;
	// The period is the input's business when it opens the event.
	state->timer->feed->period_ns = state->period_ns;
	state->timer->feed->stack = prof->options->call_graph;
	state->cpus = xcalloc(MOST_CPUS, sizeof(*state->cpus));
	prof_rows_begin(prof, &state->rows, state->timer->feed->stack);
	return 0;
}

static bool holds(struct prof *prof, struct hrtimer *state, const uint64_t *counts)
{
	struct expr_record record = {.data = counts, .size = (uint32_t)(state->events_n * 8)};

	if (state->condition)
		return expr_true(prof->machine, state->condition, &record);
	for (size_t i = 0; i < state->events_n; i++) {
		if (counts[i])
			return true;
	}
	return false;
}

static void put_counts(const struct prof *prof, struct out *out, const uint64_t *counts)
{
	for (size_t i = 0; i < PROF_STATE(struct hrtimer, prof)->events_n; i++)
		out_printf(out, "%s%s %llu", i ? " " : "", prof->events.v[i]->label,
			   (unsigned long long)counts[i]);
}

static void show(struct prof *prof, const struct prof_event *event, const struct sample *sample,
		 const uint64_t *counts)
{
	struct prof_rows *rows = &PROF_STATE(struct hrtimer, prof)->rows;

	if (prof_rows_on(rows)) {
		put_counts(prof, prof_rows_fields(rows), counts);
		prof_rows_put_as(prof, rows, event, sample);
		if (prof->flame)
			prof_add_stack(prof, sample);
		return;
	}
	prof_put_time(prof, sample->time);
	out_char(prof->out, ' ');
	prof_put_comm(prof, event, sample);
	out_char(prof->out, ' ');
	out_u64_right(prof->out, sample->tid, 6);
	out_text(prof->out, " [");
	out_u64_zeros(prof->out, sample->cpu, 3);
	out_text(prof->out, "] ");
	out_time(prof->out, sample->time, 0, 6);
	out_text(prof->out, ": hrtimer: ");
	put_counts(prof, prof->out, counts);
	out_char(prof->out, '\n');
	prof_add_stack(prof, sample);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct hrtimer *state = PROF_STATE(struct hrtimer, prof);
	struct hr_cpu *cpu;

	if (sample->cpu >= MOST_CPUS) {
		prof->no_place_n++;
		return 0;
	}
	cpu = &state->cpus[sample->cpu];
	if (!cpu->counts)
		cpu->counts = xcalloc(prof->events.n, sizeof(uint64_t));
	if (event != state->timer) {
		cpu->counts[event->index]++;
		return 0;
	}
	// The clock stands still while a CPU is idle: a long way to the last tick is no period.
	if (cpu->last_ns && sample->time - cpu->last_ns < state->period_ns * 3 / 2 &&
	    holds(prof, state, cpu->counts)) {
		show(prof, event, sample, cpu->counts);
		state->shown_n++;
	}
	cpu->last_ns = sample->time;
	memset(cpu->counts, 0, prof->events.n * sizeof(uint64_t));
	return 0;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	struct hrtimer *state = PROF_STATE(struct hrtimer, prof);

	// Counts with a hole say nothing.
	for (uint32_t i = 0; i < MOST_CPUS; i++) {
		if (loss->cpu == UINT32_MAX || loss->cpu == i)
			state->cpus[i].last_ns = 0;
	}
}

static int finish(struct prof *prof, uint64_t now_ns)
{
	inform("the condition held at %llu ticks",
	       (unsigned long long)PROF_STATE(struct hrtimer, prof)->shown_n);
	return 0;
}

static void done(struct prof *prof)
{
	struct hrtimer *state = PROF_STATE(struct hrtimer, prof);

	for (uint32_t i = 0; state->cpus && i < MOST_CPUS; i++)
		free(state->cpus[i].counts);
	free(state->cpus);
	expr_free(state->condition);
	prof_rows_done(&state->rows);
}

const struct profiler profiler_hrtimer = {
	.name = "hrtimer",
	.summary = "Where CPUs are when events did (or did not) happen since the last tick",
	.usage = "sonde prof hrtimer -e EVENT [--period TIME | -F HZ] [-g] [options] [CONDITION] [-- COMMAND]",
	.description =
		"A timer ticks on each busy CPU. When the condition holds for the counts of the events since the tick before, such as "
		"'sched_switch==0', the place is shown. Without a condition: when there was any event.",
	.opts = options,
	.size = sizeof(struct hrtimer_options),
	.state_size = sizeof(struct hrtimer),
	.examples = examples,
	.endless = true,
	.takes_word = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.lost = lost,
	.finish = finish,
	.done = done,
};
