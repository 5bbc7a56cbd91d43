// SPDX-License-Identifier: GPL-2.0-or-later
// How much: memory for rings, files, sample rates, depth of stacks, cgroups.
#include "base/alloc.h"
#include "base/err.h"
#include "cmd/doctor/doctor.h"
#include "sys/cgroup.h"
#include "sys/topology.h"
#include <stdio.h>
#include <sys/resource.h>

#define SECTION "Limits"

static bool unlimited(const struct doctor *d)
{
	return doctor_capability(d, 14) || doctor_may_perf(d) || d->paranoid == -1;
}

static void add_mlock(struct doctor *d)
{
	int64_t kb = doctor_number(d, "/proc/sys/kernel/perf_event_mlock_kb", 516);
	struct rlimit limit;
	char own[32] = "unlimited";

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		snprintf(own, sizeof(own), "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
	bool enough = unlimited(d) || kb >= 516;
	doctor_add(d, (struct check){SECTION, "memory for rings", enough ? CHECK_OK : CHECK_LIMITED},
		   "%lld KiB a CPU (perf_event_mlock_kb) + %s (ulimit -l)%s", (long long)kb, own,
		   unlimited(d) ? ", not for this user" : "");
	if (!enough)
		doctor_why(d, "sudo sysctl kernel.perf_event_mlock_kb=2048",
			   "rings of 512 KiB a CPU don't fit: use a smaller -m");
}

static void add_files(struct doctor *d)
{
	struct cpu_numbers cpus = {0};
	struct rlimit limit;

	topology_cpus(&cpus, d->root, "online");
	uint64_t n = MAX(cpus.v.n, (size_t)1);
	vec_done(&cpus.v);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	uint64_t events = (uint64_t)limit.rlim_max / n;
	doctor_add(d, (struct check){SECTION, "open files", events < 32 ? CHECK_LIMITED : CHECK_OK},
		   "%llu, at most %llu (ulimit -n)", (unsigned long long)limit.rlim_cur,
		   (unsigned long long)limit.rlim_max);
	if (events < 32)
		doctor_why(d, "ulimit -n 65536", "each event takes a file for each of %llu CPUs",
			   (unsigned long long)n);
}

static void add_numbers(struct doctor *d)
{
	int64_t rate = doctor_number(d, "/proc/sys/kernel/perf_event_max_sample_rate", -1);
	int64_t percent = doctor_number(d, "/proc/sys/kernel/perf_cpu_time_max_percent", -1);
	int64_t depth = doctor_number(d, "/proc/sys/kernel/perf_event_max_stack", -1);

	if (rate >= 0) {
		doctor_add(d,
			   (struct check){SECTION, "sample rate",
					  rate < 4000 ? CHECK_LIMITED : CHECK_OK},
			   "at most %lld a second (perf_event_max_sample_rate)", (long long)rate);
		if (rate < 4000)
			doctor_why(d, "sudo sysctl kernel.perf_event_max_sample_rate=100000",
				   "the usual 4000 samples a second are too many; the kernel lowers it when "
				   "sampling takes more than perf_cpu_time_max_percent=%lld",
				   (long long)percent);
	}
	if (depth >= 0) {
		doctor_add(d,
			   (struct check){SECTION, "call stacks",
					  depth < 127 ? CHECK_LIMITED : CHECK_OK},
			   "%lld frames (perf_event_max_stack)", (long long)depth);
		if (depth < 127)
			doctor_why(d, "sudo sysctl kernel.perf_event_max_stack=127",
				   "deeper stacks are cut");
	}
}

static void add_cgroups(struct doctor *d)
{
	struct cgroup_mount mount;

	if (cgroup_find_mount(&mount, d->root) < 0) {
		doctor_add(d, (struct check){SECTION, "cgroups (-G)", CHECK_MISSING},
			   "no hierarchy for perf");
		doctor_why(d, "sudo mount -t cgroup2 none /sys/fs/cgroup",
			   "events can't be limited to a cgroup");
		return;
	}
	doctor_add(d, (struct check){SECTION, "cgroups (-G)", CHECK_OK}, "version %d at %s",
		   mount.unified ? 2 : 1, mount.path);
	free(mount.path);
}

void doctor_limits(struct doctor *d)
{
	add_mlock(d);
	add_files(d);
	add_numbers(d);
	add_cgroups(d);
}
