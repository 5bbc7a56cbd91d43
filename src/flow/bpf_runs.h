// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of CPUs, read where BPF programs begin and end: what is counted while they run. For each program a pair of programs of our
// own is entered before it and left behind it (since Linux 5.5; the program must have BTF, and the kernel its JIT).
#pragma once
#include <stddef.h>
#include <stdint.h>

struct bpf_runs;

enum { BPF_RUNS_PROGRAMS = 32, BPF_RUNS_EVENTS = 40 };

struct bpf_runs_count { // of one CPU
	uint64_t value, enabled_ns, running_ns;
};

// ids: the kernel's numbers of the programs; at most BPF_RUNS_PROGRAMS and BPF_RUNS_EVENTS. -errno with a sentence.
int bpf_runs_open(struct bpf_runs **ret, const uint32_t *ids, size_t ids_n, size_t events_n);
// The counter (a perf event of that CPU, all tasks, not inherited) of an event; all are set before the start. -errno with a sentence.
int bpf_runs_set(struct bpf_runs *runs, size_t event, unsigned cpu, int fd);
// From here on is counted. -errno with a sentence.
int bpf_runs_start(struct bpf_runs *runs);
// Sums of all programs since the start, by CPU (0 to bpf_runs_cpus() - 1) and event. A run that is not over counts when it is. -errno
// with a sentence. Cost: a system call a program.
int bpf_runs_read(const struct bpf_runs *runs, struct bpf_runs_count *ret);
uint32_t bpf_runs_cpus(const struct bpf_runs *runs);
void bpf_runs_close(struct bpf_runs *runs); // NULL is allowed
