// SPDX-License-Identifier: GPL-2.0-or-later
// Processors that go offline and come back. The kernel ends the events of one that goes and does not begin them again:
// kernel/events/core.c, perf_event_exit_cpu.
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "input/core/live.h"
#include "sys/topology.h"
#include <sys/ioctl.h>

static void look(const struct watching *live, bool *ret)
{
	struct cpu_numbers online = {0};

	memset(ret, 0, live->cpus_n * sizeof(*ret));
	topology_cpus(&online, "", "online");
	vec_each(uint32_t, cpu, &online.v)
		if (*cpu < live->cpus_n)
			ret[*cpu] = true;
	vec_done(&online.v);
}

void watching_cpus_init(struct watching *live)
{
	live->online = xcalloc(live->cpus_n + 1, sizeof(*live->online));
	live->returned = xcalloc(live->cpus_n + 1, sizeof(*live->returned));
	look(live, live->online);
	live->next_look_ns = time_now_ns(CLOCK_MONOTONIC) + NSEC_PER_SEC;
}

bool watching_cpus_changed(struct watching *live)
{
	auto_free bool *now_online = NULL;
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);

	if (live->target.cpus.v[0] < 0 || now < live->next_look_ns)
		return false;
	live->next_look_ns = now + NSEC_PER_SEC;
	now_online = xcalloc(live->cpus_n + 1, sizeof(*now_online));
	look(live, now_online);
	return memcmp(now_online, live->online, live->cpus_n * sizeof(*now_online)) != 0;
}

// Its place among the watched; a new one only when all are watched. SIZE_MAX: it is not meant.
static size_t place_of(struct watching *live, int cpu)
{
	for (size_t i = 0; i < live->target.cpus.n; i++)
		if (live->target.cpus.v[i] == cpu)
			return i;
	if (live->feed->options->target.cpus)
		return SIZE_MAX;
	vec_push(&live->target.cpus, cpu);
	return live->target.cpus.n - 1;
}

static int open_again(struct watching *live, size_t place)
{
	size_t threads = live->target.threads.n, counted = 0;
	int err = opened_cpu_again(&live->opened, place, watching_pages(live));

	for (size_t i = 0; i < live->opened.events.n && !err; i++) {
		const struct opened_event *event = &live->opened.events.v[i];
		bool counts = live->wanted[i] && live->wanted[i]->counts;

		for (size_t k = place * threads; k < (place + 1) * threads; k++) {
			// Descriptors that are new count from 0.
			if (counts)
				live->last_counts[counted * live->counts_stride + k] = 0;
			if (event->fds.v[k] >= 0 &&
			    ioctl(event->fds.v[k], PERF_EVENT_IOC_ENABLE, 0) < 0)
				err = fail(errno, "can't switch the events on: %s", strerror(errno));
		}
		counted += counts;
	}
	return err ? err : watching_tell_opened(live, place, 1);
}

int watching_cpus(struct watching *live)
{
	auto_free bool *now_online = xcalloc(live->cpus_n + 1, sizeof(*now_online));
	int err = 0, changed = 0;

	look(live, now_online);
	for (size_t cpu = 0; cpu < live->cpus_n && !err; cpu++) {
		size_t place;

		if (now_online[cpu] == live->online[cpu])
			continue;
		live->online[cpu] = now_online[cpu];
		if (!now_online[cpu]) {
			inform("CPU %zu went offline", cpu);
			continue;
		}
		place = place_of(live, (int)cpu);
		if (place == SIZE_MAX)
			continue;
		inform("CPU %zu is online again, its events are opened anew", cpu);
		if (live->writer)
			warn("CPU %zu was offline: what happens on it from now on is not in %s",
			     cpu, live->feed->options->to);
		live->returned[cpu] = true;
		err = open_again(live, place);
		changed = 1;
	}
	if (!err && changed)
		watching_note_ids(live);
	return err ? err : changed;
}
