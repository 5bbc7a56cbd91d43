// SPDX-License-Identifier: GPL-2.0-or-later
// A program started under observation: forked first, so that events can be attached, let go later.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid; // 0: none
	int go_fd, exec_fd;
	bool started, reaped;
	int status; // of waitpid, once reaped
};

// Forks; the child waits. Signals that the caller blocked are unblocked in it. quiet_stdout: the caller's standard
// output is for other things, so the child's goes to standard error. -errno with a sentence also when there is no such program.
int workload_prepare(struct workload *workload, char **argv, bool quiet_stdout);
// Lets it exec. -errno with a sentence when the program can't be started.
int workload_start(struct workload *workload, const char *name);
// Non-blocking; true once it has ended.
bool workload_ended(struct workload *workload);
// Its status as a shell would give it: exit code or 128 + signal.
int workload_exit_code(const struct workload *workload);
// Ends a child that was never let go; asks a running one to end (SIGTERM) when `terminate`.
void workload_done(struct workload *workload, bool terminate);
