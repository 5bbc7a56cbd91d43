// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/perf.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "sys/files_limit.h"
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(const struct perf_event_attr *attr, const struct perf_open_at *at,
		 unsigned long more_flags)
{
	return syscall(SYS_perf_event_open, attr, at->pid, at->cpu, at->group_fd,
		       at->flags | more_flags);
}

int perf_open(const struct perf_event_attr *attr, const struct perf_open_at *at)
{
	long fd = call(attr, at, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL) {
		// Before Linux 3.14 the flag was refused.
		int why = errno;

		fd = call(attr, at, 0);
		if (fd < 0)
			errno = why;
		else
			fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

// One row a feature, newest first. A row speaks of a bit field, of sample_type, read_format or branch_sample_type bits.
struct feature {
	size_t missing; // offset of its bool in perf_missing
	bool (*used)(const struct perf_event_attr *attr);
	void (*drop)(struct perf_event_attr *attr);
};

#define BITS_ROW(name, field, bits)                                                                \
	static bool name##_used(const struct perf_event_attr *a)                                   \
	{                                                                                          \
		return a->field & (bits);                                                          \
	}                                                                                          \
	static void name##_drop(struct perf_event_attr *a)                                         \
	{                                                                                          \
		a->field &= ~(uint64_t)(bits);                                                     \
	}
#define FLAG_ROW(name, field)                                                                      \
	static bool name##_used(const struct perf_event_attr *a)                                   \
	{                                                                                          \
		return a->field;                                                                   \
	}                                                                                          \
	static void name##_drop(struct perf_event_attr *a)                                         \
	{                                                                                          \
		a->field = 0;                                                                      \
	}

BITS_ROW(read_lost, read_format, PERF_FORMAT_LOST)
BITS_ROW(code_page_size, sample_type, PERF_SAMPLE_CODE_PAGE_SIZE)
BITS_ROW(data_page_size, sample_type, PERF_SAMPLE_DATA_PAGE_SIZE)
FLAG_ROW(build_id, build_id)
BITS_ROW(cgroup_sample, sample_type, PERF_SAMPLE_CGROUP)
FLAG_ROW(cgroup, cgroup)
FLAG_ROW(text_poke, text_poke)
FLAG_ROW(aux_output, aux_output)
BITS_ROW(branch_hw_idx, branch_sample_type, PERF_SAMPLE_BRANCH_HW_INDEX)
FLAG_ROW(bpf_event, bpf_event)
FLAG_ROW(ksymbol, ksymbol)
FLAG_ROW(namespaces, namespaces)
FLAG_ROW(write_backward, write_backward)
FLAG_ROW(context_switch, context_switch)
FLAG_ROW(clockid, use_clockid)
BITS_ROW(branch_no_flags, branch_sample_type,
	 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES)
FLAG_ROW(comm_exec, comm_exec)
FLAG_ROW(mmap2, mmap2)
FLAG_ROW(exclude_callchain, exclude_callchain_user)
FLAG_ROW(exclude_guest, exclude_guest)
FLAG_ROW(sample_id_all, sample_id_all)

static bool weight_struct_used(const struct perf_event_attr *a)
{
	return a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;
}
static void weight_struct_drop(struct perf_event_attr *a)
{
	a->sample_type = (a->sample_type & ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT) | PERF_SAMPLE_WEIGHT;
}

#define ROW(name)                                                                                  \
	{                                                                                          \
		offsetof(struct perf_missing, name), name##_used, name##_drop                      \
	}
static const struct feature features[] = {
	ROW(read_lost),	      ROW(weight_struct),  ROW(code_page_size), ROW(data_page_size),
	ROW(build_id),	      ROW(cgroup_sample),  ROW(cgroup),		ROW(text_poke),
	ROW(aux_output),      ROW(branch_hw_idx),  ROW(bpf_event),	ROW(ksymbol),
	ROW(namespaces),      ROW(write_backward), ROW(context_switch), ROW(clockid),
	ROW(branch_no_flags), ROW(comm_exec),	   ROW(mmap2),		ROW(exclude_callchain),
	ROW(exclude_guest),   ROW(sample_id_all),
};

static bool *flag_of(const struct perf_missing *missing, const struct feature *feature)
{
	return (bool *)((char *)(uintptr_t)missing + feature->missing);
}

static void drop_missing(const struct perf_missing *missing, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (*flag_of(missing, &features[i]) && features[i].used(attr))
			features[i].drop(attr);
	}
}

static bool try_older(struct perf_missing *missing, struct perf_event_attr *attr, int err)
{
	// E2BIG: the attr is longer than the kernel's and something unknown to it is set.
	if (err != -EINVAL && err != -E2BIG && err != -EOPNOTSUPP)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (*flag_of(missing, &features[i]) || !features[i].used(attr))
			continue;
		*flag_of(missing, &features[i]) = true;
		features[i].drop(attr);
		return true;
	}
	return false;
}

int perf_open_any(struct perf_missing *missing, struct perf_event_attr *attr,
		  const struct perf_open_at *at)
{
	struct perf_missing found = *missing;
	struct perf_event_attr tried = *attr;
	int fd, first = 0;

	drop_missing(&found, &tried);
	for (;;) {
		fd = perf_open(&tried, at);
		if (fd >= 0) {
			// Only what a success proves is remembered.
			*missing = found;
			*attr = tried;
			return fd;
		}
		if (fd == -EMFILE && files_limit_raise())
			continue;
		if (!first)
			first = fd;
		// precise_ip counts down, as no file says which level an event can do.
		if (tried.precise_ip && (fd == -EINVAL || fd == -EOPNOTSUPP || fd == -ENOENT) &&
		    attr->precise_ip == 3 && found.precise_max) {
			tried.precise_ip--;
			continue;
		}
		if (!try_older(&found, &tried, fd))
			return first;
	}
}

int perf_paranoid(void)
{
	int64_t level;

	return file_read_i64("", "/proc/sys/kernel/perf_event_paranoid", &level) < 0 ? 2 : (int)level;
}

static int no_permission(const struct perf_event_attr *attr, const char *name,
			 const struct perf_open_at *at)
{
	int level = perf_paranoid();
	bool system_wide = at->pid == -1;
	int needed = attr->type == PERF_TYPE_TRACEPOINT ? -1
		     : system_wide			? 0
		     : attr->exclude_kernel		? 2
							: 1;

	if (level > needed)
		return fail(EACCES,
			    "not allowed to open event %s%s: kernel.perf_event_paranoid is %d; run as root, or: "
			    "sysctl kernel.perf_event_paranoid=%d, or: setcap cap_perfmon+ep on this program",
			    name, system_wide ? " for the whole system" : "", level, needed);
	if (at->pid > 0)
		return fail(EACCES,
			    "not allowed to watch process %d with event %s: it is another user's; run as root or give this "
			    "program cap_perfmon and cap_sys_ptrace",
			    (int)at->pid, name);
	return fail(EACCES,
		    "not allowed to open event %s; run as root or give this program cap_perfmon",
		    name);
}

int perf_open_failed(int err, const struct perf_event_attr *attr, const char *name,
		     const struct perf_open_at *at)
{
	// Of a cgroup ENOENT means that its hierarchy doesn't count events: kernel/events/core.c, perf_cgroup_connect.
	if (err == -ENOENT && at->flags & PERF_FLAG_PID_CGROUP)
		return fail(ENOENT,
			    "event %s can't watch this cgroup: the perf_event controller is not on in its hierarchy; version 2 "
			    "has it on in groups of a group whose cgroup.subtree_control was written to, be it '+pids'; else "
			    "give it a hierarchy of its own: mkdir DIR && mount -t cgroup -o perf_event none DIR",
			    name);
	switch (-err) {
	case EACCES:
	case EPERM:
		return no_permission(attr, name, at);
	case ENOENT:
	case ENXIO:
		return fail(-err,
			    "event %s is not there on this machine (no such counter in the processor, or a virtual "
			    "machine without one); 'sonde list' shows what is, cpu-clock works everywhere",
			    name);
	case ENODEV:
		return fail(-err, "event %s can't be opened on CPU %d: it is offline", name, at->cpu);
	case ESRCH:
		return fail(-err, "there is no process or thread %d", (int)at->pid);
	case EMFILE: {
		auto_free char *what = text_dup_fmt("event %s", name);

		return files_limit_fail(what);
	}
	case EOPNOTSUPP:
		return fail(-err,
			    "event %s can't do what is asked of it (%s); this processor or virtual machine lacks it",
			    name,
			    attr->branch_sample_type ? "branch stacks"
			    : attr->precise_ip	     ? "precise sampling"
			    : attr->sample_period    ? "sampling: it can only be counted, with stat"
						     : "this combination");
	case E2BIG:
		if (attr->config3)
			return fail(E2BIG,
				    "event %s sets config3 (%#llx), which this kernel does not know: Linux 6.3 does",
				    name, (unsigned long long)attr->config3);
		return fail(E2BIG, "event %s asks for what this kernel does not know", name);
	case EBUSY:
		return fail(-err,
			    "event %s is in use by someone else (another profiler, the NMI watchdog?)",
			    name);
	case EINVAL:
		if (attr->use_clockid)
			return fail(EINVAL, "event %s can't use clock %d here (see --clockid)",
				    name, attr->clockid);
		return fail(EINVAL, "the kernel refuses event %s with these options", name);
	default:
		return fail(-err, "can't open event %s: %s", name, strerror(-err));
	}
}

int perf_set_filter(int fd, const char *filter, const char *event_name)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0)
		return 0;
	// Of the parser (kernel/trace/trace_events_filter.c): a bad text, a missing operand, an operator that is none.
	if (errno == EINVAL || errno == ENOENT || errno == ESRCH)
		return fail(EINVAL,
			    "'%s' is no valid filter of event %s; 'sonde list --details %s' shows its fields",
			    filter, event_name, event_name);
	return fail(errno, "the kernel refuses the filter '%s' of event %s: %s", filter, event_name,
		    strerror(errno));
}
