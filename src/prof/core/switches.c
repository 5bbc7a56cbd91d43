// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/switches.h"

int switches_init(struct switches *switches, struct prof *prof, const char *filter)
{
	int err = prof_add(prof, "sched:sched_switch", filter, &switches->event);

	if (!err)
		err = prof_value_init(&switches->prev_pid, prof, switches->event, "prev_pid");
	if (!err)
		err = prof_value_init(&switches->next_pid, prof, switches->event, "next_pid");
	switches->cpus = xcalloc(SWITCH_CPUS, sizeof(*switches->cpus));
	return err;
}

void switches_done(struct switches *switches)
{
	event_value_done(&switches->prev_pid);
	event_value_done(&switches->next_pid);
	free(switches->cpus);
}

bool switches_take(struct switches *switches, const struct sample *sample, uint32_t *ret_tid,
		   uint64_t *ret_ns)
{
	struct cpu_run *run;
	uint32_t prev = (uint32_t)event_value_number(&switches->prev_pid, sample);
	bool known;

	if (sample->cpu >= SWITCH_CPUS)
		return false;
	run = &switches->cpus[sample->cpu];
	known = run->known && run->tid == prev && sample->time >= run->since_ns;
	*ret_tid = prev;
	*ret_ns = run->known && sample->time >= run->since_ns ? sample->time - run->since_ns : 0;
	*run = (struct cpu_run){.since_ns = sample->time,
				.tid = (uint32_t)event_value_number(&switches->next_pid, sample),
				.known = true};
	return known;
}

bool switches_cut(struct switches *switches, uint32_t cpu, uint64_t now_ns, uint64_t *ret_ns)
{
	struct cpu_run *run = &switches->cpus[cpu];

	if (!run->known || now_ns < run->since_ns)
		return false;
	*ret_ns = now_ns - run->since_ns;
	run->since_ns = now_ns;
	return true;
}

void switches_forget(struct switches *switches, uint32_t cpu)
{
	for (uint32_t i = 0; i < SWITCH_CPUS; i++) {
		if (cpu == UINT32_MAX || cpu == i)
			switches->cpus[i].tid = SWITCH_NOBODY;
	}
}
