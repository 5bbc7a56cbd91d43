// SPDX-License-Identifier: GPL-2.0-or-later
// Figures of slots, transactions and system management interrupts, shown with the counts that they follow from, as perf names them
// (tools/perf/util/stat-shadow.c).
#include "cmd/stat/stat.h"
#include <math.h>
#include <stdio.h>

static const struct figure {
	const char *event, *title, *format;
	const char *metric;  // its formula is the one of -M that has the event
	const char *formula; // or this one
} figures[] = {
	{"topdown-retiring", "Retiring", "%8.1f%%", "retiring", NULL},
	{"topdown-fe-bound", "Frontend Bound", "%8.1f%%", "frontend_bound", NULL},
	{"topdown-be-bound", "Backend Bound", "%8.1f%%", "backend_bound", NULL},
	{"topdown-bad-spec", "Bad Speculation", "%8.1f%%", "bad_speculation", NULL},
	{"topdown-heavy-ops", "Heavy Operations", "%8.1f%%", "heavy_operations", NULL},
	{"topdown-heavy-ops", "Light Operations", "%8.1f%%", "light_operations", NULL},
	{"topdown-br-mispredict", "Branch Mispredict", "%8.1f%%", "branch_mispredicts", NULL},
	{"topdown-br-mispredict", "Machine Clears", "%8.1f%%", "machine_clears", NULL},
	{"topdown-fetch-lat", "Fetch Latency", "%8.1f%%", "fetch_latency", NULL},
	{"topdown-fetch-lat", "Fetch Bandwidth", "%8.1f%%", "fetch_bandwidth", NULL},
	{"topdown-mem-bound", "Memory Bound", "%8.1f%%", "memory_bound", NULL},
	{"topdown-mem-bound", "Core Bound", "%8.1f%%", "core_bound", NULL},
	{"topdown-fetch-bubbles", "frontend bound", "%8.1f%%", "frontend_bound", NULL},
	{"topdown-slots-retired", "retiring", "%8.1f%%", "retiring", NULL},
	{"topdown-recovery-bubbles", "bad speculation", "%8.1f%%", "bad_speculation", NULL},
	{"topdown-slots-issued", "backend bound", "%8.1f%%", "backend_bound", NULL},
	{"cycles-t", "transactional cycles", "%7.2f%%", NULL, "100 * cycles-t / cycles"},
	{"cycles-ct", "aborted cycles", "%7.2f%%", NULL,
	 "100 * ( max( cycles-t , cycles-ct ) - cycles-ct ) / cycles"},
	{"tx-start", "cycles / transaction", "%8.0f", NULL, "cycles-t / tx-start"},
	{"el-start", "cycles / elision", "%8.0f", NULL, "cycles-t / el-start"},
	{"msr/smi/", "SMI cycles%", "%8.1f%%", NULL,
	 "100 * ( msr/aperf/ - cycles ) / msr/aperf/ * min( 1 , msr/smi/ )"},
	{"msr/smi/", "SMI#", "%4.0f", NULL, "msr/smi/"},
};

// "cpu/tx-start/u" is tx-start; other PMUs keep their name.
static bool is_named(const struct stat_counter *counter, struct str name)
{
	struct str own = str_of(counter->spec->name);

	if (text_starts(own.p, "cpu") && memchr(own.p, '/', own.n)) {
		str_cut(&own, '/');
		own = str_cut(&own, '/');
	} else if (!memchr(own.p, '/', own.n)) {
		own = str_cut(&own, ':');
	}
	if (str_is(own, "cpu-cycles"))
		own = STR("cycles");
	return str_eq(own, name);
}

struct place {
	const struct counting *stat;
	const struct stat_counter *counter;
	size_t row;
};

static double value_of(void *arg, struct str name)
{
	const struct place *place = arg;
	double sum = (double)NAN;

	vec_each(const struct stat_counter, it, &place->stat->counters) {
		const struct perf_event_attr *a = &it->spec->attr, *b = &place->counter->spec->attr;
		double value;

		if (it->cgroup_fd != place->counter->cgroup_fd || !is_named(it, name) ||
		    a->exclude_user != b->exclude_user || a->exclude_kernel != b->exclude_kernel)
			continue;
		value = stat_value(place->stat, it, place->row);
		if (value >= 0 && isnan(sum))
			sum = value * (it->spec->scale ? it->spec->scale : 1);
	}
	return sum;
}

static const char *formula_of(const struct figure *figure)
{
	for (const struct metric *metric = metric_table; figure->metric && metric->name; metric++) {
		for (size_t i = 0;
		     !strcmp(metric->name, figure->metric) && i < METRIC_FORMS && metric->forms[i];
		     i++) {
			if (strstr(metric->forms[i], figure->event))
				return metric->forms[i];
		}
	}
	return figure->formula;
}

int stat_figures(const struct counting *stat, const struct stat_counter *counter, size_t row,
		 struct stat_metric *ret)
{
	struct place place = {stat, counter, row};
	int n = -1;

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		const struct figure *figure = &figures[i];
		double value;

		if (!is_named(counter, str_of(figure->event)))
			continue;
		n = MAX(n, 0);
		value = metric_value(formula_of(figure), value_of, &place);
		if (isnan(value))
			continue;
		ret[n] = (struct stat_metric){.value = fmax(value, 0), .format = figure->format};
		snprintf(ret[n].unit, sizeof(ret->unit), "%s", figure->title);
		n++;
	}
	return n;
}
