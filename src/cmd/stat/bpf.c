// SPDX-License-Identifier: GPL-2.0-or-later
// -b: what is counted while BPF programs run.
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/core/command.h"
#include "cmd/stat/stat.h"
#include "flow/bpf_runs.h"
#include <limits.h>

static int parse_ids(const char *text, uint32_t *ret, size_t *ret_n)
{
	struct str rest = str_of(text);
	size_t n = 0;

	while (rest.p) {
		struct str word = str_trim(str_cut(&rest, ','));
		uint64_t id;

		if (num_parse_u64(word, &id) < 0 || !id || id > INT_MAX)
			return fail(COMMAND_USAGE,
				    "-b takes numbers of BPF programs (see 'bpftool prog'), not '%.*s'",
				    STR_FMT(word));
		if (n == BPF_RUNS_PROGRAMS)
			return fail(COMMAND_USAGE, "-b takes at most %d BPF programs",
				    BPF_RUNS_PROGRAMS);
		ret[n++] = (uint32_t)id;
	}
	*ret_n = n;
	return 0;
}

int stat_bpf_check(const struct stat_options *options)
{
	uint32_t ids[BPF_RUNS_PROGRAMS];
	size_t n;

	if (options->target.pids || options->target.tids || options->cgroups.n || options->each_cgroup)
		return fail(COMMAND_USAGE,
			    "-b counts BPF programs, whoever they run for: it doesn't go with -p, -t and cgroups");
	if (options->by == STAT_BY_THREAD)
		return fail(COMMAND_USAGE,
			    "-b counts BPF programs, whoever they run for: it doesn't go with --per-thread");
	return parse_ids(options->bpf_programs, ids, &n);
}

static bool counts(const struct stat_counter *counter)
{
	return counter->supported && !counter->spec->tool;
}

int stat_bpf_open(struct counting *stat)
{
	uint32_t ids[BPF_RUNS_PROGRAMS];
	size_t ids_n, events_n = 0, event = 0;
	int err = parse_ids(stat->options->bpf_programs, ids, &ids_n);

	vec_each(const struct stat_counter, counter, &stat->counters)
		events_n += counts(counter);
	if (!events_n) // each is <not supported>
		return err;
	if (!err)
		err = bpf_runs_open(&stat->bpf_runs, ids, ids_n, events_n);
	vec_each(const struct stat_counter, counter, &stat->counters) {
		for (size_t cell = 0; counts(counter) && !err && cell < stat->target.cpus.n; cell++) {
			if (counter->fds[cell] >= 0)
				err = bpf_runs_set(stat->bpf_runs, event,
						   (unsigned)stat->target.cpus.v[cell],
						   counter->fds[cell]);
		}
		event += counts(counter);
	}
	return err ? err : bpf_runs_start(stat->bpf_runs);
}

void stat_bpf_read(struct counting *stat)
{
	struct bpf_runs_count *sums, *next;

	if (!stat->bpf_runs)
		return;
	next = sums = xcalloc(bpf_runs_cpus(stat->bpf_runs) * (size_t)BPF_RUNS_EVENTS, sizeof(*sums));
	size_t events_n = 0;
	vec_each(const struct stat_counter, counter, &stat->counters)
		events_n += counts(counter);
	if (bpf_runs_read(stat->bpf_runs, sums) < 0) {
		warn("%s", err_sentence());
		free(sums);
		return;
	}
	vec_each(struct stat_counter, counter, &stat->counters) {
		if (!counts(counter))
			continue;
		for (size_t cell = 0; cell < stat->target.cpus.n; cell++) {
			const struct bpf_runs_count *sum =
				&next[(size_t)stat->target.cpus.v[cell] * events_n];

			counter->now[cell] =
				(struct stat_count){sum->value, sum->enabled_ns, sum->running_ns};
		}
		next++;
	}
	free(sums);
}

void stat_bpf_close(struct counting *stat)
{
	bpf_runs_close(stat->bpf_runs);
	stat->bpf_runs = NULL;
}
