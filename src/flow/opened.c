// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/opened.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "sys/files_limit.h"
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct opened_event *opened_add(struct opened *opened, struct event_spec *spec)
{
	struct opened_event *event = vec_add(&opened->events);

	event->spec = spec;
	event->name = spec->name;
	event->cgroup_fd = -1;
	event->leader = (uint32_t)(opened->events.n - 1);
	event->group_n = 1;
	return event;
}

static bool fall_back(struct opened *opened, struct opened_event *event, int err)
{
	struct event_spec *spec = event->spec;

	if (!opened->specs)
		return false;
	// -EOPNOTSUPP of a precise one: there may be a counter that is not precise, which isn't what was asked for.
	if ((err == -ENOENT || err == -ENXIO || err == -ENODEV ||
	     (err == -EOPNOTSUPP && !(spec->given & EVENT_PRECISE))) &&
	    event_fall_back(opened->specs, spec)) {
		event->name = spec->name;
		warn("this machine has no cycles counter for us: using cpu-clock");
		return true;
	}
	if ((err == -EACCES || err == -EPERM) && perf_paranoid() > 1 &&
	    !opened->target->system_wide && event_user_only(opened->specs, spec)) {
		event->name = spec->name;
		if (!opened->kernel_excluded)
			warn("kernel.perf_event_paranoid is %d: only user space is recorded (%s)",
			     perf_paranoid(), event->name);
		opened->kernel_excluded = true;
		return true;
	}
	return false;
}

static int open_one(struct opened *opened, struct opened_event *event, size_t cpu, size_t thread)
{
	const struct target *target = opened->target;
	struct opened_event *leader = &opened->events.v[event->leader];
	size_t at = cpu * target->threads.n + thread;
	struct perf_open_at where = {.pid = target->threads.v[thread],
				     .cpu = target->cpus.v[cpu],
				     .group_fd = leader == event ? -1 : leader->fds.v[at]};
	int fd;

	if (event->cgroup_fd >= 0) {
		where.pid = event->cgroup_fd;
		where.flags = PERF_FLAG_PID_CGROUP;
	} else if (event->system_wide) {
		where.pid = -1;
		if (thread)
			return 0;
	}
	for (;;) {
		fd = perf_open_any(&opened->missing, &event->spec->attr, &where);
		if (fd >= 0)
			break;
		// A thread may end between the look at /proc and now; a CPU may go offline.
		if (fd == -ESRCH && target->threads.n > 1)
			return 0;
		if (event->system_wide && (fd == -EACCES || fd == -EPERM)) {
			event->system_wide = false;
			where.pid = target->threads.v[thread];
			continue;
		}
		if (!fall_back(opened, event, fd))
			return perf_open_failed(fd, &event->spec->attr, event->name, &where);
	}
	event->fds.v[at] = fd;
	uint64_t id = 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
		vec_push(&event->ids, id);
	return 0;
}

static bool wanted_on(const struct opened_event *event, int cpu)
{
	const struct event_spec *spec = event->spec;

	for (uint32_t i = 0; cpu >= 0 && spec->cpus && i < spec->cpus_n; i++) {
		if (spec->cpus[i] == (uint32_t)cpu)
			return true;
	}
	return cpu < 0 || !spec->cpus;
}

int opened_open(struct opened *opened, const struct target *target)
{
	size_t total = target->cpus.n * target->threads.n;

	opened->target = target;
	for (size_t i = 0; i < opened->events.n; i++) {
		struct opened_event *event = &opened->events.v[i];

		vec_reserve(&event->fds, total);
		for (size_t k = 0; k < total; k++)
			vec_push(&event->fds, -1);
		for (size_t cpu = 0; cpu < target->cpus.n; cpu++) {
			if (!wanted_on(event, target->cpus.v[cpu]))
				continue;
			for (size_t thread = 0; thread < target->threads.n; thread++) {
				int err = open_one(opened, event, cpu, thread);
				if (err)
					return err;
			}
		}
		if (!event->ids.n && !event->fds.v[0])
			return fail(ESRCH, "none of the threads to watch is there any more");
		everywhere_add(&opened->everywhere, &event->spec->attr, target);
	}
	return 0;
}

static size_t default_pages(void)
{
	int64_t kilobytes;
	size_t pages = 1, page_kb = (size_t)sysconf(_SC_PAGESIZE) / 1024;

	if (file_read_i64("", "/proc/sys/kernel/perf_event_mlock_kb", &kilobytes) < 0 ||
	    kilobytes < (int64_t)page_kb * 2)
		kilobytes = 516;
	while (pages * 2 * page_kb + page_kb <= (size_t)kilobytes)
		pages *= 2;
	return pages;
}

static int map_ring(struct ring *ret, int fd, size_t pages, bool overwrite)
{
	bool chosen = pages != 0;
	int err;

	if (!chosen)
		pages = default_pages();
	do {
		err = ring_map(ret, fd, pages, overwrite);
	} while (err == -EPERM && !chosen && (pages /= 2) >= 1);
	if (err == -EPERM)
		return fail(EPERM,
			    "not allowed to lock %zu pages per CPU: use a smaller -m, or raise the limit: "
			    "sysctl kernel.perf_event_mlock_kb=%zu",
			    pages, (pages + 1) * (size_t)sysconf(_SC_PAGESIZE) / 1024);
	if (err)
		return fail(-err, "can't map a ring of %zu pages: %s", pages, strerror(-err));
	return 0;
}

// One ring for all threads of a CPU; without CPUs one a thread.
static int map_one(struct opened *opened, size_t at, size_t pages, bool overwrite)
{
	const struct target *target = opened->target;
	size_t threads = target->threads.n, cpu = at / threads;
	bool per_thread = target->cpus.v[0] < 0;
	struct ring ring;
	int output = -1, err;

	for (size_t thread = at % threads; thread < (per_thread ? at % threads + 1 : threads);
	     thread++) {
		vec_each(struct opened_event, event, &opened->events) {
			int fd = event->fds.v[cpu * threads + thread];

			if (fd < 0)
				continue;
			if (output < 0) {
				output = fd;
				err = map_ring(&ring, fd, pages, overwrite);
				if (err)
					return err;
				ring.cpu = target->cpus.v[cpu];
				vec_push(&opened->rings, ring);
			} else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output) < 0) {
				return fail(errno, "can't share a ring for event %s: %s",
					    event->name, strerror(errno));
			}
		}
	}
	return 0;
}

int opened_map(struct opened *opened, size_t pages, bool overwrite)
{
	const struct target *target = opened->target;
	size_t step = target->cpus.v[0] < 0 ? 1 : target->threads.n;
	int err = 0;

	for (size_t at = 0; at < target->cpus.n * target->threads.n && !err; at += step)
		err = map_one(opened, at, pages, overwrite);
	return err ? err : files_limit_check();
}

static void unmap_cpu(struct opened *opened, int cpu)
{
	for (size_t i = 0; i < opened->rings.n; i++) {
		if (opened->rings.v[i].cpu != cpu)
			continue;
		ring_unmap(&opened->rings.v[i]);
		opened->rings.n--;
		memmove(&opened->rings.v[i], &opened->rings.v[i + 1],
			(opened->rings.n - i) * sizeof(opened->rings.v[i]));
		return;
	}
}

int opened_cpu_again(struct opened *opened, size_t cpu, size_t pages)
{
	const struct target *target = opened->target;
	size_t threads = target->threads.n, first = cpu * threads;
	bool has_rings = opened->rings.n > 0;
	int err = 0;

	unmap_cpu(opened, target->cpus.v[cpu]);
	vec_each(struct opened_event, event, &opened->events) {
		while (event->fds.n < first + threads)
			vec_push(&event->fds, -1);
		for (size_t at = first; at < first + threads; at++) {
			if (event->fds.v[at] >= 0)
				close(event->fds.v[at]);
			event->fds.v[at] = -1;
		}
		for (size_t thread = 0;
		     thread < threads && !err && wanted_on(event, target->cpus.v[cpu]); thread++) {
			err = open_one(opened, event, cpu, thread);
			if (!err && event->fds.v[first + thread] >= 0 && event->spec->filter)
				err = perf_set_filter(event->fds.v[first + thread],
						      event->spec->filter, event->name);
		}
	}
	return err || !has_rings ? err : map_one(opened, first, pages, false);
}

int opened_ioctl(struct opened *opened, unsigned long request, unsigned long arg, bool leaders_only)
{
	for (size_t i = 0; i < opened->events.n; i++) {
		const struct opened_event *event = &opened->events.v[i];

		if (leaders_only && event->leader != i)
			continue;
		for (size_t k = 0; k < event->fds.n; k++) {
			if (event->fds.v[k] >= 0 && ioctl(event->fds.v[k], request, arg) < 0)
				return -errno;
		}
	}
	return 0;
}

int opened_enable(struct opened *opened)
{
	for (size_t i = opened->events.n; i-- > 0;) {
		const struct opened_event *event = &opened->events.v[i];

		for (size_t k = 0; event->leader == i && k < event->fds.n; k++) {
			if (event->fds.v[k] >= 0 &&
			    ioctl(event->fds.v[k], PERF_EVENT_IOC_ENABLE, 0) < 0)
				return -errno;
		}
	}
	return 0;
}

int opened_disable(struct opened *opened)
{
	return opened_ioctl(opened, PERF_EVENT_IOC_DISABLE, 0, true);
}

int opened_filter(struct opened *opened)
{
	vec_each(struct opened_event, event, &opened->events) {
		for (size_t k = 0; event->spec->filter && k < event->fds.n; k++) {
			int err = event->fds.v[k] < 0
					  ? 0
					  : perf_set_filter(event->fds.v[k], event->spec->filter,
							    event->name);

			if (err)
				return err;
		}
	}
	return 0;
}

// One group may be that of several events.
static void close_cgroup(struct opened *opened, struct opened_event *event)
{
	int fd = event->cgroup_fd;

	if (fd < 0)
		return;
	vec_each(struct opened_event, other, &opened->events) {
		if (other->cgroup_fd == fd)
			other->cgroup_fd = -1;
	}
	close(fd);
}

void opened_done(struct opened *opened)
{
	vec_each(struct ring, ring, &opened->rings)
		ring_unmap(ring);
	vec_done(&opened->rings);
	vec_each(struct opened_event, event, &opened->events) {
		for (size_t k = 0; k < event->fds.n; k++) {
			if (event->fds.v[k] >= 0)
				close(event->fds.v[k]);
		}
		vec_done(&event->fds);
		vec_done(&event->ids);
		close_cgroup(opened, event);
	}
	vec_done(&opened->events);
	everywhere_done(&opened->everywhere);
}
