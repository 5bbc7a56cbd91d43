// SPDX-License-Identifier: GPL-2.0-or-later
// What can be opened, found out by opening it.
#include "base/alloc.h"
#include "base/perf_event.h"
#include "base/time.h"
#include "cmd/doctor/doctor.h"
#include "sys/pmu.h"
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SECTION "Recording"
#define GRANT "sudo sysctl kernel.perf_event_paranoid="

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct perf_event_attr copy = *attr;

	copy.size = PERF_ATTR_SIZE_VER0;
	if (copy.branch_sample_type)
		copy.size = PERF_ATTR_SIZE_VER2;
	long fd = syscall(SYS_perf_event_open, &copy, pid, cpu, -1, 0);
	return fd < 0 ? -errno : (int)fd;
}

static int try_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = open_event(attr, pid, cpu);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int samples_in(struct perf_event_mmap_page *ring, size_t page)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	int n = 0;

	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= MIN(head, (uint64_t)page);) {
		struct perf_event_header header;

		memcpy(&header, (const char *)ring + page + at, sizeof(header));
		if (header.size < sizeof(header))
			break;
		n += header.type == PERF_RECORD_SAMPLE;
		at += header.size;
	}
	return n;
}

// User time, in which alone samples are taken.
static void spin(unsigned rounds)
{
	for (volatile unsigned i = 0; i < rounds; i++)
		;
}

// Samples of this program spinning, for 30 ms or, on a slow machine, until the first; negative: -errno.
static int count_samples(unsigned *ret_ms)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000 * 1000, // ns
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * 2;
	int fd = open_event(&attr, 0, -1), n = 0;

	if (fd < 0)
		return fd;
	struct perf_event_mmap_page *ring =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		int err = -errno;
		close(fd);
		return err;
	}
	const uint64_t enough_ns = 30 * 1000000ull, longest_ns = 500 * 1000000ull;
	uint64_t begin = time_now_ns(CLOCK_MONOTONIC), took = 0;
	while (took < enough_ns || (took < longest_ns && !samples_in(ring, page))) {
		spin(200000);
		took = time_now_ns(CLOCK_MONOTONIC) - begin;
	}
	n = samples_in(ring, page);
	*ret_ms = (unsigned)(took / 1000000);
	munmap(ring, size);
	close(fd);
	return n;
}

static void add_own(struct doctor *d)
{
	unsigned ms = 0;
	int n = count_samples(&ms);

	d->can_record = n >= 0;
	if (n > 0) {
		doctor_add(d, (struct check){SECTION, "programs of yours", CHECK_OK},
			   "%d samples of cpu-clock in %u ms", n, ms);
		return;
	}
	if (n == 0) {
		doctor_add(d, (struct check){SECTION, "programs of yours", CHECK_LIMITED},
			   "opened, but no sample came");
		doctor_why(d, NULL, "the machine may be too busy, or its timer doesn't tick");
		return;
	}
	doctor_add(d, (struct check){SECTION, "programs of yours", CHECK_MISSING}, "%s",
		   strerror(-n));
	if (n == -ENOSYS)
		doctor_why(d, NULL,
			   "perf_event_open is missing: the kernel was built without "
			   "CONFIG_PERF_EVENTS, or seccomp hides it");
	else if (n == -EACCES || n == -EPERM)
		doctor_why(d, GRANT "1",
			   d->paranoid > 2
				   ? "perf_event_paranoid=%lld keeps all users but root out"
				   : "perf_event_open is refused (perf_event_paranoid=%lld); in a "
				     "container seccomp may be the cause",
			   (long long)d->paranoid);
	else
		doctor_why(d, NULL, "perf_event_open or the mapping of its ring failed");
}

static const struct perf_event_attr cpu_clock = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.exclude_hv = 1,
};

static void add_kernel_side(struct doctor *d)
{
	int err = try_event(&cpu_clock, 0, -1);

	if (err == 0) {
		doctor_add(d, (struct check){SECTION, "kernel side of programs", CHECK_OK},
			   "allowed");
		return;
	}
	doctor_add(d, (struct check){SECTION, "kernel side of programs", CHECK_MISSING}, "%s",
		   strerror(-err));
	doctor_why(d, GRANT "1",
		   "with perf_event_paranoid=%lld only user space is sampled (events get :u)",
		   (long long)d->paranoid);
}

static void add_system_wide(struct doctor *d)
{
	struct perf_event_attr attr = cpu_clock;

	attr.exclude_kernel = 1;
	int err = try_event(&attr, -1, 0);
	if (err == 0) {
		doctor_add(d, (struct check){SECTION, "whole system (-a)", CHECK_OK}, "allowed");
		return;
	}
	doctor_add(d, (struct check){SECTION, "whole system (-a)", CHECK_MISSING}, "%s",
		   strerror(-err));
	doctor_why(d, GRANT "0",
		   "-a and other users' programs need perf_event_paranoid at 0 or lower (it is %lld), or "
		   "CAP_PERFMON",
		   (long long)d->paranoid);
}

static void add_paranoid(struct doctor *d)
{
	// What users without capabilities may record: kernel/events/core.c.
	static const char *const may[] = {"everything", "all but the data of tracepoints",
					  "their own programs, with the kernel side",
					  "user space of their own programs only", "nothing"};
	static const char *const you_may[] = {"everything", "all but the data of tracepoints",
					      "your own programs, with the kernel side",
					      "user space of your own programs only", "nothing"};
	bool above_all = doctor_may_perf(d);

	if (d->paranoid == INT64_MIN) {
		doctor_add(d, (struct check){SECTION, "perf_event_paranoid", CHECK_MISSING},
			   "not there");
		doctor_why(d, NULL,
			   "/proc/sys/kernel/perf_event_paranoid can't be read, so the kernel was built "
			   "without CONFIG_PERF_EVENTS or /proc is not mounted");
		return;
	}
	// Where a level above 2 is not known, it is as 2.
	int64_t level = d->paranoid > 2 && (above_all || !d->can_record) ? 3 : MIN(d->paranoid, 2);
	size_t i = (size_t)(MAX(level, -1) + 1);
	if (above_all) {
		doctor_add(d, (struct check){SECTION, "perf_event_paranoid", CHECK_INFO},
			   "%lld: you may record everything, others %s", (long long)d->paranoid,
			   may[i]);
		return;
	}
	doctor_add(d, (struct check){SECTION, "perf_event_paranoid", i ? CHECK_LIMITED : CHECK_OK},
		   "%lld: you may record %s", (long long)d->paranoid, you_may[i]);
	if (i)
		doctor_why(d, GRANT "-1",
			   "-1: everything; 0: all but the data of tracepoints; 1: own programs with the kernel "
			   "side; 2: user space of own programs; root and who has CAP_PERFMON: always everything");
}

static unsigned highest_precise(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .sample_period = 100000,
				       .exclude_guest = 1};

	for (unsigned level = 3; level; level--) {
		attr.precise_ip = level & 3;
		if (try_event(&attr, 0, -1) == 0)
			return level;
	}
	return 0;
}

static void add_hardware(struct doctor *d)
{
	struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
					 .exclude_kernel = 1,
					 .exclude_hv = 1};
	int err = try_event(&cycles, 0, -1);

	if (err < 0) {
		bool absent =
			err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL;

		doctor_add(d, (struct check){SECTION, "hardware counters", CHECK_MISSING}, "%s",
			   absent ? "none" : strerror(-err));
		if (absent)
			doctor_why(d, NULL,
				   "the processor or hypervisor lends no PMU, so cycles becomes cpu-clock; "
				   "in a virtual machine the host must expose one (KVM: -cpu host,pmu=on)");
		else
			doctor_why(d, GRANT "1", "the kernel refuses them to this user");
		return;
	}
	unsigned precise = highest_precise();
	doctor_add(d, (struct check){SECTION, "hardware counters", CHECK_OK}, "cycles opens");
	doctor_add(d, (struct check){SECTION, "precise sampling", precise ? CHECK_OK : CHECK_LIMITED},
		   "%.*s", precise ? (int)precise : 4, precise ? "ppp" : "none");
	if (!precise)
		doctor_why(d, NULL, "samples of hardware events may be some instructions late");
	cycles.sample_type = PERF_SAMPLE_BRANCH_STACK;
	cycles.sample_period = 100000;
	cycles.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	err = try_event(&cycles, 0, -1);
	doctor_add(d,
		   (struct check){SECTION, "branch stacks (-b, lbr)", err ? CHECK_MISSING : CHECK_OK},
		   "%s", err ? strerror(-err) : "open");
	if (err)
		doctor_why(d, NULL,
			   "this processor or hypervisor has none; call graphs come by fp or dwarf");
}

static void add_pmus(struct doctor *d)
{
	struct pmus *pmus;
	char names[512] = "";
	size_t used = 0, more = 0;

	pmus_load(&pmus, d->root);
	for (size_t i = 0; i < pmus->list.n; i++) {
		const char *name = pmus->list.v[i].name;
		if (used + strlen(name) + 2 < 200)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? " " : "", name);
		else
			more++;
	}
	if (more)
		snprintf(names + used, sizeof(names) - used, " and %zu more", more);
	doctor_add(d, (struct check){SECTION, "PMUs", CHECK_INFO}, "%s",
		   *names ? names : "none in sysfs");
	pmus_free(pmus);
}

static void add_watchdog(struct doctor *d)
{
	int64_t on = doctor_number(d, "/proc/sys/kernel/nmi_watchdog", 0);

	doctor_add(d, (struct check){SECTION, "NMI watchdog", on ? CHECK_LIMITED : CHECK_OK},
		   on ? "on" : "off");
	if (on)
		doctor_why(d, "sudo sysctl kernel.nmi_watchdog=0",
			   "it holds one hardware counter of each CPU, so groups may not fit");
}

void doctor_recording(struct doctor *d)
{
	add_own(d);
	add_kernel_side(d);
	add_system_wide(d);
	add_paranoid(d);
	add_hardware(d);
	add_pmus(d);
	add_watchdog(d);
}
