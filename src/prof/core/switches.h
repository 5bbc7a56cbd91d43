// SPDX-License-Identifier: GPL-2.0-or-later
// Who runs on which CPU since when, by sched_switch: what oncpu and cpu-util share.
#pragma once
#include "prof/core/profiler.h"

enum { SWITCH_CPUS = 4096 };

// Nobody knows who: something was lost.
#define SWITCH_NOBODY UINT32_MAX

struct cpu_run {
	uint64_t since_ns;
	uint32_t tid; // SWITCH_NOBODY
	bool known;   // since when
};

struct switches {
	struct prof_event *event;
	struct event_value prev_pid, next_pid;
	struct cpu_run *cpus; // [SWITCH_CPUS]
};

int switches_init(struct switches *switches, struct prof *prof, const char *filter);
void switches_done(struct switches *switches);
// What has just ended, and how long it was. False: the kernel did not show all switches before (or some were lost), so that
// *ret_ns, which may be 0, belongs to nobody known. Then the CPU runs the next task.
bool switches_take(struct switches *switches, const struct sample *sample, uint32_t *ret_tid,
		   uint64_t *ret_ns);
// The part up to now of what runs; the rest counts from now on. False: nothing is known of the CPU yet.
bool switches_cut(struct switches *switches, uint32_t cpu, uint64_t now_ns, uint64_t *ret_ns);
void switches_forget(struct switches *switches,
		     uint32_t cpu); // something was lost; UINT32_MAX: anywhere
