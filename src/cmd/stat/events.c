// SPDX-License-Identifier: GPL-2.0-or-later
// Which counters: those of -e, or the set that perf stat has without it, and the cgroups that they count in.
#include "base/err.h"
#include "cmd/stat/stat.h"
#include "sys/cgroup.h"

static const char *const detail_events[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static int default_set(struct counting *stat)
{
	struct stat_options *options = stat->options;
	const struct event_context context = {0};
	bool whole_cpus = options->target.all_cpus || options->target.cpus;
	int err = event_parse(&options->specs, whole_cpus ? "cpu-clock" : "task-clock", &context);

	if (!err)
		err = event_parse(&options->specs,
				  "context-switches,cpu-migrations,page-faults,cycles", &context);
	if (!err && stat_cpu_has(stat, "stalled-cycles-frontend"))
		err = event_parse(&options->specs, "stalled-cycles-frontend", &context);
	if (!err && stat_cpu_has(stat, "stalled-cycles-backend"))
		err = event_parse(&options->specs, "stalled-cycles-backend", &context);
	if (!err)
		err = event_parse(&options->specs, "instructions,branches,branch-misses", &context);
	for (size_t i = 0; !err && i < ARRAY_SIZE(detail_events) && (int)i < options->detail; i++)
		err = event_parse(&options->specs, detail_events[i], &context);
	return err;
}

void stat_counters_add(struct counting *stat, const char *cgroup, int cgroup_fd)
{
	struct event_specs *specs = &stat->options->specs;
	uint32_t first = (uint32_t)stat->counters.n;

	for (size_t i = 0; i < specs->events.n; i++) {
		struct event_spec *spec = &specs->events.v[i];
		struct stat_counter *counter = vec_add(&stat->counters);

		counter->spec = spec;
		counter->cgroup = cgroup;
		counter->cgroup_fd = cgroup_fd;
		counter->leader = first + (stat->options->group ? 0 : spec->leader);
		counter->group_n =
			stat->options->group ? (i ? 0 : (uint32_t)specs->events.n) : spec->group_n;
		counter->supported = true;
	}
}

static int each_cgroup(struct counting *stat, const struct cgroup_mount *mount)
{
	struct cgroup_names names = {0};
	int err = cgroup_select(mount, stat->options->each_cgroup, &names);

	for (size_t i = 0; i < names.v.n && err >= 0; i++) {
		int fd = cgroup_open(mount, names.v.v[i]);

		err = MIN(fd, 0);
		if (fd >= 0)
			stat_counters_add(stat,
					  event_text(&stat->options->specs, str_of(names.v.v[i])),
					  fd);
	}
	cgroup_names_done(&names);
	return err;
}

// "a,,b" over all -G options: the n-th name is for the n-th event, a single one for all.
static int cgroup_by_event(struct counting *stat, const struct cgroup_mount *mount)
{
	const struct opt_list *list = &stat->options->cgroups;
	size_t at = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct str rest = str_of(list->v[i]);

		while (rest.p) {
			const char *name = event_text(&stat->options->specs, str_cut(&rest, ','));

			if (at >= stat->counters.n)
				return fail(EINVAL, "-G names more cgroups than there are events");
			if (*name) {
				int fd = cgroup_open(mount, name);

				if (fd < 0)
					return fd;
				stat->counters.v[at].cgroup = name;
				stat->counters.v[at].cgroup_fd = fd;
			}
			at++;
		}
	}
	for (size_t i = 1; at == 1 && i < stat->counters.n; i++) {
		stat->counters.v[i].cgroup = stat->counters.v[0].cgroup;
		stat->counters.v[i].cgroup_fd = stat->counters.v[0].cgroup_fd;
	}
	return 0;
}

int stat_choose(struct counting *stat)
{
	struct stat_options *options = stat->options;
	struct cgroup_mount mount = {0};
	int err = 0;

	if (options->null_run)
		return 0;
	err = stat_preset(stat);
	if (!err && options->metrics.n)
		err = stat_named_choose(stat);
	else if (!err && !options->specs.events.n)
		err = default_set(stat);
	stat->has_cgroups = options->each_cgroup || options->cgroups.n;
	if (!err && stat->has_cgroups)
		err = cgroup_find_mount(&mount, "");
	if (!err && options->each_cgroup) {
		err = each_cgroup(stat, &mount);
	} else if (!err) {
		stat_counters_add(stat, NULL, -1);
		if (stat->has_cgroups)
			err = cgroup_by_event(stat, &mount);
	}
	free(mount.path);
	return err;
}
