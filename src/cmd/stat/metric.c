// SPDX-License-Identifier: GPL-2.0-or-later
// Figures derived from counts, as perf derives them.
#include "cmd/stat/stat.h"
#include <math.h>
#include <stdio.h>

#define CACHE(id, op, result)                                                                      \
	(PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 |                             \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

// A count that is a share of another.
static const struct share {
	uint32_t type;
	uint64_t config, of;
	double factor;
	const char *format, *unit;
} shares[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, 1, "%7.2f ",
	 "insn per cycle"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
	 "%7.2f%%", "of all branches"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	 "%8.3f %%", "of all cache refs"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES, 100,
	 "%7.2f%%", "frontend cycles idle"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES, 100,
	 "%7.2f%%", "backend cycles idle"},
	{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), CACHE(L1D, READ, ACCESS), 100, "%7.2f%%",
	 "of all L1-dcache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), CACHE(L1I, READ, ACCESS), 100, "%7.2f%%",
	 "of all L1-icache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), CACHE(DTLB, READ, ACCESS), 100, "%7.2f%%",
	 "of all dTLB cache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), CACHE(ITLB, READ, ACCESS), 100, "%7.2f%%",
	 "of all iTLB cache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), CACHE(LL, READ, ACCESS), 100, "%7.2f%%",
	 "of all LL-cache accesses"},
};

static bool is(const struct stat_counter *counter, uint32_t type, uint64_t config)
{
	const struct event_spec *spec = counter->spec;

	// The upper half of a hybrid machine's config names the PMU.
	return spec->attr.type == type && !spec->tool && (uint32_t)spec->attr.config == config;
}

bool stat_is_clock(const struct stat_counter *counter)
{
	return is(counter, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK) ||
	       is(counter, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

static bool same_part(const struct stat_counter *a, const struct stat_counter *b)
{
	const struct perf_event_attr *x = &a->spec->attr, *y = &b->spec->attr;

	return x->exclude_user == y->exclude_user && x->exclude_kernel == y->exclude_kernel &&
	       x->exclude_hv == y->exclude_hv && x->exclude_idle == y->exclude_idle;
}

double stat_value(const struct counting *stat, const struct stat_counter *counter, size_t row)
{
	if (!counter->supported || !counter->rows[row].running_ns)
		return -1;
	return (double)counter->rows[row].value / (stat->runs ? stat->runs : 1);
}

static double wall_ns(const struct counting *stat)
{
	return stat->options->interval_ms && !stat->elapsed.n ? stat->options->interval_ms * 1e6
							      : stat->elapsed.mean;
}

// 0 when it isn't known.
static double other(const struct counting *stat, const struct stat_counter *counter, size_t row,
		    const struct share *share)
{
	vec_each(const struct stat_counter, it, &stat->counters) {
		if (it->cgroup_fd == counter->cgroup_fd && is(it, share->type, share->of) &&
		    same_part(it, counter))
			return fmax(stat_value(stat, it, row), 0);
	}
	return 0;
}

static double clock_ns(const struct counting *stat, const struct stat_counter *counter, size_t row)
{
	vec_each(const struct stat_counter, it, &stat->counters) {
		if (it->cgroup_fd == counter->cgroup_fd && stat_is_clock(it))
			return fmax(stat_value(stat, it, row), 0);
	}
	return 0;
}

static void set(struct stat_metric *ret, double value, const char *format, const char *unit)
{
	*ret = (struct stat_metric){.value = value, .format = format};
	snprintf(ret->unit, sizeof(ret->unit), "%s", unit);
}

static unsigned stalled(const struct counting *stat, const struct stat_counter *counter, size_t row,
			struct stat_metric *ret)
{
	const struct share front =
		{PERF_TYPE_HARDWARE, 0, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1, "", ""};
	const struct share back =
		{PERF_TYPE_HARDWARE, 0, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1, "", ""};
	double cycles = fmax(other(stat, counter, row, &front), other(stat, counter, row, &back));
	double value = stat_value(stat, counter, row);

	if (cycles <= 0 || value <= 0)
		return 0;
	set(ret, cycles / value, "%7.2f ", "stalled cycles per insn");
	return 1;
}

// Events a second of the time that was run.
static unsigned rate(double value, double ns, struct stat_metric *ret)
{
	static const char letters[] = " KMG";
	unsigned letter = 0;
	double per_second = value * 1e9 / ns;
	char unit[16];

	while (per_second >= 1000 && letters[letter + 1]) {
		per_second /= 1000;
		letter++;
	}
	snprintf(unit, sizeof(unit), "%c/sec", letters[letter]);
	set(ret, per_second, "%8.3f", letter ? unit : unit + 1);
	return 1;
}

unsigned stat_metrics(const struct counting *stat, const struct stat_counter *counter, size_t row,
		      struct stat_metric *ret)
{
	double value = stat_value(stat, counter, row), wall = wall_ns(stat), ns;

	if (stat->named.n &&
	    (size_t)(counter->spec - stat->options->specs.events.v) >= stat->named_from)
		return stat_named_metrics(stat, counter, row, ret);
	if (value < 0)
		return 0;
	if (stat_is_clock(counter)) {
		if (wall <= 0)
			return 0;
		set(ret, value / wall, "%8.3f", "CPUs utilized");
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		const struct share *share = &shares[i];
		double base;

		if (!is(counter, share->type, share->config))
			continue;
		base = other(stat, counter, row, share);
		if (base <= 0)
			break;
		set(ret, share->factor * value / base, share->format, share->unit);
		return 1 + (share->config == PERF_COUNT_HW_INSTRUCTIONS &&
					    share->type == PERF_TYPE_HARDWARE
				    ? stalled(stat, counter, row, ret + 1)
				    : 0);
	}
	int n = stat_figures(stat, counter, row, ret);

	if (n >= 0)
		return (unsigned)n;
	ns = clock_ns(stat, counter, row);
	if (ns <= 0)
		return 0;
	if (is(counter, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)) {
		set(ret, value / ns, "%8.3f", "GHz");
		return 1;
	}
	return rate(value, ns, ret);
}
