// SPDX-License-Identifier: GPL-2.0-or-later
// Who runs on which CPU since when, by sched_switch: what oncpu and cpu-util share.
#pragma once
#include "prof/core/profiler.h"

enum { SWITCH_CPUS = 4096 };

struct cpu_run {
	uint64_t since_ns; // 0: not known
	uint32_t tid;
	bool known;
};

struct switches {
	struct prof_event *event;
	struct prof_value prev_pid, next_pid;
	struct cpu_run *cpus; // [SWITCH_CPUS]
};

int switches_init(struct switches *switches, struct prof *prof, const char *filter);
void switches_done(struct switches *switches);
// What has just ended: false when it isn't known. Then the CPU runs the next task.
bool switches_take(struct switches *switches, const struct sample *sample, uint32_t *ret_tid,
		   uint64_t *ret_ns);
// The part up to now of what runs; the rest counts from now on. False: not known.
bool switches_cut(struct switches *switches, uint32_t cpu, uint64_t now_ns, uint64_t *ret_ns);
void switches_forget(struct switches *switches); // something was lost
