// SPDX-License-Identifier: GPL-2.0-or-later
// perf_event_open(2) on kernels of every age: what an older kernel refuses is taken out, newest first, by trying.
#pragma once
#include "base/perf_event.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Features found missing so far; shared by all events of a run so that each is tried once.
struct perf_missing {
	bool read_lost, branch_counters, cgroup_sample, code_page_size, data_page_size,
		weight_struct, build_id, cgroup, aux_output, branch_hw_idx, bpf_event, ksymbol,
		text_poke, inherit_thread, namespaces, context_switch, write_backward, group_read,
		clockid, clockid_wrong, branch_no_flags, branch_no_cycles, branch_call_stack,
		comm_exec, mmap2, exclude_callchain, cloexec, exclude_guest, sample_id_all,
		precise_max;
};

struct perf_open_at {
	pid_t pid;
	int cpu, group_fd; // -1: none
	unsigned long flags;
};
#define PERF_OPEN_AT_SELF (&(struct perf_open_at){.pid = 0, .cpu = -1, .group_fd = -1})

// -errno, no sentence. Always close-on-exec (by fcntl where the kernel has no flag for it).
int perf_open(const struct perf_event_attr *attr, const struct perf_open_at *at);

// Without what this kernel was found to lack, and what it turns out to; attr is left as it was opened. -errno, no sentence.
int perf_open_any(struct perf_missing *missing, struct perf_event_attr *attr,
		  const struct perf_open_at *at);

// /proc/sys/kernel/perf_event_paranoid; 2 where it can't be read.
int perf_paranoid(void);
// PERF_EVENT_IOC_SET_FILTER. The kernel keeps no word on why it refuses one (it does only for filters that are written to tracefs), and
// its error numbers say nothing about the text: the sentence tells where the fields are named.
int perf_set_filter(int fd, const char *filter, const char *event_name);
// The sentence for a failed open: what was refused, why, what to do about it. Returns fail(...).
int perf_open_failed(int err, const struct perf_event_attr *attr, const char *event_name,
		     const struct perf_open_at *at);
