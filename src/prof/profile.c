// SPDX-License-Identifier: GPL-2.0-or-later
// Where the CPUs are, so many times a second.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "prof/core/flame.h"
#include "prof/core/rows.h"
#include "sys/perf.h"

enum { USUAL_FREQUENCY = 1000, LARGEST_FREQUENCY = 100000 };

struct profile_options {
	struct prof_options common;
	uint64_t frequency;
};

struct profile_state {
	uint64_t frequency;
	struct prof_event *clock;
	struct prof_rows rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to sample"),
	PROF_U64('F', "freq", offsetof(struct profile_options, frequency), "HZ",
		 "samples a second of each busy CPU (default 1000)"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_STACKS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof profile -F 1000 -C 0 -g -N 2", "what a CPU does, with its stack, two times",
	 "sonde prof profile -F 1000 -g -N 2 -- sh -c 'while :; do :; done' >out.txt"},
	{"sonde prof profile -F 997 --exclude-user -g --flame-graph cpu -i 600000",
	 "a flame graph of the kernel; in cpu.folded the stacks of each ten minutes",
	 "sonde prof profile -F 997 -g --flame-graph cpu -- sh -c 'for i in 1 2 3; do sh -c :; done' >out.txt"},
	{0},
};

// Does a hardware counter tick here? A hypervisor may lend none.
static bool counts_cycles(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .disabled = 1};
	int fd = perf_open(&attr, PERF_OPEN_AT_SELF);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int named(struct prof *prof, struct profile_state *state)
{
	state->clock->source = "profile";
	prof_rows_begin(prof, &state->rows, state->clock->feed->stack);
	return 0;
}

// Of a recording whichever clock it was made by.
static int find_recorded(struct prof *prof, struct profile_state *state)
{
	static const char *const names[] = {"cycles", "cpu-clock", "task-clock"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!prof_add(prof, names[i], NULL, &state->clock))
			return named(prof, state);
	}
	return fail(ENOENT, "%s has no event of a clock (cycles, cpu-clock or task-clock)",
		    prof->options->from);
}

static int setup(struct prof *prof)
{
	struct profile_state *state = PROF_STATE(struct profile_state, prof);
	bool cycles;
	int err;

	state->frequency = PROF_OPTIONS(struct profile_options, prof)->frequency;
	if (!prof->feed->is_live)
		return find_recorded(prof, state);
	if (!state->frequency)
		state->frequency = USUAL_FREQUENCY;
	if (state->frequency > LARGEST_FREQUENCY)
		return fail(EINVAL, "-F %llu: at most %d samples a second",
			    (unsigned long long)state->frequency, LARGEST_FREQUENCY);
	cycles = counts_cycles();
	if (!cycles)
		inform("this machine has no cycles counter for us: using cpu-clock");
	err = prof_add(prof, cycles ? "cycles" : "cpu-clock", NULL, &state->clock);
	if (err)
		return err;
	state->clock->feed->frequency = state->frequency;
	return named(prof, state);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct prof_rows *rows = &PROF_STATE(struct profile_state, prof)->rows;

	if (prof_rows_on(rows)) {
		prof_rows_put(prof, rows, event, sample);
	} else {
		prof_put_time(prof, sample->time);
		out_char(prof->out, ' ');
		prof_put_event(prof, event, sample);
	}
	if (prof->flame || !prof_rows_on(rows))
		prof_add_stack(prof, sample);
	return prof_broken(prof);
}

static void done(struct prof *prof)
{
	prof_rows_done(&PROF_STATE(struct profile_state, prof)->rows);
}

const struct profiler profiler_profile = {
	.name = "profile",
	.summary = "Where CPUs and tasks are, so many times a second",
	.usage = "sonde prof profile [-F HZ] [-g [--flame-graph FILE]] [options] [-- COMMAND]",
	.description =
		"Counts cycles where the machine has a counter of them (it sees what runs with interrupts off, too), else the clock of the CPU. "
		"A line for each sample; -g: with its stack, or as a flame graph. An idle CPU has no samples.",
	.opts = options,
	.size = sizeof(struct profile_options),
	.state_size = sizeof(struct profile_state),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.endless = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.done = done,
};
