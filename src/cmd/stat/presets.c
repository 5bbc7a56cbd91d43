// SPDX-License-Identifier: GPL-2.0-or-later
// --topdown, --smi-cost, -T: sets of events that some Intel processors have. What follows from their counts is in figures.c.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/stat/stat.h"
#include "event/core/event_kind.h"
#include "event/core/metric.h"
#include "sys/pmu.h"
#include <fcntl.h>
#include <stdio.h>

#define FREEZE_ON_SMI "/sys/devices/cpu/freeze_on_smi"

static bool has(struct counting *stat, const char *pmu_name, const char *event)
{
	const struct event_context context = {.root = stat->options->root};
	struct pmus *pmus = event_pmus(&stat->options->specs, &context);
	struct pmu *pmu = pmus_find(pmus, str_of(pmu_name));

	if (pmu)
		pmu_details(pmus, pmu);
	return pmu && pmu_event(pmu, str_of(event)) != NULL;
}

bool stat_cpu_has(struct counting *stat, const char *event)
{
	return has(stat, "cpu", event) || has(stat, "cpu_core", event);
}

static int add(struct counting *stat, const char *text)
{
	const struct event_context context = {.root = stat->options->root};

	return event_parse(&stat->options->specs, text, &context);
}

static void show_figures_only(struct stat_options *options)
{
	if (!options->metric_only_given)
		options->metric_only = true;
}

// Since Ice Lake the slots are counted by a fixed counter, for tasks as well.
static int topdown_slots(struct counting *stat)
{
	struct stat_options *options = stat->options;
	unsigned most = stat_cpu_has(stat, "topdown-heavy-ops") ? 2 : 1;

	if (options->topdown_level > most)
		return fail(EINVAL,
			    "--td-level %u: the counters of this processor have levels up to %u",
			    options->topdown_level, most);
	show_figures_only(options);
	return add(stat,
		   most == 1 || options->topdown_level == 1
			   ? "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}"
			   : "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound,"
			     "topdown-heavy-ops,topdown-br-mispredict,topdown-fetch-lat,topdown-mem-bound}");
}

// Before that they are counts of a whole core.
static int topdown_counts(struct counting *stat)
{
	struct stat_options *options = stat->options;
	int64_t watchdog = 0;

	if (options->topdown_level > 1)
		return fail(EINVAL, "--td-level %u: the counters of this processor have level 1",
			    options->topdown_level);
	if (options->by != STAT_BY_ALL && options->by != STAT_BY_CORE)
		return fail(COMMAND_USAGE, "--topdown counts whole cores here: it needs --per-core");
	if ((!options->target.all_cpus && !options->target.cpus) || options->each_cgroup ||
	    options->cgroups.n)
		return fail(COMMAND_USAGE,
			    "--topdown counts whole cores here: it needs -a, without cgroups");
	options->by = STAT_BY_CORE;
	show_figures_only(options);
	file_read_i64(options->root, "/proc/sys/kernel/nmi_watchdog", &watchdog);
	if (watchdog)
		warn("the NMI watchdog takes a counter, so the events count by turns (sysctl kernel.nmi_watchdog=0 frees it)");
	return add(stat,
		   watchdog ? "topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,"
			      "topdown-slots-issued"
			    : "{topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,"
			      "topdown-slots-issued}");
}

// A hint is worth something only where it leads to numbers.
static bool counts_stalls(struct counting *stat)
{
	const struct event_context context = {.root = stat->options->root};
	bool opens = false;

	for (const struct metric *metric = metric_table; metric->name && !opens; metric++) {
		if (metric_matches(metric, STR("Stalls")))
			metric_form(metric, &stat->options->specs, &context, &opens);
	}
	return opens;
}

static int topdown(struct counting *stat)
{
	if (stat_cpu_has(stat, "slots") && stat_cpu_has(stat, "topdown-retiring"))
		return topdown_slots(stat);
	if (stat_cpu_has(stat, "topdown-total-slots"))
		return topdown_counts(stat);
	return fail(EOPNOTSUPP,
		    "--topdown needs the topdown events of Intel processors, which this machine does not name%s",
		    counts_stalls(stat) ? "; -M Stalls counts what most processors have" : "");
}

static int set_freeze(const struct stat_options *options, const char *value)
{
	auto_free char *path = text_dup_fmt("%s" FREEZE_ON_SMI, options->root ? options->root : "");
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, value, 1) != 1
		       ? fail(errno, "can't set %s: %s", path, strerror(errno))
		       : 0;
}

static int smi_cost(struct counting *stat)
{
	struct stat_options *options = stat->options;
	int64_t frozen;
	int err = 0;

	if (file_read_i64(options->root, FREEZE_ON_SMI, &frozen) < 0)
		return fail(EOPNOTSUPP,
			    "--smi-cost needs freeze_on_smi, a setting of Intel processors, which is not there (%s)",
			    FREEZE_ON_SMI);
	if (!has(stat, "msr", "aperf") || !has(stat, "msr", "smi"))
		return fail(EOPNOTSUPP,
			    "--smi-cost needs msr/aperf/ and msr/smi/, which this machine does not name");
	if (!frozen) {
		err = set_freeze(options, "1");
		stat->smi_set = !err;
	}
	show_figures_only(options);
	return err ? err : add(stat, "{msr/aperf/,msr/smi/,cycles}");
}

static int transactions(struct counting *stat)
{
	if (!has(stat, "cpu", "cycles-t") || !has(stat, "cpu", "tx-start"))
		return fail(EOPNOTSUPP,
			    "-T needs the transaction events of Intel processors (cpu/tx-start/), which this machine does "
			    "not name");
	return add(stat,
		   has(stat, "cpu", "cycles-ct") && has(stat, "cpu", "el-start")
			   ? "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/el-start/,cpu/cycles-ct/}"
			   : "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/}");
}

int stat_preset(struct counting *stat)
{
	const struct stat_options *options = stat->options;
	int err = 0;

	if (options->transaction)
		err = transactions(stat);
	if (!err && options->smi_cost)
		err = smi_cost(stat);
	if (!err && options->topdown)
		err = topdown(stat);
	return err;
}

void stat_preset_done(struct counting *stat)
{
	if (stat->smi_set)
		set_freeze(stat->options, "0");
	stat->smi_set = false;
}
