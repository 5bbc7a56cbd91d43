// SPDX-License-Identifier: GPL-2.0-or-later
// Whom to watch: the CPUs and threads that events are opened for.
#pragma once
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target_options { // as typed; NULL: not given
	const char *pids, *tids, *users, *cpus;
	bool all_cpus, per_thread;
	bool each_thread; // with per_thread: of all threads that live now
	pid_t workload;	  // 0: none
};

struct target {
	VEC(int) cpus;	    // {-1}: wherever the thread runs
	VEC(pid_t) threads; // {-1}: everybody on the cpus
	bool system_wide;   // everybody
	bool has_cpus;	    // -a or -C
	bool has_tasks;	    // -p -t -u
	bool processes;	    // -p -u: also threads that come later
	bool has_workload;
	bool per_thread;
};

// Threads of processes are those that live now. -errno with a sentence (no such process, no such CPU, malformed list).
int target_init(struct target *target, const struct target_options *options);
void target_done(struct target *target);
// Does any of the watched threads still run? One that has ended and was not waited for does not.
bool target_alive(const struct target *target);
